// SPDX-License-Identifier: BSD-3-Clause
#include "base/deck/deck.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "support/errors.hpp"

namespace karst::deck_test {
namespace {

enum class Drive { gradient, pressure_drop };

struct Solid {
  std::string shape = "sphere";
  double radius = 0.25;
  std::vector<double> marks;
  std::vector<int> parts;
  friend bool operator==(const Solid&, const Solid&) = default;
};

/// One option of every type.
struct Options {
  std::string title = "untitled";
  Vec3 size{1e-3, 2e-3, 3e-3};
  Index cells;  // 0 is outside of its bounds: not set
  int box = 16;
  std::array<bool, 3> periodic{};
  double viscosity = 1e-3, end = std::numeric_limits<double>::infinity();
  bool plot_wall = true;
  Drive drive = Drive::gradient;
  std::vector<std::string> plot{"velocity"};
  std::string image;
  bool image_given = false;
  std::vector<Solid> solids;
  friend bool operator==(const Options&, const Options&) = default;
};

void read(Reader& in, Solid& s) {
  in.text("shape", s.shape, "kind of solid");
  in.number("radius", s.radius, "m", "radius", 1e-300, 1e300);
  in.numbers("marks.at", s.marks, "m", "distances", -1e300, 1.0);
  in.tables("part", "parts of the solid", [&](Reader& item) {
    int n = 1;
    item.integer("n", n, "", "number", 1, 9);
    s.parts.push_back(n);
  });
  if (in.given("marks.at") && !in.given("radius")) in.mistake("marks.at", "marks need a radius");
}

void read(Reader& in, Options& o) {
  in.text("title", o.title, "name of the run");
  in.vec3("grid.size", o.size, "m", "edges of the domain", 1e-300, 1e300);
  in.index("grid.cells", o.cells, "", "cells of level 0", 1, 1 << 20);
  in.integer("grid.box", o.box, "cells", "edge of a box", 8, 32);
  in.flags3("grid.periodic", o.periodic, "directions that wrap around");
  in.number("fluid.viscosity", o.viscosity, "Pa s", "dynamic viscosity", 1e-300, 1e300);
  in.number("time.end", o.end, "s", "stop at this time", 0, 1e300);
  in.flag("output.wall", o.plot_wall, "plot the wall");
  in.word("flow.drive", o.drive,
          {{"pressure-gradient", Drive::gradient, "periodic"}, {"pressure-drop", Drive::pressure_drop, ""}},
          "what drives");
  in.texts("output.plot", o.plot, "fields");
  in.text("geometry.image", o.image, "file");
  o.image_given = in.given("geometry.image");
  in.tables("geometry.solid", "described solids", [&](Reader& item) {
    Solid s;
    read(item, s);
    if (!in.documenting()) o.solids.push_back(s);
  });
}

Options read_text(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  Reader in = Reader::from_text(toml, "deck.toml", overrides);
  Options o;
  read(in, o);
  in.finish();
  return o;
}

/// All lines of the error that reading gives.
std::vector<std::string> mistakes(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  const std::string text = test::error_of([&] { read_text(toml, overrides); });
  return text.empty() ? std::vector<std::string>() : split(text, '\n');
}

std::string mistake(const std::string& toml, const std::vector<std::string>& overrides = {}) {
  const auto lines = mistakes(toml, overrides);
  return lines.size() == 1 ? lines[0] : std::to_string(lines.size()) + " mistakes: " + join(lines, " // ");
}

const std::string complete = R"(title = "Ketton"
[grid]
size = [1, 2.5, 1e-3]   # whole numbers are numbers too
cells = [4, 5, 6]
box = 8
periodic = [true, false, true]
[fluid]
viscosity = 2
[time]
end = 7.5
[output]
wall = false
plot = ["pressure", "x \"y\" \\ z"]
[flow]
drive = "pressure-drop"
[geometry]
image = "rock.h5"
[[geometry.solid]]
radius = 0.1
marks.at = [0.25, -3]
[[geometry.solid.part]]
n = 3
[[geometry.solid.part]]
[[geometry.solid]]
shape = "torus"
)";

TEST(Deck, ReadsEveryType) {
  const Options o = read_text(complete);
  EXPECT_EQ(o.title, "Ketton");
  EXPECT_EQ(o.size, Vec3(1.0, 2.5, 1e-3));
  EXPECT_EQ(o.cells, Index(4, 5, 6));
  EXPECT_EQ(o.box, 8);
  EXPECT_EQ(o.periodic, (std::array{true, false, true}));
  EXPECT_EQ(o.viscosity, 2.0);
  EXPECT_EQ(o.end, 7.5);
  EXPECT_FALSE(o.plot_wall);
  EXPECT_EQ(o.drive, Drive::pressure_drop);
  EXPECT_EQ(o.plot, (std::vector<std::string>{"pressure", "x \"y\" \\ z"}));
  EXPECT_TRUE(o.image_given);
  ASSERT_EQ(o.solids.size(), 2U);
  EXPECT_EQ(o.solids[0], (Solid{"sphere", 0.1, {0.25, -3.0}, {3, 1}}));
  EXPECT_EQ(o.solids[1], (Solid{"torus", 0.25, {}, {}}));
}

TEST(Deck, KeepsDefaultsWhenNothingIsGiven) { EXPECT_EQ(read_text(""), Options{}); }

TEST(Deck, NamesLineKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(mistake("[grid]\nbos = 3"), "deck.toml:2: grid.bos: unknown key; did you mean grid.box?");
  EXPECT_EQ(mistake("[grid]\nzebra = 3"),
            "deck.toml:2: grid.zebra: unknown key; allowed here: box, cells, periodic, size");
  EXPECT_EQ(mistake("[gird]\nbox = 8"), "deck.toml:1: gird: unknown table; did you mean grid?");
  EXPECT_EQ(mistake("[flow]\nviscosity = 1"),
            "deck.toml:2: flow.viscosity: unknown key; did you mean fluid.viscosity?");
  EXPECT_EQ(mistake("grid = 5"), "deck.toml:1: grid: 5 given; expected: a table [grid]");
  EXPECT_EQ(mistake("[grid]\nbox = 33"), "deck.toml:2: grid.box: 33 given; expected: integer 8 to 32 [cells]");
  EXPECT_EQ(mistake("[grid]\nbox = 16.0"), "deck.toml:2: grid.box: 16.0 given; expected: integer 8 to 32 [cells]");
  EXPECT_EQ(mistake("[grid]\nbox = 9223372036854775807"),
            "deck.toml:2: grid.box: 9223372036854775807 given; expected: integer 8 to 32 [cells]");
  EXPECT_EQ(mistake("[fluid]\nviscosity = nan"),
            "deck.toml:2: fluid.viscosity: nan given; expected: number > 0 [Pa s]");
  EXPECT_EQ(mistake("[fluid]\nviscosity = inf"),
            "deck.toml:2: fluid.viscosity: inf given; expected: number > 0 [Pa s]");
  EXPECT_EQ(mistake("[fluid]\nviscosity = 0"), "deck.toml:2: fluid.viscosity: 0 given; expected: number > 0 [Pa s]");
  EXPECT_EQ(mistake("[fluid]\nviscosity = \"1e-3\""),
            "deck.toml:2: fluid.viscosity: \"1e-3\" has no unit; write a number, in Pa s, or a number with its "
            "unit: Pa s, mPa s, cP");
  EXPECT_EQ(mistake("[time]\nend = 1979-05-27"),
            "deck.toml:2: time.end: a date or time given; expected: number >= 0 [s]");
  EXPECT_EQ(mistake("title = 3"), "deck.toml:1: title: 3 given; expected: text");
  EXPECT_EQ(mistake("[output]\nwall = 1"), "deck.toml:2: output.wall: 1 given; expected: true/false");
  EXPECT_EQ(
      mistake("[flow]\ndrive = \"pressure-drip\""),
      "deck.toml:2: flow.drive: \"pressure-drip\" given; expected one of: pressure-gradient | pressure-drop; did you "
      "mean pressure-drop?");
  EXPECT_EQ(mistake("[flow]\ndrive = 2"),
            "deck.toml:2: flow.drive: 2 given; expected one of: pressure-gradient | pressure-drop");
}

TEST(Deck, NamesTheWrongValueOfAList) {
  EXPECT_EQ(mistake("[grid]\ncells = [1, 2]"),
            "deck.toml:2: grid.cells: a list of 2 values given; expected: list of 3 integers 1 to 1048576");
  EXPECT_EQ(mistake("[grid]\ncells = 4"),
            "deck.toml:2: grid.cells: 4 given; expected: list of 3 integers 1 to 1048576");
  EXPECT_EQ(mistake("[grid]\nsize = [1,\n 2,\n -1]"),
            "deck.toml:4: grid.size: -1 as value 3 of 3 given; expected: list of 3 numbers > 0 [m]");
  EXPECT_EQ(mistake("[grid]\nperiodic = [true, 0, false]"),
            "deck.toml:2: grid.periodic: 0 as value 2 of 3 given; expected: list of 3 true/false");
  EXPECT_EQ(mistake("[output]\nplot = \"velocity\""),
            "deck.toml:2: output.plot: \"velocity\" given; expected: list of texts");
  EXPECT_EQ(mistake("[output]\nplot = [\"a\", 1]"),
            "deck.toml:2: output.plot: 1 as value 2 of 2 given; expected: list of texts");
}

TEST(Deck, NumbersMayHaveUnits) {
  EXPECT_EQ(read_text("fluid.viscosity = \"1.5 cP\"").viscosity, 1.5e-3);
  EXPECT_EQ(read_text("", {"time.end=2min"}).end, 120.0);
  EXPECT_EQ(read_text("grid.size = [\"5.3 um\", 2, \"1cm\"]").size, Vec3(5.3e-6, 2, 1e-2));
  EXPECT_EQ(read_text("grid.size = \"1 x 1 x 2 mm\"").size, Vec3(1e-3, 1e-3, 2e-3));
  EXPECT_EQ(read_text("grid.size = \"1 mm x 1 cm x 3\"").size, Vec3(1e-3, 1e-2, 3));
  EXPECT_EQ(mistake("[time]\nend = \"3 mm\""),
            "deck.toml:2: time.end: \"3 mm\" has a unit of another quantity, \"mm\"; write a number, in s, "
            "or a number with its unit: s, ms, min, h, d");
  EXPECT_EQ(mistake("", {"time.end=-3h"}), "command line: time.end: \"-3h\" given; expected: number >= 0 [s]");
  EXPECT_EQ(mistake("grid.size = [1, \"2 inch\", 3]"),
            "deck.toml:1: grid.size: \"2 inch\" as value 2 of 3 has an unknown unit, \"inch\"; write a number, "
            "in m, or a number with its unit: m, cm, mm, um (or µm), nm");
  EXPECT_EQ(mistake("grid.box = \"8 cells\""),
            "deck.toml:1: grid.box: \"8 cells\" given; expected: integer 8 to 32 [cells]");
  const Reader declarations = [] {
    Reader in = Reader::declarations_only();
    Options o;
    read(in, o);
    return in;
  }();
  EXPECT_NE(help_text(declarations.keys()[1]).find("m; other units as a text: m, cm"), std::string::npos);
}

TEST(Deck, TheEchoOfUnitsIsInSi) {
  Reader in = Reader::from_text("fluid.viscosity = \"1 mPa s\"\ngrid.size = \"1x1x2 mm\"", "deck.toml");
  Options o;
  read(in, o);
  in.finish();
  EXPECT_EQ(read_text(in.echo()), o);
  EXPECT_NE(in.echo().find("size = [0.001, 0.001, 0.002]"), std::string::npos) << in.echo();
}

TEST(Deck, ListsAsWords) {
  EXPECT_EQ(read_text("grid.cells = \"64x32 x 16\"").cells, Index(64, 32, 16));
  EXPECT_EQ(read_text("", {"grid.cells=64×32×16"}).cells, Index(64, 32, 16));
  EXPECT_EQ(read_text("", {"grid.cells=64,32,16"}).cells, Index(64, 32, 16));
  EXPECT_EQ(read_text("", {"grid.size=1mm,2mm,3"}).size, Vec3(1e-3, 2e-3, 3));
  EXPECT_EQ(read_text("", {"grid.periodic=true,false,true"}).periodic, (std::array{true, false, true}));
  EXPECT_EQ(read_text("", {"output.plot=a,b"}).plot, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(read_text("", {"output.plot=a"}).plot, std::vector<std::string>{"a"});
  EXPECT_EQ(mistake("grid.cells = \"64x32\""),
            "deck.toml:1: grid.cells: \"64x32\" given; expected: list of 3 integers 1 to 1048576");
  EXPECT_EQ(mistake("grid.cells = \"64\""),
            "deck.toml:1: grid.cells: \"64\" given; expected: list of 3 integers 1 to 1048576");
  EXPECT_EQ(mistake("\ngrid.cells = \"64x32x1b\""),
            "deck.toml:2: grid.cells: \"1b\" as value 3 of 3 given; expected: list of 3 integers 1 to 1048576");
  EXPECT_EQ(mistake("", {"grid.cells=64,32,"}),
            "command line: grid.cells: \"\" as value 3 of 3 given; expected: list of 3 integers 1 to 1048576");
  EXPECT_EQ(mistake("grid.cells = \"[1x2x3\""),
            "deck.toml:1: grid.cells: \"[1\" as value 1 of 3 given; expected: list of 3 integers 1 to 1048576");
  EXPECT_EQ(mistake("grid.cells = \"64,32,16\""),  // in a deck lists are TOML
            "deck.toml:1: grid.cells: \"64,32,16\" given; expected: list of 3 integers 1 to 1048576");
  EXPECT_EQ(mistake("grid.size = \"1 mm\""),
            "deck.toml:1: grid.size: \"1 mm\" given; expected: list of 3 numbers > 0 [m]");
}

TEST(Deck, NamesItemsOfListsByPosition) {
  const std::string three = "[[geometry.solid]]\n[[geometry.solid]]\n[[geometry.solid]]\n";
  EXPECT_EQ(mistake(three + "radius = -1"),
            "deck.toml:4: geometry.solid[2].radius: -1 given; expected: number > 0 [m]");
  EXPECT_EQ(mistake(three + "radus = 1"),
            "deck.toml:4: geometry.solid[2].radus: unknown key; did you mean geometry.solid[2].radius?");
  EXPECT_EQ(mistake(three + "marks.at = []"), "deck.toml:4: geometry.solid[2].marks.at: marks need a radius");
  EXPECT_EQ(mistake(three + "[[geometry.solid.part]]\nn = 0"),
            "deck.toml:5: geometry.solid[2].part[0].n: 0 given; expected: integer 1 to 9");
  EXPECT_EQ(mistake("[geometry.solid]\nradius = 1"),
            "deck.toml:1: geometry.solid: a table given; expected: list of tables, each under [[geometry.solid]]");
  EXPECT_EQ(mistake("geometry.solid = [1]"), "deck.toml:1: geometry.solid[0]: 1 given; expected: a table");
}

TEST(Deck, ReportsAllMistakesTogetherInOrderOfLines) {
  const auto lines =
      mistakes("titel = 1\n[grid]\nbox = 1\ncells = 2\n[fluid]\nviscosity = -1\n", {"grid.bux=1", "grid.box"});
  ASSERT_EQ(lines.size(), 6U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_TRUE(lines[i].starts_with("deck.toml:" + std::vector<std::string>{"1", "3", "4", "6"}[i] + ": "))
        << lines[i];
  }
  EXPECT_EQ(lines[4], "command line: grid.box: not understood; write key=value, for example grid.box=16");
  EXPECT_EQ(lines[5], "command line: grid.bux: unknown key; did you mean grid.box?");
}

TEST(Deck, OverridesWinAndTheLastOfThem) {
  const Options o = read_text(complete, {"grid.box=32", "grid.box = 16", "title=bare", "output.plot=[\"a\", \"b\"]",
                                         "geometry.solid[1].radius=9", "time.end=1e3", "flow.drive=pressure-gradient"});
  EXPECT_EQ(o.box, 16);
  EXPECT_EQ(o.title, "bare");
  EXPECT_EQ(o.plot, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(o.solids[1].radius, 9.0);
  EXPECT_EQ(o.end, 1000.0);
  EXPECT_EQ(o.drive, Drive::gradient);
  EXPECT_EQ(read_text("", {"geometry.image=a b/c \"d\".h5"}).image, "a b/c \"d\".h5");
}

TEST(Deck, OverridesThatCannotBeAreNamed) {
  EXPECT_EQ(mistake("", {"grid.box=12.5"}), "command line: grid.box: 12.5 given; expected: integer 8 to 32 [cells]");
  EXPECT_EQ(mistake("", {"=3"}), "command line: =3: the key is empty; write key=value, for example grid.box=16");
  EXPECT_EQ(mistake("", {"grid..box=3"}),
            "command line: grid..box=3: the key is empty; write key=value, for example grid.box=16");
  EXPECT_EQ(mistakes("", {"title=1\nx = 2"}).back(), "x = 2: the value is neither a TOML value nor a word");
  EXPECT_EQ(mistake("", {"grid.size=[1,2"}), "command line: grid.size=[1,2: [1,2 is not a TOML value");
  EXPECT_EQ(
      mistake(complete, {"geometry.solid[2].radius=1"}),
      "command line: geometry.solid[2].radius=1: solid[2] is not in the deck, which has 2 of them (counted from 0)");
  EXPECT_EQ(mistake("title = \"a\"", {"title.x=1"}), "command line: title.x=1: title is not a table in the deck");
}

// Keys of 100 000 parts are no reason to run out of stack; dots elsewhere are no parts of keys.
TEST(Deck, KeysOfManyPartsAreRefused) {
  const auto tower = [](std::size_t n) {
    std::string key = "a";
    for (std::size_t i = 1; i < n; ++i) key += i % 3 == 0 ? ".\"b c\"" : " . d";
    return key;
  };
  for (const std::string& text : {tower(100'000) + " = 1", "[" + tower(100'000) + "]", "x = {" + tower(65) + " = 2}"})
    EXPECT_EQ(test::error_of([&] { read_text("title = \"\"\"\n\n\"\"\"\n" + text); }),
              "deck.toml:4: a key of more than 64 parts; the keys of decks have up to 4")
        << text.substr(0, 40);
  EXPECT_NE(mistakes(tower(64) + " = 1").back().find("unknown table"), std::string::npos);
  EXPECT_NE(mistakes("", {tower(65) + "=1"}).back().find("more than 64 parts"), std::string::npos);
  const std::string dots(100, '.');
  EXPECT_EQ(read_text("title = \"" + dots + "\\\"" + dots + "\"  # " + dots).title, dots + "\"" + dots);
}

TEST(Deck, FilesThatCannotBeReadAreNamedWithTheReason) {
  const auto error_of = [](const std::string& path) { return test::error_of([&] { Reader::from_file(path); }); };
  const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "karst_deck";
  std::filesystem::create_directories(folder);
  EXPECT_EQ(error_of((folder / "none.toml").string()),
            (folder / "none.toml").string() + ": cannot read the deck: No such file or directory");
  EXPECT_NE(error_of(folder.string()).find("is a directory"), std::string::npos);
  const std::string path = (folder / "deck.toml").string();
  std::ofstream(path) << "a = 1\nb = \n";
  EXPECT_EQ(error_of(path).find(path + ":2: column "), 0U) << error_of(path);
  std::ofstream(path) << "[grid]\nbox = 8\n[grid]\nbox = 9\n";
  EXPECT_EQ(error_of(path).find(path + ":3: column "), 0U) << error_of(path);
  std::ofstream(path) << "[grid]\nbox = 8\n";
  Reader in = Reader::from_file(path, {"grid.box=32"});
  Options o;
  read(in, o);
  in.finish();
  EXPECT_EQ(o.box, 32);
  EXPECT_EQ(in.directory(), folder.string());
  EXPECT_EQ(Reader::from_text("").directory(), ".");
  std::filesystem::remove_all(folder);
}

// The echo of any deck reads back to the same options, and its own echo is the same text.
TEST(Deck, EchoReadsBackToTheSameValues) {
  const std::vector<std::vector<std::string>> changes{{},
                                                      {"fluid.viscosity=0.1234567890123456789"},
                                                      {"fluid.viscosity=1.7e-299"},
                                                      {"title=\"tab\\t line\\n \\u0001 µ\""},
                                                      {"time.end=0"}};
  for (const std::string& deck : {std::string(), complete, std::string("[[geometry.solid]]\n[[geometry.solid]]\n")}) {
    for (const auto& change : changes) {
      Reader first = Reader::from_text(deck, "deck.toml", change);
      Options a;
      read(first, a);
      first.finish();
      const std::string echo = first.echo();
      Reader second = Reader::from_text(echo, "echo.toml");
      Options b;
      read(second, b);
      ASSERT_NO_THROW(second.finish()) << echo;
      EXPECT_EQ(a, b) << echo;
      EXPECT_EQ(second.echo(), echo);
    }
  }
}

TEST(Deck, EchoExplainsItself) {
  Reader in = Reader::from_text("[grid]\nbox = 8\n");
  Options o;
  read(in, o);
  const std::string echo = in.echo();
  EXPECT_NE(echo.find("box = 8                           # edge of a box [cells]\n"), std::string::npos) << echo;
  EXPECT_NE(echo.find("# cells = [0, 0, 0]"), std::string::npos) << "outside of its bounds: not set";
  EXPECT_NE(echo.find("# end = inf"), std::string::npos);
  EXPECT_NE(echo.find("# image = \"\""), std::string::npos) << "given() was asked and said no";
  EXPECT_NE(echo.find("what drives (pressure-gradient | pressure-drop)"), std::string::npos);
}

TEST(Deck, ChecksOfSeveralKeysAndOfCalls) {
  const auto check = [](Reader in) {
    std::string a, b;
    in.text("a", a, "");
    in.text("b", b, "");
    in.refuse({"a", "b"}, "remove it");
    in.need({"a", "b"}, "missing");
    EXPECT_TRUE(in.attempt("a", [] {}));
    EXPECT_FALSE(in.attempt("b", [] { throw Error("wrong"); }));
    in.finish();
  };
  EXPECT_EQ(test::error_of([&] { check(Reader::from_text("a = \"x\"")); }),
            "deck: b: missing\ndeck: b: wrong\ndeck:1: a: remove it");
  EXPECT_NO_THROW(check(Reader::declarations_only()));
}

TEST(Deck, DeclarationsAreCollectedWithoutADeck) {
  Reader in = Reader::declarations_only();
  EXPECT_TRUE(in.documenting());
  Options o;
  read(in, o);
  EXPECT_NO_THROW(in.finish());
  EXPECT_EQ(o, Options{});
  const KeyInfo* radius = nullptr;
  for (const KeyInfo& k : in.keys()) {
    if (k.key == "geometry.solid[].radius") radius = &k;
  }
  ASSERT_NE(radius, nullptr);
  EXPECT_EQ(help_text(*radius),
            "geometry.solid[].radius  (number)\n  radius\n  unit     m; other units as a text: m, cm, mm, um (or "
            "µm), nm\n  default  0.25\n  allowed  > 0\n");
  const std::string table = markdown_table(in.keys());
  EXPECT_NE(table.find("### `[grid]`\n\n| key | type | unit | default | allowed | meaning |\n"), std::string::npos);
  EXPECT_NE(table.find("### `[[geometry.solid]]`"), std::string::npos);
  EXPECT_NE(table.find("| `n` | integer |  | `1` | 1 to 9 | number |"), std::string::npos);
  EXPECT_NE(
      table.find("| `drive` | word |  | `\"pressure-gradient\"` | pressure-gradient (periodic) \\| pressure-drop |"),
      std::string::npos)
      << table;
}

TEST(Deck, KeysAreListedOnceForManyItems) {
  Reader in = Reader::from_text(complete);
  Options o;
  read(in, o);
  std::set<std::string> names;
  for (const KeyInfo& k : in.keys()) EXPECT_TRUE(names.insert(k.key).second) << k.key;
}

// The echo may lie in another folder than the deck: names of files are written in full, and read back the same file.
TEST(Deck, EchoHoldsFileNamesInFull) {
  const auto read = [](Reader in) {
    std::string image, none;
    in.file("geometry.image", image, "an image");
    in.file("geometry.mask", none, "another");
    in.finish();
    return std::pair(image, in.echo());
  };
  const auto [image, echo] = read(Reader::from_text("[geometry]\nimage = \"images/../rock.h5\"\n"));
  EXPECT_EQ(image, "images/../rock.h5");
  const std::string full = (std::filesystem::current_path() / "rock.h5").string();
  EXPECT_NE(echo.find("image = \"" + full + "\""), std::string::npos) << echo;
  EXPECT_EQ(read(Reader::from_text(echo)).first, full);
}

// A value that is allowed and unlikely is noted with its place; a default, 0 and what is usual are not.
TEST(Deck, UnusualValuesAreNoted) {
  const auto unusual = [](const std::string& text) {
    Reader in = Reader::from_text(text, "deck.toml", {});
    double volume = 1.0;
    Vec3 size;
    in.number("volume", volume, "m3/mol", "molar volume", 0.0, 1e300, {1e-6, 1e-3});
    in.vec3("size", size, "m", "size", -1e300, 1e300, {1e-9});
    in.finish();
    return in.unusual();
  };
  EXPECT_TRUE(unusual("").empty());
  for (const char* text : {"volume = 0", "volume = \"36.9 cm3/mol\"", "volume = 1e-6", "size = [1, -1e-9, 0]"})
    EXPECT_TRUE(unusual(text).empty()) << text;
  EXPECT_EQ(
      unusual("\nvolume = 36.9"),
      std::vector<std::string>{"deck.toml:2: volume: 36.9 m3/mol: is that the right unit? Usual values are 1e-06 to "
                               "0.001; the value may be a text with its unit: m3/mol, cm3/mol, l/mol"});
  ASSERT_EQ(unusual("size = [1, 1e-12, 1]").size(), 1U);
  Reader in = Reader::declarations_only();
  double volume = 1.0;
  in.number("volume", volume, "m3/mol", "molar volume", 0.0, 1e300, {1e-6, 1e-3});
  EXPECT_EQ(in.keys()[0].allowed, ">= 0; usual: 1e-06 to 0.001");
}

// A default outside of what is allowed is no default: the key must be given where it is needed.
TEST(Deck, KeysWithoutDefaultShowNone) {
  Reader in = Reader::declarations_only();
  double radius = 0.0;
  Index cells;
  in.number("radius", radius, "m", "of a sphere", 1e-12, 1e3);
  in.index("cells", cells, "-", "of the grid", 1, 1000);
  for (const KeyInfo& key : in.keys()) EXPECT_EQ(key.default_value, "") << key.key;
}

}  // namespace
}  // namespace karst::deck_test
