// SPDX-License-Identifier: BSD-3-Clause
#include "ins/wall_drag.hpp"

#include <gtest/gtest.h>

#include "eb/reservoir_level_set.hpp"
#include "support/flow_cases.hpp"

namespace karst {
namespace {

WallDrag drag_of(const Comm& comm, const Geometry& geometry, const Vec3& force) {
  StokesOptions options;
  options.krylov.tolerance = 1e-9;
  StokesSolver solver(comm, geometry, {}, options);
  StokesDrive drive;
  drive.force = force;
  solver.solve(drive);
  return wall_drag(solver.op(), drive, {});
}

/// Between pressures on the ends of x, whose mean fall is 1 per cell.
WallDrag drag_between_ends(const Comm& comm, const Geometry& geometry, FlowSide side, int reservoir = 0) {
  FlowSides sides;
  sides.fill(side);
  sides[0] = sides[1] = FlowSide::pressure;
  StokesOptions options;
  options.krylov.tolerance = 1e-9;
  StokesSolver solver(comm, geometry, sides, options);
  const int n = geometry.grid.levels[0].layout.domain().cells[0];
  StokesDrive drive;
  drive.pressure[0] = n - 2.0 * reservoir;
  solver.solve(drive);
  return wall_drag(solver.op(), drive, {0, reservoir, n - reservoir});
}

// The parabola is exact between plates: all of the drive is friction.
TEST(WallDrag, OfPlatesIsTheDriveMpi) {
  const Comm comm = Comm::world();
  const test::Channel plates{8, 0, 1, [](double a, double) { return 2.0 - std::abs(a); }, 0.303, 8};
  const Geometry geometry = build_geometry(comm, test::flow_grid(plates.cells()), *plates.level_set(), KeepPores::all);
  const WallDrag drag = drag_of(comm, geometry, {1, 0, 0});
  EXPECT_NEAR(drag.drive[0], 8 * 4, 1e-6);
  EXPECT_LT(drag.imbalance(), 1e-5);
  EXPECT_NEAR(drag.pressure[0], 0.0, 1e-5);
}

TEST(WallDrag, OfSpheresBalancesTheDriveMpi) {
  const Comm comm = Comm::world();
  std::array<double, 2> off{};
  for (const int n : {16, 32}) {
    const WallDrag drag = drag_of(comm, test::sphere_array(comm, 0.125, n), {1, 0, 0});
    off[n == 32] = drag.imbalance();
    EXPECT_GT(drag.pressure[0], 0.0);
    EXPECT_GT(drag.viscous[0], drag.pressure[0]);
  }
  EXPECT_LT(off[1], 0.02);
  EXPECT_GT(std::log2(off[0] / off[1]), 0.9);
}

// The ends of the domain as plates: friction on them is all there is, and it is exact for parabolas.
TEST(WallDrag, OfNoSlipSidesIsTheDriveMpi) {
  const Comm comm = Comm::world();
  const Geometry geometry = build_geometry(comm, test::flow_grid({16, 8, 6}, {false, true, false}),
                                           *make_level_set(HalfSpace{{0, 0, -100}, {0, 0, 1}}), KeepPores::all);
  const WallDrag drag = drag_between_ends(comm, geometry, FlowSide::no_slip);
  EXPECT_NEAR(drag.drive[0], 16 * 8 * 6, 1e-6);
  EXPECT_NEAR(drag.sides[0], 16 * 8 * 6, 1e-4);
  EXPECT_EQ(drag.viscous[0], 0.0);
}

// Spheres cut by the ends and by the sides: pressure, friction on the spheres and on the sides, together the drive.
TEST(WallDrag, BetweenPressuresBalancesTheDriveMpi) {
  const Comm comm = Comm::world();
  for (const FlowSide side : {FlowSide::symmetry, FlowSide::no_slip}) {
    std::array<double, 2> off{};
    for (const int n : {16, 32}) {
      const Geometry geometry = build_geometry(comm, test::flow_grid(Index::all(n), {false, false, false}),
                                               *test::packing(12, 0.2 * n, n, true), KeepPores::connected);
      const WallDrag drag = drag_between_ends(comm, geometry, side);
      off[n == 32] = drag.imbalance();
      EXPECT_GT(drag.pressure[0], 0.1 * drag.drive[0]);
      EXPECT_GT(drag.viscous[0], 0.1 * drag.drive[0]);
      if (side == FlowSide::no_slip)
        EXPECT_GT(drag.sides[0], 0.01 * drag.drive[0]);
      else
        EXPECT_EQ(drag.sides[0], 0.0);
    }
    EXPECT_LT(off[1], 0.03);
    EXPECT_LT(off[1], 0.7 * off[0]);
  }
}

// With reservoirs the pressure falls over the sample; the faces of the grains that its ends cut take the rest.
TEST(WallDrag, WithReservoirsBalancesTheDriveMpi) {
  const Comm comm = Comm::world();
  const int n = 24, reservoir = 6;
  const std::unique_ptr<LevelSet> rock = between_reservoirs(test::packing(12, 0.2 * n, n, true), 0, reservoir, n);
  const Geometry geometry = build_geometry(comm, test::flow_grid({n + 2 * reservoir, n, n}, {false, false, false}),
                                           *rock, KeepPores::connected);
  const WallDrag drag = drag_between_ends(comm, geometry, FlowSide::symmetry, reservoir);
  EXPECT_LT(drag.imbalance(), 0.04);
  EXPECT_GT(drag.pressure[0], 0.1 * drag.drive[0]);
}

}  // namespace
}  // namespace karst
