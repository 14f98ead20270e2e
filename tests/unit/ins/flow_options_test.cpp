// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/flow_options.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "support/read_options.hpp"

namespace karst::flow_options_test {
namespace {

/// The options of a text, or the message about what is wrong with it.
std::pair<FlowOptions, std::string> read_text(const std::string& text) {
  return test::read_options<FlowOptions>(text, [](Reader& in, FlowOptions& options) {
    FluidOptions fluid;
    read(in, fluid);
    read(in, options);
  });
}

TEST(FlowOptions, DriveAndAxes) {
  const auto [options, wrong] = read_text(
      "[flow]\nmodel = \"stokes\"\ndrive = \"velocity\"\nvelocity = 1e-5\naxes = [\"z\", \"x\"]\nsides = "
      "\"no-slip\"\n");
  EXPECT_EQ(wrong, "");
  EXPECT_EQ(options.drive, FlowDrive::velocity);
  EXPECT_EQ(options.velocity, 1e-5);
  EXPECT_EQ(options.axes, (std::vector<int>{0, 2}));
  EXPECT_EQ(options.sides, FlowWalls::no_slip);
  EXPECT_TRUE(options.sides_given);
  const auto [all, none] = read_text("[flow]\nmodel = \"stokes\"\ndrive = \"pressure-drop\"\n");
  EXPECT_EQ(none, "");
  EXPECT_EQ(all.axes, (std::vector<int>{0, 1, 2}));
  EXPECT_EQ(read_text("").first.model, FlowModel::none);
}

TEST(FlowOptions, MistakesAreNamedWithWhatIsAllowed) {
  const auto expect = [&](const std::string& lines, std::initializer_list<const char*> parts) {
    const std::string text = read_text("[flow]\n" + lines).second;
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << lines << " gives: " << text;
  };
  const std::string stokes = "model = \"stokes\"\n", drop = stokes + "drive = \"pressure-drop\"\n";
  expect(stokes, {"flow.drive", "pressure-drop", "pressure-gradient"});
  expect(stokes + "drive = \"none\"\n", {"flow.drive"});
  expect(drop + "velocity = 1e-5\n", {"flow.velocity", "contradicts flow.drive"});
  expect(drop + "gradient = [1, 0, 0]\nflow_rate = 1.0\n", {"flow.gradient", "flow.flow_rate"});
  expect(stokes + "drive = \"velocity\"\n", {"flow.velocity", "missing"});
  expect(stokes + "drive = \"flow-rate\"\nflow_rate = 0.0\n", {"flow.flow_rate", "nothing would flow"});
  expect(drop + "pressure_drop = 0\n", {"flow.pressure_drop", "nothing would flow"});
  expect(stokes + "drive = \"pressure-gradient\"\ngradient = [1, 0, 1]\n", {"flow.gradient", "0 along y"});
  expect(drop + "axes = []\n", {"flow.axes", "empty"});
  expect(drop + "axes = [\"x\", \"x\"]\n", {"flow.axes", "twice"});
  expect(drop + "axes = [\"w\"]\n", {"flow.axes", "\"w\"", "\"z\""});
  expect("drive = \"velocity\"\n", {"flow.drive", "flow.model"});
  const std::string steady = "model = \"steady\"\ndrive = \"pressure-drop\"\n";
  expect(drop + "steps = [1, 2]\n", {"flow.steps", "Stokes flow", "\"steady\""});
  expect(steady + "steps = [1, 3, 2]\n", {"flow.steps", "increase"});
  expect(steady + "steps = []\n", {"flow.steps", "empty"});
  EXPECT_EQ(read_text("[flow]\n" + steady + "steps = [0.1, 1]\n").first.steps, (std::vector<double>{0.1, 1.0}));
  EXPECT_EQ(read_text("[flow]\n" + steady).first.model, FlowModel::steady);
  expect(drop + "[fluid]\nviscosity = 0\n", {"fluid.viscosity", "1e-12"});
  expect(drop + "[fluid]\nviscosity = -1e-3\n", {"fluid.viscosity"});
}

TEST(FlowOptions, AnInletInPlaceOfADrive) {
  const std::string stokes = "[flow]\nmodel = \"stokes\"\n",
                    inlet = "[[flow.inlet]]\nside = \"+y\"\nvelocity = \"2 mm/s\"\n";
  const auto [options, wrong] = read_text(stokes + inlet);
  EXPECT_EQ(wrong, "");
  ASSERT_EQ(options.inlets.size(), 1U);
  EXPECT_EQ(options.inlets[0].side, 3);
  EXPECT_DOUBLE_EQ(options.inlets[0].velocity, 2e-3);
  EXPECT_EQ(options.axes, std::vector<int>{1});
  EXPECT_FALSE(options.estimate_error);
  const auto expect = [&](const std::string& deck, std::initializer_list<const char*> parts) {
    const std::string text = read_text(deck).second;
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << deck << " gives: " << text;
  };
  expect(stokes + inlet + inlet, {"2 inlets"});
  expect(stokes + "drive = \"pressure-drop\"\n" + inlet, {"flow.drive", "second driving force"});
  EXPECT_EQ(read_text(stokes + "reservoir = 3\n" + inlet).second, "");
  expect(stokes + "axes = [\"x\"]\n" + inlet, {"flow.axes", "normal of the inlet"});
  const std::string unsteady = "[flow]\nmodel = \"unsteady-stokes\"\n", steady = "[flow]\nmodel = \"steady\"\n";
  EXPECT_EQ(read_text(unsteady + inlet + "profile = \"y*t\"").second, "");
  expect(unsteady + inlet + "profile = \"y*s\"", {"profile", "s is unknown", "t in seconds"});
  expect(steady + inlet + "profile = \"y*t\"", {"profile", "t is unknown"});
  expect(unsteady + "drive_table = \"nowhere.csv\"\ndrive_factor = \"t\"\n" + inlet,
         {"flow.drive_table", "remove one of them", "cannot be read"});
  EXPECT_EQ(read_text(steady + inlet).second, "");
  expect(steady + "steps = [1, 2]\n" + inlet, {"flow.steps", "permeabilities"});
  expect(stokes + inlet + "profile = \"parabolic\"\n", {"flow.inlet", "parabolic", "no-slip"});
  EXPECT_EQ(read_text(stokes + "sides = \"no-slip\"\n" + inlet + "profile = \"parabolic\"\n").second, "");
  expect(stokes + "[[flow.inlet]]\n", {"side", "velocity", "missing"});
  expect(stokes + "[[flow.inlet]]\nside = \"x\"\nvelocity = 0\nprofile = \"2*u\"\n",
         {"flow.inlet[0].side", "flow.inlet[0].velocity", "flow.inlet[0].profile"});
  expect(inlet, {"flow.inlet", "without flow.model"});
}

TEST(FlowOptions, BodiesWithAnInlet) {
  const std::string stokes = "[flow]\nmodel = \"stokes\"\n", inlet = "[[flow.inlet]]\nside = \"-x\"\nvelocity = 1\n",
                    body = "[[flow.body]]\n";
  const auto [options, wrong] =
      read_text(stokes + inlet + body + "mineral = \"a\"\narea = 2\n" + body + "mineral = \"b\"\n");
  EXPECT_EQ(wrong, "");
  ASSERT_EQ(options.bodies.size(), 2U);
  EXPECT_EQ(options.bodies[0].name, "a");
  EXPECT_EQ(options.bodies[0].area, 2.0);
  EXPECT_EQ(read_text(stokes + inlet + body).first.bodies.at(0).name, "walls");
  const auto expect = [&](const std::string& deck, std::initializer_list<const char*> parts) {
    const std::string text = read_text(deck).second;
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << deck << " gives: " << text;
  };
  expect(stokes + inlet + body + body, {"flow.body[1].name", "walls", "twice"});
  expect(stokes + inlet + body + "mineral = \"a\"\n" + body + "name = \"all\"\n",
         {"flow.body[1].mineral", "two bodies"});
  expect(stokes + inlet + body + "speed = 2\n", {"flow.body[0].speed", "need an area"});
  expect(stokes + "drive = \"pressure-drop\"\n" + body, {"flow.body", "[[flow.inlet]]"});
}

}  // namespace
}  // namespace karst::flow_options_test
