// SPDX-License-Identifier: BSD-3-Clause
// Flow in time with inertia (unsteady_solver.hpp).
#include <gtest/gtest.h>

#include "base/error.hpp"
#include "ins/solve/steady_solver.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "support/flow_cases.hpp"

namespace karst {
namespace {

StokesOptions options(double tolerance) {
  StokesOptions o;
  o.krylov.tolerance = tolerance;
  return o;
}
StokesDrive along(const Vec3& force) {
  StokesDrive drive;
  drive.force = force;
  return drive;
}

// Order 2 in time alone, also from one step to the next one of another length.
TEST(NavierStokes, SecondOrderInTime) {
  const Comm comm = Comm::self();
  const Geometry geometry = test::sphere_array(comm, 0.343, 12);
  StokesSolver stokes(comm, geometry, {}, options(1e-9));
  const StokesDrive drive = along({1, 0, 0});
  const double u = stokes.solve(drive).velocity[0], inertia = 30.0 / (12.0 * u), end = 6.0 / (u * inertia);
  for (const TimeScheme scheme : {TimeScheme::bdf2, TimeScheme::sdirk2}) {
    std::array<double, 3> rate{};
    for (const std::size_t i : {0U, 1U, 2U}) {
      UnsteadySolver flow(
          stokes, geometry, [&](double) { return drive; }, drive, scheme, inertia);
      const int steps = 16 << i;
      for (int s = 0; s < steps; ++s) rate[i] = flow.step((s % 4 < 2 ? 0.8 : 1.2) * end / steps).velocity[0];
    }
    EXPECT_NEAR(std::log2((rate[1] - rate[0]) / (rate[2] - rate[1])), 2.0, 0.3);
  }
}

/// Flow at a Reynolds number of the Darcy velocity of creeping flow and the period, across an array of spheres.
struct Spheres {
  explicit Spheres(const Comm& here, double re, double tolerance, int box = 8)
      : geometry(test::sphere_array(here, 0.343, n, box)), stokes(here, geometry, {}, options(tolerance)) {
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
  StokesDrive drive = along({1, 0.5, 0});
  double speed = 0.0, inertia = 0.0;
};

// N10, N12: from rest to the steady flow of Newton's method, in which nothing of the step is left.
TEST(NavierStokes, SteadyFlowIsThatOfNewton) {
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

// d/dt (kinetic energy) = power of the force - dissipation, half way to the steady flow; what is carried makes no
// energy. Friction from the velocity at centres carries an error of the grid (docs/verification.md).
TEST(NavierStokes, CarriedFlowMakesNoEnergy) {
  const auto missing = [](double re) {
    Spheres s(Comm::self(), re, 1e-9);
    UnsteadySolver flow = s.in_time();
    std::array<double, 3> energy{};
    StepReport r;
    const double dt = 0.5;  // [h0² / ν]; steady after some 10
    for (int i = 0; i < 8; ++i) {
      r = flow.step(dt);
      energy = {energy[1], energy[2], r.kinetic_energy};
    }
    const double change = (1.5 * energy[2] - 2.0 * energy[1] + 0.5 * energy[0]) / dt,
                 power = r.velocity[0] + 0.5 * r.velocity[1];
    return (power - r.dissipation - change) / power;
  };
  const double creeping = missing(0.0), carried = missing(20.0);
  EXPECT_NEAR(carried, creeping, 0.01);
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
}  // namespace karst
