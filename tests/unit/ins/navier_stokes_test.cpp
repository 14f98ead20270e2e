// SPDX-License-Identifier: BSD-3-Clause
// Flow in time with inertia (unsteady_solver.hpp).
#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "ins/solve/flow_volumes.hpp"
#include "ins/solve/steady_solver.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/level_cases.hpp"

namespace karst::navier_stokes_test {
namespace {

using test::driven_by;
using test::stokes_options;

// Order 2 in time alone, also from one step to the next one of another length.
void expect_second_order_in_time(TimeScheme scheme) {
  const Comm comm = Comm::self();
  const Geometry geometry = test::sphere_array(comm, 0.343, 12);
  StokesSolver stokes(test::composite_on(comm, geometry), {}, stokes_options(1e-9));
  const StokesDrive drive = driven_by({1, 0, 0});
  const double u = stokes.solve(drive).velocity[0], inertia = 30.0 / (12.0 * u), end = 6.0 / (u * inertia);
  std::array<double, 3> rate{};
  for (const std::size_t i : {0U, 1U, 2U}) {
    UnsteadySolver flow(
        stokes, geometry, [&](double) { return drive; }, drive, scheme, inertia);
    const int steps = 8 << i;
    for (int s = 0; s < steps; ++s) rate[i] = flow.step((s % 4 < 2 ? 0.8 : 1.2) * end / steps).velocity[0];
  }
  EXPECT_NEAR(std::log2((rate[1] - rate[0]) / (rate[2] - rate[1])), 2.0, 0.3);
}
TEST(NavierStokes, SecondOrderInTime) { expect_second_order_in_time(TimeScheme::bdf2); }
TEST(NavierStokes, SecondOrderInTimeOfTwoStagesAtNight) { expect_second_order_in_time(TimeScheme::sdirk2); }

/// Flow at a Reynolds number of the Darcy velocity of creeping flow and the period, across an array of spheres.
struct Spheres {
  explicit Spheres(const Comm& here, double re, double tolerance, int box = 8)
      : geometry(test::sphere_array(here, 0.343, n, box)),
        stokes(test::composite_on(here, geometry), {}, stokes_options(tolerance)) {
    speed = norm(stokes.solve(drive).velocity);
    inertia = re / (n * speed);
  }
  UnsteadySolver in_time(TimeScheme scheme = TimeScheme::bdf2) {
    return {stokes, geometry, [this](double) { return drive; }, drive, scheme, inertia};
  }
  /// A step in which the flow goes so many cells on its way.
  double dt(double cells) const { return cells / (speed * inertia); }

  static constexpr int n = 12;
  Geometry geometry;
  StokesSolver stokes;
  StokesDrive drive = driven_by({1, 0.5, 0});
  double speed = 0.0, inertia = 0.0;
};

// N10, N12: from rest to the steady flow of Newton's method, in which nothing of the step is left.
TEST(NavierStokes, SteadyFlowIsThatOfNewtonAtNight) {
  struct Run {
    double re, cells;
    int steps;
    double most;
  };
  for (const Run& run : {Run{20.0, 0.8, 160, 1e-8}, {50.0, 0.8, 250, 1e-6}}) {
    Spheres s(Comm::self(), run.re, 1e-11);
    SteadyOptions newton;
    newton.tolerance = 1e-11;
    const SteadyReport steady = SteadySolver(s.stokes, newton).solve(s.drive, s.inertia);
    ASSERT_TRUE(steady.converged);
    UnsteadySolver flow = s.in_time();
    StepReport r;
    for (int i = 0; i < run.steps; ++i) r = flow.step(s.dt(run.cells));
    EXPECT_LT(norm(r.velocity - steady.flow.velocity), run.most * norm(steady.flow.velocity)) << run.re << r.cfl;
  }
}

/// Σ κ u·y over the volume of the domain; rows y in units of their level.
double work_of(StokesSolver& stokes, const Geometry& geometry, std::span<const Quad> u, std::span<const Quad> y) {
  const StokesLevels& op = stokes.op();
  const Array<float> volume = flow_volumes(op, geometry);
  double sum = 0.0;
  for (int l = 0; l < op.n_levels(); ++l)
    for (std::size_t v = op.begin(l); v < static_cast<std::size_t>(op.begin(l + 1)); ++v)
      for (std::size_t d = 0; d < 3; ++d)
        sum += double{volume[v]} / std::pow(StokesLevels::width(l), 2) * u[v].v[d] * y[v].v[d];
  return stokes.per_cell() * op.comm().sum(sum);
}

// The power of the drive on cells is that of pressure and force by an application of its own, and goes into growth,
// friction, advection and the scheme of the step to the tolerance; BDF2 with steps of two lengths, two stages; one and
// two levels. What is carried makes and takes next to nothing in a periodic sample, whatever the step: 1e-5 of the
// power, 1.2e-3 where levels meet.
void expect_balanced_energy(bool two_levels, TimeScheme scheme) {
  const Comm comm = Comm::world();
  constexpr int n = 16;
  const GridOptions grid = test::flow_grid(Index::all(n), {true, true, true}, 8),
                    cells = two_levels ? test::refined_in(grid, 1, {0, 0, 0}, {10, 18, 18}) : grid;
  const Geometry geometry = build_geometry(comm, cells, *test::one_sphere(0.343, n), KeepPores::all);
  StokesSolver stokes(test::composite_on(comm, geometry), {}, stokes_options(1e-11));
  const StokesDrive drive = driven_by({1, 0.5, 0});
  const double speed = norm(stokes.solve(drive).velocity), inertia = 20.0 / (n * speed);
  UnsteadySolver flow(
      stokes, geometry, [&](double) { return drive; }, drive, scheme, inertia);
  StepReport r;
  for (const double dt : {0.5, 0.5, 0.8}) r = flow.step(dt);
  const std::vector<Quad> u(stokes.all_values().begin(), stokes.all_values().end());
  for (Quad& q : stokes.all_values()) q.v[0] = q.v[1] = q.v[2] = 0.0;
  std::vector<Quad> force(u.size());
  stokes.residual(drive, force);  // f - ∇p
  const EnergyRates& e = r.energy;
  const double power = dot(drive.force, r.velocity), work = work_of(stokes, geometry, u, force);
  EXPECT_NEAR(e.work, work, 1e-9 * power);
  EXPECT_NEAR(e.growth + e.time_scheme + e.dissipation + e.advection, work, 1e-8 * power);
  EXPECT_NEAR(e.advection, 0.0, (geometry.levels.size() == 1 ? 2e-5 : 2e-3) * power);
  EXPECT_NEAR(e.work, power, 0.1 * power);
  EXPECT_GT(e.growth, 0.05 * power);
  EXPECT_GT(std::abs(e.time_scheme), 1e-4 * power);
}
TEST(NavierStokes, EnergyOfAStepIsBalancedAloneByDay) {
  expect_balanced_energy(false, TimeScheme::bdf2);
  expect_balanced_energy(true, TimeScheme::sdirk2);
}
TEST(NavierStokes, EnergyOfAStepIsBalancedMpiAtNight) {
  expect_balanced_energy(false, TimeScheme::sdirk2);
  expect_balanced_energy(true, TimeScheme::bdf2);
}

/// 27 spheres that nearly touch, on 24³ cells, with cells of half the width from the origin to this corner.
Geometry irregular_array(std::uint64_t seed, const Vec3& finer) {
  constexpr int n = 24;
  test::Random random(seed);
  std::vector<Sphere> spheres;
  for (int i = 0; i < 27; ++i) {
    const Vec3 shift{random() - 0.5, random() - 0.5, random() - 0.5}, at{i / 9 + 0.5, i / 3 % 3 + 0.5, i % 3 + 0.5};
    spheres.push_back({n / 3.0 * at + 0.08 * n * shift, 0.14 * n});
  }
  const GridOptions grid = test::flow_grid(Index::all(n), {true, true, true}, 8);
  return build_geometry(Comm::self(), finer[0] > 0.0 ? test::refined_in(grid, 1, {0, 0, 0}, finer) : grid,
                        *make_sphere_list(spheres, {Vec3::all(n), {true, true, true}}), KeepPores::connected);
}

// Where cells do not resolve the flow at all, here at a cell Reynolds number of 300, what ends of rows of cells and the
// curvature of what carries make stays below 1 % of what friction takes, and the flow, creeping at first, loses energy;
// without bounds it has 400 times as much after 50 steps. Without theirs, faces between levels make 2 % after 10 steps.
TEST(NavierStokes, UnresolvedFlowStaysBoundedAtNight) {
  struct Run {
    Vec3 finer;
    int steps;
  };
  for (const Run& run : {Run{{}, 60}, {{8, 16, 16}, 15}}) {
    const Geometry geometry = irregular_array(7, run.finer);
    StokesSolver stokes(test::composite_on(Comm::self(), geometry), {}, stokes_options(1e-6));
    const StokesDrive drive = driven_by({1, 0, 0});
    stokes.solve(drive);
    double fastest = 0.0;
    for (const Quad& q : stokes.all_values()) fastest = std::max(fastest, norm(Vec3{q.v[0], q.v[1], q.v[2]}));
    UnsteadySolver flow(
        stokes, geometry, [&](double) { return drive; }, drive, TimeScheme::bdf2, 300.0 / fastest);
    stokes.solve(drive);
    flow.begin_here(drive);
    double energy = std::numeric_limits<double>::infinity();
    for (int i = 0; i < run.steps; ++i) {
      const StepReport r = flow.step(0.5 / flow.outflow());
      ASSERT_LT(r.kinetic_energy, energy) << run.finer[0] << i;
      ASSERT_GT(r.energy.advection, -0.01 * r.energy.dissipation) << run.finer[0] << i;
      energy = r.kinetic_energy;
    }
  }
}

// In steps that are short beside diffusion over a cell a step is a projection, with differences of pressure across each
// face alone, also between levels and along walls that cross them. (With the rates of change of their cells in place of
// those of ghosts these iterations end at residuals of 3e-4.)
TEST(NavierStokes, ShortStepsWithWallsAcrossLevelsAtNight) {
  for (const std::uint64_t seed : {7U, 9U, 14U}) {
    const Geometry geometry = irregular_array(seed, {10, 18, 18});
    StokesSolver stokes(test::composite_on(Comm::self(), geometry), {}, stokes_options(1e-6));
    const StokesDrive drive = driven_by({1, 0, 0});
    UnsteadySolver flow(
        stokes, geometry, [&](double) { return drive; }, drive, TimeScheme::bdf2, 0.0);
    EXPECT_LT(flow.step(1e-4).iterations, 100) << seed;
  }
}

// A step that would pass on too much is refused; the flow stays, and a shorter one goes on.
TEST(NavierStokes, TooLongAStepLeavesTheFlow) {
  Spheres s(Comm::self(), 20.0, 1e-6);
  UnsteadySolver flow = s.in_time();
  s.stokes.solve(s.drive);
  flow.begin_here(s.drive);
  const std::vector<Quad> before(s.stokes.solution().begin(), s.stokes.solution().end());
  const double longest = UnsteadySolver::most_cfl / flow.outflow();
  EXPECT_THROW(flow.step(1.01 * longest), Error);
  EXPECT_EQ(flow.time(), 0.0);
  for (std::size_t v = 0; v < before.size(); ++v) ASSERT_EQ(s.stokes.solution()[v].v, before[v].v);
  const StepReport r = flow.step(0.5 * longest);
  EXPECT_GT(r.cfl, 1.0);
  EXPECT_LT(r.cfl, UnsteadySolver::most_cfl);
}

// Steps that were made and are taken back, of both schemes and more than twice as long as the step before, and one that
// is refused: the step behind them has the bits that it has without them.
TEST(NavierStokes, AStepThatIsTakenBackLeavesNoTrace) {
  for (const TimeScheme scheme : {TimeScheme::bdf2, TimeScheme::sdirk2}) {
    const auto flow_after = [&](bool detours) {
      Spheres s(Comm::self(), 20.0, 1e-6);
      UnsteadySolver flow = s.in_time(scheme);
      const double dt = s.dt(0.1);
      for (int i = 0; i < 3; ++i) {
        if (detours) {
          for (const double length : {dt, 3.0 * dt}) {
            flow.try_step(length);
            flow.go_back();
          }
          EXPECT_THROW(flow.try_step(1e4 * dt), Error);
          flow.go_back();
        }
        flow.step(dt);
      }
      const StepReport r = flow.step(0.6 * dt);
      EXPECT_THROW(flow.accept(), Error);  // nothing is tried
      return std::pair(std::vector<Quad>(s.stokes.solution().begin(), s.stokes.solution().end()), r);
    };
    const auto [with, last] = flow_after(true);
    const auto [without, same] = flow_after(false);
    for (std::size_t v = 0; v < without.size(); ++v) ASSERT_EQ(with[v].v, without[v].v) << v;
    EXPECT_EQ(last.iterations, same.iterations);
    EXPECT_EQ(last.energy.growth, same.energy.growth);
    EXPECT_EQ(last.cfl, same.cfl);
  }
}

TEST(NavierStokes, SameFlowForBoxesAndRanksMpi) {
  const auto flow = [](const Comm& here, int box) {
    Spheres s(here, 20.0, 1e-10, box);
    UnsteadySolver steps = s.in_time();
    steps.step(s.dt(0.2));
    return steps.step(s.dt(0.2));
  };
  const StepReport alone = flow(Comm::self(), 8), together = flow(Comm::world(), 8), one_box = flow(Comm::self(), 16);
  for (const StepReport& r : {together, one_box}) {
    EXPECT_LT(norm(r.velocity - alone.velocity), 1e-8 * norm(alone.velocity));
    EXPECT_NEAR(r.kinetic_energy, alone.kinetic_energy, 1e-8 * alone.kinetic_energy);
    EXPECT_NEAR(r.cfl, alone.cfl, 1e-6 * alone.cfl);
  }
}

}  // namespace
}  // namespace karst::navier_stokes_test
