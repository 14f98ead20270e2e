// SPDX-License-Identifier: BSD-3-Clause
#include "transport/transport_deck.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/core/error.hpp"
#include "support/errors.hpp"

namespace karst::transport_deck_test {
namespace {

using test::error_of;
using test::has;

TransportDeck read_deck(const std::string& text, std::string* echo = nullptr) {
  Reader in = Reader::from_text(text);
  TransportDeck deck;
  read(in, deck);
  in.finish();
  if (echo != nullptr) *echo = in.echo();
  return deck;
}

constexpr const char* two =
    "[transport]\ndiffusivity = 2e-9\n"
    "[[transport.component]]\nname = \"a\"\ninitial = \"x < 1e-3 ? 1 : 0\"\ninlet = 0.25\noutlet = \"exp(-t)\"\n"
    "[[transport.component]]\nname = \"b\"\ndiffusivity = 1e-9\ninlet_kind = \"value\"\ndecay = 3\n"
    "[[transport.wall]]\nmineral = \"calcite\"\ncomponent = \"b\"\nrate = 1e-5\n";

TEST(TransportDeck, SaysWhatItSaysAndReadsItsEcho) {
  std::string echo;
  TransportDeck deck = read_deck(two, &echo);
  for (int i = 0; i < 2; ++i, deck = read_deck(echo)) {
    ASSERT_EQ(deck.names(), (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(deck.components[0].diffusivity, 2e-9);
    EXPECT_EQ(deck.components[0].inlet, "0.25");
    EXPECT_TRUE(deck.components[0].inlet_given && !deck.components[1].inlet_given);
    EXPECT_EQ(value_at(*deck.components[0].outlet, 2.0), std::exp(-2.0));
    EXPECT_EQ(deck.components[1].diffusivity, 1e-9);
    EXPECT_EQ(deck.components[1].inlet_kind, EndKind::value);
    EXPECT_FALSE(deck.components[1].outlet);
    ASSERT_EQ(deck.walls.size(), 1U);
    EXPECT_EQ(deck.walls[0].rate, 1e-5);
  }
  EXPECT_FALSE(read_deck("").asked());
}

TEST(TransportDeck, AllMistakesAreToldTogether) {
  const std::string text = error_of([] {
    read_deck(
        "[[transport.component]]\nname = \"a\"\ndiffusivity = -1e-9\ninitial = \"x +\"\n"
        "[[transport.component]]\nname = \"a\"\ninlet = \"x\"\ninlet_table = \"nowhere.csv\"\n"
        "[[transport.component]]\ninlet_kind = \"both\"\n"
        "[[transport.wall]]\ncomponent = \"acid\"\nrate = -1\n[[transport.wall]]\ncomponent = \"a\"\n"
        "[[transport.wall]]\ncomponent = \"a\"\nrate = 1\n");
  });
  for (const char* part : {"component[0].diffusivity", "component[0].initial", "component[1].name", "is listed twice",
                           "component[1].inlet", "nowhere.csv", "component[2].name", "component[2].inlet_kind",
                           "\"acid\" is no component", "wall[0].rate", "wall[1].rate", "one law per wall"})
    EXPECT_TRUE(has(text, part)) << part << "\n" << text;
  EXPECT_TRUE(has(error_of([] { read_deck("[transport]\npeclet = 3\n"); }), "without a [[transport.component]]"));
}

class TimeTables : public ::testing::Test {
 protected:
  std::string path = (std::filesystem::temp_directory_path() / "karst_time_table_test.csv").string();
  TimeTable table(const std::string& text) {
    std::ofstream(path) << text;
    return read_time_table(path);
  }
  ~TimeTables() override { std::filesystem::remove(path); }
};

TEST_F(TimeTables, AreStraightBetweenTheirLines) {
  const TimeTable t = table("t, value  # of the inlet\n\n0, 1\n2;3\r\n3\t-1 # end\n");
  ASSERT_EQ(t.time.size(), 3U);
  EXPECT_EQ(t.at(-1.0), 1.0);
  EXPECT_EQ(t.at(0.5), 1.5);
  EXPECT_EQ(t.at(2.0), 3.0);
  EXPECT_EQ(t.at(2.75), 0.0);
  EXPECT_EQ(t.at(9.0), -1.0);
}

TEST_F(TimeTables, NameTheLineThatIsWrong) {
  EXPECT_TRUE(has(error_of([&] { table("0 1\n2 3\n1 4\n"); }), ":3: the time 1 s follows 2 s"));
  EXPECT_TRUE(has(error_of([&] { table("0 1\n2\n"); }), ":2: \"2\" is not two numbers"));
  EXPECT_TRUE(has(error_of([&] { table("0 1 2\n"); }), ":1:"));
  EXPECT_TRUE(has(error_of([&] { table("0 1\nt x\n"); }), ":2:"));
  EXPECT_TRUE(has(error_of([&] { table("time value\n"); }), "no line of two numbers"));
  EXPECT_TRUE(has(error_of([&] { table("O,1\n5,0\n"); }), ":1: \"O,1\" is not two numbers"));  // the letter
  EXPECT_TRUE(has(error_of([] { read_time_table("/nowhere/at/all"); }), "cannot be read"));
}

/// Hours read as seconds would be wrong in silence.
TEST_F(TimeTables, OfOtherUnitsThanSecondsAreRefused) {
  for (const char* header : {"time [h], c", "time_min;c", "t (days)\tc", "hours,mol", "t [ms] c"})
    EXPECT_TRUE(
        has(error_of([&] { table(std::string(header) + "\n0, 1\n2, 0\n"); }), "times of a table are in seconds"))
        << header;
  for (const char* header : {"time [s], c", "t, value", "time_s,c [mol/L]", "time c", "t, c in h"})
    EXPECT_EQ(table(std::string(header) + "\n0, 1\n2, 0\n").time.size(), 2U) << header;
}

/// A table that a spreadsheet has saved begins with a byte order mark: its first line counts.
TEST_F(TimeTables, OfSpreadsheetsKeepTheirFirstLine) {
  const TimeTable t = table(
      "\xEF\xBB\xBF"
      "0,3\r\n5,1\r\n");
  ASSERT_EQ(t.time.size(), 2U);
  EXPECT_EQ(t.at(0.0), 3.0);
}

}  // namespace
}  // namespace karst::transport_deck_test
