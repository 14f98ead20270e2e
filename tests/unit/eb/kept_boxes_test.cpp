// SPDX-License-Identifier: BSD-3-Clause
// Boxes of a geometry that serve the next one of the same level set.
#include "eb/link/kept_boxes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <span>

#include "grid/morton.hpp"
#include "support/geometry_cases.hpp"

namespace karst::kept_boxes_test {
namespace {

using test::grid_of;

void expect_same_graph(const BoxGraph& a, const BoxGraph& b) {
  EXPECT_EQ(a.n_own, b.n_own);
  EXPECT_EQ(a.n_irregular, b.n_irregular);
  EXPECT_TRUE(std::ranges::equal(a.runs, b.runs));
  EXPECT_TRUE(std::ranges::equal(a.row_vof, b.row_vof));
  EXPECT_TRUE(std::ranges::equal(a.row_cell, b.row_cell));
  EXPECT_TRUE(std::ranges::equal(a.neighbours, b.neighbours));
  EXPECT_TRUE(std::ranges::equal(a.extra, b.extra));
  ASSERT_EQ(a.halo.size(), b.halo.size());
  for (int i = 0; i < a.halo.size(); ++i) ASSERT_EQ(a.halo[i], b.halo[i]);
}

bool same_moments(const VofMoments& a, const VofMoments& b) {
  return a.kappa == b.kappa && a.centroid == b.centroid && a.wall == b.wall && a.wall_area == b.wall_area &&
         a.wall_centroid == b.wall_centroid && a.aperture == b.aperture && a.face_centroid == b.face_centroid;
}
bool same_extra(const ExtraFaceMoments& a, const ExtraFaceMoments& b) {
  return a.aperture == b.aperture && a.centroid == b.centroid;
}
bool same_center(const VofCenter& a, const VofCenter& b) {
  return a.wall_distance == b.wall_distance && a.inside == b.inside;
}
bool same_part(const JoinedPart& a, const JoinedPart& b) {
  return a.home == b.home && a.kappa == b.kappa && a.cell == b.cell;
}
bool same_wall(const MixedWall& a, const MixedWall& b) {
  return a.area == b.area && a.row == b.row && a.mineral == b.mineral;
}

/// Every bit of it.
void expect_same(const Geometry& a, const Geometry& b) {
  ASSERT_EQ(a.levels.size(), b.levels.size());
  for (std::size_t l = 0; l < a.levels.size(); ++l) {
    const LevelGeometry &x = a.levels[l], &y = b.levels[l];
    ASSERT_EQ(x.graph.layout().keys(), y.graph.layout().keys());
    ASSERT_EQ(x.graph.n_local(), y.graph.n_local());
    for (int box = 0; box < x.graph.n_local(); ++box) expect_same_graph(x.graph.box(box), y.graph.box(box));
    EXPECT_EQ(x.moments_begin, y.moments_begin);
    EXPECT_EQ(x.extra_begin, y.extra_begin);
    EXPECT_EQ(x.joined_begin, y.joined_begin);
    EXPECT_TRUE(std::ranges::equal(x.moments, y.moments, same_moments));
    EXPECT_TRUE(std::ranges::equal(x.extra, y.extra, same_extra));
    EXPECT_TRUE(std::ranges::equal(x.centers, y.centers, same_center));
    EXPECT_TRUE(std::ranges::equal(x.joined, y.joined, same_part));
    EXPECT_TRUE(std::ranges::equal(x.mineral, y.mineral));
    EXPECT_TRUE(std::ranges::equal(x.mixed, y.mixed, same_wall));
    EXPECT_EQ(a.report.levels[l].cut.pieces, b.report.levels[l].cut.pieces);
    EXPECT_EQ(a.report.levels[l].pores_removed, b.report.levels[l].pores_removed);
    EXPECT_EQ(a.report.levels[l].vofs_composite, b.report.levels[l].vofs_composite);
  }
  EXPECT_EQ(a.report.porosity, b.report.porosity);
  EXPECT_EQ(a.report.wall_area, b.report.wall_area);
}

/// Spheres of three minerals.
std::unique_ptr<LevelSet> three_minerals(bool periodic) {
  LevelSetParts parts;
  for (int m = 0; m < 3; ++m)
    parts.push_back(of_mineral(test::packing(3, 8.1, 32, periodic, 11 + static_cast<std::uint64_t>(m)),
                               static_cast<MineralNumber>(m)));
  return union_of_solids(std::move(parts), {"calcite", "clay", "quartz"});
}

/// Fine boxes with this low corner and width in the lattice of their level.
std::vector<std::uint64_t> cube(const Index& corner, int width) {
  std::vector<std::uint64_t> keys;
  for_each_cell(Box{corner, corner + Index::all(width)}, [&](const Index& at) { keys.push_back(morton_encode(at)); });
  std::ranges::sort(keys);
  return keys;
}

// One grid after the other, with levels more and less, the same refined boxes elsewhere, and the grid of the beginning:
// each geometry, made of the one before, has every bit of that made of none.
TEST(KeptBoxes, GeometriesAreThoseOfNoneBeforeMpi) {
  const Comm comm = Comm::world();
  const std::vector<FlaggedBoxes> all{{}, {cube({}, 6)}, {cube({2, 0, 0}, 6), cube({8, 4, 4}, 2)}, {}};
  for (const bool periodic : {false, true}) {
    const auto phi = three_minerals(periodic);
    KeptBoxes kept;
    std::optional<Geometry> last;
    for (const FlaggedBoxes& flagged : std::span(all).first(periodic ? 2 : all.size())) {
      GridOptions grid = grid_of(32, 3, periodic);
      grid.flagged = flagged;
      grid.refine = {{1, Refinement::Where::front, {}, {}, 1}};
      Geometry next = build_geometry(comm, grid, *phi, KeepPores::connected, {}, {}, {&kept, last ? &*last : nullptr});
      expect_same(next, build_geometry(comm, grid, *phi, KeepPores::connected));
      last = std::move(next);
    }
    EXPECT_GT(comm.sum(kept.bytes()), 0);
  }
}

// Fine boxes that come and go one by one: most boxes are cut as before, but not beside the ones that change, and there
// only the parts near these are others.
TEST(KeptBoxes, FewBoxesMayChangeAnywhereMpi) {
  const Comm comm = Comm::world();
  const auto phi = test::packing(5, 5.3, 24, true, 5);
  std::mt19937 random(17);
  std::vector<std::uint64_t> fine;
  for_each_cell(Box{{}, Index::all(6)}, [&](const Index& at) {
    if (random() % 3 == 0) fine.push_back(morton_encode(at));
  });
  KeptBoxes kept;
  std::optional<Geometry> last;
  for (int round = 0; round < 4; ++round) {
    std::ranges::sort(fine);
    GridOptions grid = grid_of(24, 2, true);
    grid.flagged = FlaggedBoxes{fine};
    grid.refine = {{1, Refinement::Where::front, {}, {}, 1}};
    Geometry next = build_geometry(comm, grid, *phi, KeepPores::connected, {}, {}, {&kept, last ? &*last : nullptr});
    expect_same(next, build_geometry(comm, grid, *phi, KeepPores::connected));
    last = std::move(next);
    for (int i = 0; i < 2; ++i) {
      const int place = static_cast<int>(random() % 216);
      const std::uint64_t key = morton_encode({place % 6, place / 6 % 6, place / 36});
      if (std::erase(fine, key) == 0) fine.push_back(key);
    }
  }
}

// The same boxes dealt out otherwise: those that stay with their rank serve again.
TEST(KeptBoxes, OwnersMayChangeMpi) {
  const Comm comm = Comm::world();
  const auto phi = three_minerals(true);
  KeptBoxes kept;
  std::optional<Geometry> last;
  for (const double slow : {1.0, 2.0}) {
    BoxCosts costs;
    costs.slowness.assign(comm.size(), 1.0);
    costs.slowness.back() = slow;
    Geometry next =
        build_geometry(comm, grid_of(32, 1, true), *phi, KeepPores::all, {}, costs, {&kept, last ? &*last : nullptr});
    expect_same(next, build_geometry(comm, grid_of(32, 1, true), *phi, KeepPores::all, {}, costs));
    last = std::move(next);
  }
}

}  // namespace
}  // namespace karst::kept_boxes_test
