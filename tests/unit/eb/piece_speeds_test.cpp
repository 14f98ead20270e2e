// SPDX-License-Identifier: BSD-3-Clause
// Speeds given per piece of wall.
#include "eb/moving/piece_speeds.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/moving_cases.hpp"

namespace karst::piece_speeds_test {
namespace {

using test::grid_of;
using test::MovingWall;

/// f at the wall of each row of all levels.
template <class F>
std::vector<std::vector<double>> at_walls(const Geometry& geometry, F f) {
  std::vector<std::vector<double>> all;
  for (const LevelGeometry& level : geometry.levels) {
    auto& of_level = all.emplace_back(level.moments.size());
    const double h = std::ldexp(1.0, -level.level);
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph graph = level.graph.box(b);
      for (int r = 0; r < graph.n_irregular; ++r) {
        const std::int64_t row = level.moments_begin[b] + r;
        const Vec3 cell = to_vec(graph.cells.cell(graph.row_cell[r]));
        of_level[row] = f(h * (cell + Vec3::all(0.5) + level.moments[row].wall_centroid));
      }
    }
  }
  return all;
}

template <class F>
WallSpeed from_pieces(const MovingWall& wall, const Geometry& geometry, F f) {
  return speed_of_pieces(wall.comm, geometry.grid, geometry.levels, at_walls(geometry, f), wall.displacement);
}

TEST(PieceSpeeds, OneSpeedMovesLikeOneSpeedMpi) {
  const Comm comm = Comm::world();
  for (const bool periodic : {false, true}) {
    const std::shared_ptr<const LevelSet> phi0 = test::packing(12, 5.3, 32, periodic);
    MovingWall pieces(comm, grid_of(32, 1, periodic), phi0), uniform(comm, grid_of(32, 1, periodic), phi0);
    for (MovingWall* wall : {&pieces, &uniform}) wall->move(test::uniform_speed(0.0), 1e-9);
    for (const double until : {0.5, 1.0, 1.5}) {
      pieces.move(from_pieces(pieces, pieces.geometry(), [](const Vec3&) { return 1.0; }), until);
      uniform.move(test::uniform_speed(1.0), until);
    }
    const Geometry a = pieces.geometry(), b = uniform.geometry();
    EXPECT_NEAR(a.report.porosity, b.report.porosity, periodic ? 1e-13 : 5e-6);  // feet outside of the domain
  }
}

TEST(PieceSpeeds, MeansConverge) {
  std::vector<double> errors;
  for (const int n : {16, 32, 64}) {
    const Vec3 center = double(n) * Vec3{0.5031, 0.4977, 0.5113};
    MovingWall wall(Comm::world(), grid_of(n, 1), make_level_set(Sphere{center, 0.3 * n}));
    wall.move(test::uniform_speed(0.0), 1.0);
    const auto f = [&](const Vec3& x) { return std::sin(5.0 * x[0] / n) + 2.0 * x[1] * x[2] / (n * n); };
    const WallSpeed speed = from_pieces(wall, wall.geometry(), f);
    double sum = 0.0;
    for (const Vec3& d : test::directions(500)) {
      const Vec3 x = center + 0.3 * n * d;
      double v = 0.0;
      speed({&x, 1}, 0.0, {&v, 1});
      sum += std::abs(v - f(x)) / 500.0;
    }
    errors.push_back(sum);
  }
  EXPECT_LT(errors.back(), 2e-3);
  EXPECT_GT(test::least_order(errors), 1.6);
}

// Beside a side of the domain all pieces are on one side of a point; their mean alone would be that of half a spacing
// away. Where a speed is linear, it is as near there as elsewhere.
TEST(PieceSpeeds, LinesLeadToTheSides) {
  MovingWall wall(Comm::self(), grid_of(32, 1), make_level_set(HalfSpace{{16.0, 15.7, 16.0}, {0.0, -1.0, 0.0}}));
  wall.move(test::uniform_speed(0.0), 1.0);
  const auto f = [](const Vec3& x) { return 1.0 + 0.01 * x[0] - 0.02 * x[2]; };
  const WallSpeed speed = from_pieces(wall, wall.geometry(), f);
  for (const double x : {0.0, 0.4, 1.5, 1.9, 11.3, 30.4, 32.0})
    for (const double z : {0.0, 1.2, 14.6, 31.8}) {
      const Vec3 at{x, 15.7, z};
      double v = 0.0;
      speed({&at, 1}, 0.0, {&v, 1});
      EXPECT_NEAR(v, f(at), 2.5e-3) << x << ' ' << z;
    }
}

// Points that are asked for together share lists of pieces and are worked on side by side: one by one they have the
// same bits, in the middle of the domain, at its sides and across periodic ones; and in the middle the mean is that of
// all pieces of the geometry.
TEST(PieceSpeeds, TogetherAsOneByOneAndByAllPieces) {
  for (const bool periodic : {false, true}) {
    MovingWall wall(Comm::self(), grid_of(32, 1, periodic), test::packing(12, 5.3, 32, periodic));
    wall.move(test::uniform_speed(0.0), 1.0);
    struct Of {
      Vec3 at;
      double value;
    };
    std::vector<Of> pieces;
    const Geometry geometry = wall.geometry();
    const auto f = [&](const Vec3& x) {
      pieces.push_back({x, std::sin(3.0 * x[0]) + x[1] * x[2]});
      return pieces.back().value;
    };
    const WallSpeed speed = from_pieces(wall, geometry, f);
    std::vector<Vec3> at;
    for (int i = 0; i < 4001; ++i)
      at.push_back({std::fmod(0.618034 * i, 32.0), std::fmod(0.754878 * i, 32.0), std::fmod(0.569840 * i, 32.0)});
    at.front() = {0.0, 7.3, 32.0};
    std::vector<double> together(at.size());
    speed(at, 0.0, together);
    const Box middle{Index::all(3), Index::all(29)};
    for (std::size_t i = 0; i < at.size(); ++i) {
      double alone = 0.0, weights = 0.0, sum = 0.0;
      speed({&at[i], 1}, 0.0, {&alone, 1});
      EXPECT_EQ(together[i], alone) << at[i][0] << ' ' << at[i][1] << ' ' << at[i][2];
      if (i % 8 != 0 || !middle.contains({int(at[i][0]), int(at[i][1]), int(at[i][2])})) continue;
      for (std::size_t p = 0; p < pieces.size(); ++p) {
        const Vec3 r = pieces[p].at - at[i];
        const double part = std::max(1.0 - dot(r, r) / (1.75 * 1.75), 0.0);
        const double weight = geometry.levels[0].moments[p].wall_area * part * part;
        weights += weight;
        sum += weight * pieces[p].value;
      }
      if (weights > 0.0) {
        EXPECT_NEAR(together[i], sum / weights, 1e-11);
      }
    }
  }
}

// A number of speeds that is not that of the pieces is a mistake of the caller.
TEST(PieceSpeeds, WrongNumbersAreErrors) {
  MovingWall wall(Comm::self(), grid_of(16, 1), make_level_set(Sphere{Vec3::all(8.1), 4.0}));
  const Geometry geometry = wall.geometry();
  const std::vector<std::vector<double>> speeds(1, std::vector<double>(3));
  EXPECT_TRUE(test::has(
      test::error_of([&] { speed_of_pieces(wall.comm, geometry.grid, geometry.levels, speeds, wall.displacement); }),
      "3 speeds for"));
}

}  // namespace
}  // namespace karst::piece_speeds_test
