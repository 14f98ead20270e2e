// SPDX-License-Identifier: BSD-3-Clause
// Walls that move with a given speed: places and volumes against exact ones.
#include "eb/moving/wall_motion.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "support/errors.hpp"
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

TEST(WallMotion, SpheresShrinkWithSecondOrder) {
  const Errors shrinking = errors_of_sphere(0.3, 0.2, {16, 32, 64});
  EXPECT_LT(std::abs(shrinking.volume.back()), 2e-3);
  EXPECT_GT(least_order(shrinking.volume), 2.0);
  EXPECT_LT(shrinking.place.back(), 5e-5);
  EXPECT_GT(least_order(shrinking.place), 2.0);
}
TEST(WallMotion, SpheresGrowWithSecondOrderAtNight) {
  const Errors growing = errors_of_sphere(0.15, 0.35, {16, 32, 64});
  EXPECT_LT(std::abs(growing.volume.back()), 1e-3);
  EXPECT_GT(least_order(growing.volume), 2.0);
  EXPECT_LT(growing.place.back(), 1e-4);
  EXPECT_GT(least_order(growing.place), 2.0);
}

// To a radius of 1.9 and 3.8 cells.
TEST(WallMotion, ASphereShrinksToAFifthAtNight) {
  const Errors errors = errors_of_sphere(0.3, 0.06, {32, 64});
  EXPECT_LT(std::abs(errors.volume.back()), 0.04);
  EXPECT_GT(least_order(errors.volume), 1.9);
  EXPECT_LT(errors.place.back(), 8e-4);
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
  EXPECT_LT(std::abs(errors.back()), 2e-3);
  EXPECT_GT(least_order(errors), 1.8);
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
TEST(WallMotion, EllipsoidsPastTheirRidgesWithSecondOrderAtNight) {
  for (const bool formula : {false, true}) {
    std::vector<double> errors;
    for (const int n : {24, 48, 96}) {
      MovingWall wall(Comm::world(), grid_of(n, 1), ellipsoid(n, formula));
      const WallMotionReport report = wall.move(uniform_speed(1.0), 0.12 * n);
      errors.push_back(wall.solid_volume() / (test::volume_inside_ellipsoid(0.36, 0.2, 0.12) * n * n * n) - 1.0);
      EXPECT_GT(report.redistanced, formula ? 100 : 0);
    }
    EXPECT_LT(std::abs(errors.back()), formula ? 0.009 : 0.006);
    EXPECT_GT(least_order(errors), 1.8);
  }
}

TEST(WallMotion, ATurnedCuboidKeepsItsEdgesAtNight) {
  std::vector<double> errors;
  for (const int n : {24, 48, 96}) {
    const Frame frame = turned_frame(middle_of(n), {10.0, 20.0, 30.0});
    MovingWall wall(Comm::world(), grid_of(n, 1), make_level_set(Cuboid{frame, double(n) * Vec3{0.3, 0.25, 0.2}}));
    wall.move(uniform_speed(1.0), 0.08 * n);
    errors.push_back(wall.solid_volume() / (8.0 * 0.22 * 0.17 * 0.12 * n * n * n) - 1.0);
  }
  EXPECT_LT(std::abs(errors.back()), 2e-3);
  EXPECT_GT(least_order(errors), 1.6);
}

// A speed that varies in place and time: the sphere keeps its shape and goes elsewhere, farther than its radius, so
// that its wall passes what was its centre.
Errors errors_of_going_elsewhere(const std::vector<int>& cells) {
  Errors errors;
  for (const int n : cells) {
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
  return errors;
}

TEST(WallMotion, ASphereGoesElsewhereWithSecondOrder) {
  const Errors errors = errors_of_going_elsewhere({16, 32});
  EXPECT_LT(std::abs(errors.volume.back()), 0.02);
  EXPECT_GT(least_order(errors.volume), 1.8);
  EXPECT_LT(errors.place.back(), 3e-3);
  EXPECT_GT(least_order(errors.place), 1.8);
}
TEST(WallMotion, ASphereGoesElsewhereAtNight) {
  const Errors errors = errors_of_going_elsewhere({16, 32, 64});
  EXPECT_LT(std::abs(errors.volume.back()), 4e-3);
  EXPECT_GT(least_order(errors.volume), 1.8);
  EXPECT_LT(errors.place.back(), 8e-4);
  EXPECT_GT(least_order(errors.place), 1.8);
}

// A domain of one layer of cells, periodic across it.
TEST(WallMotion, CirclesInOneLayerOfCells) {
  std::vector<double> errors;
  for (const int n : {16, 32, 64}) {
    const Frame frame = frame_along(middle_of(n), {0.0, 0.0, 1.0});
    MovingWall wall(Comm::world(), test::unit_cells({n, n, 1}, {false, false, true}, 8),
                    make_level_set(Cylinder{frame, 0.3 * n}));
    wall.move(uniform_speed(1.0), 0.15 * n);
    errors.push_back(wall.solid_volume() / (std::numbers::pi * 0.15 * 0.15 * n * n) - 1.0);
  }
  EXPECT_LT(std::abs(errors.back()), 3e-3);
  EXPECT_GT(least_order(errors), 1.9);
}

/// Speed in a part of the domain, 0 elsewhere.
WallSpeed speed_below(double x, double v) {
  return test::speed_of([=](const Vec3& at, double) { return at[0] < x ? v : 0.0; });
}

// Where nothing moves, everything keeps its bits, though it moves elsewhere.
TEST(WallMotion, WhatStandsKeepsItsBits) {
  const Comm comm = Comm::world();
  MovingWall wall(comm, grid_of(64, 1), test::packing(60, 6.3, 64, false));
  const Geometry before = build_geometry(comm, wall.grid, *wall.phi0, KeepPores::all);
  for (const double until : {1.5, 3.0}) wall.move(speed_below(20.0, 1.0), until);
  const Geometry after = wall.geometry();
  EXPECT_GT(after.report.porosity, before.report.porosity + 0.02);
  const LevelGeometry &a = before.levels[0], &b = after.levels[0];
  int compared = 0;
  for (int own = 0; own < a.graph.n_local(); ++own) {
    const Box cells = a.graph.box(own).cells;
    if (cells.lo[0] < 32) continue;
    const std::int64_t there = b.graph.layout().find_cell(cells.lo);
    ASSERT_GE(there, 0);
    const auto old_moments = a.box(own).moments, new_moments = b.box(b.graph.local(there)).moments;
    ASSERT_EQ(old_moments.size(), new_moments.size());
    if (old_moments.empty()) continue;
    EXPECT_EQ(std::memcmp(old_moments.data(), new_moments.data(), old_moments.size_bytes()), 0);
    compared += static_cast<int>(old_moments.size());
  }
  EXPECT_GT(compared, 5000);
  EXPECT_EQ(after.report.levels[0].closed_faces, 0);
}

// s is the same on any number of ranks, to the last bit, and with it the geometry, to the rounding of sums.
void expect_the_same_motion_on_ranks(bool periodic) {
  const Comm comm = Comm::world(), alone = Comm::self();
  const std::shared_ptr<const LevelSet> phi0 = test::packing(12, 5.3, 32, periodic);
  GridOptions grid = grid_of(32, 2, periodic);
  grid.refine = {{1, Refinement::Where::wall, {}, {}, 1}};
  MovingWall together(comm, grid, phi0), one(alone, grid, phi0);
  const WallSpeed speed = test::speed_of([](const Vec3& x, double t) { return std::sin(0.2 * x[0] + 0.1 * x[1] + t); });
  for (const double until : {1.1, 2.7}) {
    const WallMotionReport here = together.move(speed, until), there = one.move(speed, until);
    EXPECT_EQ(here.steps, there.steps);
    EXPECT_EQ(here.band, there.band);
    EXPECT_EQ(here.redistanced, there.redistanced);
  }
  const CornerBlocks &a = together.displacement.blocks(), &b = one.displacement.blocks();
  ASSERT_EQ(a.layout().keys(), b.layout().keys());
  EXPECT_EQ(comm.sum(a.n_own_corners()), b.n_own_corners());
  for (int own = 0; own < a.n_own(); ++own)
    EXPECT_EQ(std::memcmp(together.displacement.values().data() + a.begin(own),
                          one.displacement.values().data() + b.begin(static_cast<int>(a.first_own()) + own),
                          a.own_corners(own).count() * sizeof(double)),
              0);
  const Geometry ours = together.geometry(KeepPores::connected), its = one.geometry(KeepPores::connected);
  for (int l = 0; l < 2; ++l) EXPECT_EQ(ours.report.levels[l].vofs, its.report.levels[l].vofs);
  EXPECT_NEAR(ours.report.porosity, its.report.porosity, 1e-13);
  EXPECT_NEAR(ours.report.wall_area, its.report.wall_area, 1e-9);
  for (int d = 0; d < 3; ++d) EXPECT_NEAR(test::composite_closure(comm, ours)[d], 0.0, 1e-9);
}
TEST(WallMotion, RanksMoveTheSameMpi) { expect_the_same_motion_on_ranks(true); }
TEST(WallMotion, RanksMoveTheSameBetweenWallsMpiAtNight) { expect_the_same_motion_on_ranks(false); }

/// Grains in a cubic lattice, none at its place, that do not touch each other.
std::shared_ptr<const LevelSet> grains_apart(int n) {
  test::Random random(5);
  std::vector<Sphere> grains;
  const double width = n / 3.0;
  for (int k = 0; k < 27; ++k) {
    const Vec3 shift{random(), random(), random()};
    grains.push_back(
        {width * (to_vec({k % 3, k / 3 % 3, k / 9}) + Vec3::all(0.4) + 0.2 * shift), (0.25 + 0.05 * random()) * width});
  }
  return make_sphere_list(grains, {Vec3::all(n), {true, true, true}});
}

/// Volume gained from step to step over the integral of the area (Simpson's rule), minus 1.
double gain_of_grains(int n, double v) {
  MovingWall wall(Comm::world(), grid_of(n, 1, true), grains_apart(n));
  std::vector<double> porosity, area;
  for (int step = 0; step <= 4; ++step) {
    wall.move(uniform_speed(v), 0.01 * n * step);
    const Geometry now = wall.geometry();
    porosity.push_back(now.report.porosity);
    area.push_back(now.report.wall_area);
  }
  const double simpson = 0.01 * n / 3.0 * (area[0] + 4.0 * area[1] + 2.0 * area[2] + 4.0 * area[3] + area[4]);
  return v * (porosity[4] - porosity[0]) * n * n * n / simpson - 1.0;
}

void expect_area_times_distance(double v) {
  const std::vector<double> errors{gain_of_grains(24, v), gain_of_grains(48, v)};
  EXPECT_LT(std::abs(errors.back()), v > 0.0 ? 0.02 : 0.005);
  EXPECT_GT(least_order(errors), 1.8);
}
TEST(WallMotion, GrainsGainAreaTimesDistance) { expect_area_times_distance(1.0); }
TEST(WallMotion, GrainsLoseAreaTimesDistanceAtNight) { expect_area_times_distance(-1.0); }

// Spheres that overlap grow to larger ones; their distance is exact outside of them.
TEST(WallMotion, APackingGrowsWithSecondOrder) {
  std::vector<double> errors;
  for (const int n : {24, 48}) {
    MovingWall wall(Comm::world(), grid_of(n, 1, true), test::packing(60, 0.13 * n, n, true));
    wall.move(uniform_speed(-1.0), 0.03 * n);
    const auto grown = test::packing(60, 0.16 * n, n, true);
    const Geometry exact = build_geometry(wall.comm, wall.grid, *grown, KeepPores::all);
    errors.push_back(wall.geometry().report.porosity - exact.report.porosity);
  }
  EXPECT_LT(std::abs(errors.back()), 5e-4);
  EXPECT_GT(least_order(errors), 1.8);
}

// Through closing and opening of pores, vanishing of grains, to the end.
TEST(WallMotion, PackingsGoOnToTheEnd) {
  for (const double v : {1.0, -1.0}) {
    MovingWall wall(Comm::world(), grid_of(24, 1), test::packing(20, 4.0, 24, false));
    double last = wall.geometry().report.porosity;
    for (int step = 1; step <= 12; ++step) {
      wall.move(uniform_speed(v), 0.5 * step);
      const Geometry now = wall.geometry();
      EXPECT_LT(test::free_stream_error(now.levels[0]), 1e-11);
      EXPECT_GE(v * (now.report.porosity - last), 0.0);
      last = now.report.porosity;
    }
    if (v > 0.0)
      EXPECT_EQ(last, 1.0);
    else
      EXPECT_LT(last, 0.02);
  }
}

// s on corners half a cell apart, where the grid has a finer level.
TEST(WallMotion, FinerCorners) {
  std::vector<double> errors;
  for (const int level : {0, 1}) {
    MovingWall wall(Comm::world(), grid_of(32, 2), make_level_set(Sphere{middle_of(32), 9.6}), level);
    wall.move(uniform_speed(1.0), 4.8);
    errors.push_back(wall.solid_volume() / ball(4.8) - 1.0);
  }
  EXPECT_LT(std::abs(errors[1]), 5e-3);
  EXPECT_LT(std::abs(errors[1]), 0.4 * std::abs(errors[0]));
}

TEST(WallMotion, BoxesOfAnySizeMoveTheSame) {
  std::vector<double> porosity;
  for (const int box : {8, 16, 32}) {
    MovingWall wall(Comm::world(), grid_of(40, 1, true), test::packing(15, 6.3, 40, true), 0, box);
    wall.move(test::speed_of([](const Vec3& x, double) { return std::sin(x[0]); }), 2.0);
    porosity.push_back(wall.geometry().report.porosity);
  }
  EXPECT_NEAR(porosity[1], porosity[0], 1e-12);
  EXPECT_NEAR(porosity[2], porosity[0], 1e-12);
}

TEST(WallMotion, BadSpeedsAreErrorsOnAllRanksMpi) {
  const Comm comm = Comm::world();
  MovingWall wall(comm, grid_of(16, 1), make_level_set(Sphere{{8.0, 8.0, 8.0}, 4.0}));
  const auto bad = test::speed_of([](const Vec3& x, double) { return x[2] > 11.0 ? std::nan("") : 1.0; });
  EXPECT_TRUE(test::has(test::error_of([&] { wall.move(bad, 1.0); }), "the normal speed at ("));
  EXPECT_TRUE(test::has(test::error_of([&] { wall.move(uniform_speed(1.0), -1.0); }), "the time step is -1"));
  // In the second stage: nothing has moved yet.
  const auto later = test::speed_of([](const Vec3&, double t) { return t > 0.2 ? std::nan("") : 1.0; });
  EXPECT_TRUE(test::has(test::error_of([&] { wall.move(later, 0.5); }), "the normal speed at ("));
  for (const double s : wall.displacement.values().first(wall.displacement.blocks().n_own_corners())) EXPECT_EQ(s, 0.0);
}

}  // namespace
}  // namespace karst::wall_motion_test
