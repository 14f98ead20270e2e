// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/reservoir_level_set.hpp"

#include <gtest/gtest.h>

#include "eb/cut/cut_edge.hpp"
#include "eb/shapes/shapes.hpp"

namespace karst::reservoir_level_set_test {
namespace {

std::unique_ptr<LevelSet> ball_between_reservoirs() {
  return between_reservoirs(make_level_set(Sphere{{4.0, 4.0, 4.0}, 3.0}), 2, 5.0, 8.0);
}

TEST(ReservoirLevelSet, IsTheSampleInsideAndFluidOutside) {
  const auto level_set = ball_between_reservoirs();
  const auto phi = level_set->local({0, 0, 0}, {8, 8, 18});
  EXPECT_NEAR((*phi)({4, 4, 9}), -3.0, 1e-14);  // the middle of the ball, moved by the reservoir
  EXPECT_NEAR((*phi)({0.5, 4, 9}), 0.5, 1e-14);
  EXPECT_GT((*phi)({4, 4, 4.5}), 0.0);
  EXPECT_GE((*phi)({4, 4, 1}), 4.0);
  EXPECT_EQ(level_set->smoothness().lipschitz, 1.0);
  const auto far = level_set->local({0, 0, 0}, {8, 8, 2});  // no wall near: the sample is not asked
  EXPECT_NEAR((*far)({4, 4, 2}), 3.0, 1e-14);
}

// A ball that the end plane cuts: on the plane φ = 0 over its disc, and the edges in the plane are cut where the disc
// ends, as they are without reservoirs. An edge that leaves the disc is cut on the plane.
TEST(ReservoirLevelSet, EdgesInTheEndPlaneAreCutAsInTheSample) {
  const auto level_set = between_reservoirs(make_level_set(Sphere{{3.7, 4.1, 1.0}, 3.0}), 2, 5.0, 8.0);
  const auto phi = level_set->local({0, 0, 3}, {8, 8, 8});
  const LatticePhi lattice(*phi, level_set->smoothness(), 0);
  const Vec3 low{6.0, 4.0, 5.0};
  EdgeCutter cutter;
  cutter.add(low, 0, (*phi)(low), (*phi)(low + Vec3{1, 0, 0}));
  const Vec3 below{4.0, 4.0, 4.0};
  cutter.add(below, 2, (*phi)(below), (*phi)(below + Vec3{0, 0, 1}));
  cutter.run(lattice);
  const double disc = 3.7 + std::sqrt(9.0 - 1.0 - 0.1 * 0.1);  // x where the disc ends at y = 4
  ASSERT_TRUE(cutter.cut(0).crossing);
  EXPECT_NEAR(cutter.cut(0).t, disc - 6.0, 2e-9);
  ASSERT_TRUE(cutter.cut(1).crossing);
  EXPECT_EQ(cutter.cut(1).t, 1.0);
}

}  // namespace
}  // namespace karst::reservoir_level_set_test
