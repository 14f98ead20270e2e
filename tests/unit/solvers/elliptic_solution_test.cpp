// SPDX-License-Identifier: BSD-3-Clause
// Solutions: errors and orders, bounds, units, and what the Krylov driver says.
#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "base/core/error.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/elliptic_cases.hpp"
#include "support/errors.hpp"
#include "support/geometry_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::elliptic_solution_test {
namespace {

using test::grid_of;

class EllipticSolutionTest : public testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;

  test::Errors errors(const test::Shape& shape, int n, BoundaryKind wall, int levels = 1) {
    GridOptions grid = grid_of(n, 1);
    grid.levels = levels;
    if (levels > 1) grid.refine.push_back({1, Refinement::Where::region, {0.5, 0.25, 0.25}, {1.0, 0.75, 0.75}, 0});
    const Geometry geometry = build_geometry(comm_, grid, *shape.level_set(n), KeepPores::all);
    const auto m = test::manufactured(test::wavy(), shape, n, wall, BoundaryKind::dirichlet);
    EllipticOperator op(test::composite_on(comm_, geometry), m.problem);
    return test::errors_of(op, test::solve(op, m), m, false);
  }
  std::vector<double> solve(EllipticOperator& op, const KrylovOptions& options = {}) {
    std::vector<double> b(op.numbering().n_own()), x(b.size());
    op.right_side({}, b);
    report_ = KrylovSolver(op, options).solve(b, x);
    return x;
  }
  SolveReport report_;
};

/// 27 spheres in a box of n cells; value 0 to 1 from -x to +x.
Geometry spheres27(const Comm& comm, int n) {
  std::vector<Sphere> spheres;
  for (int i = 0; i < 27; ++i)
    spheres.push_back({n * Vec3{(i % 3 + 0.5) / 3, (i / 3 % 3 + 0.5) / 3, (i / 9 + 0.5) / 3}, 0.159 * n});
  return build_geometry(comm, grid_of(n, 1), *make_sphere_list(spheres, {Vec3::all(n), {}}), KeepPores::all);
}

EllipticProblem from_zero_to_one() {
  EllipticProblem p;
  p.sides[0] = [](const Vec3&) { return dirichlet(0.0); };
  p.sides[1] = [](const Vec3&) { return dirichlet(1.0); };
  return p;
}

// L1 and L2 on small grids. Errors at n = 32 (largest, mean) were 6.1e-4, 1.6e-4 (Dirichlet), 6.1e-4, 1.8e-4 (others)
// on one level; the largest ones sit at the corners of the domain.
TEST_F(EllipticSolutionTest, SecondOrderAroundASphereMpi) {
  for (const BoundaryKind wall : {BoundaryKind::dirichlet, BoundaryKind::neumann, BoundaryKind::robin}) {
    const test::Errors coarse = errors(test::outside_sphere(), 16, wall),
                       fine = errors(test::outside_sphere(), 32, wall);
    EXPECT_LT(fine.largest, 6.5e-4);
    EXPECT_LT(fine.mean, 1.9e-4);
    EXPECT_GT(std::log2(coarse.largest / fine.largest), 1.85);
    EXPECT_GT(std::log2(coarse.mean / fine.mean), 1.95);
  }
}

TEST_F(EllipticSolutionTest, SecondOrderAcrossLevelsMpi) {
  for (const BoundaryKind wall : {BoundaryKind::dirichlet, BoundaryKind::neumann}) {
    const auto shape = test::outside_sphere();
    const test::Errors coarse = errors(shape, 16, wall, 2), fine = errors(shape, 32, wall, 2);
    EXPECT_LT(fine.largest, 9e-4);
    EXPECT_LT(fine.mean, 1.6e-4);
    EXPECT_GT(std::log2(coarse.largest / fine.largest), 1.85);
    EXPECT_GT(std::log2(coarse.mean / fine.mean), 1.9);
  }
}

// Orphans in the corner between a level boundary and a wall: with the values of one level alone 0.01 on 16³ and 0.05 on
// 32³.
TEST_F(EllipticSolutionTest, OrphansBetweenAWallAndALevelMpi) {
  const test::Errors coarse = errors(test::inside_tube(), 16, BoundaryKind::neumann, 2),
                     fine = errors(test::inside_tube(), 32, BoundaryKind::neumann, 2);
  EXPECT_LT(coarse.largest, 6e-3);
  EXPECT_LT(fine.largest, 1.5e-3);
}

// Invariance: the solution on these ranks is that of one rank, level boundaries and orphans included.
TEST_F(EllipticSolutionTest, RanksDoNotMatterMpi) {
  for (const BoundaryKind wall : {BoundaryKind::dirichlet, BoundaryKind::neumann, BoundaryKind::robin}) {
    GridOptions grid = grid_of(16, 1);
    grid.levels = 2;
    grid.refine.push_back({1, Refinement::Where::region, {0.5, 0.25, 0.25}, {1.0, 0.75, 0.75}, 0});
    const auto shape = test::inside_tube();
    const auto m = test::manufactured(test::wavy(), shape, 16, wall, BoundaryKind::dirichlet);
    std::map<std::array<double, 3>, double> value;
    const auto solve_on = [&](const Comm& comm, auto&& look) {
      const Geometry geometry = build_geometry(comm, grid, *shape.level_set(16), KeepPores::all);
      EllipticOperator op(test::composite_on(comm, geometry), m.problem);
      const std::vector<double> x = test::solve(op, m);
      const std::vector<Vec3> at = op.positions();
      for (std::size_t i = 0; i < x.size(); ++i) look(at[i].v, x[i]);
    };
    solve_on(Comm::self(), [&](const auto& at, double x) { value[at] = x; });
    solve_on(comm_, [&](const auto& at, double x) { EXPECT_NEAR(x, value.at(at), 1e-9); });
  }
}

// Maximum principle: with values 0 and 1 at the ends and on Dirichlet walls nothing leaves [0, 1]; orphans at the ends
// of a random packing would, if their value followed from a balance of their own (by 1e-4).
TEST_F(EllipticSolutionTest, StaysBetweenBoundaryValuesMpi) {
  const auto expect_bounds = [&](const Geometry& geometry, const EllipticProblem& problem) {
    EllipticOperator op(test::composite_on(comm_, geometry), problem);
    for (const double v : solve(op, {"bounds", "bounds_", 1e-12, 500, 1e-8})) {
      EXPECT_GE(v, -1e-10);
      EXPECT_LE(v, 1.0 + 1e-10);
    }
    return op.counts().orphans_at_end;
  };
  const Geometry regular = spheres27(comm_, 24),
                 random =
                     build_geometry(comm_, grid_of(32, 1), *test::packing(128, 4.0, 32, false), KeepPores::connected);
  EllipticProblem sealed = from_zero_to_one(), fixed = sealed;
  fixed.wall = [](const Vec3& x) { return dirichlet(x[1] < 12.0 ? 0.0 : 1.0); };
  for (const EllipticProblem& problem : {sealed, fixed}) expect_bounds(regular, problem);
  EXPECT_GT(expect_bounds(random, sealed), 0);
  expect_bounds(random, fixed);
}

// Whatever the units of β and of the value are, the figures are the same. Powers of two change no digit.
TEST_F(EllipticSolutionTest, UnitsDoNotMatter) {
  const Geometry geometry = spheres27(comm_, 16);
  std::vector<double> first;
  int iterations = 0;
  for (const auto& [beta, value] : {std::pair{1.0, 1.0}, {0x1p-40, 0x1p20}, {0x1p30, 0x1p-50}}) {
    EllipticProblem problem;
    problem.a = 0.01 * beta;
    problem.beta = beta;
    problem.sides[0] = [v = value](const Vec3&) { return dirichlet(v); };
    problem.sides[1] = [r = 0.3 * beta](const Vec3&) { return robin(r, 0.0); };
    problem.wall = [flux = 0.02 * beta * value](const Vec3&) { return neumann(flux); };
    EllipticOperator op(test::composite_on(comm_, geometry), problem);
    std::vector<double> x = solve(op);
    for (double& v : x) v /= value;
    if (first.empty()) {
      first = x;
      iterations = report_.iterations;
    }
    EXPECT_EQ(x, first) << "beta " << beta << " value " << value;
    EXPECT_EQ(report_.iterations, iterations);
  }
}

TEST_F(EllipticSolutionTest, AssembledPathGivesTheSameMpi) {
  const Geometry geometry = spheres27(comm_, 16);
  EllipticOperator op(test::composite_on(comm_, geometry), from_zero_to_one());
  const KrylovOptions options{"two ways", "ways_", 1e-11, 500, 1e-8};
  const std::vector<double> matrix_free = solve(op, options);
  EXPECT_EQ(report_.preconditioner, "graph multigrid");
  EXPECT_LT(report_.iterations, 40);
  set_petsc_option("-ways_pc_type", "gamg");
  const std::vector<double> assembled = solve(op, options);
  clear_petsc_option("-ways_pc_type");
  EXPECT_EQ(report_.preconditioner, "gamg");
  // Orphans hang on apertures down to 1e-5: a residual of 1e-11 fixes them to 1e-6.
  for (std::size_t i = 0; i < assembled.size(); ++i) EXPECT_NEAR(assembled[i], matrix_free[i], 1e-6);
}

// A second right-hand side uses what is set up; the solution as initial guess saves iterations.
TEST_F(EllipticSolutionTest, RightSidesAndGuesses) {
  const Geometry geometry = spheres27(comm_, 16);
  EllipticOperator op(test::composite_on(comm_, geometry), from_zero_to_one());
  std::vector<double> b(op.numbering().n_own()), x(b.size()), twice(b.size());
  op.right_side({}, b);
  KrylovSolver solver(op, {"sides", "sides_", 1e-11, 500, 1e-8});
  const int from_zero = solver.solve(b, x).iterations;
  std::vector<double> again = x;
  EXPECT_LT(solver.solve(b, again).iterations, from_zero / 2);
  for (double& v : b) v *= 2.0;
  solver.solve(b, twice);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(twice[i], 2.0 * x[i], 1e-7);
}

// Sealed all around: the mean is free; sources that do not balance are an error that says so.
TEST_F(EllipticSolutionTest, SingularSystemsMpi) {
  const Geometry geometry = spheres27(comm_, 16);
  EllipticOperator op(test::composite_on(comm_, geometry), EllipticProblem{});
  std::vector<double> source, b(op.numbering().n_own()), x(b.size());
  const std::vector<double> volume = op.volumes();
  std::array<double, 2> sums{};
  for (const Vec3& p : op.positions()) {
    sums[0] += volume[source.size()] * p[0];
    sums[1] += volume[source.size()];
    source.push_back(p[0]);
  }
  comm_.sum(std::span(sums));
  for (double& f : source) f -= sums[0] / sums[1];
  op.right_side(source, b);
  KrylovSolver solver(op, {"sealed", "sealed_", 1e-10, 500, 1e-8});
  const SolveReport report = solver.solve(b, x);
  EXPECT_EQ(report.singular_pores, 1);
  EXPECT_LT(report.imbalance, 1e-10);
  double sum = 0.0;
  for (const double v : x) sum += v;
  EXPECT_NEAR(comm_.sum(sum), 0.0, 1e-8);
  b[0] += 1.0;
  const std::string text = test::error_of([&] { solver.solve(b, x); });
  EXPECT_TRUE(test::has(text, "not compatible")) << text;
}

// A preconditioner that turns everything round: the short memory of truncated GCR stalls, and flexible GMRES, which
// needs at most as many steps as there are unknowns, goes on.
TEST_F(EllipticSolutionTest, GoesOnWhereTheShortMemoryStalls) {
  const Geometry geometry =
      build_geometry(Comm::self(), grid_of(8, 1), *test::inside_sphere(0.22).level_set(8), KeepPores::all);
  EllipticProblem problem;
  problem.wall = [](const Vec3& x) { return robin(1.0, x[0]); };
  EllipticOperator op(test::composite_on(Comm::self(), geometry), problem);
  std::vector<double> b(op.numbering().n_own()), x(b.size()), expected(b.size());
  ASSERT_LT(b.size(), 60U);
  op.right_side({}, b);
  KrylovSolver(op, {"plain", "plain_", 1e-10, 500, 1e-8}).solve(b, expected);
  KrylovSolver solver(op, {"turned", "turned_", 1e-10, 500, 1e-8}, [](std::span<const double> r, std::span<double> z) {
    for (std::size_t i = 0; i < r.size(); ++i) z[i] = (i % 2 == 0 ? 1.0 : -1.0) * r[r.size() - 1 - i];
  });
  for (int again = 0; again < 2; ++again) {
    std::ranges::fill(x, 0.0);
    const SolveReport report = solver.solve(b, x);
    EXPECT_NE(report.method.find("fgmres"), std::string::npos);
    EXPECT_GT(report.iterations, 10);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(x[i], expected[i], 1e-7);
  }
}

TEST_F(EllipticSolutionTest, FailuresAreNamed) {
  const Geometry geometry = spheres27(comm_, 16);
  EllipticOperator op(test::composite_on(comm_, geometry), from_zero_to_one());
  const std::string text = test::error_of([&] { solve(op, {"pressure", "pressure_", 1e-12, 2, 1e-8}); });
  for (const char* part : {"pressure", "DIVERGED_ITS", "residuals", "-pressure_ksp_max_it"})
    EXPECT_TRUE(test::has(text, part)) << text;
  // GMRES forms its solution by one more cycle, whose single precision it knows nothing of: the residual of the
  // solution is another one than it believes, and it goes on from there. That does not help where no cycle is like
  // another.
  set_petsc_option("-wrong_ksp_type", "gmres");
  EXPECT_EQ(test::error_of([&] { solve(op, {"wrong", "wrong_", 1e-9, 500, 1e-8}); }), "");
  std::vector<double> right(op.numbering().n_own()), c(right.size(), 0.0);
  op.right_side({}, right);
  KrylovSolver changing(op, {"wrong", "wrong_", 1e-9, 500, 1e-8},
                        [n = 0](std::span<const double> r, std::span<double> z) mutable {
                          ++n;
                          for (std::size_t i = 0; i < r.size(); ++i)
                            z[i] = (1.0 + 0.9 * std::sin(static_cast<double>(n * n + 3 * static_cast<int>(i)))) * r[i];
                        });
  const std::string wrong = test::error_of([&] { changing.solve(right, c); });
  EXPECT_TRUE(test::has(wrong, "-wrong_ksp_type fgmres")) << wrong;
  clear_petsc_option("-wrong_ksp_type");
  std::vector<double> b(op.numbering().n_own(), std::nan("")), x(b.size());
  EXPECT_THROW(KrylovSolver(op, {}).solve(b, x), Error);
}

}  // namespace
}  // namespace karst::elliptic_solution_test
