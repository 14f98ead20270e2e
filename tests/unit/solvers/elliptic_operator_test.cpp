// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/elliptic_operator.hpp"

#include <gtest/gtest.h>

#include <map>

#include "base/core/error.hpp"
#include "grid/halo_exchange.hpp"
#include "solvers/krylov/null_space.hpp"
#include "solvers/krylov/petsc_matrix.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/elliptic_cases.hpp"
#include "support/geometry_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::elliptic_operator_test {
namespace {

using test::grid_of;
using test::largest;
using test::mixed_problem;
using test::noise;
using test::packing_geometry;

class EllipticOperatorTest : public testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;
};

void expect_equal_readers(const Comm& comm, const Geometry& geometry, const EllipticProblem& problem) {
  EllipticOperator op(test::composite_on(comm, geometry), problem);
  const PetscMatrix matrix(op);
  EXPECT_EQ(matrix.unused_entries(), 0.0);
  const std::vector<double> x = noise(op);
  std::vector<double> applied(x.size()), multiplied(x.size());
  op.apply(x, applied);
  matrix.multiply(x, multiplied);
  for (std::size_t i = 0; i < x.size(); ++i) multiplied[i] -= applied[i];
  EXPECT_LT(largest(comm, multiplied), 1e-13 * std::max(1.0, largest(comm, applied)));
}

/// Three vectors through f(C, in, out), side by side and one by one, to the bit; `out` begins as a copy of the last.
template <class F>
void expect_same_alone(const EllipticOperator& op, F&& f) {
  constexpr int C = 3;
  const std::vector<double> base = noise(op);
  const std::size_t n = base.size();
  std::vector<double> x(C * n), y(C * n, 0.25), one(n), result(n);
  for (std::size_t i = 0; i < n; ++i)
    for (int c = 0; c < C; ++c) x[C * i + c] = c == 0 ? 1.0 : std::sin(c * base[i] + 0.1 * c);
  f(std::integral_constant<int, C>{}, x, y);
  for (int c = 0; c < C; ++c) {
    for (std::size_t i = 0; i < n; ++i) one[i] = x[C * i + c];
    std::ranges::fill(result, 0.25);
    f(std::integral_constant<int, 1>{}, one, result);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(y[C * i + c], result[i]) << c << ' ' << i;
  }
}

// Vectors side by side do not feel each other: on one and more levels, sealed and with walls of all kinds.
TEST_F(EllipticOperatorTest, VectorsSideBySideAreThoseAloneMpi) {
  for (const int levels : {1, 2, 3})
    for (const EllipticProblem& problem : {EllipticProblem{}, mixed_problem()}) {
      const Geometry geometry = packing_geometry(comm_, levels == 2, levels);
      EllipticOperator op(test::composite_on(comm_, geometry), problem);
      expect_same_alone(op, [&](auto C, std::span<const double> x, std::span<double> y) { op.apply<C()>(x, y); });
      expect_same_alone(op,
                        [&](auto C, std::span<const double> b, std::span<double> x) { op.relax_wide_rows<C()>(b, x); });
    }
}

// L3: the two readers of the stencils agree to round-off, nothing is preallocated in vain.
TEST_F(EllipticOperatorTest, AppliedIsAssembledMpi) {
  for (const int levels : {1, 2, 3}) {
    const Geometry geometry = packing_geometry(comm_, levels == 2, levels);
    expect_equal_readers(comm_, geometry, mixed_problem());
    EllipticProblem no_slip;
    no_slip.wall = [](const Vec3&) { return dirichlet(0.0); };
    expect_equal_readers(comm_, geometry, no_slip);
  }
}

/// β on faces, a function of their places alone, halos included.
Field beta_of_places(const Comm& comm, const LevelGraph& graph) {
  Field beta(graph, 3);
  for (int b = 0; b < graph.n_local(); ++b)
    for_each_vof(graph.box(b), [&](int vof, int cell, const auto&) {
      const Index at = graph.box(b).cells.cell(cell);
      for (int d = 0; d < 3; ++d)
        beta.own(b, d)[vof] = 1.0 + 0.5 * std::sin(0.7 * at[0] - 1.9 * at[1] + 3.1 * at[2] + d);
    });
  fill_halo(comm, graph, beta);
  return beta;
}

// β on faces: a constant field gives what the constant gives, another one does not; a varying one has equal readers.
TEST_F(EllipticOperatorTest, FaceBetaMpi) {
  const Geometry geometry = packing_geometry(comm_, true);
  EllipticProblem problem = mixed_problem();
  problem.wall = [](const Vec3&) { return robin(0.4, 1.0); };  // so that orphans have hosts
  EllipticOperator constant(test::composite_on(comm_, geometry), problem);
  EXPECT_GT(constant.counts().orphans_joined, 10);
  const std::vector<double> x = noise(constant);
  std::vector<double> a(x.size()), b(x.size());
  constant.apply(x, a);
  const auto largest_difference = [&](double factor) {
    Field beta(geometry.levels[0].graph, 3);
    beta.fill(factor * mixed_problem().beta);
    problem.face_beta = std::span(&beta, 1);
    EllipticOperator(test::composite_on(comm_, geometry), problem).apply(x, b);
    double difference = 0.0;
    for (std::size_t i = 0; i < x.size(); ++i) difference = std::max(difference, std::abs(a[i] - b[i]));
    return comm_.max(difference);
  };
  EXPECT_LT(largest_difference(1.0), 1e-12 * largest(comm_, a));
  EXPECT_GT(largest_difference(1.001), 1e-4);
  const Field beta = beta_of_places(comm_, geometry.levels[0].graph);
  problem.face_beta = std::span(&beta, 1);
  expect_equal_readers(comm_, geometry, problem);
}

// What a varying β makes of a field does not depend on the boxes, nor on their owners: orphans have hosts beyond them.
TEST_F(EllipticOperatorTest, FaceBetaDoesNotFeelBoxesMpi) {
  const auto phi = test::packing(8, 4.2, 16, true);
  std::vector<std::array<double, 3>> sums;
  for (const int box : {8, 16}) {
    GridOptions grid = grid_of(16, 1, true);
    grid.box = box;
    const Geometry geometry = build_geometry(comm_, grid, *phi, KeepPores::all);
    const Field beta = beta_of_places(comm_, geometry.levels[0].graph);
    EllipticProblem problem;
    problem.wall = [](const Vec3&) { return robin(0.4, 1.0); };
    problem.face_beta = std::span(&beta, 1);
    EllipticOperator op(test::composite_on(comm_, geometry), problem);
    EXPECT_GT(op.counts().orphans_joined, 10);
    const std::vector<double> x = noise(op);
    std::vector<double> y(x.size());
    op.apply(x, y);
    std::array<double, 3> sum{};
    for (const double v : y) {
      sum[1] += std::abs(v);
      sum[2] += v * v;
    }
    comm_.sum(std::span(sum));
    sum[0] = static_cast<double>(op.counts().orphans_joined);
    sums.push_back(sum);
  }
  EXPECT_EQ(sums[0][0], sums[1][0]);
  for (int k = 1; k < 3; ++k) EXPECT_NEAR(sums[0][k], sums[1][k], 1e-12 * sums[1][k]);
}

/// Sum of y over the rows that are balances, relative to Σ |y|.
double defect_of_balance(const EllipticOperator& op, std::span<const double> y) {
  const std::vector<double> volume = op.volumes();
  std::array<double, 2> sums{};
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (volume[i] <= 0.0) continue;
    sums[0] += y[i];
    sums[1] += std::abs(y[i]);
  }
  op.comm().sum(std::span(sums));
  return std::abs(sums[0]) / sums[1];
}

// A constant is in the null space of every row without Dirichlet or Robin conditions, whatever the cuts; the balances
// sum to zero, so nothing is made or lost, also between levels (L2).
TEST_F(EllipticOperatorTest, ConstantsAndConservationMpi) {
  for (const int levels : {1, 2, 3}) {
    const Geometry geometry = packing_geometry(comm_, true, levels);
    EllipticProblem problem;
    for (const bool sealed : {true, false}) {
      if (!sealed) problem.wall = [](const Vec3&) { return neumann(1.0); };
      EllipticOperator op(test::composite_on(comm_, geometry), problem);
      EXPECT_EQ(op.counts().level_faces > 0, levels > 1);
      EXPECT_EQ(op.counts().level_faces_closed, 0);
      std::vector<double> x(op.numbering().n_own(), 3.0), y(x.size());
      op.apply(x, y);
      EXPECT_LT(largest(comm_, y), 1e-11);
      op.apply(noise(op), y);
      EXPECT_LT(defect_of_balance(op, y), 1e-12);
      const NullSpace null_space(op);
      EXPECT_GE(null_space.n_pores(), 1);
      EXPECT_LT(null_space.imbalance(y), 1e-10);
    }
  }
}

// A linear function is reproduced by every row of a smooth wall, slivers, orphans and levels included: with the fluxes
// that fit it the residual vanishes. Only faces with plain differences (counted) may miss it.
TEST_F(EllipticOperatorTest, LinearFunctionsAreExactMpi) {
  const Vec3 g{0.3, -1.1, 2.0};
  for (const auto& shape : {test::outside_sphere(), test::inside_tube(), test::tilted_slit()})
    for (const int levels : {1, 2}) {
      GridOptions grid = grid_of(24, 1);
      grid.levels = levels;
      if (levels > 1) grid.refine.push_back({1, Refinement::Where::region, {0.4, 0.2, 0.2}, {1.0, 0.7, 0.7}, 0});
      const Geometry geometry = build_geometry(comm_, grid, *shape.level_set(24), KeepPores::all);
      EllipticOperator op(test::composite_on(comm_, geometry), test::fits_linear(comm_, geometry, g));
      std::vector<double> x, y(op.numbering().n_own()), b(y.size());
      for (const Vec3& p : op.positions()) x.push_back(dot(g, p));
      op.apply(x, y);
      op.right_side({}, b);
      std::int64_t wrong = 0;
      for (std::size_t i = 0; i < y.size(); ++i)
        wrong += std::abs(y[i] - b[i]) > 2e-5;  // centroids of faces are floats
      EXPECT_EQ(op.counts().faces_tight, 0);
      const std::int64_t plain = op.counts().faces_without_gradient + op.counts().faces_too_stiff;
      EXPECT_LE(comm_.sum(wrong), plain);
      EXPECT_LT(plain, 150);
      EXPECT_LT(op.counts().faces_too_stiff, 10);
      EXPECT_EQ(op.counts().orphans_alone, 0);
    }
}

// The result does not depend on ranks: compared with this rank alone.
TEST_F(EllipticOperatorTest, RanksDoNotMatterMpi) {
  for (const int levels : {1, 2}) {
    const Geometry together = packing_geometry(comm_, true, levels),
                   alone = packing_geometry(Comm::self(), true, levels);
    EllipticOperator op(test::composite_on(comm_, together), mixed_problem()),
        whole(test::composite_on(Comm::self(), alone), mixed_problem());
    const std::vector<double> x = noise(op), all = noise(whole);
    std::vector<double> y(x.size()), z(all.size());
    op.apply(x, y);
    whole.apply(all, z);
    const std::vector<Vec3> at = op.positions(), everywhere = whole.positions();
    std::map<std::array<double, 3>, double> value;
    for (std::size_t i = 0; i < z.size(); ++i) value[everywhere[i].v] = z[i];
    for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], value.at(at[i].v), 1e-12);
  }
}

TEST_F(EllipticOperatorTest, RefusesWrongCoefficients) {
  const Geometry geometry = packing_geometry(Comm::self(), true);
  EllipticProblem wrong_a, wrong_beta, negative;
  wrong_a.a = -1.0;
  wrong_beta.beta = 0.0;
  EXPECT_THROW(EllipticOperator(test::composite_on(Comm::self(), geometry), wrong_a), Error);
  EXPECT_THROW(EllipticOperator(test::composite_on(Comm::self(), geometry), wrong_beta), Error);
  negative.wall = [](const Vec3&) { return robin(-1.0, 0.0); };
  EXPECT_THROW(EllipticOperator(test::composite_on(Comm::self(), geometry), negative), Error);
}

}  // namespace
}  // namespace karst::elliptic_operator_test
