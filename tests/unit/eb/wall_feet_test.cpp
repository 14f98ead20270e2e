// SPDX-License-Identifier: BSD-3-Clause
// Feet of corners.
#include "eb/moving/wall_feet.hpp"

#include <gtest/gtest.h>

#include "support/moving_cases.hpp"

namespace karst::wall_feet_test {
namespace {

/// p = f at the corners of a block of 20³.
template <class F>
std::vector<double> at_corners(const Box& block, F&& f) {
  std::vector<double> p;
  for_each_cell(block, [&](const Index& c) { p.push_back(f(to_vec(c))); });
  return p;
}

// Searches that share the lanes of the processor have the bits that each has alone, however many steps each takes:
// near two spheres and the ridge between them.
TEST(WallFeet, TogetherAsOneByOne) {
  const Box block{Index::all(-2), Index::all(18)};
  const Vec3 left{4.1, 8.3, 7.9}, right{12.2, 8.1, 8.6};
  const std::vector<double> values =
      at_corners(block, [&](const Vec3& x) { return std::min(norm(x - left) - 3.1, norm(x - right) - 3.7); });
  const CornerValues p{block, values};
  test::Random random(3);
  std::vector<Foot> together;
  for (int i = 0; i < 501; ++i) {
    const Index corner{static_cast<int>(16 * random()), static_cast<int>(16 * random()),
                       static_cast<int>(16 * random())};
    const Vec3 at = to_vec(corner), &center = random() < 0.5 ? left : right;
    const Vec3 begin = center + (3.5 / std::max(norm(at - center), 0.1)) * (at - center) +
                       Vec3{random() - 0.5, random() - 0.5, random() - 0.5};
    together.push_back(foot_to_be_found(corner, 1, i % 50 == 7, begin));
  }
  std::vector<Foot> alone = together;
  find_feet(p, together);
  int found = 0;
  for (std::size_t i = 0; i < alone.size(); ++i) {
    find_feet(p, {&alone[i], 1});
    EXPECT_EQ(together[i].found, alone[i].found) << i;
    EXPECT_EQ(together[i].at, alone[i].at) << i;
    EXPECT_EQ(together[i].distance, alone[i].distance) << i;
    EXPECT_EQ(together[i].slope, alone[i].slope) << i;
    EXPECT_EQ(together[i].bend, alone[i].bend) << i;
    found += together[i].found;
  }
  EXPECT_GT(found, 250);
  EXPECT_LT(found, 500);
}

// Quadratic interpolation is exact for a plane, and of third order beside a sphere.
TEST(WallFeet, OfAPlaneAndASphere) {
  const Box block{Index::all(-2), Index::all(18)};
  const Vec3 normal{2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0}, center{7.7, 8.1, 8.3};
  /// @param f       p; distance: from the wall, with its sign; away: gradient of that
  const auto largest_error = [&](auto&& f, auto&& distance, auto&& away) {
    const std::vector<double> values = at_corners(block, f);
    double most = 0.0;
    for_each_cell({Index::all(4), Index::all(12)}, [&](const Index& c) {
      const Vec3 x = to_vec(c);
      const double far = distance(x);
      if (std::abs(far) > 2.0) return;
      Foot foot = foot_to_be_found(c, 2, false, x - far * away(x) + Vec3{0.3, -0.2, 0.1});
      find_feet({block, values}, {&foot, 1});
      most = std::max(most, foot.found ? std::abs(foot.distance - std::abs(far)) : 10.0);
    });
    return most;
  };
  const auto from_plane = [&](const Vec3& x) { return dot(x - center, normal); };
  const auto plane = [&](const Vec3& x) { return 1.7 * from_plane(x); };
  EXPECT_LT(largest_error(plane, from_plane, [&](const Vec3&) { return normal; }), 1e-13);
  std::vector<double> errors;
  for (const double radius : {4.0, 8.0, 16.0}) {  // in spacings: errors of third order are divided by four
    const Vec3 middle{11.7 - radius, 8.1, 8.3};
    const auto sphere = [&](const Vec3& x) { return norm(x - middle) - radius; };
    const auto away = [&](const Vec3& x) { return (1.0 / norm(x - middle)) * (x - middle); };
    errors.push_back(largest_error(sphere, sphere, away));
  }
  EXPECT_LT(errors.back(), 2e-3);
  EXPECT_GT(test::least_order(errors), 1.7);
}

}  // namespace
}  // namespace karst::wall_feet_test
