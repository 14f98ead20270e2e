// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/krylov/side_by_side.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/core/error.hpp"
#include "solvers/krylov/elliptic_multigrid.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/elliptic_cases.hpp"
#include "support/errors.hpp"
#include "support/geometry_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::side_by_side_test {
namespace {

/// Sealed walls and a periodic domain (singular), or values at two ends.
struct Case {
  Geometry geometry;
  EllipticOperator op;
  NullSpace null_space;
  Case(const Comm& comm, bool sealed, int levels = 1)
      : geometry(make(comm, sealed, levels)), op(test::composite_on(comm, geometry), problem(sealed)), null_space(op) {}

  static Geometry make(const Comm& comm, bool sealed, int levels) {
    GridOptions grid = test::grid_of(16, 1, sealed);
    grid.levels = levels;
    if (levels > 1) grid.refine.push_back({1, Refinement::Where::region, {0.0, 0.0, 0.0}, {0.5, 0.5, 1.0}, 0});
    return build_geometry(comm, grid, *test::packing(8, 4.2, 16, sealed), KeepPores::connected);
  }
  static EllipticProblem problem(bool sealed) {
    EllipticProblem p;
    if (!sealed) p.sides[0] = p.sides[1] = [](const Vec3&) { return dirichlet(0.0); };
    return p;
  }
  /// Of right-hand side c: in balances alone, without a sum where nothing leaves.
  std::vector<double> right_side(int c) const {
    std::vector<double> b, volume = op.volumes();
    const std::vector<Vec3> at = op.positions();
    for (std::size_t i = 0; i < at.size(); ++i)
      b.push_back(volume[i] > 0.0 ? volume[i] * std::sin(0.7 * (c + 1) * at[i][c] + 0.3 * at[i][(c + 1) % 3]) : 0.0);
    null_space.make_compatible(b, "right side", 1.0);
    return b;
  }
};

struct Outcome {
  std::vector<std::vector<double>> x;
  std::vector<SolveReport> reports;
};

/// Right-hand sides first ... first + C - 1, from 0 or from a guess.
template <int C>
Outcome solve(Case& at, int first, const SideBySideOptions& options, double guess = 0.0) {
  const std::size_t n = at.op.numbering().n_own();
  std::vector<double> b(C * n), x(C * n);
  std::array<std::string, C> names;
  for (int c = 0; c < C; ++c) {
    names[c] = "number " + std::to_string(first + c);
    const std::vector<double> one = at.right_side(first + c);
    for (std::size_t i = 0; i < n; ++i) {
      b[C * i + c] = one[i];
      x[C * i + c] = guess * one[i];
    }
  }
  BasicEllipticMultigrid<C> multigrid(at.op);
  const auto reports = solve_side_by_side<C>(
      {at.op, at.null_space, {}, [&](std::span<const double> r, std::span<double> z) { multigrid(r, z); }}, options,
      names, b, x);
  Outcome o{std::vector<std::vector<double>>(C, std::vector<double>(n)), {reports.begin(), reports.end()}};
  for (int c = 0; c < C; ++c)
    for (std::size_t i = 0; i < n; ++i) o.x[c][i] = x[C * i + c];
  return o;
}

class SideBySide : public testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;
};

// Three solved together are what each is by PETSc, singular or not, from 0 and from a guess, on one level and two.
TEST_F(SideBySide, SolutionsAreThoseOfTheKrylovSolverMpi) {
  for (const bool sealed : {true, false})
    for (const int levels : {1, 2}) {
      Case at(comm_, sealed, levels);
      const Outcome o = solve<3>(at, 0, {.tolerance = 1e-11}, levels == 2 ? 0.1 : 0.0);
      for (int c = 0; c < 3; ++c) {
        const std::vector<double> b = at.right_side(c);
        std::vector<double> x(b.size(), 0.0);
        KrylovSolver(at.op, {.name = "alone", .prefix = "alone_", .tolerance = 1e-11}).solve(b, x);
        double largest = 0.0, difference = 0.0;
        for (std::size_t i = 0; i < x.size(); ++i) {
          largest = std::max(largest, std::abs(x[i]));
          difference = std::max(difference, std::abs(x[i] - o.x[c][i]));
        }
        EXPECT_LT(comm_.max(difference), 1e-8 * comm_.max(largest)) << sealed << levels << c;
        EXPECT_LT(o.reports[c].true_residual, 1.1e-11);
        EXPECT_EQ(o.reports[c].singular_pores > 0, sealed);
        EXPECT_EQ(o.reports[c].residuals.size(), o.reports[c].iterations + 1U);
      }
    }
}

// Nobody waits and nobody is hurried: as many iterations as alone, and the same solution to what single precision in
// the cycle leaves.
TEST_F(SideBySide, EachGoesItsOwnWayMpi) {
  Case at(comm_, true);
  const Outcome o = solve<3>(at, 0, {.tolerance = 1e-9});
  for (int c = 0; c < 3; ++c) {
    const Outcome alone = solve<1>(at, c, {.tolerance = 1e-9});
    EXPECT_EQ(o.reports[c].iterations, alone.reports[0].iterations);
    for (std::size_t i = 0; i < alone.x[0].size(); ++i) ASSERT_NEAR(o.x[c][i], alone.x[0][i], 1e-7);
  }
}

// One whose right-hand side is 0 is 0 at once, whatever it starts from.
TEST_F(SideBySide, NothingAskedIsNothingMpi) {
  Case at(comm_, true);
  const std::size_t n = at.op.numbering().n_own();
  const std::vector<double> one = at.right_side(1);
  std::vector<double> b(3 * n, 0.0), x(3 * n, 0.25);
  for (std::size_t i = 0; i < n; ++i) b[3 * i + 1] = one[i];
  BasicEllipticMultigrid<3> multigrid(at.op);
  const auto reports = solve_side_by_side<3>(
      {at.op, at.null_space, {}, [&](std::span<const double> r, std::span<double> z) { multigrid(r, z); }},
      {.tolerance = 1e-9}, {"", "asked", ""}, b, x);
  EXPECT_EQ(reports[0].iterations, 0);
  EXPECT_GT(reports[1].iterations, 3);
  for (std::size_t i = 0; i < n; ++i) {
    ASSERT_EQ(x[3 * i], 0.0);
    ASSERT_EQ(x[3 * i + 2], 0.0);
  }
}

// With a further term that makes a matrix of rings of it, 1 on the diagonal and 0.98 from each unknown to the next: all
// directions of a ring of 12 solve it, two gain hardly anything.
TEST_F(SideBySide, SolvesWithATermThatNeedsAllDirections) {
  Case at(Comm::self(), false);
  const auto n = static_cast<std::size_t>(at.op.numbering().n_own()), in_rings = n / 12 * 12;
  std::vector<double> ax(3 * n), b(3 * n), x(3 * n);
  for (std::size_t i = 0; i < in_rings; ++i)
    for (std::size_t c = 0; c < 3; ++c) b[3 * i + c] = i % 12 == 3 + c ? 1.0 : 0.0;
  const auto ring = [&](std::span<const double> of, std::size_t i, std::size_t c) {
    const std::size_t before = i % 12 == 0 ? i + 11 : i - 1;
    return of[3 * i + c] + (i < in_rings ? 0.98 * of[3 * before + c] : 0.0);
  };
  const auto add_rings = [&](std::span<const double> from, std::span<double> y) {  // T = rings - A
    at.op.apply<3>(from, ax);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t c = 0; c < 3; ++c) y[3 * i + c] += ring(from, i, c) - ax[3 * i + c];
  };
  const auto solve_with = [&](GcrMemory memory) {
    std::vector<double> right = b;
    std::ranges::fill(x, 0.0);
    return solve_side_by_side<3>(
               {at.op, at.null_space, add_rings,
                [](std::span<const double> r, std::span<double> z) { std::ranges::copy(r, z.begin()); }},
               {.tolerance = 1e-9, .max_iterations = 100, .memory = memory}, {"x", "y", "z"}, right, x)[0]
        .iterations;
  };
  EXPECT_LE(solve_with(20), 13);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t c = 0; c < 3; ++c) ASSERT_NEAR(ring(x, i, c), b[3 * i + c], 1e-8);
  EXPECT_TRUE(test::has(test::error_of([&] { solve_with(2); }), "solve x did not converge"));
}

// What is wrong is said with the name of the one it concerns.
TEST_F(SideBySide, SaysWhichOneFailsMpi) {
  Case at(comm_, true);
  const std::size_t n = at.op.numbering().n_own();
  BasicEllipticMultigrid<3> multigrid(at.op);
  const SideBySideSystem system{
      at.op, at.null_space, {}, [&](std::span<const double> r, std::span<double> z) { multigrid(r, z); }};
  const auto message = [&](double added, int max_iterations) {
    std::vector<double> b(3 * n, 0.0), x(3 * n, 0.0);
    for (int c = 0; c < 3; ++c) {
      const std::vector<double> one = at.right_side(c);
      for (std::size_t i = 0; i < n; ++i) b[3 * i + c] = one[i] + (c == 2 && one[i] != 0.0 ? added : 0.0);
    }
    return test::error_of([&] {
      solve_side_by_side<3>(system, {.tolerance = 1e-9, .max_iterations = max_iterations}, {"p", "q", "r"}, b, x);
    });
  };
  const std::string unbalanced = message(1.0, 100), endless = message(std::nan(""), 100), short_ = message(0.0, 2);
  EXPECT_TRUE(test::has(unbalanced, "solve r: the system is singular")) << unbalanced;
  EXPECT_TRUE(test::has(endless, "solve r: the right-hand side holds values that are not finite")) << endless;
  EXPECT_TRUE(test::has(short_, "after 2 iterations")) << short_;
}

}  // namespace
}  // namespace karst::side_by_side_test
