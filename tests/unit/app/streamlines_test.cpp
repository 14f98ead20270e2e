// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/streamlines.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>

#include "app/flow/flow_job.hpp"

namespace karst::streamlines_test {
namespace {

FieldLattice lattice_with(const Index& size, const std::function<Vec3(const Vec3&)>& velocity) {
  FieldLattice lattice{size, 1.0, {}};
  for_each_cell({Index{}, size}, [&](const Index& c) {
    const Vec3 v = velocity({c[0] + 0.5, c[1] + 0.5, c[2] + 0.5});
    lattice.values.push_back({static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2]), 1.0F});
  });
  return lattice;
}

TEST(Streamlines, AreStraightInUniformFlow) {
  const Vec3 u{0.2, 0.1, -2.0};  // against the axis: a drive the other way round
  for (const Streamline& line : streamlines(lattice_with({12, 12, 20}, [&](const Vec3&) { return u; }), 2, 0, 20, 9)) {
    const Vec3& first = line.points.front();
    for (const Vec3& x : line.points) {
      const Vec3 d = x - first;
      EXPECT_NEAR(d[0], d[2] * u[0] / u[2], 1e-5);
      EXPECT_NEAR(d[1], d[2] * u[1] / u[2], 1e-5);
    }
    EXPECT_LT(line.points.back()[2], first[2]);  // in the direction of the flow
    for (const double s : line.speed) EXPECT_NEAR(s, norm(u), 1e-5);
  }
}

// From end to end, through the middle of the sample: lines begin there, and go both ways.
TEST(Streamlines, PassTheMiddleOfTheSample) {
  const auto everywhere = [](const Vec3&) { return Vec3{0.0, 1.0, 0.0}; };
  for (const Streamline& line : streamlines(lattice_with({6, 20, 6}, everywhere), 1, 5, 15, 4)) {
    EXPECT_LT(line.points.front()[1], 0.5);
    EXPECT_GT(line.points.back()[1], 19.5);
    EXPECT_EQ(line.points.size(), line.speed.size());
  }
  // What flows before the sample alone is not seen from there.
  const auto before = [](const Vec3& x) { return Vec3{0.0, x[1] < 5.0 ? 1.0 : 0.0, 0.0}; };
  EXPECT_TRUE(streamlines(lattice_with({6, 20, 6}, before), 1, 5, 15, 4).empty());
  const auto inside = [](const Vec3& x) { return Vec3{0.0, x[1] > 5.0 && x[1] < 15.0 ? 1.0 : 0.0, 0.0}; };
  EXPECT_EQ(streamlines(lattice_with({6, 20, 6}, inside), 1, 5, 15, 4).size(), 4U);
}

// A vortex beside a channel: lines stay on circles to the accuracy of the midpoint rule and of the interpolation.
TEST(Streamlines, FollowCircles) {
  const auto around = [](const Vec3& x) { return Vec3{-(x[1] - 20.0), x[0] - 20.0, 0.0}; };
  const std::vector<Streamline> lines = streamlines(lattice_with({40, 40, 3}, around), 1, 0, 40, 8);
  ASSERT_EQ(lines.size(), 8U);
  for (const Streamline& line : lines) {
    const double radius = std::hypot(line.points[0][0] - 20.0, line.points[0][1] - 20.0);
    for (const Vec3& x : line.points) EXPECT_NEAR(std::hypot(x[0] - 20.0, x[1] - 20.0), radius, 0.25);
  }
}

// Where ten times as much flows there are ten times as many lines; where nothing flows there is none.
TEST(Streamlines, ShareTheFlow) {
  const auto two = [](const Vec3& x) { return Vec3{x[1] < 4.0 ? 10.0 : x[1] < 8.0 ? 1.0 : 0.0, 0.0, 0.0}; };
  int fast = 0, slow = 0;
  for (const Streamline& line : streamlines(lattice_with({10, 12, 4}, two), 0, 0, 10, 110))
    ++(line.points.front()[1] < 4.0 ? fast : slow);
  EXPECT_EQ(fast, 100);
  EXPECT_EQ(slow, 10);
  EXPECT_TRUE(streamlines(lattice_with({4, 4, 4}, [](const Vec3&) { return Vec3{}; }), 0, 0, 4, 5).empty());
}

// Velocities of a pressure drop of 1e150 Pa overflow: lines end where there is no direction.
TEST(Streamlines, EndWhereTheVelocityIsNoNumber) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  for (const double odd : {inf, -inf, nan}) {
    EXPECT_TRUE(streamlines(lattice_with({8, 4, 4},
                                         [&](const Vec3&) {
                                           return Vec3{odd, 0.0, 0.0};
                                         }),
                            0, 0, 8, 5)
                    .empty());
    const auto behind = [&](const Vec3& x) { return x[0] > 6.0 ? Vec3{1.0, odd, odd} : Vec3{1.0, 0.0, 0.0}; };
    for (const Streamline& line : streamlines(lattice_with({8, 4, 4}, behind), 0, 0, 8, 5)) {
      EXPECT_LT(line.points.back()[0], 6.5);
      for (const double s : line.speed) EXPECT_NEAR(s, 1.0, 1e-12);
    }
  }
}

// A slice shows the flow from the side: across the thinner of the two other directions, where the sample is flat.
TEST(FlowFigures, SlicesLieAlongTheFlow) {
  EXPECT_EQ(across({10, 10, 10}, 0), 2);
  EXPECT_EQ(across({10, 10, 10}, 2), 1);
  EXPECT_EQ(across({64, 32, 1}, 0), 2);
  EXPECT_EQ(across({64, 1, 32}, 0), 1);
}

}  // namespace
}  // namespace karst::streamlines_test
