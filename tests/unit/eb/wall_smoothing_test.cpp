// SPDX-License-Identifier: BSD-3-Clause
// What pieces of wall are to move by, evened out along the wall.
#include "eb/moving/wall_smoothing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "support/moving_cases.hpp"

namespace karst::wall_smoothing_test {
namespace {

/// Calls f(area, centroid in the domain, amount) for the pieces of an unrefined geometry.
template <class F>
void for_pieces(const Geometry& geometry, WallRows& rows, F&& f) {
  const LevelGeometry& level = geometry.levels[0];
  for (int own = 0; own < level.graph.n_local(); ++own) {
    const BoxGraph graph = level.graph.box(own);
    for (int r = 0; r < graph.n_irregular; ++r) {
      const std::int64_t row = level.moments_begin[own] + r;
      const VofMoments& m = level.moments[row];
      if (m.wall_area > 0.0)
        f(m.wall_area, to_vec(graph.cells.cell(graph.row_cell[r])) + Vec3::all(0.5) + m.wall_centroid, rows[0][row]);
    }
  }
}

struct Sums {
  double amount = 0.0, wave = 0.0, square = 0.0, area = 0.0, largest = 0.0;
};

/// Σ amount, and of the thickness its component along a wave, its mean square and the largest.
template <class Wave>
Sums sums_of(const Comm& comm, const Geometry& geometry, WallRows& rows, Wave&& wave) {
  std::array<double, 4> s{};
  double largest = 0.0;
  for_pieces(geometry, rows, [&](double area, const Vec3& x, double& amount) {
    s[0] += amount, s[1] += amount * wave(x), s[2] += amount * amount / area, s[3] += area;
    largest = std::max(largest, std::abs(amount / area));
  });
  comm.sum(std::span(s));
  return {s[0], s[1], s[2], s[3], comm.max(largest)};
}

WallRows all_of(const Geometry& geometry) {
  WallRows rows = wall_rows(geometry.levels);
  for (auto& level : rows) std::ranges::fill(level, 1.0);
  return rows;
}

// On a sphere: the same thickness stays, noise goes, and nothing is lost. Pieces that take no part keep their bits.
TEST(WallSmoothing, KeepsSumsAndConstantsMpi) {
  const Comm comm = Comm::world();
  test::MovingWall wall(comm, test::grid_of(32, 1), make_level_set(Sphere{{15.9, 16.2, 16.1}, 7.3}));
  wall.move(test::uniform_speed(0.0), 1.0);
  const Geometry geometry = wall.geometry();
  const auto none = [](const Vec3&) { return 0.0; };
  WallRows even = wall_rows(geometry.levels), noise = even;
  std::mt19937 random(7);
  for_pieces(geometry, even, [&](double area, const Vec3&, double& amount) { amount = 0.4 * area; });
  for_pieces(geometry, noise, [&](double area, const Vec3&, double& amount) {
    amount = area * std::uniform_real_distribution(-1.0, 1.0)(random);
  });
  smooth_along_walls(comm, {geometry.grid, geometry.levels}, all_of(geometry), 4, wall.displacement, even);
  for_pieces(geometry, even, [&](double area, const Vec3&, double& amount) { EXPECT_NEAR(amount, 0.4 * area, 1e-15); });
  const WallRows kept = noise;
  const Sums before = sums_of(comm, geometry, noise, none);
  smooth_along_walls(comm, {geometry.grid, geometry.levels}, wall_rows(geometry.levels), 4, wall.displacement, noise);
  EXPECT_EQ(noise, kept);
  smooth_along_walls(comm, {geometry.grid, geometry.levels}, all_of(geometry), 4, wall.displacement, noise);
  const Sums after = sums_of(comm, geometry, noise, none);
  EXPECT_NEAR(after.amount, before.amount, 1e-12);
  EXPECT_LT(after.square, 0.05 * before.square);
  EXPECT_LT(after.largest, before.largest);
}

// Along a plane wall a wave of wave number k falls by exp(-k² R² / 14) in each pass, less where
// pieces have few neighbours: here in 8 passes to 0.53 where k = 2 π / 16.
TEST(WallSmoothing, WavesAlongAPlane) {
  const Comm comm = Comm::self();
  GridOptions grid = test::grid_of(32, 1);
  test::MovingWall wall(comm, grid, make_level_set(HalfSpace{{16.3, 0.0, 0.0}, {1.0, 0.0, 0.0}}));
  wall.move(test::uniform_speed(0.0), 1.0);
  const Geometry geometry = wall.geometry();
  const double k = 2.0 * std::numbers::pi / 16.0;
  const auto wave = [&](const Vec3& x) { return std::cos(k * x[1]); };
  WallRows rows = wall_rows(geometry.levels);
  for_pieces(geometry, rows, [&](double area, const Vec3& x, double& amount) { amount = area * wave(x); });
  const double before = sums_of(comm, geometry, rows, wave).wave;
  smooth_along_walls(comm, {geometry.grid, geometry.levels}, all_of(geometry), 8, wall.displacement, rows);
  EXPECT_NEAR(sums_of(comm, geometry, rows, wave).wave / before, std::exp(-8.0 * k * k * 2.5 * 2.5 / 14.0), 0.05);
}

// The two sides of a plate thinner than a cell move on their own.
TEST(WallSmoothing, WallsThatFaceEachOther) {
  const Comm comm = Comm::self();
  test::MovingWall wall(comm, test::grid_of(32, 1), make_level_set(Cuboid{{{16.0, 16.0, 15.65}}, {24.0, 24.0, 0.45}}));
  wall.move(test::uniform_speed(0.0), 1.0);
  const Geometry geometry = wall.geometry();
  WallRows rows = wall_rows(geometry.levels);
  const auto value = [](const Vec3& x) { return x[2] > 15.65 ? 1.0 : -0.5; };
  for_pieces(geometry, rows, [&](double area, const Vec3& x, double& amount) { amount = area * value(x); });
  smooth_along_walls(comm, {geometry.grid, geometry.levels}, all_of(geometry), 8, wall.displacement, rows);
  for_pieces(geometry, rows,
             [&](double area, const Vec3& x, double& amount) { EXPECT_NEAR(amount, area * value(x), 1e-14); });
}

}  // namespace
}  // namespace karst::wall_smoothing_test
