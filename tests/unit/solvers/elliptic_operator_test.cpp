// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic_operator.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "grid/halo_exchange.hpp"
#include "solvers/null_space.hpp"
#include "solvers/petsc_matrix.hpp"
#include "solvers/petsc_session.hpp"
#include "support/elliptic_cases.hpp"
#include "support/geometry_cases.hpp"

namespace karst {
namespace {

using test::grid_of;

class EllipticOperatorTest : public testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;
};

/// A value per unknown that depends on its place alone.
std::vector<double> noise(const EllipticOperator& op) {
  std::vector<double> x;
  for (const Vec3& p : op.positions()) x.push_back(std::sin(12.9 * p[0] + 78.2 * p[1] - 37.7 * p[2]));
  return x;
}

double largest(const Comm& comm, std::span<const double> x) {
  double m = 0.0;
  for (const double v : x) m = std::max(m, std::abs(v));
  return comm.max(m);
}

/// Conditions of all kinds, varying over the wall.
EllipticProblem mixed_problem() {
  EllipticProblem p;
  p.a = 0.3;
  p.beta = 1.7;
  p.sides[0] = [](const Vec3& x) { return dirichlet(x[1]); };
  p.sides[3] = [](const Vec3&) { return robin(0.4, 1.0); };
  p.wall = [](const Vec3& x) {
    if (x[0] < 8.0) return robin(2.0, 0.5);
    return x[1] < 8.0 ? dirichlet(1.0) : neumann(0.2);
  };
  return p;
}

Geometry packing_geometry(const Comm& comm, bool periodic, int levels = 1) {
  const auto phi = test::packing(8, 4.2, 16, periodic);
  GridOptions grid = grid_of(16, 1, periodic);
  grid.levels = levels;
  if (levels > 1) grid.refine = {{1, Refinement::Where::region, {0.0, 0.0, 0.0}, {0.5, 0.5, 1.0}, 0}};
  return build_geometry(comm, grid, *phi, KeepPores::all);
}

void expect_equal_readers(const Comm& comm, const Geometry& geometry, const EllipticProblem& problem) {
  EllipticOperator op(comm, geometry, problem);
  const PetscMatrix matrix(op);
  EXPECT_EQ(matrix.unused_entries(), 0.0);
  const std::vector<double> x = noise(op);
  std::vector<double> applied(x.size()), multiplied(x.size());
  op.apply(x, applied);
  matrix.multiply(x, multiplied);
  for (std::size_t i = 0; i < x.size(); ++i) multiplied[i] -= applied[i];
  EXPECT_LT(largest(comm, multiplied), 1e-13 * std::max(1.0, largest(comm, applied)));
}

// L3: the two readers of the stencils agree to round-off, nothing is preallocated in vain.
TEST_F(EllipticOperatorTest, AppliedIsAssembledMpi) {
  for (const bool periodic : {false, true}) {
    const Geometry geometry = packing_geometry(comm_, periodic);
    expect_equal_readers(comm_, geometry, mixed_problem());
    EllipticProblem no_slip;
    no_slip.wall = [](const Vec3&) { return dirichlet(0.0); };
    expect_equal_readers(comm_, geometry, no_slip);
  }
}

// β on faces: a constant field gives what the constant gives; a varying one has equal readers.
TEST_F(EllipticOperatorTest, FaceBetaMpi) {
  const Geometry geometry = packing_geometry(comm_, true);
  EllipticProblem problem = mixed_problem();
  EllipticOperator constant(comm_, geometry, problem);
  Field beta(geometry.levels[0].graph, 3);
  beta.fill(problem.beta);
  problem.face_beta = std::span(&beta, 1);
  EllipticOperator varying(comm_, geometry, problem);
  const std::vector<double> x = noise(constant);
  std::vector<double> a(x.size()), b(x.size());
  constant.apply(x, a);
  varying.apply(x, b);
  double difference = 0.0;
  for (std::size_t i = 0; i < x.size(); ++i) difference = std::max(difference, std::abs(a[i] - b[i]));
  // Orphans at the end of a box have no host beyond it when β varies: that alone may differ.
  if (constant.counts().orphans_joined == varying.counts().orphans_joined) {
    EXPECT_LT(comm_.max(difference), 1e-12);
  }
  for (int c = 0; c < 3; ++c)
    for (int box = 0; box < beta.n_local(); ++box) {
      int i = 0;
      for (double& value : beta.own(box, c)) value = 1.0 + 0.5 * std::sin(0.7 * ++i + c);
    }
  HaloExchange(comm_, geometry.levels[0].graph, 3)(beta);
  expect_equal_readers(comm_, geometry, problem);
}

// A constant is in the null space of every row without Dirichlet or Robin conditions, whatever the cuts; the balances
// sum to zero, so nothing is made or lost.
TEST_F(EllipticOperatorTest, ConstantsAndConservationMpi) {
  const Geometry geometry = packing_geometry(comm_, true);
  EllipticOperator op(comm_, geometry, EllipticProblem{});
  std::vector<double> x(static_cast<std::size_t>(op.numbering().n_own()), 3.0), y(x.size());
  op.apply(x, y);
  EXPECT_LT(largest(comm_, y), 1e-12);
  x = noise(op);
  op.apply(x, y);
  const std::vector<double> volume = op.volumes();
  double sum = 0.0, size = 0.0;
  for (std::size_t i = 0; i < y.size(); ++i)
    if (volume[i] > 0.0) {
      sum += y[i];
      size += std::abs(y[i]);
    }
  EXPECT_LT(std::abs(comm_.sum(sum)), 1e-13 * comm_.sum(size));
  const NullSpace null_space(op);
  EXPECT_GE(null_space.n_pores(), 1);
}

// A linear function has no divergence next to Neumann walls with fitting fluxes: rows of slivers, orphans and
// fall-backs included.
TEST_F(EllipticOperatorTest, LinearFunctionsAreExactMpi) {
  const Geometry geometry = packing_geometry(comm_, false);
  const Vec3 g{0.3, -1.1, 2.0};
  EllipticProblem problem;
  for (int side = 0; side < 6; ++side)
    problem.sides[static_cast<std::size_t>(side)] = [=](const Vec3&) {
      return neumann((is_high(side) ? 1.0 : -1.0) * g[direction_of(side)]);
    };
  EllipticOperator op(comm_, geometry, problem);
  std::vector<double> x, y(static_cast<std::size_t>(op.numbering().n_own())), b(y.size());
  for (const Vec3& p : op.positions()) x.push_back(dot(g, p));
  op.apply(x, y);
  op.right_side({}, b);
  const LevelGeometry& level = geometry.levels[0];
  std::vector<double> wall(y.size());
  for (int box = 0; box < level.graph.n_local(); ++box) {
    const BoxGraph graph = level.graph.box(box);
    for (std::size_t r = 0; r < level.box(box).moments.size(); ++r)
      wall[static_cast<std::size_t>(op.numbering().number(0, box, graph.row_vof[r]))] =
          dot(level.box(box).moments[r].wall, g);
  }
  // What an orphan's wall gives goes to its host: compare the sums and the rows that have no orphans near.
  std::int64_t wrong = 0;
  double sum = 0.0;
  const std::vector<double> volume = op.volumes();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double defect = y[i] - b[i] + wall[i];
    wrong += volume[i] > 0.0 && std::abs(defect) > 1e-6;
    sum += volume[i] > 0.0 ? defect : wall[i];
    if (volume[i] == 0.0) {
      EXPECT_NEAR(y[i], 0.0, 1e-6);
    }
  }
  EXPECT_NEAR(comm_.sum(sum), 0.0, 1e-6);
  EXPECT_LE(comm_.sum(wrong), op.counts().orphans_joined + 2 * op.counts().faces_without_gradient);
}

// The result does not depend on ranks: compared with this rank alone.
TEST_F(EllipticOperatorTest, RanksDoNotMatterMpi) {
  const Geometry together = packing_geometry(comm_, true), alone = packing_geometry(Comm::self(), true);
  EllipticOperator op(comm_, together, mixed_problem()), whole(Comm::self(), alone, mixed_problem());
  const std::vector<double> x = noise(op), all = noise(whole);
  std::vector<double> y(x.size()), z(all.size());
  op.apply(x, y);
  whole.apply(all, z);
  for (std::size_t i = 0; i < y.size(); ++i)
    EXPECT_NEAR(y[i], z[static_cast<std::size_t>(op.numbering().first()) + i], 1e-13);
}

TEST_F(EllipticOperatorTest, RefusesWrongCoefficients) {
  const Geometry geometry = packing_geometry(Comm::self(), true);
  EllipticProblem wrong_a, wrong_beta, negative;
  wrong_a.a = -1.0;
  wrong_beta.beta = 0.0;
  EXPECT_THROW(EllipticOperator(Comm::self(), geometry, wrong_a), Error);
  EXPECT_THROW(EllipticOperator(Comm::self(), geometry, wrong_beta), Error);
  negative.wall = [](const Vec3&) { return robin(-1.0, 0.0); };
  EXPECT_THROW(EllipticOperator(Comm::self(), geometry, negative), Error);
}

}  // namespace
}  // namespace karst
