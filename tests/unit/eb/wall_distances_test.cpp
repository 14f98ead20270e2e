// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/wall_distances.hpp"

#include <gtest/gtest.h>

#include "support/level_cases.hpp"

namespace karst::wall_distances_test {
namespace {

/// Calls f(center, cell centre) for every irregular VoF.
template <class F>
void for_each_center(const LevelGeometry& level, F&& f) {
  for (int b = 0; b < level.graph.n_local(); ++b) {
    const BoxGraph graph = level.graph.box(b);
    for (int r = 0; r < graph.n_irregular; ++r) {
      const Index c = graph.cells.cell(graph.row_cell[r]);
      f(level.box(b).centers[r], Vec3{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5});
    }
  }
}

// On the lines of the grid the distance is where the sphere is met, to the precision of float.
TEST(WallDistances, AreWhereTheSphereIsMet) {
  const Sphere sphere{{8.2, 7.9, 8.1}, 4.7};
  const auto phi = make_level_set(sphere);
  const BuiltLevel level = test::single_level(Comm::self(), *phi, {Index::all(16), {}});
  int met = 0;
  for_each_center(level.geometry, [&](const VofCenter& center, const Vec3& at) {
    EXPECT_EQ(center.inside, signed_distance(sphere, at) > 0.0);
    for (int side = 0; side < 6; ++side) {
      const double s = center.wall_distance[side];
      Vec3 there = at;
      there[direction_of(side)] += (is_high(side) ? 1.0 : -1.0) * std::min(s, 1.0);
      if (!center.inside || s > 1.0) {
        EXPECT_TRUE(!center.inside || signed_distance(sphere, there) > 0.0);
        continue;
      }
      ++met;
      EXPECT_NEAR(signed_distance(sphere, there), 0.0, 1e-6);
    }
  });
  EXPECT_GT(met, 200);
}

// A plate thinner than a cell is met from both sides, though the next centre is fluid.
TEST(WallDistances, SeeThinPlates) {
  const auto phi = test::plate({8.0, 3.0, 3.0}, {1, 0, 0}, 0.3);
  const BuiltLevel level = test::single_level(Comm::self(), *phi, {{16, 6, 6}, {}});
  int met = 0;
  for_each_center(level.geometry, [&](const VofCenter& center, const Vec3& at) {
    const std::size_t side = at[0] < 8.0 ? 1 : 0;
    if (std::abs(at[0] - 8.0) > 1.0 || !center.inside) return;
    ++met;
    EXPECT_NEAR(center.wall_distance[side], 0.5 - 0.15, 1e-6);
  });
  EXPECT_EQ(met, 2 * 36);
}

// A box with faces on cell centres: from there on a grid line may run along a face, where φ = 0; the wall is where that
// begins.
TEST(WallDistances, LinesAlongAFaceMeetItsBeginning) {
  const auto phi =
      make_level_set(Cuboid{{{8.5, 8.5, 8.5}, {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}}, {2, 3.5, 9}});
  const BuiltLevel level = test::single_level(Comm::self(), *phi, {{16, 16, 1}, {}});
  int met = 0;
  for_each_center(level.geometry, [&](const VofCenter& center, const Vec3& at) {
    if (at[0] != 6.5 || at[1] != 4.5) return;  // below the edge at (6.5, 5)
    ++met;
    EXPECT_NEAR(center.wall_distance[3], 0.5, 1e-6);
  });
  EXPECT_EQ(met, 1);
}

}  // namespace
}  // namespace karst::wall_distances_test
