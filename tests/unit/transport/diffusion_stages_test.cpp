// SPDX-License-Identifier: BSD-3-Clause
#include "transport/diffusion/diffusion_stages.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "solvers/elliptic/elliptic_fluxes.hpp"
#include "solvers/krylov/petsc_session.hpp"
#include "support/level_cases.hpp"
#include "support/scalar_cases.hpp"

namespace karst::diffusion_stages_test {
namespace {

constexpr double diffusivity = 0.7, rate = 1.3, equilibrium = 0.4;

/// A packing with one region refined, ends that hold a value and walls that react.
struct Case {
  ScalarComponent component;
  ScalarGrid grid;
  std::shared_ptr<DiffusionGroup> group;

  /// @param sealed  neither: both would join orphans to the rows of others
  Case(const Comm& comm, int levels, bool sealed = false) {
    component.diffusivity = diffusivity;
    if (!sealed) {
      component.sides[0] = {ScalarSide::Kind::fixed, [](const Vec3& x, double t) { return 0.2 * x[1] + t; }};
      component.wall = [](const WallPiece&) { return ScalarWall{rate, equilibrium}; };
    }
    const GridOptions whole = test::flow_grid(Index::all(16), {});
    grid = make_scalar_grid(
        test::composite_of(comm, levels == 1 ? whole : test::refined_in(whole, 1, {5, 0, 3}, {13, 11, 12}),
                           *test::packing(14, 3.3, 16, false, 3)),
        fixed_sides(component));
    group = make_diffusion_group(grid, component);
  }
  /// Some smooth field, in all places; its C copies are multiples of it.
  template <int C>
  std::vector<double> some_values() {
    std::vector<double> values(C * grid.n_values);
    for (std::int32_t v = 0; v < grid.n_own; ++v)
      for (int c = 0; c < C; ++c)
        values[C * v + c] = (1.0 + c) * std::sin(grid.centroid[v][0] - 0.4 * grid.centroid[v][2]);
    fetch_remote<C>(grid, values);
    for (std::size_t k = 0; k < grid.boundary.size(); ++k)
      for (int c = 0; c < C; ++c) values[C * (grid.n_all + k) + c] = (1.0 + c) * std::sin(0.3 * grid.boundary[k].at[1]);
    return values;
  }
  template <int C>
  StageStep<C> step_of(std::span<const double> values, std::span<double> balance, double dt) const {
    StageStep<C> step;
    step.component.fill(&component);
    step.size.fill(1.0);
    step.values = values;
    step.balance = balance;
    step.dt = dt;
    return step;
  }
};

class DiffusionStagesTest : public ::testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;
};

// Fluxes by faces are those of EllipticFluxes, which balance the rows of the operator to round-off; none at fragments.
TEST_F(DiffusionStagesTest, FluxesAreThoseOfTheOperatorMpi) {
  for (const int levels : {1, 2}) {
    Case t(comm_, levels);
    const std::size_t n = t.grid.n_own;
    std::vector<double> phi = t.some_values<1>(), expected(t.grid.n_faces), found(expected.size()), wall(n);
    EllipticProblem problem;
    problem.beta = diffusivity;
    problem.sides[0] = [](const Vec3& x) { return dirichlet(0.2 * x[1]); };
    problem.wall = [](const WallPiece&) { return robin(rate, rate * equilibrium); };
    EllipticOperator op(t.grid.composite, problem, WallForm::fluxes, Faces::keep);
    FaceField faces(t.grid.composite);
    WallField at_wall(t.grid.composite);
    EllipticFluxes(op).find(std::span(phi).first(n), faces, at_wall);
    list_fluxes(t.grid, faces, expected);
    const DiffusiveFlux::Values values{[](int, const Vec3& x, double* to) { to[0] = 0.2 * x[1]; },
                                       [](std::int32_t, double* to) { to[0] = equilibrium; }};
    t.group->flux.find<1>(t.grid, std::span(phi).first(t.grid.n_all), values, found, wall);
    double largest = 0.0;
    for (const ScalarFace& f : t.grid.listed) {
      if (f.fragment)
        EXPECT_EQ(found[f.face], 0.0);
      else
        EXPECT_NEAR(found[f.face], expected[f.face], 1e-12) << f.face << " levels " << levels;
      largest = std::max(largest, std::abs(found[f.face]));
    }
    EXPECT_GT(comm_.max(largest), 0.1);
    double sums[2] = {0.0, 0.0};
    for (const double q : wall) sums[0] += q;
    for (int l = 0; l < levels; ++l)
      for (int b = 0; b < t.grid.composite->graph(l).n_local(); ++b) {
        const BoxGraph box = t.grid.composite->graph(l).box(b);
        for (int r = 0; r < box.n_irregular; ++r)
          if (t.grid.composite->numbering().number(l, b, box.row_vof[r]) >= 0) sums[1] += at_wall.box(l, b)[r];
      }
    comm_.sum(std::span<double>(sums));
    EXPECT_NEAR(sums[0], sums[1], 1e-12 * std::abs(sums[1]));
  }
}

// The rows of changes are the operator on moved values where fragments follow their neighbours, on any ranks.
TEST_F(DiffusionStagesTest, RowsAreTheOperatorOnMovedValuesMpi) {
  for (const int levels : {1, 2}) {
    Case t(comm_, levels, true);
    ASSERT_FALSE(t.group->any_joined);
    std::vector<double> x = t.some_values<1>(), y(t.grid.n_own), phi(y.size()), ky(y.size());
    std::fill(x.begin() + t.grid.n_all, x.end(), 0.0);
    const MovedValues& f = t.group->followers;
    for (std::size_t i = 0; i < f.volume.size(); ++i) {
      x[f.volume[i]] = 0.0;
      for (std::int64_t k = f.begin[i]; k < f.begin[i + 1]; ++k) x[f.volume[i]] += f.weight[k] * x[f.other[k]];
    }
    constexpr double a = 2.5;
    apply_rows<1>(t.grid, t.group->rows, a, x, y);
    move_values<1>(t.group->moved, x, {}, phi);
    t.group->op->apply(phi, ky);
    double worst = 0.0;
    for (std::int32_t v = 0; v < t.grid.n_own; ++v)
      if (t.grid.fragment[v] == 0) worst = std::max(worst, std::abs(y[v] - ky[v] - a * t.group->rows.mass[v] * x[v]));
    EXPECT_LT(comm_.max(worst), 1e-12) << levels;
  }
}

// As many sweeps as ρ says leave what is asked for, whatever D dt / h²; GCR with multigrid finds the same.
TEST_F(DiffusionStagesTest, SweepsSolveWhatIsAskedForMpi) {
  for (const int levels : {1, 2})
    for (const double dt : {0.002, 0.1, 1.0}) {
      Case t(comm_, levels);
      const std::vector<double> values = t.some_values<1>();
      std::vector<double> balance(t.grid.n_own, 0.0);
      DiffusionScratch scratch(t.grid, 1);
      const StageOptions options{1e-9, 300};
      const StageStep<1> step = t.step_of<1>(values, balance, dt);
      StageSums<1> sums = solve_by_sweeps(t.grid, *t.group, step, options, scratch);
      for (auto* s : {&sums.change, &sums.left[0], &sums.left[1]}) comm_.sum(std::span<double>(*s));
      EXPECT_TRUE(is_solved<1>(t.grid, *t.group, step.size, options.tolerance, sums)) << levels << ' ' << dt;
      const std::vector<double> swept(scratch.phi.begin(), scratch.phi.begin() + t.grid.n_own);
      std::ranges::fill(balance, 0.0);
      solve_stiff(t.grid, *t.group, step, options, scratch);
      double worst = 0.0;
      for (std::int32_t v = 0; v < t.grid.n_own; ++v) worst = std::max(worst, std::abs(swept[v] - scratch.phi[v]));
      EXPECT_LT(comm_.max(worst), 1e-8) << levels << ' ' << dt;
    }
}

// Components side by side have the bits that each has alone.
TEST_F(DiffusionStagesTest, SideBySideHasTheSameBitsMpi) {
  Case t(comm_, 2);
  const std::vector<double> one = t.some_values<1>(), four = t.some_values<4>();
  const std::size_t n = t.grid.n_own;
  std::vector<double> balance(n, 0.0), balances(4 * n, 0.0);
  DiffusionScratch scratch(t.grid, 4);
  solve_by_sweeps(t.grid, *t.group, t.step_of<4>(four, balances, 0.1), {1e-8, 300}, scratch);
  const std::vector<double> together(scratch.phi.begin(), scratch.phi.begin() + 4 * t.grid.n_own);
  solve_by_sweeps(t.grid, *t.group, t.step_of<1>(one, balance, 0.1), {1e-8, 300}, scratch);
  for (std::size_t v = 0; v < n; ++v) ASSERT_EQ(together[4 * v], scratch.phi[v]) << v;
}

}  // namespace
}  // namespace karst::diffusion_stages_test
