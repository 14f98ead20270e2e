// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/error_by_friction.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "grid/morton.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::error_by_friction_test {
namespace {

constexpr double none = std::numeric_limits<double>::infinity();
constexpr double many = 1e9;
const FluidOptions water;

/// A slit of 8 cells between plates across z, along x and y periodic; the half with x < 4 refined or not.
Geometry slit(const Comm& comm, bool refined) {
  LevelSetParts plates;
  plates.push_back(make_level_set(HalfSpace{{0, 0, 4}, {0, 0, 1}}));
  plates.push_back(make_level_set(HalfSpace{{0, 0, 12}, {0, 0, -1}}));
  GridOptions grid = test::flow_grid({8, 8, 16}, {true, true, false});
  grid.box = 8;
  if (refined) {
    grid.levels = 2;
    grid.refine.push_back({.where = Refinement::Where::region, .lo = {0, 0, 0}, .hi = {4, 8, 16}, .buffer = 0});
  }
  return build_geometry(comm, grid, *union_of_solids(std::move(plates)), KeepPores::all);
}

std::vector<OctantShare> shares_of(const Comm& comm, const Geometry& geometry, double& friction) {
  FlowOptions options;
  options.model = FlowModel::stokes;
  options.drive = FlowDrive::pressure_gradient;
  options.axes = {0};
  options.tolerance = 1e-10;
  FlowWatch watch;
  watch.find_friction = true;
  const FlowSample sample{1e-5, geometry.report.connected_porosity, geometry.report.specific_surface / 1e-5};
  const std::vector<FlowColumn> columns = permeability(test::ground_on(comm, geometry), options, water, sample, watch);
  friction = 0.0;
  for (const OctantFriction& o : columns[0].friction) friction += o.friction;
  friction = comm.sum(friction);
  return octant_shares(comm, columns);
}

// u = y (H - y) / 2: over n = H / h cells the slopes between centres are (n / 2 - k) h, k = 1 .. n - 1, and those at
// the plates u / θ, θ = h / 2. Per area their Σ slope² h + 2 u² / θ is 42.0625 for 8 cells, 42.5078125 for 16 of half
// the width, H³ / 12 = 42.667 in the limit.
TEST(OctantFriction, PlaneFlowMpi) {
  const Comm comm = Comm::world();
  double friction = 0.0;
  const std::vector<OctantShare> octants = shares_of(comm, slit(comm, false), friction);
  EXPECT_NEAR(friction, 64 * 42.0625, 1e-5 * friction);
  ASSERT_EQ(octants.size(), 2U * 2U * 2U);  // of 4³ cells, two between the plates
  for (const OctantShare& o : octants) {
    EXPECT_EQ(o.cells, 64);
    EXPECT_NEAR(o.share[0], 1.0 / 8, 1e-6);
    EXPECT_EQ(o.share[1], 0.0);
  }
  EXPECT_NEAR(error_weight(octants, second_order)[0], 1.0, 1e-12);
}

TEST(OctantFriction, PlaneFlowOnTwoLevelsMpi) {
  const Comm comm = Comm::world();
  double friction = 0.0;
  const std::vector<OctantShare> octants = shares_of(comm, slit(comm, true), friction);
  EXPECT_NEAR(friction, 32 * (42.0625 + 42.5078125), 1e-5 * friction);
  const double fine = 42.5078125 / (42.0625 + 42.5078125);
  EXPECT_NEAR(error_weight(octants, second_order)[0], 1.0 - 0.75 * fine, 1e-5);  // fine cells count a quarter
}

GridOptions line_of_boxes() { return test::flow_grid({64, 8, 8}, {false, false, false}); }

/// Octants of 4 cells' width along x, of 8 such boxes.
std::vector<OctantShare> along_x(const std::vector<double>& shares) {
  std::vector<OctantShare> octants;
  for (std::size_t i = 0; i < shares.size(); ++i)
    octants.push_back({0, morton_encode({static_cast<int>(i), 0, 0}), 10, {shares[i], 0.0, 0.0}});
  return octants;
}

GridOptions with_box(GridOptions grid, int box) {
  grid.box = box;
  return grid;
}

TEST(FinerGrid, TakesTheLargestSharesUntilTheGoal) {
  const GridOptions grid = with_box(line_of_boxes(), 8);
  const std::vector<OctantShare> octants = along_x({0.05, 0.3, 0.0, 0.5, 0.15});
  // 1 - 3/4 (0.5 + 0.3) = 0.4 is the first below 0.5
  const FinerGrid finer = finer_grid(grid, octants, second_order, {}, {0.5, none, none}, 3, many);
  ASSERT_EQ(finer.boxes.size(), 1U);
  EXPECT_EQ(finer.boxes[0], (std::vector<std::uint64_t>{morton_encode({1, 0, 0}), morton_encode({3, 0, 0})}));
  EXPECT_EQ(finer.cells, 50 + 2 * 70);
  EXPECT_TRUE(finer.enough);
  EXPECT_TRUE(finer_grid(grid, octants, second_order, {}, {none, none, none}, 3, many).boxes.empty());
  // No cells but for one of them; no finer level.
  const FinerGrid small = finer_grid(grid, octants, second_order, {}, {0.5, none, none}, 3, 50 + 70);
  EXPECT_EQ(small.boxes[0], std::vector<std::uint64_t>{morton_encode({3, 0, 0})});
  EXPECT_FALSE(small.enough);
  EXPECT_TRUE(small.out_of_cells);
  const FinerGrid coarse = finer_grid(grid, octants, second_order, {}, {0.5, none, none}, 0, many);
  EXPECT_TRUE(coarse.boxes.empty());
  EXPECT_FALSE(coarse.enough);
  EXPECT_FALSE(coarse.out_of_cells);
}

// Cells of voxels gain 5/6: 1 - 5/6 0.5 = 0.583, less 5/6 0.3 = 0.333. Of a goal of 0 nine tenths are gained.
TEST(FinerGrid, CellsOfVoxels) {
  const GridOptions grid = with_box(line_of_boxes(), 8);
  const std::vector<OctantShare> octants = along_x({0.05, 0.3, 0.0, 0.5, 0.15});
  EXPECT_EQ(finer_grid(grid, octants, cells_of_voxels, {}, {0.58, none, none}, 3, many).boxes[0].size(), 2U);
  EXPECT_EQ(finer_grid(grid, octants, cells_of_voxels, {}, {0.59, none, none}, 3, many).boxes[0].size(), 1U);
  const FinerGrid most = finer_grid(grid, octants, cells_of_voxels, {}, {0.0, none, none}, 3, many);
  EXPECT_EQ(most.boxes[0].size(), 3U);
  EXPECT_FALSE(most.enough);
}

TEST(FinerGrid, LevelsHoldFinerOnes) {
  const GridOptions grid = with_box(line_of_boxes(), 8);
  std::vector<OctantShare> octants = along_x({0.2});
  octants.push_back({1, morton_encode({9, 1, 0}), 10, {0.8, 0.0, 0.0}});
  const FlaggedBoxes now{{morton_encode({4, 0, 0})}};
  // M = 0.2 + 0.8 / 4 = 0.4: the coarse octant and the fine one have equal parts.
  const FinerGrid finer = finer_grid(grid, octants, second_order, now, {0.2, none, none}, 3, many);
  ASSERT_EQ(finer.boxes.size(), 2U);
  EXPECT_EQ(finer.boxes[0], (std::vector<std::uint64_t>{0, morton_encode({4, 0, 0})}));
  EXPECT_EQ(finer.boxes[1], std::vector<std::uint64_t>{morton_encode({9, 1, 0})});
}

TEST(FinerGrid, FillsGaps) {
  const GridOptions grid = with_box(test::flow_grid({32, 32, 8}, {true, false, false}), 8);
  std::vector<OctantShare> octants;
  for (int j = 0; j < 8; ++j)
    for (int i = 0; i < 8; ++i) {
      const bool arm = (i == 0 && j == 3) || (i == 6 && j == 3) || (i == 7 && (j == 2 || j == 4));  // around (7, 3)
      octants.push_back({0, morton_encode({i, j, 0}), 10, {arm ? 0.25 : 0.0, 0.0, 0.0}});
    }
  const FinerGrid finer = finer_grid(grid, octants, second_order, {}, {0.3, none, none}, 1, many);
  EXPECT_EQ(finer.boxes[0].size(), 5U);
  EXPECT_TRUE(std::ranges::binary_search(finer.boxes[0], morton_encode({7, 3, 0})));
}

// K = 1.05 - 0.05 M.
TEST(ErrorFromChange, OfALine) {
  const ErrorOnGrid before{1.0, 1.0, 0.06};
  ErrorOnGrid now{1.03, 0.4};
  estimate_from_change(before, now);
  EXPECT_NEAR(*now.extrapolated, 1.05, 1e-14);
  EXPECT_NEAR(now.error, 1.5 * 0.02 / 1.03, 1e-14);
  // No change is no proof: a third of the error before, times M now over M before.
  now = {1.0, 0.4};
  estimate_from_change(before, now);
  EXPECT_NEAR(now.error, 0.06 * 0.4 / 3, 1e-14);
  now = {1.03, 1.0};
  estimate_from_change(before, now);
  EXPECT_TRUE(std::isnan(now.error));
  EXPECT_FALSE(now.extrapolated);
}

}  // namespace
}  // namespace karst::error_by_friction_test
