// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/local_permeability.hpp"

#include <gtest/gtest.h>

#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::local_permeability_test {
namespace {

/// Between plates across y, at 2 and 10 of 12 cells; the mean and the largest of |k / (δ (8 - δ) / 2) - 1| over the
/// flow cells of all levels, δ the distance to the lower plate.
std::array<double, 2> off_in_slit(const Comm& comm, const GridOptions& grid, const FlowSides& sides) {
  LevelSetParts plates;
  plates.push_back(make_level_set(HalfSpace{{0, 2, 0}, {0, 1, 0}}));
  plates.push_back(make_level_set(HalfSpace{{0, 10, 0}, {0, -1, 0}}));
  const Geometry geometry = build_geometry(comm, grid, *union_of_solids(std::move(plates)), KeepPores::all);
  StokesLevels op(test::composite_on(comm, geometry), sides);
  EllipticProblem problem;
  problem.wall = [](const Vec3&) { return dirichlet(0.0); };
  BasicGraphMultigrid<3> velocity(comm,
                                  make_two_point_levels(*test::composite_on(comm, geometry), problem, WallForm::lines));
  const std::vector<FloatField> lengths = find_permeable_lengths(op, velocity);
  std::array<double, 3> sums{};
  double largest = 0.0;
  for (int l = 0; l < op.n_levels(); ++l) {
    const LevelGraph& graph = op.level(l).geometry().graph;
    const FloatField& length = lengths[l];
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      const auto own = length.box(b);
      for_each_vof(box, [&](int vof, int cell) {
        if (std::ranges::binary_search(op.level(l).covered_in(b), vof)) return;
        const double scale = std::ldexp(1.0, l), delta = (box.cells.cell(cell)[1] + 0.5) - 2.0 * scale;
        const double exact = 0.5 * delta * (8.0 * scale - delta);
        const double k = double{own[vof]} * double{own[vof]};
        sums[0] += std::abs(k / exact - 1.0);
        sums[1] += 1.0;
        largest = std::max(largest, std::abs(k / exact - 1.0));
      });
      for (int i = 0; i < box.halo.n_vofs(); ++i) {  // as in the box that owns it
        const int owner = graph.local(box_of(box.halo[i]));
        if (owner >= 0)
          EXPECT_EQ(own[box.n_own + i], length.box(owner)[vof_of(box.halo[i])]);
        else
          EXPECT_GT(own[box.n_own + i], 0.0F);
      }
    }
  }
  comm.sum(std::span(sums));
  return {sums[0] / sums[1], comm.max(largest)};
}

TEST(LocalPermeability, BetweenPlatesIsTheParabolaMpi) {
  const auto [mean, largest] = off_in_slit(Comm::world(), test::flow_grid({16, 12, 16}), {});
  EXPECT_LT(mean, 0.02);
  EXPECT_LT(largest, 0.06);
}

// On several levels too, in cells of each.
TEST(LocalPermeability, OnTwoLevelsIsThatMpi) {
  const auto [mean, largest] =
      off_in_slit(Comm::world(), test::refined_in(test::flow_grid({16, 12, 16}), 1, {0, 0, 0}, {8, 12, 16}), {});
  EXPECT_LT(mean, 0.02);
  EXPECT_LT(largest, 0.2);
}

// Sides through which nothing passes hold the velocity across them at 0, but not k: it comes from the one along the
// drive.
TEST(LocalPermeability, SidesOfSymmetryAreNoWallsMpi) {
  FlowSides sides;
  sides.fill(FlowSide::symmetry);
  sides[4] = sides[5] = FlowSide::pressure;
  const auto [mean, largest] = off_in_slit(Comm::world(), test::flow_grid({16, 12, 16}, {false, false, false}), sides);
  EXPECT_LT(mean, 0.02);
  EXPECT_LT(largest, 0.06);
}

}  // namespace
}  // namespace karst::local_permeability_test
