// SPDX-License-Identifier: BSD-3-Clause
// Throats of known width: a slit that is 4.1 cells wide for 8 cells and 12.2 elsewhere, along an axis and inclined.
#include "eb/cut/throats.hpp"

#include <gtest/gtest.h>

#include <set>

#include "eb/geometry.hpp"
#include "grid/morton.hpp"
#include "support/grid_cases.hpp"

namespace karst::throats_test {
namespace {

constexpr double narrow = 2.05, wide = 6.1;  // half of the widths

double slit(double along, double across) { return (along > 12.0 && along < 20.0 ? narrow : wide) - std::abs(across); }

GridOptions with_throats(GridOptions grid, int cells, int level = 1) {
  Refinement rule{level, Refinement::Where::throat, {}, {}, 0};
  rule.cells = cells;
  return test::refined(grid, rule);
}

/// Positions of boxes of level 1 along x.
std::set<int> refined_along_x(const GridOptions& grid, const test::DistanceFunction& walls) {
  const GridHierarchy h = build_grid(Comm::world(), grid, walls);
  std::set<int> all;
  for (int l = 1; l < h.n_levels() && l < 2; ++l)
    for (const std::uint64_t key : h.levels[1].layout.keys()) all.insert(morton_decode(key)[0]);
  return all;
}

// Refined from a width of 5 cells on in the narrow part, which is 4 to 5 boxes of 4 coarse cells long, and nowhere
// else; with 4 cells nowhere, with 13 everywhere.
TEST(ThroatsMpi, ANarrowSlitIsRefinedAndAWideOneIsNot) {
  const test::DistanceFunction walls([](const Vec3& x) { return slit(x[0], x[2] - 8.0); });
  const GridOptions grid = test::flow_grid({32, 8, 16}, {false, true, false});
  EXPECT_EQ(refined_along_x(with_throats(grid, 5), walls), (std::set<int>{3, 4}));
  EXPECT_EQ(refined_along_x(with_throats(grid, 4), walls), std::set<int>{});
  EXPECT_EQ(refined_along_x(with_throats(grid, 13), walls), (std::set<int>{0, 1, 2, 3, 4, 5, 6, 7}));
}

// The width is that across, whatever the direction: a slit along (1, 0, 1) has 5.8 cells along an axis.
TEST(ThroatsMpi, TheWidthIsThatAcross) {
  const test::DistanceFunction walls([](const Vec3& x) { return narrow - std::abs((x[0] - x[2]) / std::sqrt(2.0)); });
  const GridOptions grid = test::flow_grid({32, 8, 32}, {false, true, false});
  EXPECT_EQ(refined_along_x(with_throats(grid, 4), walls).size(), 0U);
  EXPECT_EQ(refined_along_x(with_throats(grid, 5), walls).size(), 8U);
}

// The next level refines what is still narrow in its cells, and geometry, from which permeability runs follow, has it.
TEST(ThroatsMpi, LevelByLevel) {
  const test::DistanceFunction walls([](const Vec3& x) { return slit(x[0], x[2] - 8.0); });
  const GridOptions grid = test::flow_grid({32, 8, 16}, {false, true, false});
  const auto levels = [&](int cells) {
    return build_geometry(Comm::world(), with_throats(grid, cells, 2), walls, KeepPores::all).levels.size();
  };
  EXPECT_EQ(levels(4), 1U);
  EXPECT_EQ(levels(5), 2U);  // 8.2 cells of level 1
  EXPECT_EQ(levels(9), 3U);
}

}  // namespace
}  // namespace karst::throats_test
