// SPDX-License-Identifier: BSD-3-Clause
// Coefficients that change while the stencils stay.
#include <gtest/gtest.h>

#include <atomic>
#include <numbers>

#include "base/core/error.hpp"
#include "solvers/krylov/elliptic_multigrid.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/petsc_matrix.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/elliptic_cases.hpp"
#include "support/geometry_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::elliptic_coefficients_test {
namespace {

using test::grid_of;
using test::largest;
using test::noise;

class EllipticCoefficientsTest : public testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;
};

Geometry packing_geometry(const Comm& comm, int levels) {
  constexpr int n = 16;
  const auto phi = test::packing(8, 0.26 * n, n, false);
  GridOptions grid = grid_of(n, 1);
  grid.levels = levels;
  if (levels > 1) grid.refine.push_back({1, Refinement::Where::region, {0.0, 0.0, 0.0}, {0.5, 0.5, 1.0}, 0});
  return build_geometry(comm, grid, *phi, KeepPores::all);
}

/// Reacting walls of a rate that varies, fixed and sealed ones, an inlet.
EllipticProblem reacting(double a) {
  EllipticProblem p;
  p.a = a;
  p.beta = 1.7;
  p.sides[0] = [](const Vec3& x) { return dirichlet(x[1]); };
  p.sides[3] = [](const Vec3&) { return robin(0.4, 1.0); };
  p.wall = [](const Vec3& x) {
    if (x[0] < 8.0) return robin(2.0 + x[2], 0.5);
    return x[1] < 8.0 ? dirichlet(1.0) : neumann(0.2);
  };
  return p;
}

EllipticProblem sealed(double a) {
  EllipticProblem p;
  p.a = a;
  return p;
}

EllipticProblem no_slip(double a) {
  EllipticProblem p;
  p.a = a;
  p.wall = [](const Vec3&) { return dirichlet(0.0); };
  return p;
}

double difference(const Comm& comm, std::span<const double> x, std::span<const double> y) {
  std::vector<double> d(x.begin(), x.end());
  for (std::size_t i = 0; i < d.size(); ++i) d[i] -= y[i];
  return largest(comm, d);
}

/// Two operators that should be one: the same product, assembled matrix, right-hand side and Jacobi step.
void expect_same(EllipticOperator& changed, EllipticOperator& fresh) {
  const Comm& comm = fresh.comm();
  const std::vector<double> x = noise(fresh);
  std::vector<double> y(x.size()), z(x.size());
  fresh.apply(x, z);
  changed.apply(x, y);
  const double size = largest(comm, z);
  EXPECT_LT(difference(comm, y, z), 1e-14 * size);
  const PetscMatrix matrix(changed);
  EXPECT_EQ(matrix.unused_entries(), 0.0);
  matrix.multiply(x, y);
  EXPECT_LT(difference(comm, y, z), 1e-13 * size);
  fresh.right_side({}, z);
  changed.right_side({}, y);
  EXPECT_LE(difference(comm, y, z), 1e-14 * largest(comm, z));
  std::vector<double> u = x, v = x;
  fresh.relax_wide_rows(z, u);
  changed.relax_wide_rows(z, v);
  EXPECT_LT(difference(comm, u, v), 1e-12 * largest(comm, u));
}

// L3: after any changes of the zeroth-order term, there and back, the operator is the one made with it.
TEST_F(EllipticCoefficientsTest, ShiftedIsMadeAnewMpi) {
  const auto expect_shifted = [&](const Geometry& geometry, const auto& problem, std::initializer_list<double> shifts) {
    EllipticOperator op(test::composite_on(comm_, geometry), problem(*shifts.begin()));
    for (const double a : shifts) {
      const int before = op.version();
      op.set_shift(a);
      EXPECT_GT(op.version(), before);
      EllipticOperator fresh(test::composite_on(comm_, geometry), problem(a));
      expect_same(op, fresh);
    }
  };
  const Geometry one = packing_geometry(comm_, 1), two = packing_geometry(comm_, 2);
  expect_shifted(one, sealed, {0.0, 1e6});
  expect_shifted(one, no_slip, {1e6, 0.0});
  expect_shifted(two, reacting, {0.3, 1e6, 0.0});
}

std::vector<double> right_side(const EllipticOperator& op) {
  std::vector<double> b(op.numbering().n_own());
  op.right_side(noise(op), b);
  return b;
}

// A solver that was set up for another a follows: the iterations and the solution of one set up for it.
TEST_F(EllipticCoefficientsTest, SolversFollowMpi) {
  const Geometry geometry = packing_geometry(comm_, 2);
  for (const auto& problem : {reacting, no_slip}) {
    EllipticOperator op(test::composite_on(comm_, geometry), problem(3.0));
    KrylovSolver solver(op, {"kept", "kept_", 1e-10});
    for (const double a : {20.0, 0.01}) {
      op.set_shift(a);
      EllipticOperator fresh(test::composite_on(comm_, geometry), problem(a));
      const std::vector<double> b = right_side(fresh);
      std::vector<double> x(b.size()), y(b.size());
      const SolveReport kept = solver.solve(b, x);
      const SolveReport made = KrylovSolver(fresh, {"made", "made_", 1e-10}).solve(b, y);
      EXPECT_NEAR(kept.iterations, made.iterations, 1) << "a = " << a;
      EXPECT_LT(difference(comm_, x, y), 1e-8 * largest(comm_, y));
    }
  }
}

// The same with PETSc's preconditioner on the assembled matrix.
TEST_F(EllipticCoefficientsTest, PetscFollowsMpi) {
  set_petsc_option("-gamg_pc_type", "gamg");
  const Geometry geometry = packing_geometry(comm_, 1);
  EllipticOperator op(test::composite_on(comm_, geometry), reacting(5.0));
  KrylovSolver solver(op, {"gamg", "gamg_", 1e-10});
  op.set_shift(0.02);
  EllipticOperator fresh(test::composite_on(comm_, geometry), reacting(0.02));
  const std::vector<double> b = right_side(fresh);
  std::vector<double> x(b.size()), y(b.size());
  const SolveReport kept = solver.solve(b, x), made = KrylovSolver(fresh, {"gamg", "gamg_", 1e-10}).solve(b, y);
  clear_petsc_option("-gamg_pc_type");
  EXPECT_EQ(kept.preconditioner, "gamg");
  EXPECT_NEAR(kept.iterations, made.iterations, 1);
  EXPECT_LT(difference(comm_, x, y), 1e-8 * largest(comm_, y));
}

// Pores without any condition are singular for a = 0 alone: the solver learns of it both ways.
TEST_F(EllipticCoefficientsTest, SingularPoresComeAndGoMpi) {
  const Geometry geometry = packing_geometry(comm_, 1);
  EllipticOperator op(test::composite_on(comm_, geometry), sealed(0.0));
  KrylovSolver solver(op, {"sealed", "sealed_", 1e-10});
  std::vector<double> b = op.volumes(), x(b.size());
  EXPECT_THROW(solver.solve(b, x), Error);  // a source everywhere and no way out
  op.set_shift(0.5);
  EXPECT_EQ(solver.solve(b, x).singular_pores, 0);
  std::ranges::fill(b, 2.0);
  EXPECT_LT(difference(comm_, x, b), 1e-8);  // φ = f / a
  op.set_shift(0.0);
  std::ranges::fill(b, 0.0);
  EXPECT_GT(solver.solve(b, x).singular_pores, 0);
}

// The cycle after a change of its shifts is that of a multigrid made with them, gathered levels and fixed sides
// included.
TEST_F(EllipticCoefficientsTest, MultigridTakesShiftsMpi) {
  const Geometry geometry = packing_geometry(comm_, 2);
  MultigridOptions options;
  options.direct_below = 20;
  options.gather_below = 200;
  for (const auto& problem : {reacting, sealed, no_slip}) {
    EllipticOperator op(test::composite_on(comm_, geometry), problem(2.0));
    EllipticMultigrid kept(op, options);
    for (const double a : {1e3, 0.05}) {
      op.set_shift(a);
      const std::vector<double> r = right_side(op);
      std::vector<double> x(r.size()), y(r.size());
      kept(r, x);
      EllipticMultigrid made(op, options);
      made(r, y);
      EXPECT_LT(difference(comm_, x, y), 1e-5 * largest(comm_, y)) << "a = " << a;
    }
  }
}

/// Values of a function at the wall centroids.
template <class F>
WallField over_walls(const EllipticOperator& op, F&& f) {
  WallField values(op.composite());
  for (const LevelGeometry& level : op.geometry().levels)
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph graph = level.graph.box(b);
      const auto of_box = values.box(level.level, b);
      for (std::size_t r = 0; r < of_box.size(); ++r) {
        const Index c = graph.cells.cell(graph.row_cell[r]);
        of_box[r] = f(std::ldexp(1.0, -level.level) *
                      (Vec3{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5} + level.box(b).moments[r].wall_centroid));
      }
    }
  return values;
}

// New rates and values make the operator, the right-hand side and the solver of a wall that had them from the start.
TEST_F(EllipticCoefficientsTest, WallsChangeMpi) {
  const auto wall = [](double shift) {
    return [shift](const Vec3& x) {
      return x[0] < 10.0 ? robin(0.1 + shift * (2.0 + std::cos(x[2])), x[1] - shift) : neumann(shift * x[0]);
    };
  };
  for (const int levels : {1, 2}) {
    const Geometry geometry = packing_geometry(comm_, levels);
    EllipticProblem problem = reacting(0.0);
    problem.wall = wall(0.0);
    EllipticOperator op(test::composite_on(comm_, geometry), problem);
    KrylovSolver solver(op, {"kept", "kept_", 1e-10});
    for (const double shift : {5.0, 0.5}) {
      op.set_wall(over_walls(op, [&](const Vec3& x) { return wall(shift)(x).rate; }),
                  over_walls(op, [&](const Vec3& x) { return wall(shift)(x).value; }));
      op.set_shift(shift);
      problem.wall = wall(shift);
      problem.a = shift;
      EllipticOperator fresh(test::composite_on(comm_, geometry), problem);
      expect_same(op, fresh);
      const std::vector<double> b = right_side(op);
      std::vector<double> x(b.size()), y(b.size());
      const SolveReport kept = solver.solve(b, x), made = KrylovSolver(fresh, {"made", "made_", 1e-10}).solve(b, y);
      EXPECT_NEAR(kept.iterations, made.iterations, 1);
      EXPECT_LT(difference(comm_, x, y), 1e-8 * largest(comm_, y));
    }
  }
}

// Conditions are asked of pieces: of a ball in a box, normals point away from its centre and areas add up.
TEST_F(EllipticCoefficientsTest, PiecesKnowTheirWallMpi) {
  const Vec3 center{8.2, 7.9, 8.1};
  const double radius = 5.3;
  const auto phi = make_level_set(Sphere{center, radius});
  const Geometry geometry = build_geometry(comm_, grid_of(16, 1, true), *phi, KeepPores::all);
  std::vector<double> area(geometry.levels[0].moments.size());
  EllipticProblem problem;
  problem.wall = [&](const WallPiece& piece) {
    const Vec3 out = piece.position - center;
    EXPECT_GT(dot(piece.normal, out) / norm(out), 0.99);
    EXPECT_EQ(piece.level, 0);
    if (piece.row >= 0) area[piece.row] = piece.area;
    return robin(1.0, 0.0);
  };
  const EllipticOperator op(test::composite_on(comm_, geometry), problem);
  double sum = 0.0;
  for (const double part : area) sum += part;
  EXPECT_NEAR(comm_.sum(sum) / (4.0 * std::numbers::pi * radius * radius), 1.0, 0.01);
}

/// A solid of two minerals, on the two sides of an oblique plane.
class TwoMinerals final : public LevelSet {
 public:
  explicit TwoMinerals(std::unique_ptr<LevelSet> all) : all_(std::move(all)) {}
  Smoothness smoothness() const override { return all_->smoothness(); }
  std::vector<std::string> minerals() const override { return {"calcite", "quartz"}; }
  std::unique_ptr<LocalLevelSet> local(const Vec3& lo, const Vec3& hi) const override {
    return std::make_unique<Local>(all_->local(lo, hi));
  }

 private:
  class Local final : public LocalLevelSet {
   public:
    explicit Local(std::unique_ptr<LocalLevelSet> all) : all_(std::move(all)) {}
    void evaluate(std::span<const Vec3> x, std::span<double> phi) const override { all_->evaluate(x, phi); }
    MineralNumber only_mineral(const Vec3&, const Vec3&) const override { return no_mineral; }
    void add_wall(const Vec3& x, double area, std::span<double> areas) const override {
      areas[std::sin(7.3 * x[0] + 5.9 * x[1] - 6.7 * x[2]) > 0.2 ? 1 : 0] += area;
    }

   private:
    std::unique_ptr<LocalLevelSet> all_;
  };
  std::unique_ptr<LevelSet> all_;
};

// A condition per mineral is the one with the rates and values that each wall has on the mean of its area: pieces of
// one and of several minerals, orphans whose host lives on another rank. Rates that come piece by piece (set_wall())
// need no minerals there, so the two ways check each other.
TEST_F(EllipticCoefficientsTest, ConditionsOfMineralsMpi) {
  const std::vector<Condition> of{robin(2.0, 0.5), robin(0.3, -1.0)};
  std::array<std::atomic<std::int64_t>, 2> mixed{};  // pieces of several minerals: all, of other ranks
  for (const auto& shape : {test::inside_tube(), test::outside_sphere(), test::tilted_slit()}) {
    const TwoMinerals phi(shape.level_set(16));
    const Geometry geometry = build_geometry(comm_, grid_of(16, 1), phi, KeepPores::all);
    EllipticProblem problem = reacting(0.1);
    const WallConditionAt wall = by_mineral(geometry, of);
    std::array<double, 2> area{};
    problem.wall = [&](const WallPiece& piece) {
      if (piece.parts.mixed.size() > 1) ++mixed[piece.row < 0 ? 1 : 0];
      return wall(piece);
    };
    EllipticOperator by_pieces(test::composite_on(comm_, geometry), problem);
    problem.wall = [](const WallPiece&) { return robin(1.0, 0.0); };
    EllipticOperator by_field(test::composite_on(comm_, geometry), problem);
    WallField rates(by_field.composite()), values(by_field.composite());
    const LevelGeometry& level = geometry.levels[0];
    for (std::size_t row = 0; row < level.moments.size(); ++row)
      for_each_mineral(level, static_cast<std::int64_t>(row), [&](MineralNumber m, double part) {
        const double fraction = part / level.moments[row].wall_area;
        rates.level(0)[row] += fraction * of[m].rate;
        values.level(0)[row] += fraction * of[m].value;
        area[m] += part;
      });
    comm_.sum(std::span(area));
    for (std::size_t m = 0; m < 2; ++m) EXPECT_NEAR(area[m], geometry.report.minerals[m].area, 1e-10 * area[m]);
    by_field.set_wall(rates, values);
    expect_same(by_pieces, by_field);
    EllipticMultigrid one(by_pieces, {}), other(by_field, {});
    const std::vector<double> r = noise(by_pieces);
    std::vector<double> x(r.size()), y(r.size());
    one(r, x);
    other(r, y);
    EXPECT_LT(difference(comm_, x, y), 1e-5 * largest(comm_, y));
  }
  EXPECT_GT(comm_.sum(mixed[0].load()), 100);
  const std::int64_t elsewhere = comm_.sum(mixed[1].load());
  EXPECT_EQ(elsewhere > 0, comm_.size() > 1);
}

TEST_F(EllipticCoefficientsTest, RefusesWrongConditionsOfMinerals) {
  const TwoMinerals phi(make_level_set(Sphere{{8, 8, 8}, 4.0}));
  const Geometry geometry = build_geometry(comm_, grid_of(16, 1), phi, KeepPores::all);
  EXPECT_THROW(by_mineral(geometry, {robin(1.0, 0.0)}), Error);
  EXPECT_THROW(by_mineral(geometry, {robin(1.0, 0.0), dirichlet(0.0)}), Error);
  WallPiece piece;
  piece.parts.mineral = 1;
  const Condition alone = by_mineral(geometry, {robin(1.0, 0.0), neumann(0.2)})(piece);
  EXPECT_EQ(alone.kind, BoundaryKind::neumann);
  EXPECT_EQ(alone.value, 0.2);
  const std::array<MixedWall, 2> parts{MixedWall{0.3, 0, 0}, MixedWall{0.1, 0, 1}};
  piece.parts.mixed = parts;
  const Condition mean = by_mineral(geometry, {robin(1.0, 0.0), neumann(0.2)})(piece);
  EXPECT_EQ(mean.kind, BoundaryKind::robin);
  EXPECT_DOUBLE_EQ(mean.rate, 0.75);
  EXPECT_DOUBLE_EQ(mean.value, 0.05);
}

TEST_F(EllipticCoefficientsTest, RefusesWrongCoefficientsMpi) {
  const Geometry geometry = packing_geometry(comm_, 1);
  EllipticOperator op(test::composite_on(comm_, geometry), reacting(1.0)),
      without(test::composite_on(comm_, geometry), sealed(1.0));
  const auto rates = over_walls(op, [](const Vec3&) { return 1.0; });
  const auto negative = over_walls(op, [](const Vec3&) { return -1.0; });
  EXPECT_THROW(op.set_shift(-1.0), Error);
  EXPECT_THROW(op.set_wall(negative, rates), Error);
  EXPECT_THROW(op.set_wall(WallField(without.composite()), rates), Error);
  EXPECT_THROW(without.set_wall(WallField(without.composite()), WallField(without.composite())), Error);
}

// A = K + a M: what apply_volumes() gives is the difference of two operators over that of their a.
TEST_F(EllipticCoefficientsTest, VolumesAreWhatTheZerothOrderTermMultipliesMpi) {
  for (const int levels : {1, 2}) {
    const Geometry geometry = packing_geometry(comm_, levels);
    EllipticOperator op(test::composite_on(comm_, geometry), reacting(0.0), WallForm::fluxes);
    const std::vector<double> x = noise(op);
    std::vector<double> without(x.size()), with(x.size()), volumes(x.size());
    op.apply(x, without);
    op.apply_volumes(x, volumes);
    op.set_shift(3.0);
    op.apply(x, with);
    for (std::size_t i = 0; i < x.size(); ++i) with[i] = (with[i] - without[i]) / 3.0;
    EXPECT_LT(difference(comm_, with, volumes), 1e-12 * largest(comm_, without));
    EXPECT_GT(largest(comm_, volumes), 0.5);
  }
}

}  // namespace
}  // namespace karst::elliptic_coefficients_test
