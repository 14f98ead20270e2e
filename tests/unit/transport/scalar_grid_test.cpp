// SPDX-License-Identifier: BSD-3-Clause
#include "transport/volumes/scalar_grid.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "support/field_cases.hpp"
#include "support/flux_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"
#include "transport/diffusion/low_order.hpp"
#include "transport/march/transport_stepper.hpp"
#include "transport/regrid/grid_change.hpp"

namespace karst::scalar_grid_test {
namespace {

const Vec3 stream{0.3, -1.1, 2.0}, slope{0.7, -0.4, 1.3};

double linear(const Vec3& x) { return 5.0 + dot(slope, x); }

/// Values f(x) of the own volumes at their centroids, of others and on the ends of the domain.
std::vector<double> values_of(ScalarGrid& grid, const std::function<double(const Vec3&)>& f) {
  std::vector<double> c(grid.n_values);
  for (std::size_t v = 0; v < grid.centroid.size(); ++v) c[v] = f(grid.centroid[v]);
  fetch_remote(grid, c);
  for (std::size_t b = 0; b < grid.boundary.size(); ++b) c[grid.n_all + b] = f(grid.boundary[b].at);
  return c;
}

struct GradientStore {
  explicit GradientStore(const ScalarGrid& grid) {
    for (auto& g : parts) g.resize(grid.n_all);
  }
  Gradient view() { return {parts[0], parts[1], parts[2]}; }
  std::array<std::vector<double>, 3> parts;
};

/// All fluxes of a uniform flow.
std::vector<double> uniform(const ScalarGrid& grid) {
  FaceField faces(grid.composite);
  test::set_uniform(faces, stream);
  std::vector<double> flow(grid.n_faces);
  list_fluxes(grid, faces, flow);
  return flow;
}

/// One component that diffuses, with its value held on the low side of x or on none.
std::vector<ScalarComponent> tracer(ScalarSide::Kind at_inlet) {
  ScalarComponent c;
  c.diffusivity = 0.1;
  c.sides[0] = {at_inlet, [](const Vec3&, double) { return 1.0; }};
  return {c};
}

class ScalarGridTest : public ::testing::Test {
 protected:
  Comm comm_ = Comm::world();
  std::shared_ptr<const Composite> packing(const Comm& comm, int levels) {
    return test::composite_of(comm,
                              levels == 1
                                  ? test::flow_grid(Index::all(16), {})
                                  : test::refined_in(test::flow_grid(Index::all(16), {}), 1, {5, 0, 3}, {13, 11, 12}),
                              *test::packing(14, 3.3, 16, false, 3));
  }
};

// A composite has one transport grid at a time: what advances, what solves and what compares grids share it, and the
// last of them takes it away.
TEST_F(ScalarGridTest, IsMadeOnceAndSharedWhileInUseMpi) {
  const std::shared_ptr<const Composite> composite = packing(comm_, 2);
  std::weak_ptr<ScalarGrid> used;
  {
    const TransportStepper open(composite, tracer(ScalarSide::Kind::open));
    used = scalar_grid_in_use(*composite);
    EXPECT_EQ(used.lock().get(), &open.grid());
    EXPECT_EQ(open.grid().gradients.size(), 1U);
    const TransportStepper fixed(composite, tracer(ScalarSide::Kind::fixed));
    EXPECT_EQ(&fixed.grid(), &open.grid());
    EXPECT_EQ(open.grid().gradients.size(), 2U);
    const GridChange change = compare_grids(composite, packing(comm_, 1));
    EXPECT_EQ(&change.from, &open.grid());
    EXPECT_NE(&change.to, &open.grid());
    EXPECT_EQ(scalar_grid_of(composite, {}).get(), &open.grid());
  }
  EXPECT_TRUE(used.expired());
  EXPECT_EQ(scalar_grid_in_use(*composite), nullptr);
  EXPECT_EQ(composite.use_count(), 1);
}

// Weights that are added to a grid are those of a grid that is made with them.
TEST_F(ScalarGridTest, WeightsMayComeLaterMpi) {
  const GivenSides none{}, all{true, true, true, true, true, true};
  for (const int levels : {1, 2}) {
    const std::shared_ptr<const Composite> composite = packing(comm_, levels);
    const ScalarGrid at_once = make_scalar_grid(composite, {none, all});
    ScalarGrid later = make_scalar_grid(composite, std::vector<GivenSides>{});
    EXPECT_TRUE(later.gradients.empty());
    for (const GivenSides& given : {all, none})
      EXPECT_TRUE(std::ranges::equal(find_gradient_weights(later, given), gradient_weights(at_once, given)));
    EXPECT_EQ(later.gradients.size(), 2U);
  }
}

// Gradients and fluxes of second order are exact for linear values, on cut cells, joined pieces and between levels:
// F c(x_f) with x_f the centroid of the face, whichever volume F leaves.
TEST_F(ScalarGridTest, LinearValuesAreExactMpi) {
  for (const int levels : {1, 2}) {
    ScalarGrid grid = make_scalar_grid(packing(comm_, levels), {true, true, true, true, true, true});
    const std::vector<double> c = values_of(grid, linear), flow = uniform(grid);
    GradientStore g(grid);
    find_gradient(grid, c, g.view());
    std::int64_t wrong = 0;
    std::vector<std::uint8_t> exact(grid.n_all, 1);
    for (std::size_t v = 0; v < exact.size(); ++v) {
      for (std::size_t d = 0; d < 3; ++d)
        if (std::abs(g.parts[d][v] - slope[static_cast<int>(d)]) > 1e-9) exact[v] = 0;
      if (v < grid.centroid.size()) wrong += exact[v] == 0 ? 1 : 0;
    }
    EXPECT_EQ(comm_.sum(wrong), grid.counts.unresolved) << levels;
    EXPECT_LT(grid.counts.unresolved, grid.counts.volumes / 50);
    EXPECT_GT(grid.counts.plain, 0);
    std::vector<double> flux(flow.size());
    linear_upwind_flux(grid, flow, c, g.view(), flux);
    std::int64_t checked = 0;
    for (std::size_t k = 0; k < grid.listed.size(); ++k) {
      const ScalarFace& f = grid.listed[k];
      const std::size_t i = f.face;
      const std::int32_t from = flow[i] >= 0.0 ? f.left : f.right;
      if (from < grid.n_all && exact[from] == 0) continue;
      const bool known = f.left < grid.n_own;  // whose centroid stands here
      const Vec3 at = known ? grid.centroid[f.left] + grid.offsets[k].from_left
                            : grid.centroid[f.right] + grid.offsets[k].from_right;
      EXPECT_NEAR(flux[i], flow[i] * linear(at), 1e-12 * std::abs(flow[i]) * 40.0);
      ++checked;
    }
    EXPECT_GT(checked, 100);
  }
}

// The listed fluxes have the balances of the FaceField they come from, and go back to it.
TEST_F(ScalarGridTest, FluxesGoToTheListAndBackMpi) {
  for (const int levels : {1, 2}) {
    ScalarGrid grid = make_scalar_grid(packing(comm_, levels));
    FaceField faces(grid.composite), back(grid.composite);
    test::set_uniform(faces, stream);
    for (int l = 0; l + 1 < levels; ++l)
      for (std::size_t i = 0; i < faces.coarse_fine(l).size(); ++i)
        if (grid.composite->coarse_fine(l)[i].behind.found) faces.coarse_fine(l)[i] = 1.0 + std::sin(double(i));
    std::vector<double> flow(grid.n_faces);
    list_fluxes(grid, faces, flow);
    store_fluxes(grid, flow, back);
    CellField balance(grid.composite, 2);
    divergence(faces, balance, 0);
    divergence(back, balance, 1);
    std::vector<double> of_list(grid.n_own), both(2 * static_cast<std::size_t>(grid.n_own));
    add_up(grid, flow, of_list);
    get_unknowns(balance, both);
    double worst = 0.0, first = 0.0;
    for (std::size_t v = 0; v < of_list.size(); ++v) {
      worst = std::max({worst, std::abs(of_list[v] - both[2 * v]), std::abs(both[2 * v] - both[2 * v + 1])});
      first = std::max(first, std::abs(both[2 * v]));
    }
    EXPECT_LT(comm_.max(worst), 1e-13);
    EXPECT_GT(comm_.max(first), 0.1);
  }
}

// The same on any ranks: against the whole grid on this one.
TEST_F(ScalarGridTest, DoesNotDependOnRanksMpi) {
  const auto f = [](const Vec3& x) { return std::sin(0.4 * x[0]) + std::cos(0.3 * x[1]) * x[2]; };
  const auto measure = [&](ScalarGrid grid, const Comm& comm) {
    const std::vector<double> c = values_of(grid, f), flow = uniform(grid);
    GradientStore g(grid);
    find_gradient(grid, c, g.view());
    std::vector<double> flux(flow.size()), out(grid.n_own);
    linear_upwind_flux(grid, flow, c, g.view(), flux);
    add_up(grid, flux, out);
    std::array<double, 3> sums{};
    for (std::size_t v = 0; v < out.size(); ++v) {
      sums[0] += out[v] * out[v];
      sums[1] += g.parts[1][v] * g.parts[1][v];
      sums[2] += out[v];
    }
    comm.sum(std::span<double>(sums));
    return sums;
  };
  const auto here = measure(make_scalar_grid(packing(comm_, 2)), comm_);
  const auto alone = measure(make_scalar_grid(packing(Comm::self(), 2)), Comm::self());
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(here[i], alone[i], 1e-11 * std::abs(alone[0])) << i;
}

// The advective correction is what the two fluxes differ by, to the bit.
TEST_F(ScalarGridTest, UpwindDifferenceIsThatOfTheTwoFluxesMpi) {
  ScalarGrid grid = make_scalar_grid(packing(comm_, 2));
  const std::vector<double> c = values_of(grid, [](const Vec3&x) { return std::sin(x[0]) * x[1] - x[2]; }),
                            before = values_of(grid, [](const Vec3&x) { return std::cos(x[1]) + x[0]; });
  GradientStore g(grid);
  find_gradient(grid, c, g.view());
  const std::size_t n = grid.n_faces;
  std::vector<double> flow(n), second(n), first(n), difference(n);
  for (std::size_t f = 0; f < n; ++f) flow[f] = std::sin(static_cast<double>(f));
  linear_upwind_flux(grid, flow, c, g.view(), second);
  const auto upwind = [&](std::int32_t f, std::int32_t left, std::int32_t right) {
    first[f] = flow[f] * before[flow[f] >= 0.0 ? left : right];
  };
  for_all_faces(
      grid, [&](std::int32_t f, std::int32_t left, std::int32_t right, int, std::int32_t) { upwind(f, left, right); },
      [&](const ScalarFace& f, std::int64_t) { upwind(f.face, f.left, f.right); });
  upwind_difference(grid, flow, c, g.view(), before, 0.5, difference);
  for (std::size_t f = 0; f < n; ++f) ASSERT_EQ(difference[f], 0.5 * (second[f] - first[f])) << f;
}

}  // namespace
}  // namespace karst::scalar_grid_test
