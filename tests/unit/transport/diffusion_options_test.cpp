// SPDX-License-Identifier: BSD-3-Clause
#include "transport/diffusion_options.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "support/read_options.hpp"

namespace karst::diffusion_options_test {
namespace {

/// The options of a text, or the message about what is wrong with it.
std::pair<DiffusionOptions, std::string> read_text(const std::string& text) {
  return test::read_options<DiffusionOptions>(text, [](Reader& in, DiffusionOptions& o) { read(in, o); });
}

TEST(DiffusionOptions, AxesAreSorted) {
  const auto [options, wrong] =
      read_text("[diffusion]\naxes = [\"z\", \"x\"]\ndiffusivity = 2e-9\ntolerance = 1e-10\n");
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(options.axes, (std::vector<int>{0, 2}));
  EXPECT_EQ(options.diffusivity, 2e-9);
  EXPECT_EQ(options.tolerance, 1e-10);
  EXPECT_TRUE(read_text("").first.axes.empty());
}

TEST(DiffusionOptions, MistakesAreNamedWithWhatIsAllowed) {
  const auto has = [](const std::string& text, const char* deck, const char* part) {
    EXPECT_NE(text.find(part), std::string::npos) << deck << " gives: " << text;
  };
  const auto expect = [&](const char* deck, std::initializer_list<const char*> parts) {
    const std::string text = read_text(deck).second;
    for (const char* part : parts) has(text, deck, part);
  };
  expect("[diffusion]\naxes = [\"w\"]\n", {"diffusion.axes", "\"w\"", "\"z\""});
  expect("[diffusion]\naxes = [\"xy\"]\n", {"diffusion.axes", "\"xy\""});
  expect("[diffusion]\naxes = [\"x\", \"x\"]\n", {"diffusion.axes", "twice"});
  expect("[diffusion]\ntolerance = 1e-6\n", {"diffusion.tolerance", "diffusion.axes"});
  expect("[diffusion]\naxes = [\"x\"]\ntolerance = 1.0\n", {"diffusion.tolerance", "0.01"});
  expect("[diffusion]\naxes = [\"x\"]\ndiffusivity = 0\n", {"diffusion.diffusivity", "> 0"});
  expect("[diffusion]\naxes = [\"x\"]\nmax_iterations = 0\n", {"diffusion.max_iterations"});
  expect("[diffusion]\naxis = [\"x\"]\n", {"diffusion.axis", "diffusion.axes"});
}

}  // namespace
}  // namespace karst::diffusion_options_test
