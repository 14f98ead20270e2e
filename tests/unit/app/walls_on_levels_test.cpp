// SPDX-License-Identifier: BSD-3-Clause
// Walls that move under a finer level that follows them.
#include <gtest/gtest.h>

#include "app/job/moving_walls.hpp"
#include "support/walls_runs.hpp"

namespace karst::walls_on_levels_test {
namespace {

// The disc of inputs/dissolution on half of its cells, with the deck's cells at the wall. After 900 s its area is
// 2.28960e-4 cm² and its rate 4.48549e-8 mol/cm²/s (Molins et al., Comput. Geosci. 25 (2021) 1285, part II, by
// body-fitted finite elements). With 128 x 64 cells everywhere -0.14 and 0.12 %, with 64 x 32 -3.0 and 9.3 %.
TEST(WallsOnLevels, ADiscUnderALevelThatFollowsAtNight) {
  const PetscSession petsc;
  const test::WallsRun ran = test::run_walls(R"(
[[geometry.solid]]
shape = "cylinder"
center = [0.5e-3, 0.25e-3, 0]
axis = [0, 0, 1]
radius = 0.1e-3
mineral = "calcite"
[grid]
size = [1e-3, 0.5e-3, 1.5625e-5]
cells = [64, 32, 1]
periodic = [false, false, true]
levels = 2
[[grid.refine]]
where = "wall"
buffer = 4
[fluid]
viscosity = 1e-3
density = 1000.0
[flow]
model = "steady"
sides = "no-slip"
[[flow.inlet]]
side = "-x"
velocity = "1.2 mm/s"
[transport]
mode = "steady"
diffusivity = 1e-9
[[transport.component]]
name = "acid"
inlet = 10.0
[[transport.wall]]
mineral = "calcite"
rate = 8.91251e-4
[[walls.mineral]]
name = "calcite"
molar_volume = "36.9 cm3/mol"
[time]
end = 900
)");
  const double dissolved = ran.last("dissolved_m3");
  EXPECT_NEAR(dissolved - ran.last("moved_m3"), ran.last("owed_m3"), 1e-9 * dissolved);
  const double box = 1e-3 * 0.5e-3 * 1e4;  // cm²
  EXPECT_NEAR(box * (1.0 - ran.last("porosity")) / 2.28960e-4, 1.0, 0.003);
  EXPECT_NEAR(ran.last("calcite_rate_mol_m2_s") / 4.48549e-4, 1.0, 0.003);
  EXPECT_NEAR(ran.last("pore_volumes") * ran.first("porosity") / (900.0 * 1.2), 1.0, 1e-6);  // of the beginning
}

// Transport in time moves the wall, and the boxes around it follow: against the closed form, with the ledger of moles,
// and with fewer boxes than refined from the beginning to where the wall ends.
TEST(WallsOnLevelsMpi, TransportInTimeUnderALevelThatFollowsAloneByDay) {
  const PetscSession petsc;
  const std::string boxes = "box = 8\nlevels = 2\n[[grid.refine]]\nwhere = \"wall\"\nbuffer = 1\n";
  const test::WallsRun ran = test::run_walls(
      test::cells_along_x({24, 4, 4}) + boxes + test::slab.substr(test::slab.find("[[geometry.solid]]")) +
      "[[walls.mineral]]\nmolar_volume = 1e-4\nmoles = 0.5\n[time]\nend = 4.2e6\ndt = 2500\n");
  test::expect_balance(ran, 0.3);
  EXPECT_GT(ran.last("dissolved_m3"), 4.0 * 16.0);  // a box of the finer level
  EXPECT_LT(std::abs(ran.last("dissolved_m3") / 16.0 - (test::slab_at(2.0, 5e-5, 4.2e6) - 12.7)), 5e-3);
}

}  // namespace
}  // namespace karst::walls_on_levels_test
