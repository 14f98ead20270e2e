// SPDX-License-Identifier: BSD-3-Clause
// Walls that move with a given speed: places and volumes against exact ones.
#include "eb/moving/wall_motion.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "support/moving_cases.hpp"

namespace karst::wall_motion_test {
namespace {

using test::grid_of;
using test::least_order;
using test::MovingWall;
using test::uniform_speed;

double ball(double r) { return 4.0 / 3.0 * std::numbers::pi * r * r * r; }

/// Not on any plane of the grid.
Vec3 middle_of(int n) { return double(n) * Vec3{0.5031, 0.4977, 0.5113}; }

/// Moments of all VoFs, extra faces and distances to the wall are the same, to the last bit.
void expect_same(const LevelGeometry& a, const LevelGeometry& b) {
  ASSERT_EQ(a.graph.layout().keys(), b.graph.layout().keys());
  ASSERT_EQ(a.graph.counts().vofs, b.graph.counts().vofs);
  const auto same = [](const auto& x, const auto& y) {
    return x.size() == y.size() && (x.size() == 0 || std::memcmp(x.data(), y.data(), x.bytes()) == 0);
  };
  EXPECT_TRUE(same(a.moments, b.moments));
  EXPECT_TRUE(same(a.extra, b.extra));
  for (std::size_t i = 0; i < a.centers.size(); ++i) EXPECT_EQ(a.centers[i].wall_distance, b.centers[i].wall_distance);
}

TEST(WallMotion, NoSpeedIsTheSameGeometryMpi) {
  const Comm comm = Comm::world();
  MovingWall wall(comm, grid_of(32, 2), test::packing(12, 5.3, 32, false));
  const Geometry before = build_geometry(comm, wall.grid, *wall.phi0, KeepPores::connected);
  const WallMotionReport report = wall.move(uniform_speed(0.0), 1.0);
  EXPECT_GT(report.band, 10000);
  const Geometry after = wall.geometry(KeepPores::connected);
  for (int l = 0; l < 2; ++l) expect_same(before.levels[l], after.levels[l]);
}

// With one speed s stays the same everywhere, so planes in any direction move by V t, and nothing else changes.
TEST(WallMotion, PlanesMoveExactly) {
  const Comm comm = Comm::world();
  for (const double degrees : {0.0, 17.0, 45.0}) {
    const Frame frame = turned_frame({}, {degrees, 0.0, 1.3 * degrees});
    for (const double way : {3.3, -4.6}) {
      MovingWall wall(comm, grid_of(32, 1), make_level_set(HalfSpace{{16.2, 15.7, 15.9}, frame.axes[0]}));
      const WallMotionReport report = wall.move(uniform_speed(way > 0.0 ? 1.0 : -1.0), std::abs(way));
      EXPECT_EQ(report.steps, static_cast<int>(std::ceil(2.0 * std::abs(way))));
      EXPECT_EQ(report.redistanced, 0);
      const auto there = make_level_set(HalfSpace{Vec3{16.2, 15.7, 15.9} - way * frame.axes[0], frame.axes[0]});
      const Geometry exact = build_geometry(comm, wall.grid, *there, KeepPores::all);
      const Geometry moved = wall.geometry();
      EXPECT_NEAR(moved.report.porosity, exact.report.porosity, 1e-12);
      EXPECT_NEAR(moved.report.wall_area, exact.report.wall_area, 1e-9);
      ASSERT_EQ(moved.levels[0].moments.size(), exact.levels[0].moments.size());
      for (std::size_t i = 0; i < moved.levels[0].moments.size(); ++i)
        ASSERT_NEAR(moved.levels[0].moments[i].kappa, exact.levels[0].moments[i].kappa, 1e-11);
    }
  }
}

/// Errors on three grids.
struct Errors {
  std::vector<double> volume, place;  ///< relative; of the width of the domain
};

/// A sphere that grows or shrinks from one radius to another, relative to the width of the domain.
Errors errors_of_sphere(double from, double to, const std::vector<int>& cells) {
  Errors errors;
  for (const int n : cells) {
    const Vec3 center = middle_of(n);
    MovingWall wall(Comm::world(), grid_of(n, 1), make_level_set(Sphere{center, from * n}));
    wall.move(uniform_speed(to < from ? 1.0 : -1.0), std::abs(to - from) * n);
    const MovedLevelSet now(*wall.phi0, wall.displacement);
    double worst = 0.0;
    for (const Vec3& d : test::directions(100)) {
      const double r = test::distance_to_wall(now, center, d, std::max(0.0, to * n - 3.0), to * n + 3.0);
      worst = std::max(worst, std::abs(r - to * n));
    }
    errors.place.push_back(worst / n);
    errors.volume.push_back(wall.solid_volume() / ball(to * n) - 1.0);
  }
  return errors;
}

TEST(WallMotion, SpheresGrowAndShrinkWithSecondOrder) {
  const Errors shrinking = errors_of_sphere(0.3, 0.2, {16, 32, 64});
  EXPECT_LT(std::abs(shrinking.volume.back()), 1e-9);
  EXPECT_GT(least_order(shrinking.volume), 8);
  EXPECT_LT(shrinking.place.back(), 1e-9);
  EXPECT_GT(least_order(shrinking.place), 8);
  const Errors growing = errors_of_sphere(0.15, 0.35, {16, 32, 64});
  EXPECT_LT(std::abs(growing.volume.back()), 1e-9);
  EXPECT_GT(least_order(growing.volume), 8);
  EXPECT_LT(growing.place.back(), 1e-9);
  EXPECT_GT(least_order(growing.place), 8);
}

// To a radius of 1.9 and 3.8 cells.
TEST(WallMotion, ASphereShrinksToAFifth) {
  const Errors errors = errors_of_sphere(0.3, 0.06, {32, 64});
  EXPECT_LT(std::abs(errors.volume.back()), 1e-9) << errors.volume[0] << " " << errors.volume[1];
  EXPECT_GT(least_order(errors.volume), 8);
  EXPECT_LT(errors.place.back(), 1e-9);
}

// The wall reaches the end of a grain and nothing is left of it, not even between corners.
TEST(WallMotion, AGrainVanishes) {
  for (const double x : {15.5, 16.0, 16.3}) {
    MovingWall wall(Comm::world(), grid_of(32, 1), make_level_set(Sphere{{x, 15.5, 15.8}, 3.0}));
    wall.move(uniform_speed(1.0), 5.0);
    EXPECT_EQ(wall.solid_volume(), 0.0);
  }
}

TEST(WallMotion, SpheresMergeWithSecondOrder) {
  std::vector<double> errors;
  for (const int n : {16, 32, 64}) {
    LevelSetParts parts;
    for (const double x : {0.3, 0.7})
      parts.push_back(make_level_set(Sphere{double(n) * Vec3{x, 0.4977, 0.5113}, 0.17 * n}));
    MovingWall wall(Comm::world(), grid_of(n, 1), union_of_solids(std::move(parts)));
    wall.move(uniform_speed(-1.0), 0.05 * n);
    const double r = 0.22 * n, cap = r - 0.2 * n;
    errors.push_back(wall.solid_volume() / (2.0 * (ball(r) - std::numbers::pi / 3.0 * cap * cap * (3.0 * r - cap))) -
                     1.0);
  }
  EXPECT_LT(std::abs(errors.back()), 1e-9) << errors[0] << " " << errors[1];
  EXPECT_GT(least_order(errors), 8);
}

/// An ellipsoid of revolution, as a distance or as k (k - 1) / |∇k|-like formula, which is a distance at the wall only
/// and has a jump in its middle.
std::shared_ptr<const LevelSet> ellipsoid(int n, bool formula) {
  const Vec3 center = middle_of(n), radii = double(n) * Vec3{0.36, 0.2, 0.2};
  if (!formula) return make_level_set(Ellipsoid{Frame{center}, radii});
  return std::make_shared<test::FunctionLevelSet>(
      [=](const Vec3& at) {
        Vec3 x = at - center;
        for (int d = 0; d < 3; ++d) x[d] /= radii[d];
        const double k = norm(x);
        for (int d = 0; d < 3; ++d) x[d] /= radii[d];
        return k * (k - 1.0) / (norm(x) + 1e-12);
      },
      Smoothness{});
}

// The least radius of curvature is 0.111: the wall moves past the ridges of the distance.
TEST(WallMotion, EllipsoidsPastTheirRidgesWithSecondOrder) {
  for (const bool formula : {false, true}) {
    std::vector<double> errors;
    for (const int n : {24, 48, 96}) {
      MovingWall wall(Comm::world(), grid_of(n, 1), ellipsoid(n, formula));
      const WallMotionReport report = wall.move(uniform_speed(1.0), 0.12 * n);
      errors.push_back(wall.solid_volume() / (test::volume_inside_ellipsoid(0.36, 0.2, 0.12) * n * n * n) - 1.0);
      EXPECT_GT(report.redistanced, formula ? 100 : 0);
    }
    EXPECT_LT(std::abs(errors.back()), 1e-9) << errors[0] << " " << errors[1];
    EXPECT_GT(least_order(errors), 8);
  }
}

TEST(WallMotion, ATurnedCuboidKeepsItsEdges) {
  std::vector<double> errors;
  for (const int n : {24, 48, 96}) {
    const Frame frame = turned_frame(middle_of(n), {10.0, 20.0, 30.0});
    MovingWall wall(Comm::world(), grid_of(n, 1), make_level_set(Cuboid{frame, double(n) * Vec3{0.3, 0.25, 0.2}}));
    wall.move(uniform_speed(1.0), 0.08 * n);
    errors.push_back(wall.solid_volume() / (8.0 * 0.22 * 0.17 * 0.12 * n * n * n) - 1.0);
  }
  EXPECT_LT(std::abs(errors.back()), 1e-9) << errors[0] << " " << errors[1];
  EXPECT_GT(least_order(errors), 8);
}

// A speed that varies in place and time: the sphere keeps its shape and goes elsewhere, farther than its radius, so
// that its wall passes what was its centre.
TEST(WallMotion, ASphereGoesElsewhereWithSecondOrder) {
  Errors errors;
  for (const int n : {16, 32, 64}) {
    const double r = 0.2 * n;
    const Vec3 from = double(n) * Vec3{0.35, 0.42, 0.4}, way = double(n) * Vec3{0.3, 0.2, 0.1};
    MovingWall wall(Comm::world(), grid_of(n, 1), make_level_set(Sphere{from, r}));
    wall.move(test::speed_of([=](const Vec3& x, double time) {
                const Vec3 radial = x - from - time * (2.0 - time) * way;
                return -2.0 * (1.0 - time) * dot(way, radial) / norm(radial);
              }),
              1.0);
    const MovedLevelSet now(*wall.phi0, wall.displacement);
    double worst = 0.0;
    for (const Vec3& d : test::directions(100))
      worst = std::max(worst, std::abs(test::distance_to_wall(now, from + way, d, r - 3.0, r + 3.0) - r));
    errors.place.push_back(worst / n);
    errors.volume.push_back(wall.solid_volume() / ball(r) - 1.0);
  }
  EXPECT_LT(std::abs(errors.volume.back()), 1e-9) << errors.volume[0] << " " << errors.volume[1];
  EXPECT_GT(least_order(errors.volume), 8);
  EXPECT_LT(errors.place.back(), 1e-9);
  EXPECT_GT(least_order(errors.place), 8);
}

}  // namespace
}  // namespace karst::wall_motion_test
