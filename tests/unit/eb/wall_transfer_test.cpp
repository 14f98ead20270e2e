// SPDX-License-Identifier: BSD-3-Clause
// What walls owe, from piece to piece while they move.
#include "eb/moving/wall_transfer.hpp"

#include <gtest/gtest.h>

#include <random>

#include "support/errors.hpp"
#include "support/moving_cases.hpp"

namespace karst::wall_transfer_test {
namespace {

using test::grid_of;
using test::MovingWall;

WallPieces pieces_of(const Geometry& geometry) { return {geometry.grid, geometry.levels}; }

WallRows rows_of(const Geometry& geometry, double value) {
  WallRows rows = wall_rows(geometry.levels);
  for (auto& level : rows) std::ranges::fill(level, value);
  return rows;
}

double sum_of(const Comm& comm, const WallRows& rows) {
  double sum = 0.0;
  for (const auto& level : rows)
    for (const double v : level) sum += v;
  return comm.sum(sum);
}

double fluid_of(const Geometry& geometry) {
  return geometry.report.porosity * static_cast<double>(domain_of(geometry).box().count());
}

// Dissolving and growing packings, one and two levels: Σ owed after = Σ owed before - growth of the fluid, and a
// uniform quantity stays uniform, to round-off.
TEST(WallTransfer, NothingIsLostMpi) {
  const Comm comm = Comm::world();
  for (const int levels : {1, 2})
    for (const double v : {0.5, -0.5}) {
      const std::shared_ptr<const LevelSet> phi0 = test::packing(8, 4.2, 16, true);
      GridOptions grid = grid_of(16, 1, true);
      if (levels == 2) {
        grid.levels = 2;
        grid.refine.emplace_back();
        grid.refine.back().level = 1;
      }
      MovingWall wall(comm, grid, phi0, levels - 1);
      wall.move(test::uniform_speed(0.0), 1.0);
      const Geometry before = wall.geometry();
      WallRows owed = rows_of(before, 0.0);
      std::mt19937 random(5);
      for (auto& level : owed)
        for (double& x : level) x = std::uniform_real_distribution(-0.1, 0.3)(random);
      // Rows under a finer level and those without a wall owe nothing.
      const WallTransfer none = transfer_to_moved_walls(comm, pieces_of(before), rows_of(before, 3.0), owed,
                                                        pieces_of(before), rows_of(before, 1.0), wall.displacement);
      const double owed_before = sum_of(comm, none.owed);
      EXPECT_EQ(none.moved, 0.0);
      EXPECT_EQ(none.lost, 0.0);
      wall.move(test::uniform_speed(v), 2.0);
      const Geometry after = wall.geometry();
      const WallTransfer moved = transfer_to_moved_walls(comm, pieces_of(before), rows_of(before, 3.0), owed,
                                                         pieces_of(after), rows_of(after, 1.0), wall.displacement);
      EXPECT_NEAR(moved.moved, fluid_of(after) - fluid_of(before),
                  1e-4);  // merged parts are floats
      EXPECT_NEAR(sum_of(comm, moved.owed) + moved.lost + moved.moved, owed_before, 1e-10);
      EXPECT_LT(std::abs(moved.lost), 0.02 * std::abs(moved.moved));
      for (const auto& level : moved.means)
        for (const double m : level) EXPECT_TRUE(m == 0.0 || std::abs(m - 3.0) < 1e-13) << m;
    }
}

// The cell in the middle of a grain has no wall, neither before nor after the grain has gone.
TEST(WallTransfer, CellsThatChangeAsAWhole) {
  const Comm comm = Comm::self();
  MovingWall wall(comm, grid_of(16, 1), make_level_set(Sphere{Vec3::all(8.5), 1.3}));
  wall.move(test::uniform_speed(0.0), 1.0);
  const Geometry before = wall.geometry();
  wall.move(test::uniform_speed(0.5), 4.0);
  const Geometry after = wall.geometry();
  const WallTransfer moved =
      transfer_to_moved_walls(comm, pieces_of(before), rows_of(before, 0.0), rows_of(before, 0.0), pieces_of(after),
                              rows_of(after, 1.0), wall.displacement);
  EXPECT_NEAR(fluid_of(after), 4096.0, 1e-12);
  EXPECT_NEAR(moved.moved, fluid_of(after) - fluid_of(before), 1e-4);  // merged parts are floats
  EXPECT_NEAR(moved.lost, -moved.moved, 1e-12);
}

// A piece that may not owe gets nothing.
TEST(WallTransfer, StandingWallsOweNothing) {
  const Comm comm = Comm::self();
  MovingWall wall(comm, grid_of(16, 1), make_level_set(Sphere{Vec3::all(8.1), 4.3}));
  wall.move(test::uniform_speed(0.0), 1.0);
  const Geometry before = wall.geometry();
  wall.move(test::uniform_speed(0.3), 2.0);
  const Geometry after = wall.geometry();
  const WallTransfer moved =
      transfer_to_moved_walls(comm, pieces_of(before), rows_of(before, 0.0), rows_of(before, 0.0), pieces_of(after),
                              rows_of(after, 0.0), wall.displacement);
  EXPECT_EQ(sum_of(comm, moved.owed), 0.0);
  EXPECT_NEAR(moved.lost, -moved.moved, 1e-12);
}

/// Area of each piece of an unrefined geometry.
WallRows areas_of(const Geometry& geometry) {
  WallRows rows = wall_rows(geometry.levels);
  for (std::size_t i = 0; i < rows[0].size(); ++i) rows[0][i] = geometry.levels[0].moments[i].wall_area;
  return rows;
}

// What lies on walls is shared without loss, where it may lie alone, and a layer of the same thickness everywhere stays
// nearly so: after eight motions of half a cell its thickness varies by 15 %.
TEST(WallTransfer, LayersStayEvenMpi) {
  const Comm comm = Comm::world();
  MovingWall wall(comm, grid_of(32, 1), make_level_set(Sphere{{15.9, 16.2, 16.1}, 6.3}));
  wall.move(test::uniform_speed(0.0), 1.0);
  Geometry before = wall.geometry();
  WallRows layer = areas_of(before);
  const double total = sum_of(comm, layer);
  for (double until = 2.0; until < 10.0; until += 1.0) {
    wall.move(test::uniform_speed(-0.5), until);
    Geometry after = wall.geometry();
    SharedAmounts shared =
        share_on_moved_walls(comm, pieces_of(before), layer, pieces_of(after), rows_of(after, 1.0), wall.displacement);
    EXPECT_NEAR(sum_of(comm, shared.amounts) + shared.lost, total, 1e-11 * total);
    EXPECT_EQ(shared.lost, 0.0);
    layer = std::move(shared.amounts);
    before = std::move(after);
  }
  const WallRows areas = areas_of(before);
  const double mean = total / sum_of(comm, areas);
  WallRows squares = wall_rows(before.levels);
  for (std::size_t i = 0; i < areas[0].size(); ++i)
    if (areas[0][i] > 0.0) squares[0][i] = areas[0][i] * std::pow(layer[0][i] / areas[0][i] / mean - 1.0, 2);
  EXPECT_LT(std::sqrt(sum_of(comm, squares) / sum_of(comm, areas)), 0.16);
  const SharedAmounts none =
      share_on_moved_walls(comm, pieces_of(before), layer, pieces_of(before), rows_of(before, 0.0), wall.displacement);
  EXPECT_NEAR(none.lost, total, 1e-11 * total);
}

// Walls that have moved keep the minerals of the solid behind them.
TEST(WallTransfer, MineralsOfMovedWalls) {
  const Comm comm = Comm::self();
  LevelSetParts parts;
  parts.push_back(of_mineral(make_level_set(Sphere{{8.1, 8.2, 7.9}, 4.3}), 0));
  parts.push_back(of_mineral(make_level_set(Sphere{{23.1, 8.2, 7.9}, 4.3}), 1));
  MovingWall wall(comm, grid_of(32, 1), union_of_solids(std::move(parts), {"a", "b"}));
  for (double until = 1.0; until < 6.0; until += 1.0) {
    wall.move(test::uniform_speed(0.5), until);
    const Geometry g = wall.geometry();
    EXPECT_NEAR(g.report.minerals[0].area, g.report.minerals[1].area, 0.05 * g.report.wall_area);
    EXPECT_NEAR(g.report.minerals[0].area + g.report.minerals[1].area, g.report.wall_area, 1e-9);
  }
}

}  // namespace
}  // namespace karst::wall_transfer_test
