// SPDX-License-Identifier: BSD-3-Clause
// Truths of the VoF graph of a level: closure, conservation, separation, invariance. E numbers: docs/verification.md.
#include "eb/link/level_builder.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "support/level_cases.hpp"

namespace karst::level_builder_test {
namespace {

using test::free_stream_error;
using test::single_level;
using test::totals;

constexpr Domain cube(int n, bool periodic) { return {Index::all(n), {periodic, periodic, periodic}}; }

void expect_consistent(const Comm& comm, const LevelGeometry& geometry) {
  EXPECT_LT(free_stream_error(geometry), 1e-12);  // E2, E4
  const auto wrong = check(comm, geometry.graph);
  EXPECT_TRUE(wrong.empty()) << wrong.front();
}

// E2, E4: the wall area vector closes every VoF, so a uniform flow has no divergence anywhere.
TEST(LevelBuilder, FreeStreamInAPackingMpi) {
  const Comm comm = Comm::world();
  for (const bool periodic : {false, true})
    for (const auto cv : {ControlVolumes::pieces, ControlVolumes::home_cells}) {
      const auto phi = test::packing(40, 5.3, 32, periodic);
      const BuiltLevel level = single_level(comm, *phi, cube(32, periodic), 8, KeepPores::all, cv);
      expect_consistent(comm, level.geometry);
      EXPECT_GT(level.report.irregular, 3000);
    }
}

TEST(LevelBuilder, FreeStreamInTiltedSlabAndTubeMpi) {
  const Comm comm = Comm::world();
  LevelSetParts walls;
  walls.push_back(make_level_set(HalfSpace{{10.3, 9.8, 10.1}, {0.6, 0.64, 0.48}}));
  walls.push_back(make_level_set(HalfSpace{{13.3, 14.8, 12.1}, {-0.6, -0.64, -0.48}}));
  const auto slab = union_of_solids(std::move(walls));
  const auto tube = complement(make_level_set(Cylinder{frame_along({10, 9, 8}, {1, 2, 3}), 4.7}));
  for (const LevelSet* phi : {slab.get(), tube.get()}) {
    const BuiltLevel level = single_level(comm, *phi, {{24, 20, 17}, {}}, 8);
    expect_consistent(comm, level.geometry);
  }
}

// E1: a sphere off centre. Joining pieces to home cells moves volume and wall, it does not change them.
TEST(LevelBuilder, SphereVolumeAndAreaConvergeMpi) {
  const Comm comm = Comm::world();
  std::vector<double> volume_error, area_error;
  for (const int n : {24, 48, 96}) {
    const double r = n / 3.0;  // R/h = 8, 16, 32
    const auto phi = make_level_set(Sphere{{n * 0.513, n * 0.487, n * 0.502}, r});
    const auto pieces =
        totals(comm, single_level(comm, *phi, cube(n, false), 16, KeepPores::all, ControlVolumes::pieces).geometry);
    const auto t = totals(comm, single_level(comm, *phi, cube(n, false), 16).geometry);
    EXPECT_NEAR(t.volume, pieces.volume, 1e-13 * pieces.volume);
    EXPECT_NEAR(t.wall_area, pieces.wall_area, 1e-13 * pieces.wall_area);
    const double v = 4.0 / 3.0 * std::numbers::pi * r * r * r, a = 4.0 * std::numbers::pi * r * r;
    volume_error.push_back(std::abs(std::pow(n, 3) - t.volume - v) / v);
    area_error.push_back(std::abs(t.wall_area - a) / a);
  }
  EXPECT_LT(volume_error[1], 0.002);
  EXPECT_LT(area_error[1], 0.005);
  EXPECT_GT(std::log2(volume_error[0] / volume_error[2]) / 2, 1.9);
  EXPECT_GT(std::log2(area_error[0] / area_error[2]) / 2, 1.9);
}

// E3: a plate thinner than a cell separates, wherever it lies, straight or tilted, for pieces and for home cells.
TEST(LevelBuilder, ThinPlateSeparates) {
  const Comm self = Comm::self();
  for (const double thickness : {0.2, 0.5, 0.9})
    for (int o = 0; o < 10; ++o)
      for (const Vec3& normal : {Vec3{1, 0, 0}, Vec3{1, 0.3, 0.2}})
        for (const auto cv : {ControlVolumes::pieces, ControlVolumes::home_cells}) {
          const auto phi = test::plate({7.0 + 0.1 * o, 3.0, 3.0}, normal, thickness);
          const BuiltLevel level = single_level(self, *phi, {{16, 6, 6}, {}}, 8, KeepPores::all, cv);
          EXPECT_EQ(level.report.pores, 2) << thickness << " offset " << o << " tilt " << normal[1];
          EXPECT_EQ(test::n_components(level.geometry.graph), 2) << thickness << " offset " << o;
          expect_consistent(self, level.geometry);
          EXPECT_EQ(level.report.cut.walls_lost, 0);
          const double solid = thickness * 36.0 * norm(normal) / normal[0];
          EXPECT_NEAR(totals(self, level.geometry).volume, 576.0 - solid, 0.01 * solid) << thickness << " " << o;
        }
}

// Nothing is lost silently: a plate too thin for the finest lattice is counted where it goes unseen.
TEST(LevelBuilder, CountsWallsItCannotSee) {
  const auto phi = test::plate({7.03, 3.0, 3.0}, {1, 0, 0}, 0.02);  // between the nodes 7 and 7 1/16
  const BuiltLevel level = single_level(Comm::self(), *phi, {{16, 6, 6}, {}}, 8);
  EXPECT_EQ(level.report.pores, 1);
  EXPECT_GT(level.report.cut.walls_lost, 0);
}

// E3: two spheres 0.3 cells apart: the fluid between them stays open, the solids do not grow together.
TEST(LevelBuilder, NearlyTouchingSpheres) {
  const Comm self = Comm::self();
  for (int o = 0; o < 10; ++o) {
    const double x = 16.0 + 0.1 * o, r = 6.0, gap = 0.3;
    const auto phi =
        make_sphere_list({{{x - r - gap / 2, 15.7, 16.2}, r}, {{x + r + gap / 2, 15.7, 16.2}, r}}, {Vec3::all(32), {}});
    const BuiltLevel level = single_level(self, *phi, cube(32, false), 16);
    const double solid = 2 * 4.0 / 3.0 * std::numbers::pi * r * r * r;
    EXPECT_NEAR(32768.0 - totals(self, level.geometry).volume, solid, 0.01 * solid) << o;
    EXPECT_EQ(level.report.pores, 1) << o;
    expect_consistent(self, level.geometry);
  }
}

// The same level for any number of ranks and any box size.
TEST(LevelBuilder, CountsDoNotDependOnRanksAndBoxesMpi) {
  const auto phi = test::packing(60, 5.3, 40, false, 3);
  const BuiltLevel one = single_level(Comm::self(), *phi, cube(40, false), 8, KeepPores::connected);
  const auto expect_same = [&](const BuiltLevel& other, const Comm& comm) {
    EXPECT_EQ(one.report.vofs, other.report.vofs);
    EXPECT_EQ(one.report.joined, other.report.joined);
    EXPECT_EQ(one.report.orphans, other.report.orphans);
    EXPECT_EQ(one.report.pores, other.report.pores);
    EXPECT_EQ(one.report.pores_removed, other.report.pores_removed);
    EXPECT_EQ(one.report.irregular, other.report.irregular);
    EXPECT_EQ(one.report.extra_faces, other.report.extra_faces);
    EXPECT_NEAR(one.report.removed_volume, other.report.removed_volume, 1e-10);
    const auto a = totals(Comm::self(), one.geometry), b = totals(comm, other.geometry);
    EXPECT_NEAR(a.volume, b.volume, 1e-9 * a.volume);
    EXPECT_NEAR(a.wall_area, b.wall_area, 1e-9 * a.wall_area);
  };
  const Comm world = Comm::world();
  for (const int box : {8, 16, 32})
    expect_same(single_level(world, *phi, cube(40, false), box, KeepPores::connected), world);
}

// Pores cut off from the flow: a hollow sphere in a slab of fluid.
TEST(LevelBuilder, RemovesPoresCutOffMpi) {
  const Comm comm = Comm::world();
  LevelSetParts shell;  // solid between radius 3 and 6
  shell.push_back(make_level_set(Sphere{{10, 12, 11}, 6.0}));
  shell.push_back(complement(make_level_set(Sphere{{10, 12, 11}, 3.0})));
  const auto phi = intersection_of_solids(std::move(shell));
  const BuiltLevel kept = single_level(comm, *phi, cube(24, false), 8, KeepPores::all);
  EXPECT_EQ(kept.report.pores, 2);
  EXPECT_EQ(kept.report.pores_removed, 0);
  for (const KeepPores keep : {KeepPores::connected, KeepPores::largest}) {
    const BuiltLevel level = single_level(comm, *phi, cube(24, false), 8, keep);
    const double hole = 4.0 / 3.0 * std::numbers::pi * 27.0;
    EXPECT_EQ(level.report.pores_removed, 1);
    EXPECT_NEAR(level.report.removed_volume, hole, 0.05 * hole);  // 3 cells per radius
    EXPECT_NEAR(totals(comm, level.geometry).volume + level.report.removed_volume, totals(comm, kept.geometry).volume,
                1e-9);
    expect_consistent(comm, level.geometry);
  }
}

// In a periodic direction a tube percolates, also off the seam; a closed pore that lies across the seam does not.
TEST(LevelBuilder, PercolationAcrossPeriodicEndsMpi) {
  const Comm comm = Comm::world();
  const Domain domain{Index::all(24), {true, false, false}};
  const Periods periods{Vec3::all(24), domain.periodic};
  const auto cavity = complement(
      periodic_images(make_level_set(Sphere{{0, 12, 12}, 5.0}), periods.size, periods.periodic, Vec3::all(5.0)));
  const BuiltLevel closed = single_level(comm, *cavity, domain, 8, KeepPores::connected);
  EXPECT_EQ(closed.report.pores, 1);
  EXPECT_FALSE(closed.percolates[0]);
  EXPECT_NEAR(closed.report.closed_volume, closed.report.volume, 1e-9);
  const auto tube = complement(make_level_set(Cylinder{frame_along({0, 12, 12}, {1, 0, 0}), 5.0}));
  const BuiltLevel open = single_level(comm, *tube, domain, 8, KeepPores::connected);
  EXPECT_TRUE(open.percolates[0]);
  EXPECT_FALSE(open.percolates[1]);
  EXPECT_EQ(open.report.closed_volume, 0.0);
}

// A tube thinner than a cell, between cell centres, leads through, but these cells have no flow in it; beside it
// nothing does, and a slab of solid across it closes it.
TEST(LevelBuilder, PoresNarrowerThanCellsMpi) {
  const Comm comm = Comm::world();
  const auto thin = [] { return complement(make_level_set(Cylinder{frame_along({0, 8, 8}, {1, 0, 0}), 0.3})); };
  for (const bool periodic : {false, true}) {
    const BuiltLevel narrow = single_level(comm, *thin(), cube(16, periodic), 8, KeepPores::connected);
    EXPECT_EQ(narrow.percolates, (std::array<bool, 3>{}));
    EXPECT_EQ(narrow.joined, (std::array<bool, 3>{true, false, false})) << periodic;
  }
  LevelSetParts parts;
  parts.push_back(thin());
  parts.push_back(make_level_set(Cuboid{turned_frame({8, 8, 8}, {}), {1.5, 20, 20}}));
  const BuiltLevel closed =
      single_level(comm, *union_of_solids(std::move(parts)), cube(16, false), 8, KeepPores::connected);
  EXPECT_EQ(closed.joined, (std::array<bool, 3>{}));
}

// Two tubes of the same volume: which one is "the largest" depends neither on ranks nor on boxes.
TEST(LevelBuilder, LargestOfEqualPoresMpi) {
  const Comm comm = Comm::world();
  LevelSetParts tubes;
  for (const double y : {10.0, 30.0})
    tubes.push_back(complement(make_level_set(Cylinder{frame_along({0, y, 20}, {1, 0, 0}), 5.2})));
  const auto phi = intersection_of_solids(std::move(tubes));
  for (const int box : {8, 16, 32}) {
    const BuiltLevel level = single_level(comm, *phi, cube(40, false), box, KeepPores::largest);
    EXPECT_EQ(level.report.pores_removed, 1);
    double highest = 0.0;
    for (int b = 0; b < level.geometry.graph.n_local(); ++b) {
      const BoxGraph graph = level.geometry.graph.box(b);
      for_each_vof(graph, [&](int, int cell) { highest = std::max(highest, double(graph.cells.cell(cell)[1])); });
    }
    EXPECT_LT(comm.max(highest), 20) << box;  // the one that comes first in the domain
  }
}

// A 2-D problem: one cell thick and periodic in z. κ and apertures do not depend on z, and z faces lead to the VoF
// itself.
TEST(LevelBuilder, OneCellThickDomainMpi) {
  const Comm comm = Comm::world();
  const auto phi = make_level_set(Cylinder{frame_along({11.3, 9.6, 0}, {0, 0, 1}), 4.2});
  const BuiltLevel level = single_level(comm, *phi, {{24, 20, 1}, {false, false, true}}, 8);
  expect_consistent(comm, level.geometry);
  const double area = std::numbers::pi * 4.2 * 4.2;
  EXPECT_NEAR(480.0 - totals(comm, level.geometry).volume, area, 0.01 * area);
}

}  // namespace
}  // namespace karst::level_builder_test
