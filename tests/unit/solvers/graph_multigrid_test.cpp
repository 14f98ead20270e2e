// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/graph_multigrid.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "base/comm/parallel.hpp"
#include "solvers/krylov/elliptic_multigrid.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/geometry_cases.hpp"
#include "support/ground_cases.hpp"
#include "support/multigrid_cases.hpp"

namespace karst::graph_multigrid_test {
namespace {

using test::crossing_slits;
using test::dot;
using test::iterations;
using test::packing_level;
using test::problem_with;
using test::random_values;
using test::Walls;

/// <x, M y> = <M x, y> and <x, M x> > 0: what conjugate gradients need.
void expect_symmetric_and_positive(const Comm& comm, std::span<const TwoPointLevel> levels) {
  GraphMultigrid multigrid(comm, levels);
  for (std::uint64_t seed = 1; seed < 4; ++seed) {
    const std::vector<double> x = random_values(levels, 7919 * seed), y = random_values(levels, 104729 * seed);
    std::vector<double> mx(x.size()), my(x.size()), ax(x.size()), ay(x.size());
    multigrid.apply(x, mx);
    multigrid.apply(y, my);
    const double size = std::sqrt(dot(comm, x, mx) * dot(comm, y, my));
    EXPECT_GT(dot(comm, x, mx), 0.0);
    EXPECT_NEAR(dot(comm, x, my), dot(comm, mx, y), 1e-5 * size);
    multigrid.product(x, ax);
    multigrid.product(y, ay);
    EXPECT_GT(dot(comm, x, ax), 0.0);
    EXPECT_NEAR(dot(comm, x, ay), dot(comm, ax, y), 1e-6 * std::sqrt(dot(comm, x, ax) * dot(comm, y, ay)));
  }
}

TEST(GraphMultigrid, IsSymmetricAndPositiveMpi) {
  const Comm comm = Comm::world();
  const LevelGeometry geometry = packing_level(comm, 32, 8);
  for (const Walls walls : {Walls::neumann, Walls::dirichlet}) {
    const TwoPointLevel level = make_two_point_level(comm, geometry, problem_with(walls));
    expect_symmetric_and_positive(comm, std::span(&level, 1));
  }
}

// Reference (SciPy prototype on the voxels of a packing, porosity 0.35, Chebyshev degree 2): 13 and 9 at 32^3, 15 and 9
// at 64^3; the limits of the design are 25 and 12.
TEST(GraphMultigrid, IterationsStayFewAloneByDay) {
  const Comm comm = Comm::world();
  const LevelGeometry small = packing_level(comm, 32, 8), large = packing_level(comm, 64, 16);
  EXPECT_LE(iterations(comm, small, problem_with(Walls::neumann)), 16);
  EXPECT_LE(iterations(comm, large, problem_with(Walls::neumann)), 17);
  EXPECT_LE(iterations(comm, small, problem_with(Walls::dirichlet)), 10);
  EXPECT_LE(iterations(comm, large, problem_with(Walls::dirichlet)), 10);
}

/// Levels go to fewer ranks early: four ranks to two, which have at least 900 nodes each, and these to one.
MultigridOptions merging(std::int64_t gather_below) {
  MultigridOptions options;
  options.gather_below = gather_below;
  options.direct_below = 20;
  options.merge_below = 700;
  options.merge_to = 900;
  return options;
}

// The same operator on one rank and on all; levels are gathered early, late or never before the coarsest, or go to
// fewer ranks.
TEST(GraphMultigrid, IterationsDoNotDependOnRanksMpi) {
  const Comm comm = Comm::world(), self = Comm::self();
  const LevelGeometry all = packing_level(comm, 32, 8), alone = packing_level(self, 32, 8);
  const EllipticProblem problem = problem_with(Walls::neumann);
  const int expected = iterations(self, alone, problem);
  const TwoPointLevel level = make_two_point_level(comm, all, problem);
  const std::vector<std::int64_t> nodes = GraphMultigrid(comm, std::span(&level, 1), merging(0)).nodes();
  ASSERT_GT(nodes[1], 2 * 900);
  ASSERT_LT(nodes[1], 4 * 700);
  ASSERT_LT(nodes[2], 2 * 700);
  for (const std::int64_t gather_below : {100000, 1000, 0}) {
    MultigridOptions options;
    options.gather_below = gather_below;
    EXPECT_LE(std::abs(iterations(comm, all, problem, 1.0, options) - expected), 2) << gather_below;
    EXPECT_LE(std::abs(iterations(comm, all, problem, 1.0, merging(gather_below)) - expected), 2) << gather_below;
  }
}

// What a multigrid takes as its shifts later is what it could have been made with.
TEST(GraphMultigrid, TakesOtherShiftsMpi) {
  const Comm comm = Comm::world();
  const LevelGeometry geometry = packing_level(comm, 32, 8);
  const TwoPointLevel level = make_two_point_level(comm, geometry, problem_with(Walls::dirichlet));
  TwoPointLevel shifted = make_two_point_level(comm, geometry, problem_with(Walls::dirichlet));
  shifted.regular_shift += 0.7F;
  for (float& s : shifted.shift) s += 0.7F;
  for (const MultigridOptions& options : {MultigridOptions{}, merging(0), merging(100)}) {
    const std::span<const TwoPointLevel> levels(&level, 1), others(&shifted, 1);
    GraphMultigrid made(comm, others, options), changed(comm, levels, options);
    const std::vector<double> b = random_values(levels);
    std::vector<double> expected(b.size()), x(b.size()), before(b.size());
    made.apply(b, expected);
    changed.apply(b, before);
    changed.set_shifts(others);
    changed.apply(b, x);
    double error = 0.0, change = 0.0, size = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      error = std::max(error, std::abs(x[i] - expected[i]));
      change = std::max(change, std::abs(before[i] - expected[i]));
      size = std::max(size, std::abs(expected[i]));
    }
    EXPECT_LT(comm.max(error), 1e-5 * comm.max(size));
    EXPECT_GT(comm.max(change), 0.1 * comm.max(size));
  }
}

/// What is left of a random residual r after n times x += M r, in parts of it.
double left_by(int n, const Comm& comm, const TwoPointLevel& level) {
  const std::span<const TwoPointLevel> levels(&level, 1);
  expect_symmetric_and_positive(comm, levels);
  GraphMultigrid multigrid(comm, levels);
  const std::vector<double> b = random_values(levels);
  std::vector<double> rest = b, z(b.size()), az(b.size());
  for (int k = 0; k < n; ++k) {
    multigrid.apply(rest, z);
    multigrid.product(z, az);
    for (std::size_t i = 0; i < b.size(); ++i) rest[i] -= az[i];
  }
  return std::sqrt(dot(comm, rest, rest) / dot(comm, b, b));
}

// Shifts everywhere: connections are c = 9 / (9 + shift) of the diagonals at most (cells with joined pieces have more
// than six faces), and two sweeps without coarse levels leave 1 / T_2(1 / c) of a residual.
TEST(GraphMultigrid, LargeShiftsNeedNoCoarseLevelsMpi) {
  const Comm comm = Comm::world();
  const LevelGeometry geometry = packing_level(comm, 32, 8);
  for (const Walls walls : {Walls::neumann, Walls::dirichlet})
    for (const float shift : {20.0F, 300.0F}) {
      TwoPointLevel level = make_two_point_level(comm, geometry, problem_with(walls));
      level.regular_shift += shift;
      for (float& s : level.shift) s += shift;
      const double c = 9.0 / (9.0 + double{shift});
      EXPECT_LT(left_by(1, comm, level), 1.0 / (2.0 / (c * c) - 1.0)) << shift;
    }
}

// Shifts of whole cells alone, as slivers of cut cells have next to none: coarse levels are still there for the others.
TEST(GraphMultigrid, CellsWithoutShiftNeedCoarseLevelsMpi) {
  const Comm comm = Comm::world();
  const LevelGeometry geometry = packing_level(comm, 32, 8);
  TwoPointLevel level = make_two_point_level(comm, geometry, problem_with(Walls::neumann));
  level.regular_shift += 300.0F;
  EXPECT_LT(left_by(6, comm, level), 2e-3);  // 5e-4; without coarse levels 2e-2
}

TEST(GraphMultigrid, IterationsDoNotDependOnBoxes) {
  const Comm comm = Comm::self();
  const EllipticProblem problem = problem_with(Walls::neumann);
  const int boxes_of_8 = iterations(comm, packing_level(comm, 32, 8), problem);
  for (const int box : {16, 32})
    EXPECT_LE(std::abs(iterations(comm, packing_level(comm, 32, box), problem) - boxes_of_8), 2) << box;
}

// The result has the same bits for any number of threads.
TEST(GraphMultigrid, DoesNotDependOnThreads) {
  const Comm comm = Comm::self();
  const LevelGeometry geometry = packing_level(comm, 32, 8);
  const int before = n_threads();
  std::vector<std::vector<double>> results;
  for (const int threads : {1, 2, 3}) {
    set_n_threads(threads);
    const TwoPointLevel level = make_two_point_level(comm, geometry, problem_with(Walls::neumann));
    GraphMultigrid multigrid(comm, level);
    const std::vector<double> b = random_values(std::span(&level, 1));
    results.emplace_back(b.size());
    multigrid.apply(b, results.back());
  }
  set_n_threads(before);
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

// Right-hand sides of any size, coefficients of any size: single precision inside must not show.
TEST(GraphMultigrid, ScalesOut) {
  const Comm comm = Comm::self();
  const LevelGeometry geometry = packing_level(comm, 32, 8);
  EllipticProblem problem = problem_with(Walls::neumann);
  const int expected = iterations(comm, geometry, problem);
  for (const double size : {1e-60, 1e-20, 1e20, 1e60})
    EXPECT_EQ(iterations(comm, geometry, problem, size), expected) << size;
  for (const double beta : {1e-6, 1e6}) {
    problem.beta = beta;
    EXPECT_LE(std::abs(iterations(comm, geometry, problem) - expected), 1) << beta;
  }
}

// Thin crossing fractures: coarse cells hold several pieces.
TEST(GraphMultigrid, SolvesInThinFracturesMpi) {
  const Comm comm = Comm::world();
  const BuiltLevel built = test::single_level(comm, *crossing_slits(32), {Index::all(32), {}}, 8);
  EXPECT_LE(iterations(comm, built.geometry, problem_with(Walls::neumann)), 25);
  EXPECT_LE(iterations(comm, built.geometry, problem_with(Walls::dirichlet)), 12);
}

// Solid plates thinner than a cell, oblique: cells with two VoFs on the finest level, and pieces on coarse ones.
TEST(GraphMultigrid, SolvesBetweenThinWallsMpi) {
  const Comm comm = Comm::world();
  LevelSetParts plates;
  for (const double at : {7.3, 12.1, 19.6, 26.2}) plates.push_back(test::plate(Vec3::all(at), {0.12, 0.25, 1.0}, 0.3));
  const auto phi = union_of_solids(std::move(plates));
  const BuiltLevel built =
      test::single_level(comm, *phi, {Index::all(32), {}}, 8, KeepPores::all, ControlVolumes::pieces);
  EXPECT_GT(built.report.multivalued_vofs, 0);
  EXPECT_LE(iterations(comm, built.geometry, problem_with(Walls::neumann)), 25);
}

// Many closed pores without any fixed value: singular in every one of them. Right-hand sides of zero sum in each pore
// (A times something) are solved as fast as others.
TEST(GraphMultigrid, SolvesSingularSystemsMpi) {
  const Comm comm = Comm::world();
  const auto phi = complement(test::packing(60, 3.5, 32.0, false));
  const BuiltLevel built = test::single_level(comm, *phi, {Index::all(32), {}}, 8);
  EXPECT_GT(built.report.pores, 5);
  const TwoPointLevel level = make_two_point_level(comm, built.geometry, EllipticProblem{});
  GraphMultigrid multigrid(comm, level);
  const std::vector<double> exact = random_values(std::span(&level, 1));
  std::vector<double> b(exact.size()), x(exact.size()), ax(exact.size());
  multigrid.product(exact, b);
  EXPECT_LE(test::solve_cg(comm, multigrid, b, x, 1e-8, 100).iterations, 25);
  multigrid.product(x, ax);
  for (std::size_t v = 0; v < b.size(); ++v) ax[v] -= b[v];
  EXPECT_LT(dot(comm, ax, ax), 1.01e-16 * dot(comm, b, b));  // the true residual is the one that was asked for
}

/// Spheres whose walls are refined once or twice; n_levels levels exist.
Geometry refined_packing(const Comm& comm, int n_levels) {
  constexpr int n = 24;
  GridOptions grid = test::grid_of(n, n_levels, true);
  grid.periodic[0] = false;
  if (n_levels > 2) grid.refine[1] = {2, Refinement::Where::region, Vec3::all(0.3), Vec3::all(0.6), 1};
  return build_geometry(comm, grid, *test::packing(4, 7.0, n, true), KeepPores::connected);
}

TEST(GraphMultigrid, IsSymmetricAndPositiveOnSeveralLevelsMpi) {
  const Comm comm = Comm::world();
  const Geometry geometry = refined_packing(comm, 3);
  ASSERT_EQ(geometry.levels.size(), 3u);
  for (const Walls walls : {Walls::neumann, Walls::dirichlet})
    expect_symmetric_and_positive(comm,
                                  make_two_point_levels(*test::composite_on(comm, geometry), problem_with(walls)));
}

/// Largest difference between a cycle for three right-hand sides and three cycles for one, over the largest result.
double difference_of_three(const Comm& comm, std::span<const TwoPointLevel> levels, const MultigridOptions& options) {
  GraphMultigrid one(comm, levels, options);
  BasicGraphMultigrid<3> three(comm, levels, options);
  std::array<std::vector<double>, 3> b, x;
  std::vector<Values<3>> together(one.n_unknowns(), Values<3>{});
  for (std::size_t c = 0; c < 3; ++c) {
    b[c] = random_values(levels, 31 * c + 7);
    x[c].resize(b[c].size());
    one.apply(b[c], x[c]);
  }
  three.apply(
      [&](std::int64_t first, std::int32_t n, Values<3>* to) {
        for (std::int32_t v = 0; v < n; ++v)
          for (std::size_t c = 0; c < 3; ++c) to[v].v[c] = static_cast<float>(b[c][first + v]);
      },
      [&](std::int64_t first, std::int32_t n, const Values<3>* from) {
        std::copy_n(from, n, together.begin() + first);
      });
  double worst = 0.0, largest = 0.0;
  for (std::size_t v = 0; v < together.size(); ++v)
    for (std::size_t c = 0; c < 3; ++c) {
      worst = std::max(worst, std::abs(x[c][v] - double{together[v].v[c]}));
      largest = std::max(largest, std::abs(x[c][v]));
    }
  return comm.max(worst) / comm.max(largest);
}

// Three right-hand sides share rows and transfers, nothing else.
TEST(GraphMultigrid, ThreeAtOnceAreThreeMpi) {
  const Comm comm = Comm::world();
  const LevelGeometry one_level = packing_level(comm, 32, 8);
  const Geometry refined = refined_packing(comm, 3);
  for (const Walls walls : {Walls::neumann, Walls::dirichlet})
    for (const MultigridOptions& options : {MultigridOptions{}, merging(0), merging(100)}) {
      const TwoPointLevel level = make_two_point_level(comm, one_level, problem_with(walls));
      EXPECT_LT(difference_of_three(comm, std::span(&level, 1), options), 3e-6);
      EXPECT_LT(difference_of_three(
                    comm, make_two_point_levels(*test::composite_on(comm, refined), problem_with(walls)), options),
                3e-6);
    }
}

/// Of each component: |A x - A_c x| / |A_c x| and |x - M A x| / |x - M_c A_c x|, A and M for three together with sides
/// that mirror, A_c and M_c for the component alone with a fixed value on the sides that hold it.
struct Mirrored {
  std::array<double, 3> product, error;
};
Mirrored compare_mirrored(const Comm& comm, const Geometry& geometry, const std::array<bool, 6>& mirrors) {
  EllipticProblem problem = problem_with(Walls::dirichlet);
  std::vector<TwoPointLevel> levels =
      make_two_point_levels(*test::composite_on(comm, geometry), problem, WallForm::lines);
  for (TwoPointLevel& level : levels) level.mirrors = mirrors;
  BasicGraphMultigrid<3> three(comm, levels);
  const std::vector<double> x = random_values(levels);
  std::vector<Values<3>> ax(x.size()), max(x.size());
  const auto store_to = [](std::vector<Values<3>>& all) {
    return [&all](std::int64_t first, std::int32_t n, const Values<3>* from) {
      std::copy_n(from, n, all.begin() + first);
    };
  };
  three.product(
      [&](std::int64_t first, std::int32_t n, Values<3>* to) {
        for (std::int32_t v = 0; v < n; ++v) to[v].v.fill(static_cast<float>(x[first + v]));
      },
      store_to(ax));
  three.apply([&](std::int64_t first, std::int32_t n, Values<3>* to) { std::copy_n(ax.begin() + first, n, to); },
              store_to(max));
  Mirrored result{};
  for (std::size_t c = 0; c < 3; ++c) {
    EllipticProblem alone = problem;
    for (std::size_t s = 0; s < 6; ++s)
      if (s / 2 == c && mirrors[s]) alone.sides[s] = [](const Vec3&) { return dirichlet(0.0); };
    GraphMultigrid one(comm, make_two_point_levels(*test::composite_on(comm, geometry), alone, WallForm::lines));
    std::vector<double> b(x.size()), y(x.size()), of_three(x.size()), of_one(x.size());
    one.product(x, b);
    one.apply(b, y);
    for (std::size_t v = 0; v < x.size(); ++v) {
      of_three[v] = double{max[v].v[c]} - x[v];
      of_one[v] = y[v] - x[v];
      y[v] = double{ax[v].v[c]} - b[v];
    }
    result.product[c] = std::sqrt(dot(comm, y, y) / dot(comm, b, b));
    result.error[c] = std::sqrt(dot(comm, of_three, of_three) / dot(comm, of_one, of_one));
  }
  return result;
}

// Planes of symmetry hold the normal component and no other: three together are solved as well as each alone.
TEST(GraphMultigrid, MirrorsHoldTheNormalComponentMpi) {
  const Comm comm = Comm::world();
  const auto ball = make_sphere_list(std::vector<Sphere>{{{13.1, 10.7, 12.3}, 5.0}}, {Vec3::all(24), {}});
  for (const int n_levels : {1, 2}) {
    GridOptions grid = test::grid_of(24, n_levels, false);
    const Geometry geometry = build_geometry(comm, grid, *ball, KeepPores::all);
    ASSERT_EQ(std::ssize(geometry.levels), n_levels);
    const Mirrored m = compare_mirrored(comm, geometry, {false, false, true, true, true, false});
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_LT(m.product[c], 1e-6) << c;
      EXPECT_LT(m.error[c], 1.1) << c;
    }
  }
}

// Each coarse-fine face is a link to the coarse VoF behind it, and constants are kept across levels: A 1 = 0 with
// Neumann conditions.
TEST(GraphMultigrid, LinksLevelsMpi) {
  const Comm comm = Comm::world();
  const Geometry geometry = refined_packing(comm, 3);
  const auto grid = test::composite_on(comm, geometry);
  const std::vector<TwoPointLevel> levels = make_two_point_levels(*grid, EllipticProblem{});
  std::int64_t unknowns = 0;
  for (std::size_t l = 0; l < 3; ++l) {
    unknowns += geometry.report.levels[l].vofs_composite;
    if (l == 0) continue;
    const auto n_links = std::ssize(levels[l].links);
    EXPECT_GT(comm.sum(n_links), 100);
    EXPECT_EQ(n_links + levels[l].unlinked, std::ssize(grid->coarse_fine(static_cast<int>(l) - 1)));
    EXPECT_LE(comm.sum(levels[l].unlinked), comm.sum(n_links) / 200);
  }
  GraphMultigrid multigrid(comm, levels);
  EXPECT_EQ(multigrid.nodes()[0], unknowns);
  const std::vector<double> ones(multigrid.n_unknowns(), 1.0);
  std::vector<double> a(ones.size());
  multigrid.product(ones, a);
  double worst = 0.0;
  for (const double v : a) worst = std::max(worst, std::abs(v));
  EXPECT_LT(comm.max(worst), 1e-6);
}

// Refined walls cost no more iterations than one level.
TEST(GraphMultigrid, SolvesOnSeveralLevelsMpi) {
  const Comm comm = Comm::world();
  for (const int n_levels : {2, 3}) {
    const Geometry geometry = refined_packing(comm, n_levels);
    EXPECT_LE(
        iterations(comm, make_two_point_levels(*test::composite_on(comm, geometry), problem_with(Walls::neumann))), 20)
        << n_levels;
    EXPECT_LE(
        iterations(comm, make_two_point_levels(*test::composite_on(comm, geometry), problem_with(Walls::dirichlet))),
        12)
        << n_levels;
  }
}

/// Iterations of the default method to 1e-8 on the accurate operator, with sources that are nearly white.
int accurate_iterations(const Comm& comm, const Geometry& geometry, const EllipticProblem& problem) {
  const PetscSession petsc;
  EllipticOperator op(test::composite_on(comm, geometry), problem);
  KrylovSolver solver(op, {"accurate", "accurate_", 1e-8, 100, 1e-8});
  const std::vector<double> source = random_values(make_two_point_levels(*test::composite_on(comm, geometry), problem));
  std::vector<double> b(source.size()), x(b.size());
  op.right_side(source, b);
  const SolveReport report = solver.solve(b, x);
  EXPECT_LT(report.true_residual, 1.1e-8);
  return report.iterations;
}

/// Neumann walls given by a function: orphans join hosts (row_maker.hpp).
EllipticProblem with_hosts() {
  EllipticProblem problem = problem_with(Walls::neumann);
  problem.wall = [](const Vec3&) { return neumann(0.0); };
  return problem;
}

// The accurate operator on one to three levels takes hardly more iterations than the two-point operator (10 to 12),
// whose cycle preconditions it: 9 to 10 with Dirichlet walls, 10 to 12 with others.
TEST(GraphMultigrid, PreconditionsTheAccurateOperatorMpiAtNight) {
  const Comm comm = Comm::world();
  for (const int n_levels : {1, 2, 3}) {
    const Geometry geometry = refined_packing(comm, n_levels);
    EXPECT_LE(accurate_iterations(comm, geometry, problem_with(Walls::dirichlet)), 12) << n_levels;
    EXPECT_LE(accurate_iterations(comm, geometry, problem_with(Walls::neumann)), 14) << n_levels;
    EXPECT_LE(accurate_iterations(comm, geometry, with_hosts()), 14) << n_levels;
  }
}

Geometry packing_geometry(const Comm& comm, int n, double radius) {
  GridOptions grid = test::grid_of(n, 1, true);
  grid.periodic[0] = false;
  const int spheres = static_cast<int>(1.05 * n * n * n / (4.19 * radius * radius * radius));
  return build_geometry(comm, grid, *test::packing(spheres, radius, n, true), KeepPores::connected);
}

// Asked: at most 25 with Neumann and 12 with Dirichlet walls, 32^3 to 256^3 (docs/performance.md has the large ones).
TEST(GraphMultigrid, FewIterationsInPackingsAloneByDay) {
  const Comm comm = Comm::world();
  for (const int n : {32, 64}) {
    const Geometry geometry = packing_geometry(comm, n, n == 32 ? 5.0 : 8.0);
    EXPECT_LE(accurate_iterations(comm, geometry, problem_with(Walls::neumann)), 16) << n;
    EXPECT_LE(accurate_iterations(comm, geometry, with_hosts()), 16) << n;
    EXPECT_LE(accurate_iterations(comm, geometry, problem_with(Walls::dirichlet)), 12) << n;
  }
}

// All Neumann: singular, by the accurate operator.
TEST(GraphMultigrid, FewIterationsInSealedPackingsMpi) {
  const Comm comm = Comm::world();
  const Geometry geometry = packing_geometry(comm, 32, 5.0);
  const PetscSession petsc;
  const EllipticProblem sealed;
  EllipticOperator op(test::composite_on(comm, geometry), sealed);
  std::vector<double> b(op.numbering().n_own()), x(b.size());
  std::vector<double> values = random_values(make_two_point_levels(*test::composite_on(comm, geometry), sealed));
  op.apply(values, b);
  const SolveReport report = KrylovSolver(op, {"sealed", "sealed_", 1e-8, 100, 1e-8}).solve(b, x);
  EXPECT_EQ(report.singular_pores, 1);
  EXPECT_LE(report.iterations, 16);
  EXPECT_LT(report.true_residual, 1.1e-8);
}

TEST(GraphMultigrid, FewIterationsInThinFracturesMpi) {
  const Comm comm = Comm::world();
  for (const double n : {24.0, 32.0}) {
    const Geometry geometry =
        build_geometry(comm, test::grid_of(static_cast<int>(n), 1, false), *crossing_slits(n), KeepPores::all);
    EXPECT_LE(accurate_iterations(comm, geometry, problem_with(Walls::neumann)), 25) << n;
    EXPECT_LE(accurate_iterations(comm, geometry, with_hosts()), 25) << n;
    EXPECT_LE(accurate_iterations(comm, geometry, problem_with(Walls::dirichlet)), 12) << n;
  }
}

// On lines the two operators are one: A x is the same to single precision, orphans included.
TEST(GraphMultigrid, IsTheAccurateOperatorOnLinesMpi) {
  const Comm comm = Comm::world();
  const Geometry geometry = refined_packing(comm, 1);
  EllipticProblem problem = problem_with(Walls::dirichlet);
  problem.a = 0.3;
  problem.beta = 2.0;
  EllipticOperator op(test::composite_on(comm, geometry), problem);
  ASSERT_EQ(op.form(), WallForm::lines);
  const TwoPointLevel level = make_two_point_level(comm, geometry.levels[0], problem, WallForm::lines);
  GraphMultigrid multigrid(comm, level);
  const std::vector<double> x = random_values(std::span(&level, 1));
  std::vector<double> y(x.size()), z(x.size());
  op.apply(x, y);
  multigrid.product(x, z);
  double worst = 0.0;
  for (std::size_t v = 0; v < x.size(); ++v) worst = std::max(worst, std::abs(y[v] - z[v]) / (1.0 + std::abs(y[v])));
  EXPECT_LT(comm.max(worst), 1e-5);
}

// Too few iterations, a right-hand side that is not a number: an error, never a result.
TEST(GraphMultigrid, NeverFailsSilently) {
  const Comm comm = Comm::self();
  const LevelGeometry geometry = packing_level(comm, 32, 16);
  const TwoPointLevel level = make_two_point_level(comm, geometry, problem_with(Walls::neumann));
  GraphMultigrid multigrid(comm, level);
  const std::vector<double> b = random_values(std::span(&level, 1));
  std::vector<double> x(b.size());
  EXPECT_THROW(test::solve_cg(comm, multigrid, b, x, 1e-8, 3), Error);
  EXPECT_THROW(test::solve_cg(comm, multigrid, std::vector<double>(b.size(), NAN), x, 1e-8, 30), Error);
}

// Neither far below nor far above what a cycle should cost in memory and work.
TEST(GraphMultigrid, TellsItsSize) {
  const Comm comm = Comm::self();
  const LevelGeometry geometry = packing_level(comm, 32, 16);
  const GraphMultigrid multigrid(comm, make_two_point_level(comm, geometry, problem_with(Walls::neumann)));
  EXPECT_EQ(multigrid.nodes()[0], geometry.graph.counts().vofs);
  EXPECT_LE(multigrid.nodes().back(), 300);
  EXPECT_GT(multigrid.operator_complexity(), 1.05);
  EXPECT_LT(multigrid.operator_complexity(), 1.3);
  const double per_cell = static_cast<double>(multigrid.bytes()) / static_cast<double>(multigrid.nodes()[0]);
  EXPECT_GT(per_cell, 30.0);
  EXPECT_LT(per_cell, 120.0);
}

}  // namespace
}  // namespace karst::graph_multigrid_test
