// SPDX-License-Identifier: BSD-3-Clause
#include "transport/diffusion/low_order.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "solvers/krylov/petsc_session.hpp"
#include "support/level_cases.hpp"
#include "support/scalar_cases.hpp"
#include "transport/diffusion/implicit_diffusion.hpp"
#include "transport/march/implicit_upwind.hpp"

namespace karst::low_order_test {
namespace {

std::shared_ptr<const Composite> packing(const Comm& comm, int levels) {
  const GridOptions grid = test::flow_grid(Index::all(16), {});
  return test::composite_of(comm, levels == 1 ? grid : test::refined_in(grid, 1, {5, 0, 3}, {13, 11, 12}),
                            *test::packing(14, 3.3, 16, false, 3));
}

/// 0 or 1, as sharp as can be, the same on any ranks.
double rough(const Vec3& x, int c) {
  return std::sin(91.7 * x[0] + 53.1 * x[1] * (1 + c) - 37.3 * x[2]) > 0.0 ? 1.0 : 0.0;
}

template <int C>
std::vector<double> rough_values(ScalarGrid& grid) {
  std::vector<double> values(C * grid.n_values);
  for (std::int32_t v = 0; v < grid.n_own; ++v)
    for (int c = 0; c < C; ++c) values[C * v + c] = rough(grid.centroid[v], c);
  fetch_remote<C>(grid, values);
  for (std::size_t k = 0; k < grid.boundary.size(); ++k)
    for (int c = 0; c < C; ++c) values[C * (grid.n_all + k) + c] = rough(grid.boundary[k].at, c);
  return values;
}

class LowOrderTest : public ::testing::Test {
 protected:
  Comm comm_ = Comm::world();
  PetscSession petsc_;
};

/// Diffusion with two sides that hold values and walls that react.
LowOrderTerms some_terms(const ScalarGrid& grid) {
  LowOrderTerms terms;
  terms.diffusivity = 0.7;
  terms.fixed = {true, false, false, true, false, false};
  find_conductances(grid, terms);
  terms.wall = {static_cast<std::size_t>(grid.n_own), Purpose::fields, 0.0};
  terms.equilibrium = {static_cast<std::size_t>(grid.n_own), Purpose::fields, 0.25};
  for (const std::int32_t v : grid.special) terms.wall[v] = 3.0 * std::pow(grid.volume[v], 2.0 / 3.0);
  return terms;
}

// From the roughest values, whatever the step: nothing leaves the range to round-off, and what has passed faces and
// walls is what has changed; with a volume next to others that hold a thousandth of it. Each component has the bits it
// has alone. Steps of many sub-steps and of one implicit one alike.
TEST_F(LowOrderTest, DiffusionStaysInRangeAndBalancesAloneByDay) {
  constexpr int C = 3;
  for (const int levels : {1, 2}) {
    ScalarGrid grid = make_scalar_grid(packing(comm_, levels), {true, true, true, true, true, true});
    LowOrderTerms terms = some_terms(grid);
    const std::size_t n = grid.n_values;
    std::vector<bool> beside_fragment(n);  // their faces are left out of amount
    for (const ScalarFace& f : grid.listed)
      if (f.fragment) beside_fragment[f.left] = beside_fragment[f.right] = true;
    for (const double dt : {0.003, 0.3, 5.0, 1000.0}) {
      choose_sub_steps(grid, terms, dt);
      EXPECT_TRUE(dt != 0.3 || terms.sub_steps.any_inner);
      std::vector<double> first = rough_values<C>(grid), second(C * n), exposure(C * n), inner;
      const std::vector<double> before = first;
      ImplicitDiffusion implicit;
      const LowOrderVectors vectors{first, second, exposure, inner};
      int steps = 0;
      if (terms.sub_steps.count > 0)
        steps = diffuse<C>(grid, terms, {}, vectors);
      else
        diffuse_implicitly<C>(grid, terms, {}, implicit, vectors);
      EXPECT_EQ(steps == 0, dt == 1000.0);
      const std::vector<double>& after = steps % 2 == 0 ? first : second;
      std::vector<double> amount(C * grid.n_faces, 0.0), phi(C * n, 0.0), ends(C * grid.boundary.size(), 0.0),
          out(static_cast<std::size_t>(C * grid.n_own));
      take_low_order<C>(grid, terms, vectors, {phi, amount, ends});
      add_up<C>(grid, amount, out);
      double worst = 0.0, beyond = 0.0;
      for (std::int32_t v = 0; v < grid.n_own; ++v)
        for (int c = 0; c < C; ++c) {
          const std::int64_t i = C * std::int64_t{v} + c;
          beyond = std::max({beyond, -after[i], after[i] - 1.0});
          if (beside_fragment[v]) continue;
          const double wall = terms.wall[v] * (exposure[i] - dt * terms.equilibrium[v]);
          worst = std::max(worst, std::abs(grid.volume[v] * (after[i] - before[i]) - out[i] + wall) /
                                      (grid.volume[v] + dt * terms.g.sum[v]));
        }
      EXPECT_LT(comm_.max(beyond), 1e-14) << levels << ' ' << dt;
      EXPECT_LT(comm_.max(worst), 1e-14) << levels << ' ' << dt;
      if (steps == 0) continue;
      std::vector<double> alone = rough_values<1>(grid), room(n), exposure_alone(n);
      diffuse<1>(grid, terms, {}, {alone, room, exposure_alone, inner});
      const std::vector<double>& result = steps % 2 == 0 ? alone : room;
      for (std::int32_t v = 0; v < grid.n_own; ++v) ASSERT_EQ(result[v], after[C * v]) << v;
    }
  }
}

// Volumes that the flow empties in a tenth of the step: all values stay in the range, what leaves a volume arrives.
TEST_F(LowOrderTest, FastVolumesStayInRangeAndBalanceMpi) {
  constexpr int C = 2;
  for (const int levels : {1, 2}) {
    ScalarGrid grid = make_scalar_grid(packing(comm_, levels), {true, true, true, true, true, true});
    FaceField faces = test::stream_through(grid, {1.0, 0.2, -0.3});
    CarryingFlow flow;
    set_flow(grid, faces, 1e9, flow);
    const double dt = 5.0 * flow.largest_step;
    choose_implicit(grid, dt, flow);
    EXPECT_GT(flow.n_implicit, 20);
    const std::vector<double> before = rough_values<C>(grid);
    std::vector<double> after(C * grid.n_values), ends(C * grid.boundary.size(), 0.0);
    upwind_step<C>(grid, flow.explicit_flow(), before, dt, after);
    for (std::size_t k = 0; k < grid.boundary.size(); ++k) {
      const BoundaryFace& b = grid.boundary[k];
      const double f = flow.explicit_flow()[b.face];
      for (int c = 0; c < C; ++c)
        ends[C * k + c] = dt * f * before[C * (f >= 0.0 ? std::int64_t{b.volume} : grid.n_all + std::int64_t(k)) + c];
    }
    ImplicitUpwind implicit;
    EXPECT_GT(step_implicitly<C>(grid, flow, dt, {1.0, 1.0}, implicit, after, ends), 0);
    double beyond = 0.0;
    std::array<double, 2> sums{};
    for (std::int32_t v = 0; v < grid.n_own; ++v) {
      for (int c = 0; c < C; ++c) beyond = std::max({beyond, -after[C * v + c], after[C * v + c] - 1.0});
      sums[0] += grid.volume[v] * (after[C * v] - before[C * v]);
    }
    for (std::size_t k = 0; k < grid.boundary.size(); ++k) sums[1] -= ends[C * k];
    comm_.sum(std::span<double>(sums));
    EXPECT_LT(comm_.max(beyond), 1e-13) << levels;
    EXPECT_NEAR(sums[0], sums[1], 1e-11) << levels;
  }
}

}  // namespace
}  // namespace karst::low_order_test
