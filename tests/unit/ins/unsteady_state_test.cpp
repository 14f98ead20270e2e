// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>

#include <deque>
#include <tuple>
#include <utility>

#include "base/core/error.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::unsteady_state_test {
namespace {

using test::flow_grid;

/// A packing, pushed by a force that changes with time, and where it has ends along x from an inlet; steps of changing
/// length.
struct FlowRun {
  FlowRun(const Comm& comm, const GridOptions& grid, TimeScheme scheme, double inertia)
      : geometry(build_geometry(comm, grid, *test::packing(40, 3.2, 16, true), KeepPores::connected)),
        stokes(test::composite_on(comm, geometry), {FlowSide::velocity, FlowSide::outlet}, options()),
        flow(stokes, geometry, force, force(0.0), scheme, inertia) {}
  static StokesOptions options() {
    StokesOptions o;
    o.krylov.tolerance = 1e-6;
    return o;
  }
  static StokesDrive force(double t) {
    StokesDrive drive;
    drive.force = {std::cos(3.0 * t), 0.5, 0.0};
    drive.at_end[0] = 0.1 * std::cos(3.0 * t);
    return drive;
  }
  void steps(int begin, int end) {
    // The second differs by round-off from the first, the fifth is more than twice as long as the one before it. The
    // fourth begins with a parabola through three flows.
    constexpr std::array<double, 7> dt{0.1, 0.1 * (1.0 + 1e-13), 0.13, 0.15, 0.5, 0.5, 0.3};
    for (int i = begin; i < end; ++i) last = flow.step(dt[i]);
  }
  Geometry geometry;
  StokesSolver stokes;
  UnsteadySolver flow;
  StepReport last;
};

/// Grid, scheme and inertia of a run, which goes on with the same bits after each kind of step.
void expect_same_bits(const Comm& comm, const GridOptions& grid, TimeScheme scheme, double inertia) {
  FlowRun whole(comm, grid, scheme, inertia);
  int done = 0;
  std::deque<std::pair<int, FlowRun>> all;
  for (const int stop : {1, 3, 5}) {
    whole.steps(done, stop);
    done = stop;
    all.emplace_back(std::piecewise_construct, std::forward_as_tuple(stop),
                     std::forward_as_tuple(comm, grid, scheme, inertia));
    all.back().second.flow.go_on(whole.flow.state());
  }
  whole.steps(done, 7);
  for (auto& [stop, rest] : all) {
    rest.steps(stop, 7);
    EXPECT_EQ(rest.flow.time(), whole.flow.time());
    EXPECT_EQ(rest.flow.outflow(), whole.flow.outflow());
    EXPECT_EQ(rest.last.energy.dissipation, whole.last.energy.dissipation);
    EXPECT_EQ(rest.last.iterations, whole.last.iterations);
    for (std::size_t v = 0; v < whole.stokes.all_values().size(); ++v)
      ASSERT_EQ(rest.stokes.all_values()[v].v, whole.stokes.all_values()[v].v) << "from step " << stop;
  }
}

GridOptions cells(bool periodic) { return flow_grid(Index::all(16), {periodic, true, true}, 8); }
GridOptions two_levels(bool periodic) { return test::refined_in(cells(periodic), 1, {4, 0, 0}, {8, 8, 8}); }

TEST(UnsteadyState, GoesOnWithTheSameBitsMpi) {
  const Comm comm = Comm::world();
  expect_same_bits(comm, cells(true), TimeScheme::sdirk2, 0.0);
  expect_same_bits(comm, two_levels(false), TimeScheme::bdf2, 2.0);  // from an inlet
}

TEST(UnsteadyState, GoesOnWithTheSameBitsMpiAtNight) {
  const Comm comm = Comm::world();
  expect_same_bits(comm, cells(true), TimeScheme::bdf2, 2.0);
  expect_same_bits(comm, two_levels(true), TimeScheme::bdf2, 0.0);
  expect_same_bits(comm, two_levels(true), TimeScheme::bdf2, 2.0);
}

// Where more is carried than drives, that is what residuals refer to: a reference ten times the drive changes nothing,
// once a step has carried.
TEST(UnsteadyState, WhatIsCarriedSetsTheTolerance) {
  const Comm comm = Comm::self();
  const Geometry geometry = build_geometry(comm, flow_grid(Index::all(16), {true, true, true}, 8),
                                           *test::packing(40, 3.2, 16, true), KeepPores::connected);
  const auto drive_of = [](double f) {
    StokesDrive drive;
    drive.force = {f, 0.0, 0.0};
    return drive;
  };
  const auto drive_at = [&](double) { return drive_of(1.0); };
  StokesSolver stokes(test::composite_on(comm, geometry), {}, FlowRun::options()),
      other(test::composite_on(comm, geometry), {}, FlowRun::options());
  UnsteadySolver flow(stokes, geometry, drive_at, drive_of(1.0), TimeScheme::bdf2, 1e4),
      loose(other, geometry, drive_at, drive_of(10.0), TimeScheme::bdf2, 1e4);
  stokes.solve(drive_of(1.0), "start");
  flow.begin_here(drive_of(1.0));
  for (int i = 0; i < 2; ++i) flow.step(1e-4);
  loose.go_on(flow.state());
  const StepReport one = flow.step(1e-4), two = loose.step(1e-4);
  EXPECT_EQ(one.iterations, two.iterations);
  EXPECT_EQ(one.kinetic_energy, two.kinetic_energy);
}

TEST(UnsteadyState, AnotherFlowIsRefused) {
  const Comm comm = Comm::self();
  FlowRun one(comm, flow_grid(Index::all(16), {true, true, true}, 8), TimeScheme::bdf2, 0.0);
  FlowRun other(comm, flow_grid({16, 16, 8}, {true, true, true}, 8), TimeScheme::bdf2, 0.0);
  EXPECT_THROW(other.flow.go_on(one.flow.state()), Error);
}

}  // namespace
}  // namespace karst::unsteady_state_test
