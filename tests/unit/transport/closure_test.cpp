// SPDX-License-Identifier: BSD-3-Clause
#include "transport/dispersion/closure.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "grid/vof_loops.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/diffusion_cases.hpp"
#include "support/errors.hpp"
#include "support/ground_cases.hpp"
#include "support/shear_cases.hpp"
#include "transport/effective_diffusivity.hpp"

namespace karst::closure_test {
namespace {

constexpr std::array<bool, 3> periodic{true, true, true};

std::unique_ptr<LevelSet> nothing() { return make_level_set(Sphere{{-99.0, 0.0, 0.0}, 1.0}); }

class ClosureTest : public ::testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;

  Dispersion solve(const Geometry& geometry, FaceField& flow, double s, double tolerance = 1e-10) {
    ClosureOptions options;
    options.tolerance = tolerance;
    Closure closure(test::composite_on(comm_, geometry), options);
    closure.set_flow(flow);
    return closure.solve(s, "test");
  }
  /// D*_aa / D of u = U sin(2π x_b / L), L = n cells.
  double shear(int n, double peclet, int along, int across) {
    Index cells = Index::all(1);
    cells[along] = 16;
    cells[across] = n;
    const Geometry geometry = build_geometry(comm_, test::diffusion_grid(cells, periodic), *nothing(), KeepPores::all);
    FaceField flow = test::flow_along(test::composite_on(comm_, geometry), along, [&](const Vec3& lo, const Vec3& hi) {
      return test::mean_sine(lo[across], hi[across], n);
    });
    const Dispersion d = solve(geometry, flow, peclet / n);
    EXPECT_NEAR(d.tensor[across][across], 1.0, 1e-9);
    EXPECT_NEAR(d.tensor[along][across], 0.0, 1e-7 * peclet);
    for (const SolveReport& r : d.solves) EXPECT_LE(r.iterations, 60);
    return d.tensor[along][along];
  }
};

// Periodic shear u = U sin(2π y / L): D* = D (1 + Pe² / (8 π²)), Pe = U L / D, along and across any axes. With the mean
// of the flow over each face the sums are those of the integrals.
TEST_F(ClosureTest, OfAPeriodicShearIsExactMpi) {
  const auto ratio = [&](double peclet, int along, int across) {
    return shear(32, peclet, along, across) / (1.0 + peclet * peclet / (8.0 * std::numbers::pi * std::numbers::pi));
  };
  EXPECT_NEAR(ratio(10.0, 0, 1), 1.0, 1e-8);
  EXPECT_NEAR(ratio(10.0, 1, 2), 1.0, 1e-8);
  EXPECT_NEAR(ratio(1000.0, 2, 0), 1.0, 1e-8);
}

/// Plates of gap H, walls on the sides of the domain.
double mean_parabola(double lo, double hi, double gap) {
  const auto integral = [gap](double y) { return 6.0 * (0.5 * y * y / gap - y * y * y / (3.0 * gap * gap)); };
  return (integral(hi) - integral(lo)) / (hi - lo);
}

// D* = D (1 + Pe² / 210), Pe = U H / D. Source: G. I. Taylor, Proc. R. Soc. Lond. A 219 (1953) 186; R. Aris, A 235
// (1956) 67.
TEST_F(ClosureTest, BetweenPlatesMpi) {
  const auto error = [&](int n, double peclet) {
    const Geometry geometry =
        build_geometry(comm_, test::diffusion_grid({16, n, 1}, {true, false, true}), *nothing(), KeepPores::all);
    FaceField flow = test::flow_along(test::composite_on(comm_, geometry), 0,
                                      [&](const Vec3& lo, const Vec3& hi) { return mean_parabola(lo[1], hi[1], n); });
    const Dispersion d = solve(geometry, flow, peclet / n);
    EXPECT_TRUE(std::isnan(d.tensor[1][1]));
    return std::abs(d.tensor[0][0] / (1.0 + peclet * peclet / 210.0) - 1.0);
  };
  for (const double peclet : {10.0, 50.0, 1000.0}) {
    EXPECT_LT(error(32, peclet), 3e-5) << peclet;
    EXPECT_GT(std::log2(error(16, peclet) / error(32, peclet)), 1.9) << peclet;
  }
}

// Square duct of side a: D* = D (1 + 0.00837647 (U a / D)²), with the flow that five points across give.
TEST_F(ClosureTest, InASquareDuctMpi) {
  const auto error = [&](int n) {
    const GridOptions grid = test::diffusion_grid({16, n, n}, {true, false, false});
    const Geometry geometry = build_geometry(comm_, grid, *nothing(), KeepPores::all);
    EllipticProblem problem;
    for (std::size_t side = 2; side < 6; ++side) problem.sides[side] = [](const Vec3&) { return dirichlet(0.0); };
    EllipticOperator op(test::composite_on(comm_, geometry), problem);
    std::vector<double> b(op.numbering().n_own(), 1.0), speed(b.size(), 0.0);
    KrylovSolver(op, {.name = "duct", .prefix = "duct_", .tolerance = 1e-10}).solve(b, speed);
    FaceField flow(test::composite_on(comm_, geometry));
    const LevelGraph& graph = geometry.levels[0].graph;
    for (int box = 0; box < graph.n_local(); ++box)
      for_each_vof(graph.box(box),
                   [&](int vof, int) { flow.primary(0).box(box, 0)[vof] = speed[op.numbering().number(0, box, vof)]; });
    Closure closure(test::composite_on(comm_, geometry), {.tolerance = 1e-8});
    closure.set_flow(flow);
    const double peclet = 50.0, s = peclet / n / closure.velocity()[0];
    return std::abs(closure.solve(s, "duct").tensor[0][0] / (1.0 + 0.00837647 * peclet * peclet) - 1.0);
  };
  const double coarse = error(16), fine = error(32);
  EXPECT_LT(fine, 1e-2);
  EXPECT_GT(std::log2(coarse / fine), 1.8);
}

// Without flow it is the effective diffusivity over the porosity: 1 / tortuosity.
TEST_F(ClosureTest, WithoutFlowIsDiffusionMpi) {
  const int n = 24;
  const auto walls = test::packing(20, 0.22 * n, n, true, 11);
  const Geometry geometry =
      build_geometry(comm_, test::diffusion_grid(Index::all(n), periodic), *walls, KeepPores::connected);
  FaceField still(test::composite_on(comm_, geometry));
  const Dispersion d = solve(geometry, still, 0.0, 1e-11);
  const auto columns = effective_diffusivity(test::composite_on(comm_, geometry), test::along({0, 1, 2}, 1e-11));
  for (const DiffusionColumn& c : columns)
    for (int e = 0; e < 3; ++e)
      EXPECT_NEAR(d.tensor[e][c.axis] * geometry.report.connected_porosity, c.tensor[e], 1e-9);
}

// A layer of finer cells, which the gradients of f cross.
TEST_F(ClosureTest, OnRefinedLevelsMpi) {
  const int n = 32;
  const double peclet = 10.0, exact = 1.0 + peclet * peclet / (8.0 * std::numbers::pi * std::numbers::pi);
  GridOptions grid = test::diffusion_grid({16, n, 16}, periodic);
  grid.levels = 2;
  grid.refine = {{.level = 1, .where = Refinement::Where::region, .lo = {4.0, 4.0, 4.0}, .hi = {12.0, 20.0, 12.0}}};
  const Geometry geometry = build_geometry(comm_, grid, *nothing(), KeepPores::all);
  ASSERT_EQ(geometry.levels.size(), 2u);
  FaceField flow = test::flow_along(test::composite_on(comm_, geometry), 0,
                                    [&](const Vec3& lo, const Vec3& hi) { return test::mean_sine(lo[1], hi[1], n); });
  const Dispersion d = solve(geometry, flow, peclet / n);
  EXPECT_NEAR(d.tensor[0][0] / exact, 1.0, 5e-4);
  EXPECT_LE(d.solves[0].iterations, 25);
  EXPECT_NEAR(d.tensor[1][1], 1.0, 1e-3);
}

}  // namespace
}  // namespace karst::closure_test
