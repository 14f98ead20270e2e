// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/shapes.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "base/core/error.hpp"
#include "support/errors.hpp"
#include "support/level_set_cases.hpp"

namespace karst::shapes_test {
namespace {

using test::RandomPoints;
using test::Region;

const Region around{Vec3::all(-12.0), Vec3::all(12.0)};
const Vec3 center{0.3, -0.7, 1.1};

double at(const LevelSet& s, const Vec3& x) { return (*s.local(x, x))(x); }

struct Case {
  const char* name;
  std::unique_ptr<LevelSet> level_set;
};

std::vector<Case> all_shapes() {
  std::vector<Case> cases;
  const Vec3 skew{1.0, 2.0, -0.5};
  const Frame turned = turned_frame(center, {20.0, -35.0, 50.0});
  cases.push_back({"plane", make_level_set(HalfSpace{center, skew})});
  cases.push_back({"sphere", make_level_set(Sphere{center, 5.0})});
  cases.push_back({"cylinder", make_level_set(Cylinder{frame_along(center, skew), 4.0})});
  cases.push_back({"finite cylinder", make_level_set(Cylinder{frame_along(center, skew), 4.0, 3.0})});
  cases.push_back({"box", make_level_set(Cuboid{turned, {3.0, 5.0, 2.0}})});
  cases.push_back({"ellipsoid", make_level_set(Ellipsoid{turned, {3.0, 7.0, 1.5}})});
  cases.push_back({"spheroid, flat", make_level_set(Ellipsoid{turned, {6.0, 6.0, 1.0}})});
  cases.push_back({"spheroid, long", make_level_set(Ellipsoid{turned, {2.0, 7.0, 2.0}})});
  cases.push_back({"torus", make_level_set(Torus{frame_along(center, skew), 6.0, 2.0})});
  return cases;
}

TEST(Shapes, KeepTheirLipschitzConstant) {
  for (const Case& c : all_shapes()) {
    SCOPED_TRACE(c.name);
    EXPECT_EQ(c.level_set->smoothness().lipschitz, 1.0);
    test::expect_lipschitz(*c.level_set, around, 7);
  }
}

// |∇φ| = 1 wherever φ is smooth; a first-order distance would miss this away from the wall.
TEST(Shapes, HaveUnitGradientNearTheWall) {
  for (const Case& c : all_shapes()) {
    EXPECT_NEAR(test::median_gradient(*c.level_set, around, 8), 1.0, 1e-6) << c.name;
  }
}

// φ is a distance: a step of length φ along ∇φ ends on the wall, also from far away.
TEST(Shapes, AStepOfLengthPhiEndsOnTheWall) {
  for (const Case& c : all_shapes()) {
    RandomPoints random(9);
    for (int n = 0; n < 300; ++n) {
      const Vec3 x = random.point(around.lo, around.hi);
      const double phi = at(*c.level_set, x);
      if (phi < 0.1) continue;
      Vec3 gradient;
      for (int d = 0; d < 3; ++d) {
        Vec3 e;
        e[d] = 1e-4;
        gradient[d] = (at(*c.level_set, x + e) - at(*c.level_set, x - e)) / 2e-4;
      }
      ASSERT_NEAR(at(*c.level_set, x - phi * gradient), 0.0, 1e-5) << c.name;
    }
  }
}

TEST(Shapes, PlaneNormalPointsIntoTheFluid) {
  const auto plane = make_level_set(HalfSpace{{1, 2, 3}, {0, 0, 10}});
  EXPECT_DOUBLE_EQ(at(*plane, {5, 5, 4.5}), 1.5);
  EXPECT_DOUBLE_EQ(at(*plane, {-7, 0, 1}), -2.0);
}

TEST(Shapes, DistancesToCornersAndCaps) {
  const auto box = make_level_set(Cuboid{Frame{}, {1, 2, 3}});
  EXPECT_NEAR(at(*box, {4, 6, 3}), 5.0, 1e-15);     // to an edge
  EXPECT_NEAR(at(*box, {2, 4, 5}), 3.0, 1e-15);     // to a corner
  EXPECT_NEAR(at(*box, {0.5, 0, 0}), -0.5, 1e-15);  // inside, nearest side
  const auto rod = make_level_set(Cylinder{frame_along({}, {1, 0, 0}), 2.0, 5.0});
  EXPECT_NEAR(at(*rod, {9, 0, 5}), 5.0, 1e-14);       // to the rim
  EXPECT_NEAR(at(*rod, {4.5, 0.1, 0}), -0.5, 1e-14);  // cap is nearest
  EXPECT_NEAR(at(*rod, {0, 0, -3}), 1.0, 1e-14);
  const auto ring = make_level_set(Torus{Frame{}, 4.0, 1.0});
  EXPECT_NEAR(at(*ring, {0, 0, 0}), 3.0, 1e-15);
  EXPECT_NEAR(at(*ring, {0, 4, 0}), -1.0, 1e-15);
  EXPECT_NEAR(at(*ring, {7, 0, 4}), 4.0, 1e-15);
}

// Signed distance of an ellipsoid against the least distance to a fine cloud of surface points.
TEST(Shapes, EllipsoidDistanceIsTheNearestSurfacePoint) {
  const Vec3 radii{3.0, 2.0, 1.0};
  const auto ellipsoid = make_level_set(Ellipsoid{Frame{}, radii});
  std::vector<Vec3> surface;
  constexpr int n = 400;
  for (int i = 0; i <= n; ++i) {
    for (int j = 0; j < 2 * n; ++j) {
      const double theta = std::numbers::pi * i / n, phi = std::numbers::pi * j / n;
      surface.push_back({radii[0] * std::sin(theta) * std::cos(phi), radii[1] * std::sin(theta) * std::sin(phi),
                         radii[2] * std::cos(theta)});
    }
  }
  RandomPoints random(3);
  for (int p = 0; p < 25; ++p) {
    Vec3 x = random.point(Vec3::all(-4), Vec3::all(4));
    if (p % 2 == 0) x = x * 0.3;  // many inside
    if (p % 5 == 0) x[2] = 0.0;   // and some on a symmetry plane
    double least = 1e300, level = -1.0;
    for (const Vec3& s : surface) least = std::min(least, norm(x - s));
    for (int d = 0; d < 3; ++d) level += std::pow(x[d] / radii[d], 2);
    EXPECT_NEAR(at(*ellipsoid, x), std::copysign(least, level), 2e-3) << x[0] << " " << x[1] << " " << x[2];
  }
}

// Points where a naive iteration divides by zero: the centre, symmetry planes and axes, equal radii, spheres.
TEST(Shapes, EllipsoidAtItsSpecialPoints) {
  const auto e = make_level_set(Ellipsoid{Frame{}, {3.0, 2.0, 1.0}});
  EXPECT_DOUBLE_EQ(at(*e, {0, 0, 0}), -1.0);
  EXPECT_DOUBLE_EQ(at(*e, {0, 0, 0.25}), -0.75);
  EXPECT_DOUBLE_EQ(at(*e, {3, 0, 0}), 0.0);
  EXPECT_DOUBLE_EQ(at(*e, {-5, 0, 0}), 2.0);
  EXPECT_NEAR(at(*e, {2.9, 0, 0}), -0.1, 1e-14);  // beyond the centre of curvature at (3 - 1/3, 0, 0)
  EXPECT_NEAR(at(*e, {0, 2 + 1e-12, 0}), 1e-12, 1e-15);
  EXPECT_NEAR(at(*e, {1e-300, 1e-200, 1e-100}), -1.0, 1e-12);
  const auto ball = make_level_set(Ellipsoid{Frame{}, {2.0, 2.0, 2.0}});
  EXPECT_DOUBLE_EQ(at(*ball, {0, 0, 0}), -2.0);
  EXPECT_NEAR(at(*ball, {1, 2, 2}), 1.0, 1e-14);
  const auto thin = make_level_set(Ellipsoid{Frame{}, {1000.0, 1000.0, 1e-3}});
  EXPECT_NEAR(at(*thin, {10, 0, 1}), 1.0 - 1e-3 * std::sqrt(1 - 1e-4), 1e-9);
}

TEST(Shapes, QuarterTurnsAreExact) {
  const Frame f = turned_frame({}, {0, 0, 90});
  EXPECT_EQ(f.axes[0], (Vec3{0, 1, 0}));
  EXPECT_EQ(f.axes[1], (Vec3{-1, 0, 0}));
  const Frame back = turned_frame({}, {360, -720, 0});
  EXPECT_EQ(back.axes, Frame{}.axes);
}

TEST(Shapes, ImpossibleSizesAreErrors) {
  using test::error_of;
  EXPECT_NE(error_of([] { make_level_set(Sphere{{}, 0.0}); }).find("radius is 0"), std::string::npos);
  EXPECT_NE(error_of([] { make_level_set(Cylinder{Frame{}, -1.0}); }).find("must be > 0"), std::string::npos);
  EXPECT_NE(error_of([] { make_level_set(HalfSpace{{}, {0, 0, 0}}); }).find("length > 0"), std::string::npos);
  EXPECT_NE(error_of([] { make_level_set(Cuboid{Frame{}, {1, 0, 1}}); }).find("half edge"), std::string::npos);
  EXPECT_NE(error_of([] { make_level_set(Ellipsoid{Frame{}, {1, -2, 1}}); }).find("-2"), std::string::npos);
  EXPECT_NE(error_of([] { make_level_set(Torus{Frame{}, 1.0, 1.0}); }).find("hole"), std::string::npos);
  EXPECT_NE(error_of([] { frame_along({}, {0, 0, 0}); }).find("axis"), std::string::npos);
}

}  // namespace
}  // namespace karst::shapes_test
