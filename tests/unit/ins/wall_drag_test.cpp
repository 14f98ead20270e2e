// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/wall_drag.hpp"

#include <gtest/gtest.h>

#include <map>

#include "eb/shapes/reservoir_level_set.hpp"
#include "grid/vof_loops.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::wall_drag_test {
namespace {

WallDrag drag_of(const Comm& comm, const Geometry& geometry, const Vec3& force) {
  StokesOptions options;
  options.krylov.tolerance = 1e-9;
  StokesSolver solver(test::composite_on(comm, geometry), {}, options);
  StokesDrive drive;
  drive.force = force;
  solver.solve(drive);
  return wall_drag(solver.op(), solver.values(), drive, {});
}

/// Between pressures on the ends of x, whose mean fall is 1 per cell.
WallDrag drag_between_ends(const Comm& comm, const Geometry& geometry, FlowSide side, int reservoir = 0) {
  FlowSides sides;
  sides.fill(side);
  sides[0] = sides[1] = FlowSide::pressure;
  StokesOptions options;
  options.krylov.tolerance = 1e-9;
  StokesSolver solver(test::composite_on(comm, geometry), sides, options);
  const int n = geometry.grid.levels[0].layout.domain().cells[0];
  StokesDrive drive;
  drive.at_end[0] = n - 2.0 * reservoir;
  solver.solve(drive);
  return wall_drag(solver.op(), solver.values(), drive, {0, reservoir, n - reservoir});
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

/// Of a velocity along x that is given at the cell centres, without pressure; z = 0 is a no-slip end, others are planes
/// of symmetry but x is periodic.
WallDrag drag_of_shear(const Comm& comm, const GridOptions& grid, const LevelSet& phi,
                       const std::function<double(const Vec3&)>& along_x) {
  const Geometry geometry = build_geometry(comm, grid, phi, KeepPores::all);
  FlowSides sides;
  sides.fill(FlowSide::symmetry);
  sides[4] = FlowSide::no_slip;
  StokesLevels op(test::composite_on(comm, geometry), sides);
  FlowValues values(op);
  for (int l = 0; l < op.n_levels(); ++l) {
    const LevelGraph& graph = op.level(l).geometry().graph;
    for (int b = 0; b < graph.n_local(); ++b)
      for_each_vof(graph.box(b), [&](int vof, int cell) {
        const Index at = graph.box(b).cells.cell(cell);
        values.level(l).x.box(b)[vof].v[0] =
            along_x(StokesLevels::width(l) * Vec3{at[0] + 0.5, at[1] + 0.5, at[2] + 0.5});
      });
  }
  std::vector<Quad> y(op.n_vofs());
  op.apply(values, y);
  return wall_drag(op, values, {}, {});
}

// A wall y + z = 6.3 that meets a no-slip end at z = 0. Velocities that grow linearly from one of the two put its area
// times their slope on it; beside upright walls the area is that of joined pieces as well.
TEST(WallDrag, OfShearIsTheAreaTimesTheSlopeMpi) {
  const Comm comm = Comm::world();
  const auto from_end = [](const Vec3& x) { return x[2]; };
  const GridOptions grid = test::flow_grid({4, 12, 8}, {true, false, false});
  const test::DistanceFunction wedge([](const Vec3& p) { return (p[1] + p[2] - 6.3) / std::sqrt(2.0); });
  const WallDrag of_wall = drag_of_shear(comm, grid, wedge, [](const Vec3& x) { return x[1] + x[2] - 6.3; });
  EXPECT_NEAR(of_wall.viscous[0], 4 * 6.3 * 2.0, 1e-5);
  EXPECT_NEAR(drag_of_shear(comm, grid, wedge, from_end).sides[0], 4 * (12.0 - 6.3), 1e-5);
  for (const double width : {6.1, 6.45, 6.8, 7.0}) {
    const test::DistanceFunction slit([=](const Vec3& p) { return std::min(p[1] - 0.3, 0.3 + width - p[1]); });
    EXPECT_NEAR(drag_of_shear(comm, grid, slit, from_end).sides[0], 4 * width, 1e-5) << width;
  }
}

// A rectangular duct between two walls, upright anywhere on the grid, and two no-slip ends.
TEST(WallDrag, OfDuctsIsTheDriveMpi) {
  const Comm comm = Comm::world();
  for (const int levels : {1, 2})
    for (const double width : {6.1, 6.45, 6.8, 7.0}) {
      GridOptions grid = test::flow_grid({4, 8, 6}, {true, true, false});
      if (levels == 2) grid = test::refined_in(grid, 1, {0, 0, 0}, {4, 4, 6});
      const test::DistanceFunction duct([=](const Vec3& p) { return std::min(p[1] - 0.3, 0.3 + width - p[1]); });
      const Geometry geometry = build_geometry(comm, grid, duct, KeepPores::all);
      FlowSides sides;
      sides.fill(FlowSide::no_slip);
      StokesOptions options;
      options.krylov.tolerance = 1e-9;
      StokesSolver solver(test::composite_on(comm, geometry), sides, options);
      const StokesDrive drive{{1, 0, 0}, {}};
      solver.solve(drive);
      const WallDrag drag = wall_drag(solver.op(), solver.values(), drive, {});
      EXPECT_NEAR(drag.drive[0], 4 * 6 * width, 1e-8) << levels;
      EXPECT_LT(drag.imbalance(), 1e-6) << levels << ' ' << width;
    }
}

// Spheres cut by the ends and by the sides: pressure, friction on the spheres and on the sides, together the drive.
// What is missing falls from grid to grid, but not evenly: with no-slip sides 1.3 % on 24 cells, 1.8 % on 32.
TEST(WallDrag, BetweenPressuresBalancesTheDriveMpi) {
  const Comm comm = Comm::world();
  for (const FlowSide side : {FlowSide::symmetry, FlowSide::no_slip}) {
    std::map<int, double> off;
    for (const int n : {12, 24, 32}) {
      const Geometry geometry = build_geometry(comm, test::flow_grid(Index::all(n), {false, false, false}),
                                               *test::packing(12, 0.2 * n, n, true), KeepPores::connected);
      const WallDrag drag = drag_between_ends(comm, geometry, side);
      off[n] = drag.imbalance();
      EXPECT_GT(drag.pressure[0], 0.1 * drag.drive[0]);
      EXPECT_GT(drag.viscous[0], 0.1 * drag.drive[0]);
      if (side == FlowSide::no_slip)
        EXPECT_GT(drag.sides[0], 0.01 * drag.drive[0]);
      else
        EXPECT_EQ(drag.sides[0], 0.0);
    }
    EXPECT_LT(off[24], 0.02);
    EXPECT_LT(off[24], 0.25 * off[12]);
    EXPECT_LT(off[32], 0.03);
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
}  // namespace karst::wall_drag_test
