// SPDX-License-Identifier: BSD-3-Clause
// Births and deaths of control volumes while walls move.
#include "eb/moving/volume_events.hpp"

#include <gtest/gtest.h>

#include "support/errors.hpp"
#include "support/moving_cases.hpp"

namespace karst::volume_events_test {
namespace {

using test::grid_of;
using test::MovingWall;

TEST(VolumeEvents, NoneWhereNothingMoves) {
  const Comm comm = Comm::world();
  const auto phi = test::packing(12, 5.3, 32, true);
  const Geometry a = build_geometry(comm, grid_of(32, 1, true), *phi, KeepPores::all);
  const Geometry b = build_geometry(comm, grid_of(32, 1, true), *phi, KeepPores::all);
  EXPECT_EQ(compare_volumes(comm, a.levels[0], b.levels[0]), VolumeEvents{});
}

// A plane through cells: they close when less than half of them is left, one layer for each cell of its way.
TEST(VolumeEvents, APlaneTakesAndGivesLayersOfCells) {
  const Comm comm = Comm::world();
  const GridOptions grid = grid_of(16, 1);
  const auto fluid_above = [&](double x) {
    return build_geometry(comm, grid, *make_level_set(HalfSpace{{x, 0.0, 0.0}, {1.0, 0.0, 0.0}}), KeepPores::all);
  };
  const Geometry a = fluid_above(6.3), b = fluid_above(6.4), c = fluid_above(7.4), d = fluid_above(6.7);
  EXPECT_EQ(compare_volumes(comm, a.levels[0], b.levels[0]), VolumeEvents{});
  EXPECT_EQ(compare_volumes(comm, a.levels[0], c.levels[0]), (VolumeEvents{0, 256, 0, 0}));
  EXPECT_EQ(compare_volumes(comm, c.levels[0], a.levels[0]), (VolumeEvents{256, 0, 0, 0}));
  // The rest of the cells joins the next ones.
  EXPECT_EQ(compare_volumes(comm, a.levels[0], d.levels[0]), (VolumeEvents{0, 0, 256, 0}));
  EXPECT_EQ(compare_volumes(comm, d.levels[0], a.levels[0]), (VolumeEvents{0, 0, 0, 256}));
}

// There and back the events are the opposite ones; on any number of ranks they are the same.
TEST(VolumeEvents, TheWayBackMpi) {
  const Comm comm = Comm::world(), alone = Comm::self();
  const std::shared_ptr<const LevelSet> phi0 = test::packing(12, 5.3, 32, true);
  std::vector<VolumeEvents> events;
  for (const Comm& ranks : {comm, alone}) {
    MovingWall wall(ranks, grid_of(32, 1, true), phi0);
    const Geometry a = wall.geometry();
    wall.move(test::uniform_speed(-1.0), 0.7);
    const Geometry b = wall.geometry();
    const VolumeEvents there = compare_volumes(ranks, a.levels[0], b.levels[0]);
    EXPECT_GT(there.gone, 100);
    EXPECT_GT(there.joined, 100);
    EXPECT_EQ(a.report.levels[0].vofs - there.gone > b.report.levels[0].vofs, true);
    const VolumeEvents back = compare_volumes(ranks, b.levels[0], a.levels[0]);
    EXPECT_EQ(back, (VolumeEvents{there.gone, there.born, there.split, there.joined}));
    events.push_back(there);
  }
  EXPECT_EQ(events[0], events[1]);
}

TEST(VolumeEvents, OtherGridsAreErrors) {
  const Comm comm = Comm::self();
  const auto phi = make_level_set(Sphere{Vec3::all(8.1), 4.0});
  const Geometry a = build_geometry(comm, grid_of(16, 1), *phi, KeepPores::all);
  const Geometry b = build_geometry(comm, grid_of(24, 1), *phi, KeepPores::all);
  EXPECT_TRUE(test::has(test::error_of([&] { compare_volumes(comm, a.levels[0], b.levels[0]); }), "grids differ"));
}

}  // namespace
}  // namespace karst::volume_events_test
