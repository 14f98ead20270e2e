// SPDX-License-Identifier: BSD-3-Clause
#include "ins/wall_drag.hpp"

#include <gtest/gtest.h>

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
  return wall_drag(solver.op(), force);
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

}  // namespace
}  // namespace karst
