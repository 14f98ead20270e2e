// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/unsteady_solver.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::unsteady_solver_test {
namespace {

using test::driven_by;
using test::flow_grid;
using test::stokes_options;

/// Rest, then a force cos(ω t) along plates `width` apart: flow rate per height, by the series of what decays
/// (-u'' = λ u, λ = (n π / width)²). ω = 0: start-up.
double plates(double width, double omega, double t) {
  double sum = 0.0;
  for (int n = 1; n < 200; n += 2) {
    const double k = n * std::numbers::pi / width, rate = k * k;
    const double mode = rate * std::cos(omega * t) + omega * std::sin(omega * t) - rate * std::exp(-rate * t);
    sum += 8.0 / (k * k * width) * mode / (rate * rate + omega * omega);
  }
  return sum;
}

struct Plates {
  test::Channel channel;
  double width, omega;
  int steps;        // per `span`
  double span;      // [width² / ν]
  int n_spans = 1;  // errors are those of the last one
  TimeScheme scheme = TimeScheme::bdf2;
};

/// Largest error of the flow rate, over the largest flow rate.
double error_of(const Comm& comm, const Plates& p, const GridOptions& grid) {
  const Geometry geometry = build_geometry(comm, grid, *p.channel.level_set(), KeepPores::all);
  StokesSolver stokes(test::composite_on(comm, geometry), {}, stokes_options(1e-7));
  const Vec3 axis = p.channel.along();
  UnsteadySolver flow(
      stokes, geometry, [&](double t) { return driven_by(std::cos(p.omega * t) * axis); }, driven_by(axis), p.scheme);
  double error = 0.0, largest = 0.0;
  for (int i = 0; i < p.steps * p.n_spans; ++i) {
    const StepReport r = flow.step(p.span * p.width * p.width / p.steps);
    const double exact = plates(p.width, p.omega, r.time);
    EXPECT_LT(r.divergence, 1e-5);
    double speed = 0.0;  // of what is solved for: not of what lies under a finer level
    for (const Quad& q : stokes.solution()) speed = std::max(speed, norm(Vec3{q.v[0], q.v[1], q.v[2]}));
    EXPECT_NEAR(r.largest_speed, comm.max(speed), 1e-12 * r.largest_speed);
    if (i < p.steps * (p.n_spans - 1)) continue;
    error = std::max(error, std::abs(p.channel.rate(r.velocity) / p.channel.cells()[2] - exact));
    largest = std::max(largest, std::abs(exact));
  }
  return error / largest;
}
double error_of(const Comm& comm, const Plates& p) { return error_of(comm, p, flow_grid(p.channel.cells())); }

test::Channel slit(int x, int y, double width, double offset, int height) {
  return {x, y, 4, [=](double a, double) { return 0.5 * width - std::abs(a); }, offset, height};
}

// N11: a sudden force, plates along the grid (cells halved twice) and at 17 degrees (cells and steps halved).
TEST(UnsteadySolver, StartUpBetweenPlates) {
  const Comm comm = Comm::self();
  const auto aligned = [&](int n) {
    return error_of(comm, {slit(4, 0, 5.4 * n, 0.303, 8 * n), 5.4 * n, 0.0, 16, 0.08, 2, TimeScheme::sdirk2});
  };
  const double coarse = aligned(2), fine = aligned(8);
  EXPECT_LT(fine, 2e-4);
  EXPECT_GT(0.5 * std::log2(coarse / fine), 1.9);
  const auto inclined = [&](int n) {
    return error_of(comm, {slit(20 * n, 6 * n, 5.4 * n, 0.303 * n, 0), 5.4 * n, 0.0, 8 * n, 0.08, 2});
  };
  const double wide = inclined(1), narrow = inclined(2);
  EXPECT_LT(narrow, 0.0025);
  EXPECT_GT(std::log2(wide / narrow), 1.7);
}

/// `periods` of a force of period 2 π / ω, of which the last one counts.
Plates oscillating(int n, double width, double womersley, int steps, int periods) {
  const double times = 2.0 * womersley / width;
  return {slit(4, 0, width, 0.137 * n, 8 * n),
          width,
          times * times,
          steps,
          0.5 * std::numbers::pi / (womersley * womersley),
          periods};
}

// N11: Womersley numbers (width / 2 √(ω / ν)) of 1 and 10.
void expect_oscillations_of_second_order(double womersley) {
  std::array<double, 2> error{};
  for (const int n : {2, 4}) error[n == 4] = error_of(Comm::self(), oscillating(n, 7.7 * n, womersley, 12 * n, 2));
  EXPECT_LT(error[1], 0.0075);
  EXPECT_GT(std::log2(error[0] / error[1]), 1.9);
}
TEST(UnsteadySolver, SlowlyOscillatingFlowBetweenPlatesAtNight) { expect_oscillations_of_second_order(1.0); }
TEST(UnsteadySolver, OscillatingFlowBetweenPlates) {
  const Comm comm = Comm::self();
  expect_oscillations_of_second_order(10.0);
  Plates p = oscillating(4, 31.7, 10.0, 25, 1);  // 32 cells, 25 steps of two stages for 50 of one
  p.scheme = TimeScheme::sdirk2;
  EXPECT_LT(error_of(comm, p), 0.0025);
}

// Order 2 in time alone: the flow after a period from rest, each time in half as long steps.
TEST(UnsteadySolver, SecondOrderInTime) {
  const Comm comm = Comm::self();
  for (const TimeScheme scheme : {TimeScheme::bdf2, TimeScheme::sdirk2}) {
    Plates p = oscillating(1, 7.7, 3.0, 0, 1);
    p.span *= 0.8;
    const Geometry geometry =
        build_geometry(comm, flow_grid(p.channel.cells()), *p.channel.level_set(), KeepPores::all);
    StokesSolver stokes(test::composite_on(comm, geometry), {}, stokes_options(1e-10));
    std::array<double, 3> rate{};
    for (const std::size_t i : {0U, 1U, 2U}) {
      const int steps = 20 << i;
      UnsteadySolver flow(
          stokes, geometry,
          [&](double t) {
            return driven_by({std::cos(p.omega * t), 0, 0});
          },
          driven_by({1, 0, 0}), scheme);
      for (int step = 0; step < steps; ++step) rate[i] = flow.step(p.span * p.width * p.width / steps).velocity[0];
    }
    EXPECT_NEAR(std::log2((rate[1] - rate[0]) / (rate[2] - rate[1])), 2.0, 0.15);
  }
}

// N10: one huge step from rest is the steady solver, and the steady flow does not depend on dt.
TEST(UnsteadySolver, SteadyFlowDoesNotDependOnTheStep) {
  const Comm comm = Comm::self();
  const Geometry geometry =
      build_geometry(comm, flow_grid(Index::all(16)), *test::packing(40, 3.2, 16, true), KeepPores::connected);
  const auto drive = [](double) { return driven_by({1, 0.5, 0}); };
  StokesSolver stokes(test::composite_on(comm, geometry), {}, stokes_options(1e-10));
  const StokesReport steady = stokes.solve(drive(0.0));
  for (const auto& [dt, n] : {std::pair{1e12, 1}, {2.0, 16}, {0.3, 36}}) {
    UnsteadySolver flow(stokes, geometry, drive, drive(0.0));
    StepReport r;
    for (int i = 0; i < n; ++i) r = flow.step(dt);
    EXPECT_LT(norm(r.velocity - steady.velocity), 1e-8 * norm(steady.velocity)) << dt;
  }
}

// A step much longer than the one before it starts anew: BDF2 would carry the change of the short one on.
TEST(UnsteadySolver, StepsOfAnyLengthFollowEachOther) {
  const Comm comm = Comm::self();
  const Plates p = oscillating(1, 7.7, 1.0, 0, 1);
  const Geometry geometry = build_geometry(comm, flow_grid(p.channel.cells()), *p.channel.level_set(), KeepPores::all);
  const auto drive = [](double) { return driven_by({1, 0, 0}); };
  StokesSolver stokes(test::composite_on(comm, geometry), {}, stokes_options(1e-9));
  UnsteadySolver flow(stokes, geometry, drive, drive(0.0));
  const double square = p.width * p.width;
  for (const double dt : {0.02, 0.01, 1e-6, 0.03, 0.015}) {  // [width² / ν]
    const StepReport r = flow.step(dt * square);
    EXPECT_NEAR(p.channel.rate(r.velocity) / 4.0 / plates(p.width, 0.0, r.time), 1.0, 0.02) << dt;
  }
  EXPECT_NEAR(p.channel.rate(flow.step(1e9).velocity) / 4.0 * 12.0 / std::pow(p.width, 3), 1.0, 1e-6);
  EXPECT_THROW(flow.step(0.0), Error);
}

// The preconditioner follows the length of the step: 10 to 15 iterations to 1e-6 from nothing at any
// (docs/decisions/025).
TEST(UnsteadySolver, IterationsDoNotDependOnTheStep) {
  const Comm comm = Comm::self();
  const Geometry geometry =
      build_geometry(comm, flow_grid(Index::all(16)), *test::packing(40, 3.2, 16, true), KeepPores::connected);
  StokesSolver stokes(test::composite_on(comm, geometry), {}, stokes_options(1e-6));
  const StokesDrive drive = driven_by({1, 0, 0});
  for (const double dt : {1e6, 1e-2, 1.0, 1e3, 1e-3}) {  // [h0² / ν]
    UnsteadySolver flow(
        stokes, geometry, [&](double) { return drive; }, drive);
    EXPECT_LE(flow.step(dt).iterations, 30) << dt;  // of two stages; at most 27
  }
}

TEST(UnsteadySolver, AFailedStepLeavesTheFlow) {
  const Comm comm = Comm::self();
  const Geometry geometry = test::sphere_array(comm, 0.343, 16);
  StokesOptions few = stokes_options(1e-10);
  few.krylov.max_iterations = 12;
  StokesSolver stokes(test::composite_on(comm, geometry), {}, few);
  const auto drive = [](double t) { return driven_by({t < 0.5 ? 1e-7 : 1.0, 0, 0}); };
  UnsteadySolver flow(stokes, geometry, drive, driven_by({1e-4, 0, 0}));
  flow.step(0.1);
  const std::vector<Quad> before(stokes.solution().begin(), stokes.solution().end());
  EXPECT_THROW(flow.step(1.0), Error);
  EXPECT_EQ(flow.time(), 0.1);
  for (std::size_t v = 0; v < before.size(); ++v) ASSERT_EQ(stokes.solution()[v].v, before[v].v);
}

TEST(UnsteadySolver, SameFlowForBoxesAndRanksMpiAtNight) {
  const Comm comm = Comm::world();
  const auto phi = test::packing(40, 3.2, 16, true);
  const auto flow = [&](const Comm& here, int box) {
    const Geometry geometry =
        build_geometry(here, flow_grid(Index::all(16), {true, true, true}, box), *phi, KeepPores::connected);
    StokesSolver stokes(test::composite_on(here, geometry), {}, stokes_options(1e-10));
    const auto drive = [](double) { return driven_by({1, 0.5, 0}); };
    UnsteadySolver steps(stokes, geometry, drive, drive(0.0));
    steps.step(0.1);
    return steps.step(0.1);
  };
  const StepReport alone = flow(Comm::self(), 8), together = flow(comm, 8), one_box = flow(Comm::self(), 16);
  for (const StepReport& r : {together, one_box}) {
    EXPECT_LT(norm(r.velocity - alone.velocity), 1e-9 * norm(alone.velocity));
    EXPECT_NEAR(r.kinetic_energy, alone.kinetic_energy, 1e-9 * alone.kinetic_energy);
    EXPECT_NEAR(r.energy.dissipation, alone.energy.dissipation, 1e-9 * alone.energy.dissipation);
  }
}

// A slab across the plates twice as fine: as near to the exact flow as the coarse grid.
TEST(UnsteadySolver, StartUpOnTwoLevelsMpi) {
  const Comm comm = Comm::world();
  const double width = 6.3;
  const Plates p{{16, 0, 8, [=](double a, double) { return 0.5 * width - std::abs(a); }, 0.13, 8}, width, 0.0, 6, 0.16};
  const GridOptions plain = flow_grid(p.channel.cells());
  EXPECT_LT(error_of(comm, p, plain), 0.006);
  EXPECT_LT(error_of(comm, p, test::refined_in(plain, 1, {4, 0, 0}, {8, 8, 8})), 0.006);
}

// d/dt (kinetic energy) = power of the force - dissipation, between plates half way to the steady flow.
TEST(UnsteadySolver, EnergyIsBalanced) {
  const Comm comm = Comm::self();
  for (const auto& [n, most] : {std::pair{1, 0.015}, {4, 0.001}}) {
    const Plates p = oscillating(n, 7.7 * n, 1.0, 0, 1);
    const double dt = 0.02 / n * p.width * p.width;
    const Geometry geometry =
        build_geometry(comm, flow_grid(p.channel.cells()), *p.channel.level_set(), KeepPores::all);
    StokesSolver stokes(test::composite_on(comm, geometry), {}, stokes_options(1e-9));
    const auto drive = [](double) { return driven_by({1, 0, 0}); };
    UnsteadySolver flow(stokes, geometry, drive, drive(0.0));
    std::array<double, 3> energy{};
    StepReport r;
    for (int i = 0; i < 5 * n; ++i) {
      r = flow.step(dt);
      energy = {energy[1], energy[2], r.kinetic_energy};
    }
    const double change = (1.5 * energy[2] - 2.0 * energy[1] + 0.5 * energy[0]) / dt, power = r.velocity[0];
    EXPECT_GT(change, 0.3 * power);
    EXPECT_NEAR((change + r.energy.dissipation) / power, 1.0, most) << n;
  }
}

}  // namespace
}  // namespace karst::unsteady_solver_test
