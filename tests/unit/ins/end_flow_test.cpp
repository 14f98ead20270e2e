// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/end_flow.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::end_flow_test {
namespace {

FlowOptions from(int side, const std::string& profile = "uniform") {
  FlowOptions options;
  options.model = FlowModel::stokes;
  options.sides = FlowWalls::no_slip;
  options.tolerance = 1e-10;
  options.axes = {side / 2};
  options.inlets = {{side, 1.2e-3, profile}};
  return options;
}

Geometry channel(const Comm& comm, const Index& cells, const test::DistanceFunction::Function& phi) {
  return build_geometry(comm, test::flow_grid(cells, {false, false, true}), test::DistanceFunction(phi),
                        KeepPores::connected);
}

// Benchmark II of S. Molins et al., Comput. Geosci. 25 (2021) 1285: channel of 1 mm x 0.5 mm, disc of radius 0.1 mm,
// inlet 1.2 mm/s. Largest speed by quadratic finite elements fitted to the disc, with inertia (Re 0.6): 2.9279 mm/s.
TEST(EndFlow, DiscInAChannelMpi) {
  const Comm comm = Comm::world();
  const double h = 1e-3 / 64;
  const Geometry geometry =
      channel(comm, {64, 32, 1}, [](const Vec3& x) { return std::hypot(x[0] - 32.0, x[1] - 16.0) - 6.4; });
  const EndFlow flow = solve_end_flow(test::composite_on(comm, geometry), from(0), {}, {h, 0.937, 1257.0});
  // The fastest place lies up to half a cell beside a cell centre, in a gap of 9.6 cells: (0.5 / 4.8)².
  EXPECT_NEAR(flow.largest_speed / 2.9279e-3, 1.0, 0.011);
  EXPECT_NEAR(flow.flow_rate / (1.2e-3 * 0.5e-3 * h), 1.0, 1e-9);
  EXPECT_LT(flow.imbalance, 1e-8);
  EXPECT_LT(flow.divergence, 1e-8);
  EXPECT_NEAR(flow.darcy_velocity[0] / 1.2e-3, 1.0, 1e-8);
  EXPECT_LE(flow.iterations, 60);
}

// A parabola comes in at either end: Δp = 12 μ U L / H².
TEST(EndFlow, PressureDropOfAParabola) {
  const Comm comm = Comm::self();
  const double h = 1e-5;
  const Geometry geometry = channel(comm, {12, 6, 1}, [](const Vec3&) { return 1e3; });
  for (const char* profile : {"6*y/6e-5*(1-y/6e-5)", "parabolic"})
    for (const int side : {0, 1}) {
      const EndFlow flow = solve_end_flow(test::composite_on(comm, geometry), from(side, profile), {}, {h, 1.0, 0.0});
      EXPECT_NEAR(flow.pressure_drop / (12.0 * 1e-3 * 1.2e-3 * 12 * h / std::pow(6 * h, 2)), 1.0, 1e-6);
      EXPECT_NEAR(flow.flow_rate / (1.2e-3 * 6 * h * h), 1.0, 1e-9);
      EXPECT_NEAR(flow.darcy_velocity[0], side == 0 ? 1.2e-3 : -1.2e-3, 1e-11);
    }
}

// Plates of 2 and 3 of 12 cells, and of 2.3 and 3.1, cover a part of the inlet: the velocity is the mean over what is
// open. The parabola between the ends of the domain has a mean of 1.23 and 1.24 there.
TEST(EndFlow, TheMeanIsThatOfTheOpenPartOfTheInletMpi) {
  const Comm comm = Comm::world();
  const double h = 1e-5;
  for (const auto& [low, high] : {std::pair{2.0, 9.0}, {2.3, 8.9}}) {
    const Geometry geometry =
        channel(comm, {12, 12, 1}, [low, high](const Vec3& x) { return std::min(x[1] - low, high - x[1]); });
    for (const char* profile : {"uniform", "parabolic"}) {
      const EndFlow flow = solve_end_flow(test::composite_on(comm, geometry), from(0, profile), {}, {h, 1.0, 0.0});
      EXPECT_NEAR(flow.open_area / ((high - low) * h * h), 1.0, 1e-6) << profile;
      EXPECT_NEAR(flow.flow_rate / (1.2e-3 * (high - low) * h * h), 1.0, 1e-6) << profile;
    }
  }
}

// Units: twice the viscosity and twice the velocity at the same Reynolds number are the same flow, with four times the
// forces; with the density they fall back into creeping flow.
TEST(EndFlow, ForcesDependOnTheReynoldsNumberAlone) {
  const Comm comm = Comm::self();
  const Geometry geometry =
      channel(comm, {48, 24, 1}, [](const Vec3& x) { return std::hypot(x[0] - 16.0, x[1] - 11.6) - 4.0; });
  const auto solve = [&](FlowModel model, double density, double factor) {
    FlowOptions options = from(0, "parabolic");
    options.model = model;
    options.inlets[0].velocity *= factor;
    options.bodies = {{"disc", "", 0.0, 8e-5 * 1e-5}};
    const FluidOptions fluid{1e-3 * factor, density};
    const EndFlow flow = solve_end_flow(test::composite_on(comm, geometry), options, fluid, {1e-5, 1.0, 0.0});
    return std::pair(flow.forces.at(0), force_coefficients(flow.forces[0].total(), options.bodies[0], options, fluid));
  };
  const auto [one, c_one] = solve(FlowModel::steady, 5e4, 1.0);  // ρ U D / μ = 4.8
  const auto [two, c_two] = solve(FlowModel::steady, 5e4, 2.0);
  const auto [slow, c_slow] = solve(FlowModel::stokes, 5e4, 1.0);
  const auto [light, c_light] = solve(FlowModel::steady, 1e-3, 1.0);
  for (int d = 0; d < 2; ++d) {
    EXPECT_NEAR(two.pressure[d], 4.0 * one.pressure[d], 1e-7 * two.pressure[0]);
    EXPECT_NEAR(two.friction[d], 4.0 * one.friction[d], 1e-7 * two.pressure[0]);
    EXPECT_NEAR((*c_two)[d], (*c_one)[d], 1e-7 * (*c_one)[0]);
    EXPECT_NEAR(light.total()[d], slow.total()[d], 1e-6 * slow.total()[0]);
  }
  EXPECT_GT(one.total()[0], 1.03 * slow.total()[0]);
}

TEST(EndFlow, SaysWhatCannotBe) {
  const Comm comm = Comm::self();
  const auto expect = [&](const Geometry& geometry, const FlowOptions& options,
                          std::initializer_list<const char*> parts) {
    std::string text;
    for (const std::string& one : end_mistakes(options, geometry, 1.0)) text += one + '\n';
    for (const char* part : parts) EXPECT_NE(text.find(part), std::string::npos) << part << " is not in: " << text;
    EXPECT_EQ(text.empty(), parts.size() == 0) << text;
  };
  const Geometry open = channel(comm, {12, 8, 1}, [](const Vec3&) { return 1e3; });
  expect(open, from(0), {});
  expect(open, from(5), {"flow.inlet", "\"+z\"", "periodic along z"});
  expect(open, from(0, "1/(y-3.5)"), {"profile", "no finite value", "3.5"});
  expect(open, from(0, "y-4"), {"profile", "\"y-4\" is 0 on average", "-x"});
  expect(open, from(0, "sin(2*_pi*y/8)"), {"profile", "is 0 on average", "-x"});  // a sum of 1e-16
  expect(open, from(0, "-1"), {"profile", "negative on average"});
  const Geometry half = channel(comm, {12, 8, 1}, [](const Vec3& x) { return x[1] - 4.0; });
  expect(half, from(0, "y-4.5"), {});  // below 0 on average, but not where the inlet is open
  FlowOptions with_body = from(0);
  with_body.bodies = {{"disc", "calcite", 0.0, 0.0}};
  expect(open, with_body, {"flow.body", "\"calcite\" has no wall here", "\"solid\""});
  const Geometry closed = channel(comm, {12, 8, 1}, [](const Vec3& x) { return std::abs(x[0] - 6.0) - 2.0; });
  expect(closed, from(1), {"flow.inlet", "no pore leads from the inlet on +x"});
  const Geometry below = channel(comm, {12, 8, 1}, [](const Vec3& x) { return 4.0 - x[1]; });
  try {
    solve_end_flow(test::composite_on(comm, below), from(0, "y > 5 ? 3 : 0"), {}, {1.0, 1.0, 0.0});
    ADD_FAILURE() << "an inlet that is closed where its profile is not 0";
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("mean of 0 over the open part"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace karst::end_flow_test
