// SPDX-License-Identifier: BSD-3-Clause
#include "transport/dispersion/dispersion_options.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"

namespace karst::dispersion_options_test {
namespace {

/// The options of a text, or the message about what is wrong with it.
std::pair<DispersionOptions, std::string> read_text(const std::string& text) {
  DispersionOptions options;
  const std::string wrong = test::error_of([&] {
    Reader in = Reader::from_text(text);
    read(in, options);
    in.finish();
  });
  return {options, wrong};
}

TEST(DispersionOptions, AreRead) {
  const auto [options, wrong] = read_text(
      "[dispersion]\naxes = [\"z\", \"x\"]\npeclet = [0.0, 1.0, 1e3]\nlength = \"0.1 mm\"\ntransverse = false\n");
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(options.axes, (std::vector<int>{0, 2}));
  EXPECT_EQ(options.peclet, (std::vector<double>{0.0, 1.0, 1e3}));
  EXPECT_DOUBLE_EQ(options.length, 1e-4);
  EXPECT_FALSE(options.transverse);
  EXPECT_TRUE(read_text("").first.axes.empty());
}

TEST(DispersionOptions, MistakesAreNamedWithWhatIsAllowed) {
  const auto expect = [&](const char* deck, std::initializer_list<const char*> parts) {
    const std::string text = read_text(deck).second;
    for (const char* part : parts) EXPECT_TRUE(test::has(text, part)) << deck << " gives: " << text;
  };
  expect("[dispersion]\naxes = [\"w\"]\n", {"dispersion.axes", "\"w\"", "\"z\""});
  expect("[dispersion]\naxes = [\"x\", \"x\"]\n", {"dispersion.axes", "twice"});
  expect("[dispersion]\naxes = [\"x\"]\npeclet = [10.0, 1.0]\n", {"dispersion.peclet", "increase"});
  expect("[dispersion]\naxes = [\"x\"]\npeclet = [-1.0]\n", {"dispersion.peclet", "-1"});
  expect("[dispersion]\npeclet = [1.0]\n", {"dispersion.peclet", "dispersion.axes"});
  expect("[dispersion]\naxes = [\"x\"]\ntolerance = 1.0\n", {"dispersion.tolerance", "0.01"});
  expect("[dispersion]\naxis = [\"x\"]\n", {"dispersion.axis", "dispersion.axes"});
}

}  // namespace
}  // namespace karst::dispersion_options_test
