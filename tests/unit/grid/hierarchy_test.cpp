// SPDX-License-Identifier: BSD-3-Clause
#include "grid/hierarchy.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "grid/morton.hpp"
#include "unit/grid/model.hpp"

namespace karst::hierarchy_test {
namespace {

double all_fluid(int, const Box&) { return 1.0; }

/// Distance of the nearest and furthest corner of cells of a level to a point, in cells of level 0; wall: a sphere.
bool holds_sphere(int level, const Box& cells, const Vec3& centre, double radius) {
  double nearest = 0, furthest = 0;
  for (int d = 0; d < 3; ++d) {
    const double lo = std::ldexp(cells.lo[d], -level) - centre[d], hi = std::ldexp(cells.hi[d], -level) - centre[d];
    nearest += std::pow(std::max({lo, -hi, 0.0}), 2);
    furthest += std::pow(std::max(-lo, hi), 2);
  }
  return nearest <= radius * radius && furthest >= radius * radius;
}

GridOptions options(const Index& cells, int box, int levels) {
  GridOptions grid;
  grid.cells = cells;
  grid.size = {1.0 * cells[0], 1.0 * cells[1], 1.0 * cells[2]};  // h = 1 m
  grid.box = box;
  grid.levels = levels;
  return grid;
}

bool in_region(const GridHierarchy& grid, int level, const Index& position) {
  return level == 0 || grid.is_refined(level - 1, position);
}

/// All 26 neighbours of every box lie in the region of the coarser level, or outside the domain.
void expect_nested(const GridHierarchy& grid) {
  for (int level = 1; level < grid.n_levels(); ++level) {
    const Layout& layout = grid.levels[level].layout;
    const Index size = layout.lattice_size();
    for (std::int64_t b = 0; b < layout.n_boxes(); ++b) {
      const Index at = layout.lattice_position(b);
      EXPECT_TRUE(in_region(grid, level, at));
      for_each_cell({at - Index::all(1), at + Index::all(2)}, [&](Index p) {
        for (int d = 0; d < 3; ++d) {
          if (layout.domain().periodic[d]) p[d] = (p[d] + size[d]) % size[d];
          if (p[d] < 0 || p[d] >= size[d]) return;
        }
        EXPECT_TRUE(in_region(grid, level - 1, {p[0] / 2, p[1] / 2, p[2] / 2})) << "level " << level << " box " << b;
      });
    }
  }
}

TEST(HierarchyMpi, NestsAroundASphere) {
  const Comm comm = Comm::world();
  GridOptions grid = options({32, 32, 32}, 8, 4);
  grid.refine = {{3, Refinement::Where::wall, {}, {}, 1}};
  for (const bool periodic : {false, true}) {
    grid.periodic = {periodic, periodic, periodic};
    const Vec3 centre{4.0, 15.3, 20.0};  // the sphere crosses a side of the domain
    const auto wall = [&](int level, const Box& cells) {
      for (const double shift : {-32.0, 0.0, 32.0})
        if ((shift == 0.0 || periodic) && holds_sphere(level, cells, centre + Vec3{shift, 0, 0}, 7.0)) return true;
      return false;
    };
    const GridHierarchy h = build_hierarchy(comm, grid, wall, all_fluid);
    ASSERT_EQ(h.n_levels(), 4);
    expect_nested(h);
    // Every cell of level l that holds the wall is covered by level l + 1; fewer cells than uniform refinement.
    for (int level = 0; level < 2; ++level)
      for_each_cell(h.levels[level].layout.domain().box(), [&](const Index& c) {
        EXPECT_TRUE(!wall(level, {c, c + Index::all(1)}) || h.cell_is_refined(level, c));
      });
    EXPECT_LT(h.levels[3].layout.n_boxes(), 32 * 32 * 32 / 2);
  }
}

TEST(HierarchyMpi, SameBoxesOnAnyNumberOfRanks) {
  GridOptions grid = options({40, 24, 24}, 8, 3);
  grid.refine = {{2, Refinement::Where::wall, {}, {}, 2}};
  const auto wall = [](int level, const Box& cells) { return holds_sphere(level, cells, {20, 12, 12}, 8.0); };
  const GridHierarchy here = build_hierarchy(Comm::world(), grid, wall, all_fluid);
  const GridHierarchy alone = build_hierarchy(Comm::self(), grid, wall, all_fluid);
  ASSERT_EQ(here.n_levels(), alone.n_levels());
  for (std::size_t l = 0; l < here.levels.size(); ++l) {
    EXPECT_EQ(here.levels[l].layout.keys(), alone.levels[l].layout.keys());
    EXPECT_EQ(here.levels[l].refined, alone.levels[l].refined);
    EXPECT_EQ(here.levels[l].layout.n_ranks(), Comm::world().size());
  }
}

// A region of whole octants without a buffer is refined exactly; one level needs no growth.
TEST(HierarchyMpi, RegionIsCoveredExactly) {
  GridOptions grid = options({64, 64, 64}, 16, 2);
  grid.refine = {{1, Refinement::Where::region, {8, 16, 24}, {24, 40, 32}, 0}};
  const auto no_wall = [](int, const Box&) { return false; };
  const GridHierarchy h = build_hierarchy(Comm::world(), grid, no_wall, all_fluid);
  ASSERT_EQ(h.n_levels(), 2);
  EXPECT_EQ(h.levels[1].layout.n_boxes(), 2 * 3 * 1);
  const Box region{{8, 16, 24}, {24, 40, 32}};
  for_each_cell(h.levels[0].layout.domain().box(),
                [&](const Index& c) { EXPECT_EQ(h.cell_is_refined(0, c), region.contains(c)); });
}

// Boxes that are flagged are there beside those that a region asks for, with what nesting needs.
TEST(HierarchyMpi, FlaggedBoxesAreThereBesideRegions) {
  GridOptions grid = options({64, 32, 32}, 8, 2);
  grid.refine = {{1, Refinement::Where::region, {0, 0, 0}, {4, 4, 4}, 0}};
  const Index position{9, 5, 4};  // of level 2, within position (4, 2, 2) of level 1
  const auto no_wall = [](int, const Box&) { return false; };
  const GridHierarchy h = build_hierarchy(
      Comm::world(), with_flagged(grid, {{morton_encode({4, 2, 2})}, {morton_encode(position)}}), no_wall, all_fluid);
  ASSERT_EQ(h.n_levels(), 3);
  expect_nested(h);
  EXPECT_EQ(h.flagged.size(), 2U);
  EXPECT_EQ(h.levels[2].layout.keys(), std::vector{morton_encode(position)});
  EXPECT_TRUE(h.is_refined(0, {0, 0, 0}));
  EXPECT_TRUE(h.is_refined(0, {4, 2, 2}));
  EXPECT_TRUE(h.is_refined(0, {5, 3, 2}));  // next to that of level 2
  EXPECT_FALSE(h.is_refined(0, {7, 3, 3}));
  EXPECT_EQ(build_hierarchy(Comm::world(), with_flagged(grid, {}), no_wall, all_fluid).n_levels(), 2);
}

TEST(HierarchyMpi, RegionReachesThroughPeriodicSides) {
  GridOptions grid = options({32, 32, 32}, 8, 2);
  grid.refine = {{1, Refinement::Where::region, {30, 0, 0}, {34, 4, 4}, 0}};
  const auto no_wall = [](int, const Box&) { return false; };
  EXPECT_EQ(build_hierarchy(Comm::world(), grid, no_wall, all_fluid).levels[1].layout.n_boxes(), 1);
  grid.periodic = {true, false, false};
  EXPECT_EQ(build_hierarchy(Comm::world(), grid, no_wall, all_fluid).levels[1].layout.n_boxes(), 2);
  grid.refine[0].lo = {-2 - 64, 0, 0};  // two periods away
  grid.refine[0].hi = {2 - 64, 4, 4};
  EXPECT_EQ(build_hierarchy(Comm::world(), grid, no_wall, all_fluid).levels[1].layout.n_boxes(), 2);
}

// Thin and clipped domains: the fine domain has twice the cells, and no box lies outside of it.
TEST(HierarchyMpi, ThinAndClippedDomains) {
  GridOptions grid = options({33, 17, 1}, 8, 3);
  grid.periodic = {false, false, true};
  grid.refine = {{2, Refinement::Where::region, {28, 10, 0}, {33, 17, 1}, 1}};
  const auto no_wall = [](int, const Box&) { return false; };
  const GridHierarchy h = build_hierarchy(Comm::world(), grid, no_wall, all_fluid);
  ASSERT_EQ(h.n_levels(), 3);
  expect_nested(h);
  EXPECT_EQ(h.levels[2].layout.domain().cells, (Index{132, 68, 4}));
  for (const GridLevel& l : h.levels)
    for (std::int64_t b = 0; b < l.layout.n_boxes(); ++b) EXPECT_FALSE(l.layout.box(b).empty());
  EXPECT_TRUE(h.cell_is_refined(0, {32, 16, 0}));
}

TEST(HierarchyMpi, PrunedBoxesStillCountAsRefined) {
  GridOptions grid = options({32, 32, 32}, 8, 2);
  grid.refine = {{1, Refinement::Where::region, {8, 8, 8}, {16, 16, 16}, 0}};
  const auto no_wall = [](int, const Box&) { return false; };
  const auto half = [](int level, const Box& cells) { return level == 1 && cells.lo[0] < 24 ? 0.0 : 1.0; };
  const GridHierarchy h = build_hierarchy(Comm::world(), grid, no_wall, half);
  EXPECT_EQ(h.levels[1].candidates, 8);
  EXPECT_EQ(h.levels[1].layout.n_boxes(), 4);
  EXPECT_TRUE(h.cell_is_refined(0, {8, 8, 8}));
  EXPECT_TRUE(h.is_refined(0, {2, 2, 2}));
  EXPECT_FALSE(h.is_refined(0, {1, 2, 2}));
  EXPECT_FALSE(h.is_refined(0, {-1, 2, 2}));
  EXPECT_FALSE(h.is_refined(1, {4, 4, 4}));  // nothing is finer than the finest
}

TEST(HierarchyMpi, LevelsNobodyWantsAreLeftOut) {
  GridOptions grid = options({32, 32, 32}, 8, 3);
  grid.refine = {{2, Refinement::Where::wall, {}, {}, 2}};
  const auto no_wall = [](int, const Box&) { return false; };
  const GridHierarchy h = build_hierarchy(Comm::world(), grid, no_wall, all_fluid);
  EXPECT_EQ(h.n_levels(), 1);
  EXPECT_FALSE(h.cell_is_refined(0, {0, 0, 0}));
  EXPECT_THROW(build_hierarchy(Comm::world(), grid.domain(), 8, 0, nullptr, nullptr), Error);
}

}  // namespace
}  // namespace karst::hierarchy_test
