// SPDX-License-Identifier: BSD-3-Clause
// Flow between lids, no-slip ends that slide along themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "ins/solve/steady_solver.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "ins/upscale/end_flow.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::lid_flow_test {
namespace {

constexpr double speed = 2e-3, width = 1e-5;
constexpr double single = 1e-7, of_slopes = 4e-6;  // rows hold their coefficients in single precision

FlowOptions between(std::vector<FlowLid> lids, FlowModel model = FlowModel::stokes) {
  FlowOptions options;
  options.model = model;
  options.sides = FlowWalls::no_slip;
  options.tolerance = 1e-11;
  options.axes = {0};
  options.lids = std::move(lids);
  return options;
}

Vec3 along(int d, double value) {
  Vec3 v;
  v[d] = value;
  return v;
}

/// Largest |u_e - profile(distance from the low end of direction d)| of cells whose centres lie in the fluid.
double off(const Comm& comm, const Geometry& geometry, const EndFlow& flow, int d, int e,
           const std::function<double(double)>& profile) {
  const CompositeNumbering numbering(comm, geometry);
  double worst = 0.0;
  for (std::size_t l = 0; l < geometry.levels.size(); ++l) {
    const LevelGraph& graph = geometry.levels[l].graph;
    const double h = std::ldexp(1.0, -static_cast<int>(l));
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      for_each_vof(box, [&](int vof, int cell) {
        const std::int32_t u = numbering.number(static_cast<int>(l), b, vof);
        const double at = h * (box.cells.cell(cell)[d] + 0.5);
        if (u < 0 || profile(at) <= 0.0) return;
        worst = std::max(worst, std::abs(flow.solution[u].v[e] - profile(at)));
      });
    }
  }
  return comm.max(worst);
}

// Plane Couette flow, u = U y / H and τ = μ U / H: the rows are exact for it, whatever the axes are.
TEST(LidFlow, CouetteFlowIsExactMpi) {
  const Comm comm = Comm::world();
  for (int d = 0; d < 3; ++d)
    for (const bool high : {false, true}) {
      const int e = (d + 1) % 3, height = 5;
      Index cells{16, 16, 16};
      cells[d] = height;
      std::array<bool, 3> periodic{true, true, true};
      periodic[d] = false;
      const Geometry geometry =
          build_geometry(comm, test::flow_grid(cells, periodic, 8),
                         test::DistanceFunction([](const Vec3&) { return 1e3; }), KeepPores::connected);
      const FlowOptions options = between({{side_of(d, high), along(e, speed)}});
      EXPECT_TRUE(end_mistakes(options, geometry, width).empty());
      const EndFlow flow = solve_end_flow(test::composite_on(comm, geometry), options, {}, {width, 1.0, 0.0});
      const auto profile = [&](double y) { return speed * (high ? y : height - y) / height; };
      EXPECT_LT(off(comm, geometry, flow, d, e, profile), single * speed);
      const double area = 256.0 * width * width, stress = 1e-3 * speed / (height * width);
      EXPECT_NEAR(flow.drags.at(0).force[e] / (-stress * area), 1.0, of_slopes);
      EXPECT_NEAR(flow.drags[0].area / area, 1.0, 1e-12);
      EXPECT_NEAR(flow.darcy_velocity[e] / (0.5 * speed), 1.0, single);
    }
}

// Two lids in opposite directions; a solid plane that ends between cell centres; a refined strip.
TEST(LidFlow, LinesBetweenOtherWallsAreExact) {
  const Comm comm = Comm::self();
  const auto plane = [](double level) {
    return test::DistanceFunction([level](const Vec3& x) { return x[1] - level; });
  };
  const GridOptions grid = test::flow_grid({8, 16, 8}, {true, false, true}, 8);
  const Geometry open = build_geometry(comm, grid, plane(-10.0), KeepPores::connected);
  const EndFlow both =
      solve_end_flow(test::composite_on(comm, open), between({{3, along(0, speed)}, {2, along(0, -0.5 * speed)}}), {},
                     {width, 1.0, 0.0});
  const auto line = [](double y) { return speed * (1.5 * y / 16.0 - 0.5); };
  EXPECT_LT(off(comm, open, both, 1, 0, line), single * speed);
  EXPECT_NEAR(both.drags[0].force[0] / both.drags[1].force[0], -1.0, of_slopes);

  const double level = 2.3;
  const auto over_plane = [&](double y) { return speed * (y - level) / (16.0 - level); };
  const GridOptions refined = test::refined_in(grid, 1, {0.0, 8.0, 0.0}, {8.0, 16.0, 8.0});
  for (const GridOptions& one : {grid, refined}) {
    const Geometry geometry = build_geometry(comm, one, plane(level), KeepPores::connected);
    FlowOptions options = between({{3, along(0, speed)}});
    options.bodies = {{"plane", "", 0.0, 0.0}};
    const EndFlow flow = solve_end_flow(test::composite_on(comm, geometry), options, {}, {width, 1.0, 0.0});
    EXPECT_LT(off(comm, geometry, flow, 1, 0, over_plane), single * speed);
    const double friction = 1e-3 * speed / (16.0 - level) * 64.0 * width;
    EXPECT_NEAR(flow.drags[0].force[0] / -friction, 1.0, of_slopes);
    EXPECT_NEAR(flow.forces.at(0).total()[0] / friction, 1.0, single);
  }
}

// The flow in a cavity turns with its lid, and its forces with it.
TEST(LidFlow, CavityTurnsWithItsLid) {
  const Comm comm = Comm::self();
  std::vector<double> drag, fastest;
  for (int d = 0; d < 3; ++d)
    for (const bool high : {false, true}) {
      const int e = (d + 1) % 3;
      Index cells = Index::all(12);
      cells[(d + 2) % 3] = 1;
      std::array<bool, 3> periodic{};
      periodic[(d + 2) % 3] = true;
      const Geometry geometry =
          build_geometry(comm, test::flow_grid(cells, periodic),
                         test::DistanceFunction([](const Vec3&) { return 1e3; }), KeepPores::connected);
      const FlowOptions options = between({{side_of(d, high), along(e, high ? speed : -speed)}}, FlowModel::steady);
      const FluidOptions fluid{1e-3, 50.0 * 1e-3 / (speed * 12 * width)};  // Re 50
      const EndFlow flow = solve_end_flow(test::composite_on(comm, geometry), options, fluid, {width, 1.0, 0.0});
      drag.push_back(std::abs(flow.drags.at(0).force[e]));
      fastest.push_back(flow.largest_speed);
      EXPECT_LT(norm(flow.darcy_velocity), 1e-10 * speed);
      EXPECT_LT(flow.divergence, 1e-9);
    }
  for (std::size_t i = 1; i < drag.size(); ++i) {
    EXPECT_NEAR(drag[i] / drag[0], 1.0, 1e-8);
    EXPECT_NEAR(fastest[i] / fastest[0], 1.0, 1e-8);
  }
}

/// A lid on +y that moves along x with a speed of 1.
StokesDrive lid_drive() {
  StokesDrive drive;
  drive.of_wall[3] = {1.0, 0.0, 0.0};
  return drive;
}

StokesSolver within_walls(const Comm& comm, const Geometry& geometry) {
  FlowSides sides;
  sides.fill(FlowSide::no_slip);
  return {test::composite_on(comm, geometry), sides, test::stokes_options(1e-9)};
}

// Couette flow from rest: its flow rate per height is 1/2 - Σ 4 / (n π)² exp(-(n π)² ν t / H²) over odd n. Errors once
// more with twice the cells and half the steps; and with cells of half the width in the half of the height beside the
// lid, where the flow is fast.
TEST(LidFlow, CouetteFlowStartsUpInSecondOrderAloneByDay) {
  const Comm comm = Comm::world();
  const auto error = [&](int n, bool refined = false) {
    GridOptions grid = test::flow_grid({8, 8 * n, 1}, {true, false, true});
    if (refined) grid = test::refined_in(grid, 1, {0.0, 4.0 * n, 0.0}, {8.0, 8.0 * n, 1.0});
    const Geometry geometry =
        build_geometry(comm, grid, test::DistanceFunction([](const Vec3&) { return 1e3; }), KeepPores::connected);
    StokesSolver stokes = within_walls(comm, geometry);
    UnsteadySolver flow(
        stokes, geometry, [](double) { return lid_drive(); }, lid_drive(), TimeScheme::sdirk2);
    double worst = 0.0;
    for (int i = 0; i < 8 * n; ++i) {
      const StepReport step = flow.step(0.02 * 64.0 * n);
      double exact = 0.5;
      for (int k = 1; k < 200; k += 2)
        exact -= 4.0 / std::pow(k * std::numbers::pi, 2) *
                 std::exp(-std::pow(k * std::numbers::pi / (8.0 * n), 2) * step.time);
      if (step.time > 0.05 * 64.0 * n * n) worst = std::max(worst, std::abs(step.velocity[0] - exact));
    }
    return worst;
  };
  const double coarse = error(2), fine = error(4), refined = error(2, true);
  EXPECT_LT(fine, 1e-3);
  EXPECT_GT(std::log2(coarse / fine), 1.8);
  EXPECT_LT(refined, 0.65 * coarse);  // 0.60: the steps are as long
}

// A lid that sets in ends in the flow that Newton's method finds (Re 50), whatever the steps are.
TEST(LidFlow, CavityInTimeEndsInTheSteadyFlowAloneByDay) {
  const Comm comm = Comm::world();
  constexpr double inertia = 50.0 / 12.0;
  const Geometry geometry =
      build_geometry(comm, test::flow_grid({12, 12, 1}, {false, false, true}),
                     test::DistanceFunction([](const Vec3&) { return 1e3; }), KeepPores::connected);
  StokesSolver stokes = within_walls(comm, geometry);
  UnsteadySolver flow(
      stokes, geometry, [](double) { return lid_drive(); }, lid_drive(), TimeScheme::bdf2, inertia);
  for (int i = 0; i < 400; ++i) flow.step(0.3);
  const std::vector<Quad> at_end(stokes.solution().begin(), stokes.solution().end());
  SteadyOptions to_the_end;
  to_the_end.tolerance = 1e-9;
  SteadySolver steady(stokes, to_the_end);
  stokes.solve(lid_drive());
  ASSERT_TRUE(steady.solve(lid_drive(), inertia).converged);
  double off = 0.0, fastest = 0.0;
  for (std::size_t i = 0; i < at_end.size(); ++i)
    for (std::size_t d = 0; d < 3; ++d) {
      off = std::max(off, std::abs(at_end[i].v[d] - stokes.solution()[i].v[d]));
      fastest = std::max(fastest, std::abs(at_end[i].v[d]));
    }
  EXPECT_LT(comm.max(off), 1e-6);
  EXPECT_GT(comm.max(fastest), 0.5);
}

TEST(LidFlow, SaysWhatCannotBe) {
  const Comm comm = Comm::self();
  const Geometry geometry =
      build_geometry(comm, test::flow_grid({8, 8, 1}, {false, false, true}),
                     test::DistanceFunction([](const Vec3&) { return 1e3; }), KeepPores::connected);
  const auto found = end_mistakes(between({{5, along(0, speed)}}), geometry, width);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("periodic along z"), std::string::npos) << found[0];
}

}  // namespace
}  // namespace karst::lid_flow_test
