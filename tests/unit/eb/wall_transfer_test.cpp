// SPDX-License-Identifier: BSD-3-Clause
// What walls owe, from piece to piece while they move.
#include "eb/moving/wall_transfer.hpp"

#include <gtest/gtest.h>

#include <numbers>
#include <random>

#include "eb/moving/piece_speeds.hpp"
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

/// A sphere in cells of level 3, another in those of level 0, in steps of half a cell of the finest level.
struct SpheresOnLevels {
  explicit SpheresOnLevels(const Comm& comm) : wall(comm, grid(), spheres(), 3) {
    wall.move(test::uniform_speed(0.0), 1.0);
  }
  static constexpr double fine_radius = 1.22, coarse_radius = 3.3;  // [h0]
  static GridOptions grid() {
    GridOptions options = grid_of(16, 1);
    options.size = Vec3::all(16.0);
    options.levels = 4;
    Refinement fine;
    fine.level = 3;
    fine.where = Refinement::Where::region;
    fine.hi = Vec3::all(4.0);
    options.refine.push_back(fine);
    return options;
  }
  static std::shared_ptr<const LevelSet> spheres() {
    LevelSetParts parts;
    parts.push_back(of_mineral(make_level_set(Sphere{fine_at, fine_radius}), 0));
    parts.push_back(of_mineral(make_level_set(Sphere{coarse_at, coarse_radius}), 0));
    return union_of_solids(std::move(parts), {"a"});
  }
  static constexpr Vec3 fine_at{2.1, 2.0, 1.97}, coarse_at{10.8, 11.1, 11.05};
  MovingWall wall;
};

/// Of the pieces of one level: mean of amount / area, and standard deviation from it.
std::array<double, 2> thickness_on(const Comm& comm, const Geometry& geometry, const WallRows& amounts, int level) {
  const LevelGeometry& on = geometry.levels[level];
  const double unit = std::ldexp(1.0, -2 * level);
  std::array<double, 3> s{};
  for (int own = 0; own < on.graph.n_local(); ++own) {
    const BoxGraph graph = on.graph.box(own);
    for (int r = 0; r < graph.n_irregular; ++r) {
      const std::int64_t row = on.moments_begin[own] + r;
      const double area = unit * on.moments[row].wall_area, amount = amounts[level][row];
      if (area == 0.0 || (level < 3 && geometry.grid.cell_is_refined(level, graph.cells.cell(graph.row_cell[r]))))
        continue;
      s[0] += area, s[1] += amount, s[2] += amount * amount / area;
    }
  }
  comm.sum(std::span(s));
  const double mean = s[1] / s[0];
  return {mean, std::sqrt(std::max(0.0, s[2] / s[0] - mean * mean))};
}

// What walls of all levels owe after four motions is spread as evenly as on one level, and nothing is lost, where
// cells of level 0 are eight times as wide as those of the finest level, and coarse walls beside fine ones.
TEST(WallTransfer, FinerCellsOweForThemselves) {
  const Comm comm = Comm::self();
  SpheresOnLevels spheres(comm);
  Geometry before = spheres.wall.geometry();
  WallRows owed = rows_of(before, 0.0);
  const double step = 1.0 / 16.0;
  for (int n = 1; n <= 4; ++n) {
    spheres.wall.move(test::uniform_speed(-step), 1.0 + n);
    Geometry after = spheres.wall.geometry();
    const WallTransfer moved =
        transfer_to_moved_walls(comm, pieces_of(before), rows_of(before, 3.0), owed, pieces_of(after),
                                rows_of(after, 1.0), spheres.wall.displacement);
    EXPECT_EQ(moved.lost, 0.0);
    EXPECT_NEAR(moved.moved, fluid_of(after) - fluid_of(before), 1e-5);  // merged parts are floats
    owed = moved.owed;
    before = std::move(after);
  }
  const double fine = SpheresOnLevels::fine_radius, coarse = SpheresOnLevels::coarse_radius;
  const auto per_area = [&](double r) {
    return (std::pow(r + 4 * step, 3) - std::pow(r, 3)) / (3.0 * std::pow(r + 4 * step, 2));
  };
  const auto on_fine = thickness_on(comm, before, owed, 3), on_coarse = thickness_on(comm, before, owed, 0);
  EXPECT_NEAR(on_fine[0], per_area(fine), 0.01 * per_area(fine));
  EXPECT_NEAR(on_coarse[0], per_area(coarse), 0.12 * per_area(coarse));  // a sphere of three cells
  EXPECT_LT(on_fine[1], 0.08 * on_fine[0]);
  EXPECT_LT(on_coarse[1], 0.03 * on_coarse[0]);
}

// A wall that moves in one half owes there: no cell of level 0, eight times as wide, carries it to the other.
TEST(WallTransfer, FinerCellsOweWhereTheyMove) {
  const Comm comm = Comm::self();
  SpheresOnLevels spheres(comm);
  const Geometry before = spheres.wall.geometry();
  const double middle = SpheresOnLevels::fine_at[0];
  spheres.wall.move(test::speed_of([&](const Vec3& x, double) { return x[0] > middle ? -1.0 / 16.0 : 0.0; }), 2.0);
  const Geometry after = spheres.wall.geometry();
  const WallTransfer moved =
      transfer_to_moved_walls(comm, pieces_of(before), rows_of(before, 0.0), rows_of(before, 0.0), pieces_of(after),
                              rows_of(after, 1.0), spheres.wall.displacement);
  const LevelGeometry& fine = after.levels[3];
  double here = 0.0, beyond = 0.0;  // more than four cells from where it moves
  for (int own = 0; own < fine.graph.n_local(); ++own) {
    const BoxGraph graph = fine.graph.box(own);
    for (int r = 0; r < graph.n_irregular; ++r) {
      const double owed = std::abs(moved.owed[3][fine.moments_begin[own] + r]);
      (0.125 * (graph.cells.cell(graph.row_cell[r])[0] + 0.5) > middle - 0.5 ? here : beyond) += owed;
    }
  }
  EXPECT_GT(here, 0.5 * std::numbers::pi * std::pow(SpheresOnLevels::fine_radius, 2) / 16.0);
  EXPECT_LT(beyond, 1e-3 * here);
}

// Walls of coarse cells have the speed of their pieces everywhere, beside walls of cells an eighth as wide.
TEST(WallTransfer, SpeedsOfCoarseWalls) {
  const Comm comm = Comm::self();
  const SpheresOnLevels spheres(comm);
  const Geometry geometry = spheres.wall.geometry();
  const WallSpeed speed =
      speed_of_pieces(comm, geometry.grid, geometry.levels, rows_of(geometry, 0.7), spheres.wall.displacement);
  std::vector<Vec3> at;
  for (const Vec3& n : test::directions(300))
    at.push_back(SpheresOnLevels::coarse_at + SpheresOnLevels::coarse_radius * n);
  std::vector<double> v(at.size());
  speed(at, 0.0, v);
  for (const double one : v) EXPECT_NEAR(one, 0.7, 1e-14);
}

}  // namespace
}  // namespace karst::wall_transfer_test
