// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/elliptic/elliptic_fluxes.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "grid/halo_exchange.hpp"
#include "grid/vof_loops.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/elliptic_cases.hpp"
#include "support/geometry_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::elliptic_fluxes_test {
namespace {

using test::grid_of;
using test::noise;
using test::packing_geometry;

class EllipticFluxesTest : public testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;
};

/// Walls and sides of all kinds, with values.
EllipticProblem mixed_problem() {
  EllipticProblem p = test::mixed_problem();
  p.sides[1] = [](const Vec3& x) { return neumann(x[2]); };
  return p;
}

struct Found {
  FaceField faces;
  WallField wall;
};

Found fluxes_of(EllipticFluxes& fluxes, const EllipticOperator& op, std::span<const double> x) {
  Found found{FaceField(op.composite()), WallField(op.composite())};
  fluxes.find(x, found.faces, found.wall);
  return found;
}

/// a κ V φ + Σ fluxes out + wall flux, per own unknown.
std::vector<double> balances(const EllipticOperator& op, std::span<const double> x, Found& found) {
  const Composite& grid = *op.composite();
  CellField sum(op.composite());
  divergence(found.faces, sum);
  std::vector<double> y(x.size());
  for (int l = 0; l < grid.n_levels(); ++l)
    for (int b = 0; b < grid.graph(l).n_local(); ++b) {
      const BoxGraph graph = grid.graph(l).box(b);
      std::vector<double> kappa(graph.n_own, 1.0), wall(kappa.size());
      std::size_t row = grid.level(l).moments_begin[b];
      for (std::size_t r = 0; r < static_cast<std::size_t>(graph.n_irregular); ++r, ++row) {
        if (op.form() == WallForm::fluxes) kappa[graph.row_vof[r]] = grid.level(l).moments[row].kappa;
        wall[graph.row_vof[r]] = found.wall.level(l)[row];
      }
      for (int v = 0; v < graph.n_own; ++v) {
        const auto n = op.numbering().number(l, b, v);
        if (n < 0) continue;
        const auto i = static_cast<std::size_t>(n), at = static_cast<std::size_t>(v);
        y[i] =
            op.problem().a * kappa[at] * std::pow(Composite::width(l), 3) * x[i] + sum.level(l).box(b)[at] + wall[at];
      }
    }
  return y;
}

/// How many VoFs miss: the row's residual in balances, 0 in joined orphans (lines: orphans are not asked).
std::int64_t missed(EllipticOperator& op, EllipticFluxes& fluxes) {
  const std::vector<double> x = noise(op), volume = op.volumes();
  std::vector<double> y(x.size()), b(x.size());
  op.apply(x, y);
  op.right_side({}, b);
  Found found = fluxes_of(fluxes, op, x);
  const std::vector<double> sum = balances(op, x, found);
  std::int64_t n = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (volume[i] == 0.0 && op.form() == WallForm::lines) continue;
    const double expected = volume[i] > 0.0 ? y[i] - b[i] : 0.0;
    n += std::abs(sum[i] - expected) > 1e-12 * (100.0 + std::abs(y[i]) + std::abs(b[i]));
  }
  return op.comm().sum(n);
}

// The fluxes are those that the rows sum, in every VoF: walls and sides of all kinds, slivers, levels.
TEST_F(EllipticFluxesTest, BalancesAreRowsMpi) {
  const Geometry geometry = packing_geometry(comm_, false, 3);
  EllipticOperator op(test::composite_on(comm_, geometry), mixed_problem(), Faces::keep);
  EllipticFluxes fluxes(op);
  EXPECT_EQ(missed(op, fluxes), 0);
}

// Orphans that leave their balance to a host, also one on another rank, pass on all that they take up.
TEST_F(EllipticFluxesTest, JoinedOrphansPassOnWhatTheyTakeUpMpi) {
  EllipticProblem problem = mixed_problem();
  problem.wall = [](const Vec3& x) { return x[0] < 8.0 ? robin(2.0, 0.5) : neumann(0.2); };
  std::int64_t joined = 0;
  for (const auto& shape : {test::inside_tube(), test::outside_sphere(), test::tilted_slit()})
    for (const int levels : {1, 2}) {
      GridOptions grid = grid_of(16, 1);
      grid.levels = levels;
      if (levels > 1) grid.refine.push_back({1, Refinement::Where::region, {0.5, 0.25, 0.25}, {1.0, 0.75, 0.75}, 0});
      const Geometry geometry = build_geometry(comm_, grid, *shape.level_set(16), KeepPores::all);
      EllipticOperator op(test::composite_on(comm_, geometry), problem, Faces::keep);
      joined += op.counts().orphans_joined;
      EllipticFluxes fluxes(op);
      EXPECT_EQ(missed(op, fluxes), 0) << levels << " levels";
    }
  EXPECT_GT(joined, 20);
}

// On lines, too, and where β varies.
TEST_F(EllipticFluxesTest, BalancesOfLinesAndOfVaryingBetaMpi) {
  const Geometry geometry = packing_geometry(comm_, false, 1);
  EllipticProblem no_slip = mixed_problem();
  no_slip.wall = [](const Vec3& x) { return dirichlet(x[0]); };
  EllipticOperator lines(test::composite_on(comm_, geometry), no_slip, Faces::keep);
  ASSERT_EQ(lines.form(), WallForm::lines);
  EllipticFluxes of_lines(lines);
  EXPECT_EQ(missed(lines, of_lines), 0);

  Field beta(geometry.levels[0].graph, 3);
  for (int c = 0; c < 3; ++c)
    for (int box = 0; box < beta.n_local(); ++box) {
      int i = 0;
      for (double& value : beta.box(box, c)) value = 1.0 + 0.5 * std::sin(0.7 * ++i + c);
    }
  fill_halo(comm_, geometry.levels[0].graph, beta);
  EllipticProblem varying = mixed_problem();
  varying.face_beta = std::span(&beta, 1);
  EllipticOperator op(test::composite_on(comm_, geometry), varying, Faces::keep);
  EllipticFluxes fluxes(op);
  EXPECT_EQ(missed(op, fluxes), 0);
}

// Fluxes made before the coefficients changed are those of the operator as it is.
TEST_F(EllipticFluxesTest, FollowTheOperatorMpi) {
  const Geometry geometry = packing_geometry(comm_, true, 2);
  EllipticOperator op(test::composite_on(comm_, geometry), mixed_problem(), Faces::keep);
  EllipticFluxes fluxes(op);
  WallField rates(op.composite()), values(op.composite());
  for (int l = 0; l < rates.n_levels(); ++l) {
    std::ranges::fill(rates.level(l), 0.7);
    std::ranges::fill(values.level(l), -3.0);
  }
  op.set_wall(rates, values);
  op.set_shift(11.0);
  EXPECT_EQ(missed(op, fluxes), 0);
}

// Of a linear function every flux is exact: -g_d times the area of the face, but where differences are plain (counted).
TEST_F(EllipticFluxesTest, OfLinearFunctionsAreExactMpi) {
  const Vec3 g{0.3, -1.1, 2.0};
  const Geometry geometry =
      build_geometry(comm_, grid_of(24, 1), *test::outside_sphere().level_set(24), KeepPores::all);
  EllipticOperator op(test::composite_on(comm_, geometry), test::fits_linear(comm_, geometry, g), Faces::keep);
  EllipticFluxes fluxes(op);
  std::vector<double> x;
  for (const Vec3& p : op.positions()) x.push_back(dot(g, p));
  Found found = fluxes_of(fluxes, op, x);
  const LevelGeometry& level = geometry.levels[0];
  std::int64_t wrong = 0;
  for (int b = 0; b < level.graph.n_local(); ++b)
    for_each_face(level.graph.box(b), level.box(b), [&](const FaceView& f) {
      if (!f.primary || is_high(f.side)) return;
      const int d = direction_of(f.side);
      wrong += std::abs(found.faces.primary(0).box(b, d)[f.vof] + g[d] * f.aperture) > 2e-5;
    });
  std::array<double, 2> through_wall{};  // what enters the ball's wall leaves it
  for (const double w : found.wall.level(0)) through_wall = {through_wall[0] + w, through_wall[1] + std::abs(w)};
  comm_.sum(std::span(through_wall));
  EXPECT_GT(through_wall[1], 100.0);
  EXPECT_LT(std::abs(through_wall[0]), 1e-3 * through_wall[1]);
  EXPECT_LE(comm_.sum(wrong),
            op.counts().faces_without_gradient + op.counts().faces_too_stiff + 4 * op.counts().orphans_joined);
}

TEST_F(EllipticFluxesTest, LinesOnSeveralLevelsAreRefusedMpi) {
  const Geometry geometry = packing_geometry(comm_, false, 2);
  EllipticProblem no_slip;
  no_slip.wall = [](const Vec3&) { return dirichlet(0.0); };
  EllipticOperator lines(test::composite_on(comm_, geometry), no_slip, Faces::keep),
      fluxes(test::composite_on(comm_, geometry), no_slip, WallForm::fluxes, Faces::keep),
      without(test::composite_on(comm_, geometry), {});
  EXPECT_THROW(EllipticFluxes{lines}, Error);
  EXPECT_THROW(EllipticFluxes{without}, Error);
  EllipticFluxes found(fluxes);
  EXPECT_EQ(missed(fluxes, found), 0);
}

}  // namespace
}  // namespace karst::elliptic_fluxes_test
