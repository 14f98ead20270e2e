// SPDX-License-Identifier: BSD-3-Clause
// Walls that are slow beside transport in time, and those that [chemistry] moves.
#include "app/walls/walls_job.hpp"
#include "support/errors.hpp"
#include "support/walls_runs.hpp"

namespace karst::slow_walls_test {
namespace {

using test::WallsRun;

// Transport in time stands still long before the wall has moved by half a cell: what passes without steps is as between
// steady states, against the closed form.
/// @returns  how far the wall is from where it should be, in cells
double error_where_time_passes(double displacement) {
  const PetscSession petsc;
  const WallsRun ran = test::run_walls(
      test::slab + fmt::format("[walls]\ndisplacement = {}\n[[walls.mineral]]\nmolar_volume = 1e-4\nmoles = 0.5\n"
                               "[time]\nend = 3e6\ndt = 50\n",
                               displacement));
  test::expect_balance(ran, 0.3);
  EXPECT_LT(ran.columns.at("time_s").size(), 3e6 / 50 / 10);
  return ran.last("dissolved_m3") / 64.0 - (test::slab_at(2.0, 5e-5, 3e6) - 12.7);
}
TEST(SlowWalls, TimePassesWhereTransportStandsStillAloneByDay) {
  EXPECT_LT(std::abs(error_where_time_passes(0.5)), 5e-3);  // of 3.2 cells
}
TEST(SlowWallsMpi, TimePassesInSmallerMovesOfTheWallAtNight) { error_where_time_passes(0.25); }

// A wall that moves by half a cell in some forty steps: transport stands still after ten of them, and the rest passes
// at once, as in shorter steps (255 steps before, 158 with half the length). Lines of steps after which it moves have
// their length and what the wall took in them (both 0 before).
TEST(SlowWalls, TimePassesBesideLongSteps) {
  const PetscSession petsc;
  const WallsRun ran = test::run_walls(test::slab +
                                       "[walls]\n[[walls.mineral]]\nmolar_volume = 1e-2\nmoles = 0.5\n"
                                       "[time]\nend = 25000\ndt = 100\n");
  test::expect_balance(ran, 0.5);  // where time has passed the wall is where it ought to be, and next moves by this
  EXPECT_LT(ran.columns.at("time_s").size(), 120U);
  EXPECT_NEAR(ran.last("dissolved_m3") / 64.0, test::slab_at(2.0, 5e-3, 25000.0) - 12.7, 0.03);
  for (std::size_t i = 1; i < ran.transport.at("time_s").size(); ++i) {
    EXPECT_GT(ran.transport.at("dt_s")[i], 0.0) << i;
    EXPECT_GT(ran.transport.at("acid_wall_C_m3_s")[i], 0.0) << i;
  }
}

// Where the wall moves little while a change goes through the domain, concentrations at it are those at the wall of the
// ground, so that transport stands still although the wall goes on (682 steps; with the wall of the moles 13 847).
TEST(SlowWalls, AGrainInAFlow) {
  const PetscSession petsc;
  const WallsRun ran = test::run_walls(test::sphere_solid({8.3, 4.1, 3.9}, 3) + test::cells_along_x({24, 8, 8}) +
                                       "box = 8\n" + test::estimated_flow + R"(
[transport]
diffusivity = 0.5
[[transport.component]]
name = "acid"
inlet = 1
[[transport.wall]]
rate = 0.5
[[walls.mineral]]
molar_volume = 5e-4
[time]
end = 6e3
)");
  test::expect_balance(ran, 0.3);
  EXPECT_LT(ran.columns.at("time_s").size(), 1000U);
  // Also in the lines of steps after which walls have moved, and of time that passed (rates of 0 before).
  for (std::size_t i = 0; i < ran.columns.at("time_s").size(); ++i) {
    if (ran.columns.at("time_s")[i] < 100.0) continue;
    EXPECT_GT(ran.columns.at("solid_rate_m3_s")[i], 1e-3) << i;
    EXPECT_GT(ran.columns.at("largest_speed_m_s")[i], 1e-5) << i;
  }
  EXPECT_NEAR(ran.last("dissolved_m3"), 47.0,
              0.5);  // with molar volumes of 2e-3 to 2e-5 and as much longer: 46.91 to 47.06
}

// A rate that depends on nothing: the wall recedes by molar volume times rate times time, whether its reaction is
// coupled with diffusion or in turn, and its moles are those of the chemistry.
TEST(SlowWallsMpi, AMineralOfTheChemistryWithAGivenRate) {
  const PetscSession petsc;
  for (const double diffusivity : {1e-6, 1e-3}) {
    const WallsRun ran = test::run_walls(test::cells_along_x({24, 4, 4}) + fmt::format(R"(
[[geometry.solid]]
shape = "plane"
point = [12.7, 0, 0]
normal = [-1, 0, 0]
[transport]
axis = "x"
diffusivity = {}
[chemistry]
[[chemistry.solution]]
pH = 7
totals = ["Na 1e-2 charge", "Cl 1e-2"]
[[chemistry.mineral]]
phase = "Calcite"
wall = "solid"
rates = ["1e-10"]
[[walls.mineral]]
molar_volume = 1e4
[time]
end = 3e6
dt = 1e5
)",
                                                                                       diffusivity));
    test::expect_balance(ran, 0.3);
    EXPECT_NEAR(ran.last("dissolved_m3") / 16.0, 3.0, 1e-3) << diffusivity;
    EXPECT_NEAR(ran.chemistry.at("Calcite_dissolved_mol").back(), ran.last("dissolved_m3") / 1e4, 1e-12);
    EXPECT_NEAR(ran.last("solid_dissolved_mol"), ran.last("dissolved_m3") / 1e4, 1e-12);
  }
}

// Acid flows past a grain of calcite with all dissolved species, slowly compared with transport: time passes without
// steps, moles of the wall are those of the chemistry, and elements are conserved in each step.
TEST(SlowWalls, AGrainOfCalciteInAcid) {
  const PetscSession petsc;
  std::vector<double> dissolved;
  for (const double most : {0.5, 0.25}) {
    const WallsRun ran =
        test::run_walls(test::sphere_solid({8.3, 4.1, 0.5}, 2.6, "grain") + test::cells_along_x({20, 8, 1}) +
                        test::creeping_flow + test::waters + test::calcite +
                        fmt::format(R"(
[transport]
diffusivity = 0.5
[walls]
displacement = {}
[[walls.mineral]]
[time]
end = 5e4
)",
                                    most));
    const std::vector<double>& time = ran.columns.at("time_s");
    EXPECT_LT(time.size(), 4000U) << "steps of transport alone: 1e5";
    test::expect_balance(ran, 0.3, "grain");
    const double volume = 36.9e-6;  // of Calcite in phreeqc.dat [m3/mol]
    dissolved.push_back(ran.last("dissolved_m3"));
    EXPECT_NEAR(ran.chemistry.at("Calcite_dissolved_mol").back() * volume / dissolved.back(), 1.0, 2e-3);
    for (const double x : ran.chemistry.at("Ca_imbalance")) EXPECT_LT(x, 1e-12);
    for (std::size_t i = 0; i < ran.chemistry.at("time_s").size(); ++i) {  // in, out and so on since the beginning
      const auto mol = [&](const char* what) { return ran.chemistry.at(fmt::format("Ca_{}_mol", what)).at(i); };
      EXPECT_NEAR(mol("in") - mol("out") + mol("released") + mol("by_walls"), mol("stored"),
                  1e-12 * std::max(mol("released"), mol("out")))
          << i;
    }
    EXPECT_NEAR(ran.chemistry.at("Ca_released_mol").back() / ran.chemistry.at("Calcite_dissolved_mol").back(), 1.0,
                1e-9);
    EXPECT_NEAR(ran.columns.at("pore_volumes").back(), ran.transport.at("pore_volumes").back(), 1e-9);
    EXPECT_NEAR(ran.chemistry.at("pore_volumes").back(), ran.transport.at("pore_volumes").back(), 1e-9);
    EXPECT_GT(dissolved.back(), 3.0);  // of 21.2
  }
  EXPECT_NEAR(dissolved[0] / dissolved[1], 1.0, 0.01);
}

// Transport in time ends in order, with its results, before the last pore closes.
TEST(SlowWalls, APoreThatClosesAloneByDay) {
  const PetscSession petsc;
  const WallsRun ran = test::run_walls(test::sphere_solid({6.3, 4.1, 4.0}, 3.2) + test::cells_along_x({16, 8, 8}) +
                                       test::creeping_flow + R"(
[transport]
diffusivity = 0.5
[[transport.component]]
name = "tracer"
inlet = 1
[[walls.mineral]]
speed = -0.02
[time]
end = 1000
)");
  test::expect_balance(ran, 0.6);
  EXPECT_LT(ran.last("time_s"), 200.0);
  EXPECT_GT(ran.last("permeability_x_m2"), 0.0);
  EXPECT_LT(ran.last("permeability_x_m2"), 0.05 * ran.first("permeability_x_m2"));
  EXPECT_EQ(ran.transport.at("time_s").size() + 1, ran.columns.at("time_s").size());
  ASSERT_FALSE(ran.result.warnings.empty());
  EXPECT_TRUE(test::has(ran.result.warnings.back(), "no pore percolates any more"));
}

// Of many steps the first, the last, and evenly spaced ones in between stay.
TEST(SlowWalls, LinesOfLongRuns) {
  Evolution evolution;
  EvolutionLine line;
  line.minerals.resize(1);
  evolution.states.push_back(line);
  for (int i = 1; i <= 5003; ++i) {
    line.time = i;
    add_step(line, evolution);
  }
  const std::vector<EvolutionLine>& states = evolution.states;
  EXPECT_EQ(evolution.steps, 5003);
  EXPECT_EQ(states.back().time, 5003.0);
  EXPECT_LE(states.size(), 1001U);
  for (std::size_t i = 0; i + 1 < states.size(); ++i) EXPECT_EQ(states[i].time, 8.0 * static_cast<double>(i));
  for (const EvolutionLine& state : states) EXPECT_EQ(state.minerals.size(), 1U);
}

TEST(SlowWalls, MistakesOfDecksWithChemistry) {
  const PetscSession petsc;
  const std::string deck = std::string(test::slab).substr(0, std::string(test::slab).find("[[transport.component]]")) +
                           "diffusivity = 0.1\n" + test::waters + "[time]\nend = 1\n[[walls.mineral]]\n";
  const std::string calcite = "[[chemistry.mineral]]\nphase = \"Calcite\"\nrates = [\"1\"]\n";
  const auto mistakes = [&](const std::string& more) { return test::error_of([&] { test::run_walls(deck + more); }); };
  EXPECT_TRUE(test::has(mistakes(""), "a [[chemistry.mineral]] on this wall"));
  EXPECT_TRUE(test::has(mistakes("component = \"Ca\"\nmolar_volume = 1\n"), "\"Ca\" is no component"));
  EXPECT_TRUE(test::has(mistakes("moles = 2\nmolar_volume = 1\n" + calcite + "wall = \"all\"\n"), "without effect"));
  EXPECT_TRUE(test::has(mistakes(calcite + "wall = \"all\"\n" + calcite + "name = \"other\"\nwall = \"solid\"\n"),
                        "lie on the same walls"));
  const std::string unknown = mistakes("[[chemistry.mineral]]\nphase = \"Nothing\"\nrates = [\"1\"]\nwall = \"all\"\n");
  EXPECT_TRUE(test::has(unknown, "Nothing"));
  EXPECT_FALSE(test::has(unknown, "walls.mineral"));
  EXPECT_TRUE(test::has(mistakes("speed = 1\n[walls]\nstandstill = 0.5\n"), "0 to 0.1"));
}

}  // namespace
}  // namespace karst::slow_walls_test
