// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/steady_solver.hpp"

#include <gtest/gtest.h>

#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::steady_solver_test {
namespace {

/// Mean velocities along the drive for several strengths of inertia, each solved from the one before; first that of
/// Stokes flow.
struct Case {
  StokesDrive drive{{1, 0, 0}, {}};
  double tolerance = 1e-9;
  SteadyOptions options{};

  std::vector<SteadyReport> solve(const Comm& comm, const Geometry& geometry, const std::vector<double>& inertia) {
    StokesOptions stokes_options;
    stokes_options.krylov.tolerance = options.tolerance = tolerance;
    stokes_options.krylov.restart = 60;
    StokesSolver stokes(test::composite_on(comm, geometry), {}, stokes_options);
    std::vector<SteadyReport> reports(1);
    reports[0].flow = stokes.solve(drive);
    SteadySolver steady(stokes, options);
    for (const double r : inertia) {
      reports.push_back(steady.solve(drive, r));
      EXPECT_TRUE(reports.back().converged) << r;
      EXPECT_LE(reports.back().flow.krylov.relative_residual, tolerance);
    }
    return reports;
  }
};

/// Loss of permeability by inertia, 1 - k(R) / k(0).
double loss(const std::vector<SteadyReport>& reports, std::size_t i = 1) {
  return 1.0 - reports[i].flow.velocity[0] / reports[0].flow.velocity[0];
}

// Straight streamlines: (u·∇)u = 0, whatever the Reynolds number ρ U H / μ, here 100 and 1000.
TEST(SteadySolver, PlaneChannelKnowsNoInertia) {
  const Comm comm = Comm::self();
  const auto slit = [](double a, double) { return 3.9 - std::abs(a); };
  const test::Channel channel{8, 0, 1, slit, 0.303, 12};
  const Geometry geometry =
      build_geometry(comm, test::flow_grid(channel.cells()), *channel.level_set(), KeepPores::all);
  const double rate = 7.8 * 7.8 * 7.8 / 12.0;
  const auto r = Case{}.solve(comm, geometry, {100.0 / rate, 1000.0 / rate});
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(channel.rate(r[i].flow.velocity) / rate, 1.0, 1e-7) << i;
}

// The same where the channel lies across the grid: it feels what the discretisation leaves, 4.8e-5.
TEST(SteadySolver, InclinedChannelKnowsNoInertia) {
  const Comm comm = Comm::self();
  std::array<double, 2> wrong;
  for (const int fine : {0, 1}) {
    const double width = fine != 0 ? 16.0 : 8.0;
    const auto slit = [=](double a, double) { return 0.5 * width - std::abs(a); };
    const int f = 2 << fine;
    const test::Channel channel{20 * f, 6 * f, 1, slit, 0.303, 0};
    const Geometry geometry =
        build_geometry(comm, test::flow_grid(channel.cells()), *channel.level_set(), KeepPores::all);
    Case c;
    c.drive.force = channel.along();
    const double rate = width * width * width / 12.0;
    const auto r = c.solve(comm, geometry, {50.0 / rate});
    wrong[fine] = std::abs(channel.rate(r[1].flow.velocity) / channel.rate(r[0].flow.velocity) - 1.0);
  }
  EXPECT_LT(wrong[1], 1e-4);  // 7e-4 with means of two cells
  EXPECT_GT(std::log2(wrong[0] / wrong[1]), 1.8);
}

// Loss of permeability in a simple cubic array of solid fraction 0.343 at ρ U d / μ = 9.44 (d: diameter): 0.05579,
// extrapolated from 48³, 64³ and 96³ (0.0558747, 0.0558366, 0.0558095: order 2).
TEST(SteadySolver, SphereArrayConvergesAtNight) {
  const Comm comm = Comm::world();
  std::array<double, 2> error;
  for (const int n : {24, 48}) {
    const double scale = 32.0 / n;  // the same physics: inertia ~ h³
    const auto r = Case{}.solve(comm, test::sphere_array(comm, 0.343, n), {0.0442091 * scale * scale * scale});
    error[n == 48] = std::abs(loss(r) / 0.05579 - 1.0);
  }
  EXPECT_LT(error[1], 0.002);
  EXPECT_GT(std::log2(error[0] / error[1]), 1.8);
}

/// k_app / k of a square array of cylinders, solid fraction 0.2, on n² cells at ρ G L³ / μ² = 500 and 2000.
std::array<double, 2> cylinder_array(int n) {
  const double radius = n * std::sqrt(0.2 / std::numbers::pi);
  const test::DistanceFunction phi([=](const Vec3& p) {
    double x = p[0] - 0.5 * n - 0.137, y = p[1] - 0.5 * n + 0.211;
    x -= n * std::round(x / n);
    y -= n * std::round(y / n);
    return std::hypot(x, y) - radius;
  });
  const Geometry geometry = build_geometry(Comm::self(), test::flow_grid({n, n, 1}), phi, KeepPores::all);
  const double unit = 1.0 / (double(n) * n * n);
  Case c;
  c.tolerance = 1e-8;
  const auto r = c.solve(Comm::self(), geometry, {500.0 * unit, 2000.0 * unit});
  return {1.0 - loss(r, 1), 1.0 - loss(r, 2)};
}

// Quadratic finite elements on a mesh that fits the cylinder (tests/verification/cylinder_inertia.py): 0.97595, 0.88662
// (72 by 24 elements).
TEST(SteadySolver, CylinderArrayAgainstFiniteElements) {
  const auto coarse = cylinder_array(16), fine = cylinder_array(64);
  for (const auto& [i, exact, most] : {std::tuple{0U, 0.97595, 5e-5}, {1U, 0.88662, 5e-5}}) {
    EXPECT_LT(std::abs(fine[i] / exact - 1.0), most) << i;
    EXPECT_GT(0.5 * std::log2(std::abs(coarse[i] - exact) / std::abs(fine[i] - exact)), 2.5) << i;
  }
}

// At first inertia does not see the direction of the flow: k(R) = k (1 - c R²), even where the pores have no symmetry
// (Mei & Auriault, J. Fluid Mech. 222 (1991) 647), but for the little energy that faces of fourth order make or take in
// pores a few cells wide: 1.3e-5 of the permeability at Re 0.2, where it has lost 2.6e-4.
TEST(SteadySolver, WeakInertiaIsQuadraticAtNight) {
  const Comm comm = Comm::self();
  const auto phi = test::packing(20, 6.4, 32, true);
  const Geometry packing = build_geometry(comm, test::flow_grid(Index::all(32)), *phi, KeepPores::connected);
  const Geometry array = test::sphere_array(comm, 0.343, 16);
  Case c;
  c.tolerance = 1e-10;
  const auto of_array = c.solve(comm, array, {0.01, 0.02});
  EXPECT_NEAR(loss(of_array, 2) / loss(of_array, 1), 4.0, 0.01);
  const auto with = c.solve(comm, packing, {0.02, 0.2});  // ρ U d / μ = 0.2 and 2
  c.drive.force = {-1, 0, 0};
  const auto against = c.solve(comm, packing, {0.02, 0.2});
  for (const std::size_t i : {1U, 2U}) EXPECT_NEAR(loss(with, i) / loss(against, i), 1.0, i == 1 ? 0.1 : 0.01);
}

// With linear equations solved well enough each step squares the residual.
TEST(SteadySolver, NewtonConvergesQuadratically) {
  const Comm comm = Comm::self();
  Case c;
  c.tolerance = 1e-11;
  c.options.first_forcing = c.options.largest_forcing = 1e-5;
  const auto r = c.solve(comm, test::sphere_array(comm, 0.343, 16), {0.1});
  const std::vector<double>& steps = r[1].steps;
  ASSERT_EQ(steps.size(), 4U);  // 0.23, 2.6e-3, 1.0e-7, 5e-12
  for (const std::size_t i : {1U, 2U}) EXPECT_LT(steps[i], 0.1 * steps[i - 1] * steps[i - 1]);
  EXPECT_EQ(r[1].halvings, 0);
}

// Re 1, 10 and 30, to 1e-9; a preconditioner that does not know the flow takes 29, 96 and more than 400.
TEST(SteadySolver, IterationsStayFew) {
  const auto r = Case{}.solve(Comm::self(), test::sphere_array(Comm::self(), 0.343, 16), {0.0352, 0.352, 1.25});
  EXPECT_LE(r[1].flow.krylov.iterations, 27);  // 25
  EXPECT_LE(r[2].flow.krylov.iterations, 48);  // 44
  EXPECT_LE(r[3].flow.krylov.iterations, 80);  // 73
}

// Narrow throats, ρ U d / μ = 0.8, 2.3 and 5.3, k_app / k = 0.99, 0.94 and 0.82.
TEST(SteadySolver, IterationsStayFewInAPacking) {
  const Comm comm = Comm::self();
  const auto phi = test::packing(40, 4.8, 24, true);
  Case c;
  c.tolerance = 1e-8;
  const auto r = c.solve(comm, build_geometry(comm, test::flow_grid(Index::all(24)), *phi, KeepPores::connected),
                         {2.0, 6.0, 16.0});
  EXPECT_LE(r[1].flow.krylov.iterations, 40);  // 36
  EXPECT_LE(r[2].flow.krylov.iterations, 47);  // 43
  EXPECT_LE(r[3].flow.krylov.iterations, 83);  // 76
}

// Stokes flow comes out as before when the preconditioner has followed a fast one.
TEST(SteadySolver, SlowFlowAfterwards) {
  const Comm comm = Comm::self();
  const Geometry geometry = test::sphere_array(comm, 0.343, 16);
  StokesSolver stokes(test::composite_on(comm, geometry), {});
  const StokesDrive drive{{1, 0, 0}, {}};
  const StokesReport before = stokes.solve(drive);
  SteadySolver steady(stokes, {});
  EXPECT_TRUE(steady.solve(drive, 1.25).converged);
  const StokesReport after = stokes.solve(drive);
  EXPECT_EQ(after.krylov.iterations, before.krylov.iterations);
  EXPECT_NEAR(after.velocity[0] / before.velocity[0], 1.0, 1e-9);
}

TEST(SteadySolver, SameFlowForBoxesAndRanksMpi) {
  const Comm comm = Comm::world();
  const auto phi = test::packing(40, 3.2, 16, true);
  const auto velocity = [&](const Comm& here, int box) {
    const Geometry g =
        build_geometry(here, test::flow_grid(Index::all(16), {true, true, true}, box), *phi, KeepPores::connected);
    Case c;
    c.tolerance = 1e-11;
    c.drive.force = {1, 0.5, 0};
    return c.solve(here, g, {5.0})[1].flow.velocity;
  };
  const Vec3 alone = velocity(Comm::self(), 8);
  EXPECT_LT(norm(velocity(comm, 8) - alone), 1e-9 * norm(alone));
  EXPECT_LT(norm(velocity(Comm::self(), 16) - alone), 1e-9 * norm(alone));
}

// One box: all ranks but one have nothing of their own, and end with the same flow, fast, faster and slow again.
TEST(SteadySolver, RanksWithoutBoxesTakePartMpi) {
  const auto velocities = [](const Comm& comm) {
    const Geometry geometry = test::sphere_array(comm, 0.343, 8);
    StokesOptions options;
    options.krylov.tolerance = 1e-11;
    StokesSolver stokes(test::composite_on(comm, geometry), {}, options);
    const StokesDrive drive{{1, 0, 0}, {}};
    SteadyOptions steady_options;
    steady_options.tolerance = 1e-11;
    SteadySolver steady(stokes, steady_options);
    std::vector<double> all{stokes.solve(drive).velocity[0]};
    for (const double inertia : {5.0, 20.0}) all.push_back(steady.solve(drive, inertia).flow.velocity[0]);
    all.push_back(stokes.solve(drive).velocity[0]);
    return all;
  };
  const std::vector<double> alone = velocities(Comm::self()), shared = velocities(Comm::world());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(shared[i] / alone[i], 1.0, 1e-9) << i;
  EXPECT_NEAR(alone[3] / alone[0], 1.0, 1e-9);
  EXPECT_LT(alone[1], alone[0]);
}

TEST(SteadySolver, FailureLeavesTheStart) {
  const Comm comm = Comm::self();
  const Geometry geometry = test::sphere_array(comm, 0.343, 16);
  StokesSolver stokes(test::composite_on(comm, geometry), {});
  const StokesDrive drive{{1, 0, 0}, {}};
  stokes.solve(drive);
  const std::vector<Quad> before(stokes.solution().begin(), stokes.solution().end());
  SteadyOptions options;
  options.max_steps = 2;
  SteadySolver steady(stokes, options);
  const SteadyReport r = steady.solve(drive, 3.0);
  EXPECT_FALSE(r.converged);
  EXPECT_GT(r.flow.krylov.relative_residual, 1e-8);
  for (std::size_t v = 0; v < before.size(); ++v) ASSERT_EQ(before[v].v, stokes.solution()[v].v);
}

}  // namespace
}  // namespace karst::steady_solver_test
