// SPDX-License-Identifier: BSD-3-Clause
// Local thickness against bodies whose thickness is known and against all balls painted one by one.
#include "geometry_import/pores/local_thickness.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "geometry_import/pores/inscribed_ball.hpp"
#include "geometry_import/voxels/distance.hpp"
#include "image_generator/random_numbers.hpp"
#include "slab_cases.hpp"

namespace karst::local_thickness_test {
namespace {

using test::distance_image;
using test::image_of;
using test::label_slabs;
using test::whole;

std::vector<std::uint16_t> thickness(const Comm& comm, const Index& size, const std::vector<std::uint16_t>& distance) {
  Slabs<std::uint16_t> slabs = label_slabs(comm, size, distance);
  local_thickness(comm, slabs);
  return whole(comm, slabs);
}

/// Smallest and largest diameter of the pore voxels [voxels].
std::pair<double, double> range(const std::vector<std::uint16_t>& radius) {
  int low = largest_distance, high = 0;
  for (const std::uint16_t r : radius) {
    if (r == 0) continue;
    low = std::min<int>(low, r);
    high = std::max<int>(high, r);
  }
  return {low / 32.0, high / 32.0};
}

TEST(LocalThicknessMpi, SlitHasItsWidthEverywhere) {
  const Comm comm = Comm::world();
  for (int axis = 0; axis < 3; ++axis)
    for (const double width : {1.0, 2.0, 3.0, 4.0, 5.0, 8.0, 6.4}) {
      const auto r = thickness(comm, {12, 12, 12}, distance_image({12, 12, 12}, [&](const Vec3& x) {
                                 return width / 2 - std::abs(x[axis] - (1.0 + width / 2));
                               }));
      EXPECT_NEAR(range(r).first, width, 0.04) << axis << ' ' << width;
      EXPECT_NEAR(range(r).second, width, 0.04) << axis << ' ' << width;
    }
}

TEST(LocalThicknessMpi, TiltedSlitHasItsWidthInTheMiddle) {
  const Comm comm = Comm::world();
  const Vec3 normal = Vec3{2, 1, 2} * (1.0 / 3);
  const Index n{30, 30, 30};
  const auto distance = distance_image(n, [&](const Vec3& x) { return 3.2 - std::abs(dot(normal, x) - 25.1); });
  const auto r = thickness(comm, n, distance);
  const auto inner = image_of<int>(n, [&](const Index& x) {
    return std::min({x[0], x[1], x[2], 29 - x[0], 29 - x[1], 29 - x[2]}) >= 5;
  });
  std::vector<std::uint16_t> middle;
  for (std::size_t i = 0; i < r.size(); ++i) middle.push_back(inner[i] ? r[i] : std::uint16_t{0});
  EXPECT_GT(range(middle).first, 6.4 - 0.35);
  EXPECT_LT(range(middle).second, 6.4 + 0.08);  // rounding of four distances to 1/64, extended by half a voxel
}

TEST(LocalThicknessMpi, TubesAndSpheresHaveTheirDiameter) {
  const Comm comm = Comm::world();
  for (const Vec3& c : {Vec3{10, 10, 10}, {10.5, 10.5, 10.5}, {10.2, 10.4, 9.7}}) {
    const auto tube = thickness(comm, {20, 20, 12}, distance_image({20, 20, 12}, [&](const Vec3& x) {
                                  return 6.3 - std::hypot(x[0] - c[0], x[1] - c[1]);
                                }));
    const auto ball =
        thickness(comm, {20, 20, 20}, distance_image({20, 20, 20}, [&](const Vec3& x) { return 7.3 - norm(x - c); }));
    EXPECT_NEAR(range(tube).first, 12.6, 0.5);
    EXPECT_NEAR(range(tube).second, 12.6, 0.5);
    EXPECT_NEAR(range(ball).first, 14.6, 0.5);
    EXPECT_NEAR(range(ball).second, 14.6, 0.5);
  }
}

// Balls of a radius from 16 on are painted on coarser images.
TEST(LocalThicknessMpi, LargeSphereHasItsDiameter) {
  const Comm comm = Comm::world();
  const Index n{84, 84, 84};
  const auto r = thickness(comm, n, distance_image(n, [&](const Vec3& x) {
                             return 40 - norm(x - Vec3{42, 41.7, 42.2});
                           }));
  std::int64_t voxels = 0, off = 0, sum = 0;
  for (const std::uint16_t v : r) {
    voxels += v > 0;
    off += v > 0 && std::abs(v / 64.0 - 40) > 0.05 * 40;
    sum += v;
  }
  EXPECT_NEAR(double(voxels), 4.0 / 3 * 3.14159265 * 64000, 400);
  EXPECT_LT(double(off) / double(voxels), 0.05) << "next to the wall, where a coarse cell is outside";
  EXPECT_NEAR(double(sum) / double(voxels) / 64, 40, 0.05 * 40);
  EXPECT_NEAR(range(r).second, 80, 0.5);
}

/// The radii by painting the ball around every voxel, and the one next to it, on all voxels.
std::vector<int> painted(const Index& n, const std::vector<std::uint16_t>& distance, bool between) {
  const Slabs<std::uint16_t> slabs = label_slabs(Comm::self(), n, distance);
  std::vector<int> largest(distance.size(), 0);
  const DistancePlanes planes(slabs, 0);
  const auto paint = [&](const Index& center, int radius) {
    std::size_t i = 0;
    for (int z = 0; z < n[2]; ++z)
      for (int y = 0; y < n[1]; ++y)
        for (int x = 0; x < n[0]; ++x, ++i) {
          const Index apart = Index{x, y, z} * 64 - center;
          if (distance[i] > 0 && dot(apart, apart) <= radius * radius) largest[i] = std::max(largest[i], radius);
        }
  };
  std::size_t i = 0;
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x, ++i) {
        if (distance[i] == 0) continue;
        paint(Index{x, y, z} * 64, distance[i]);
        if (!between) continue;
        if (const auto b = ball_between(planes, {x, y, z})) paint(Index{x, y, z} * 64 + b->offset, b->radius);
      }
  return largest;
}

// No less than the balls around voxel centres have and no more than all balls have: leaving out those that others hold
// loses nothing but slivers.
TEST(LocalThicknessMpi, IsThatOfAllBalls) {
  const Comm comm = Comm::world();
  const Index n{22, 13, 15};
  for (const std::uint64_t seed : {1, 2, 3, 4}) {
    const RandomNumbers random(seed, 0);
    std::array<Vec3, 6> center;
    std::array<double, 6> radius;
    for (std::uint64_t b = 0; b < 6; ++b) {
      for (std::uint64_t d = 0; d < 3; ++d) center[b][int(d)] = n[int(d)] * random.uniform(4 * b + d);
      radius[b] = 2 + 4 * random.uniform(4 * b + 3);
    }
    const auto distance = distance_image(n, [&](const Vec3& x) {
      double deepest = -1;
      for (std::size_t b = 0; b < 6; ++b) deepest = std::max(deepest, radius[b] - norm(x - center[b]));
      return deepest;
    });
    const auto r = thickness(comm, n, distance);
    const auto low = painted(n, distance, false), high = painted(n, distance, true);
    int less = 0, more = 0, pore = 0;
    for (std::size_t i = 0; i < r.size(); ++i) {
      pore += r[i] > 0;
      less += r[i] < low[i];
      more += r[i] > high[i];
      EXPECT_EQ(r[i] > 0, distance[i] > 0);
    }
    EXPECT_EQ(more, 0);
    EXPECT_LE(less, pore / 100) << "of " << pore;
  }
}

TEST(LocalThicknessMpi, ThreadsAndRanksDoNotMatter) {
  const Comm comm = Comm::world();
  const Index n{25, 24, 50};
  const auto distance = distance_image(n, [&](const Vec3& x) {
    return std::max(22 - norm(x - Vec3{12, 13, 18.3}), 5.2 - std::hypot(x[0] - 9, x[1] - 12.5));
  });
  const auto here = thickness(comm, n, distance);
  EXPECT_EQ(here, thickness(Comm::self(), n, distance));
  const int before = n_threads();
  set_n_threads(3);
  EXPECT_EQ(here, thickness(comm, n, distance));
  set_n_threads(before);
}

TEST(LocalThicknessMpi, NothingAndThinImages) {
  const Comm comm = Comm::world();
  for (const Index& n : {Index{1, 1, 1}, {1, 1, 9}, {6, 1, 1}, {5, 4, 1}, {2, 3, 4}}) {
    const std::size_t count = std::int64_t{n[0]} * n[1] * n[2];
    EXPECT_EQ(thickness(comm, n, std::vector<std::uint16_t>(count, 0)), std::vector<std::uint16_t>(count, 0));
    EXPECT_EQ(thickness(comm, n, std::vector<std::uint16_t>(count, 70)), std::vector<std::uint16_t>(count, 70));
    EXPECT_EQ(thickness(comm, n, std::vector<std::uint16_t>(count, largest_distance)),
              std::vector<std::uint16_t>(count, largest_distance));
  }
}

TEST(SizeDistribution, FiguresOfKnownNumbers) {
  std::vector<std::int64_t> count(200, 0);
  count[32] = 1;   // diameter 1
  count[64] = 6;   // 2
  count[160] = 3;  // 5
  const SizeDistribution s = size_distribution(count);
  EXPECT_DOUBLE_EQ(s.mean, (1 + 12 + 15) / 10.0);
  EXPECT_EQ(s.smallest, 1);
  EXPECT_EQ(s.largest, 5);
  EXPECT_EQ(s.tenth, 1);
  EXPECT_EQ(s.median, 2);
  EXPECT_EQ(s.ninetieth, 5);
  EXPECT_EQ(s.bin_width, 1);
  const std::vector<double> share{0, 0.1, 0.6, 0, 0, 0.3};
  ASSERT_EQ(s.share.size(), share.size());
  for (std::size_t b = 0; b < share.size(); ++b) EXPECT_DOUBLE_EQ(s.share[b], share[b]);
  const SizeDistribution none = size_distribution({});
  EXPECT_TRUE(none.share.empty());
  EXPECT_EQ(none.mean, 0);
  std::vector<std::int64_t> wide(largest_distance + 1, 0);
  wide.back() = 1;
  EXPECT_EQ(size_distribution(wide).bin_width, 32);
}

// What is wider than the bound counts as it, and nothing else changes.
TEST(SizeDistribution, EndsAtTheBound) {
  std::vector<std::int64_t> count(200, 0);
  count[32] = 5;   // diameter 1
  count[128] = 2;  // 4
  count[160] = 3;  // 5
  const SizeDistribution s = size_distribution(count, 4);
  EXPECT_EQ(s.largest, 4);
  EXPECT_EQ(s.ninetieth, 4);
  EXPECT_EQ(s.median, 1);
  EXPECT_EQ(s.bound, 4);
  EXPECT_DOUBLE_EQ(s.mean, 2.5);
  EXPECT_DOUBLE_EQ(s.share_bound, 0.5);
  EXPECT_DOUBLE_EQ(s.share.back(), 0.5);
  const SizeDistribution free = size_distribution(count, 6);
  EXPECT_EQ(free.largest, 5);
  EXPECT_EQ(free.share_bound, 0);
}

}  // namespace
}  // namespace karst::local_thickness_test
