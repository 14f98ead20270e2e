// SPDX-License-Identifier: BSD-3-Clause
// Deposits of [chemistry] on walls that move (decision 065).
#include "app/walls/wall_evolution.hpp"

#include <fstream>

#include "support/errors.hpp"
#include "support/shared_directory.hpp"
#include "support/walls_runs.hpp"

namespace karst::deposits_test {
namespace {

using test::WallsRun;

/// A wall at x = 12.7 of a mineral that dissolves with a rate that depends on nothing, 1 µm/s, and a product of the
/// salt of the water, of the same molar volume. Rates are so small that the water stays as it is.
struct Slab {
  Slab() {
    if (Comm::world().rank() == 0)
      std::ofstream(folder.path() + "/product.dat")
          << "PHASES\nProduct\n\tNaCl = Na+ + Cl-\n\tlog_k -4.4\n\t-Vm 1e10\n";
    Comm::world().any(false);
  }
  struct Keys {
    std::string product, time;
    std::string diffusivity = "1e-3", coupling = "as-needed", inlet = "salt", standstill = "1e-3";
  };
  std::string deck(const Keys& keys) const {
    return test::cells_along_x({24, 1, 1}) + R"(
[[geometry.solid]]
shape = "plane"
point = [12.7, 0, 0]
normal = [-1, 0, 0]
mineral = "host"
[transport]
axis = "x"
diffusivity = )" +
           keys.diffusivity + "\n[walls]\nstandstill = " + keys.standstill + "\n[chemistry]\nadditions = [\"" +
           folder.path() + "/product.dat\"]\ninitial = \"salt\"\ninlet = \"" + keys.inlet + "\"\nwalls = \"" +
           keys.coupling + "\"\n" + R"(
[[chemistry.solution]]
name = "salt"
pH = 7
totals = ["Na 1e-2 charge", "Cl 1e-2"]
[[chemistry.solution]]
name = "water"
pH = 7
totals = ["Na 1e-3 charge", "Cl 1e-3"]
[[chemistry.mineral]]
phase = "Calcite"
wall = "host"
rates = ["1e-10"]
[[chemistry.mineral]]
phase = "Product"
wall = "all"
deposit = true
)" + keys.product +
           R"(
[[walls.mineral]]
molar_volume = 1e4
[time]
)" + keys.time;
  }
  test::SharedDirectory folder{Comm::world()};
};

/// (Ω - 1) of the product in the salt.
double excess(const WallsRun& ran) {
  return std::pow(10.0, ran.chemistry.at("Product_saturation_index_mean").front()) - 1.0;
}

/// Moles of the product on the walls are those that it has not dissolved, in the chemistry and in the walls, of which
/// the volumes of all minerals are the growth of the fluid and what is owed.
void expect_ledger(const WallsRun& ran, const std::string& host) {
  for (std::size_t i = 0; i < ran.columns.at("time_s").size(); ++i) {
    const double product = ran.columns.at("Product_dissolved_m3")[i];
    const double dissolved = ran.columns.at("dissolved_m3")[i], owed = ran.columns.at("owed_m3")[i];
    EXPECT_NEAR(ran.columns.at(host + "_dissolved_m3")[i] + product, dissolved, 1e-9) << i;
    EXPECT_NEAR(ran.columns.at("moved_m3")[i] + owed, dissolved, 1e-9) << i;
    EXPECT_LT(std::abs(owed), 0.6) << i;
    EXPECT_NEAR(ran.columns.at("Product_volume_m3")[i], -product, 1e-9) << i;
    EXPECT_GE(ran.columns.at("Product_volume_m3")[i], -1e-9) << i;
  }
  const std::vector<double>&amount = ran.chemistry.at("Product_amount_mol"),
        &dissolved = ran.chemistry.at("Product_dissolved_mol");
  const double most = *std::ranges::max_element(amount);
  for (std::size_t i = 0; i < amount.size(); ++i) EXPECT_NEAR(amount[i], -dissolved[i], 1e-9 * most) << i;
  EXPECT_NEAR(ran.columns.at("Product_dissolved_mol").back(), dissolved.back(), 1e-9 * most);
  EXPECT_NEAR(ran.columns.at(host + "_dissolved_mol").back(), ran.chemistry.at("Calcite_dissolved_mol").back(),
              1e-9 * std::abs(ran.chemistry.at("Calcite_dissolved_mol").back()));
}

// The host dissolves and the product precipitates, both with constant rates: the wall moves by the sum of both.
TEST(DepositsMpi, ASlabWithConstantRates) {
  const PetscSession petsc;
  const Slab slab;
  for (const char* coupling : {"in-turn", "coupled"}) {
    const WallsRun ran = test::run_walls(slab.deck(
        {.product = "cover = 1e300\nrates = [\"3e-11\"]\n", .time = "end = 3e6\ndt = 1e5\n", .coupling = coupling}));
    expect_ledger(ran, "host");
    const double grown = 3e-11 * 1e4 * excess(ran) * 3e6;  // cells
    EXPECT_GT(grown, 0.9);
    EXPECT_NEAR(ran.last("host_dissolved_m3"), 3.0, 1e-3) << coupling;
    EXPECT_NEAR(ran.last("Product_volume_m3") / grown, 1.0, 1e-4);
    EXPECT_NEAR(ran.last("moved_m3"), 3.0 - grown, 0.3);
    EXPECT_NEAR(ran.last("Product_area_m2"), 0.0, 1e-9);  // of what covers
  }
}

// A product that covers the wall when it is as thick as L stops its dissolution: dl/dt = g, dx/dt = v (1 - l / L), so
// that x = v L / (2 g) in the end. In time that passes at once, too.
TEST(Deposits, ACoverStopsWhatIsBelowAloneByDay) {
  const PetscSession petsc;
  const Slab slab;
  for (const char* standstill : {"0", "1e-3"}) {
    const WallsRun ran = test::run_walls(slab.deck(
        {.product = "cover = 1.5\nrates = [\"3e-11\"]\n", .time = "end = 6e6\ndt = 3e4\n", .standstill = standstill}));
    expect_ledger(ran, "host");
    const double growth = 3e-11 * 1e4 * excess(ran);
    ASSERT_GT(growth * 6e6, 1.5);
    EXPECT_NEAR(ran.last("host_dissolved_m3"), 1e-6 * 1.5 / (2.0 * growth), 1e-3) << standstill;
    EXPECT_NEAR(ran.last("host_area_m2"), 0.0, 1e-9);
    EXPECT_NEAR(ran.last("Product_area_m2"), 1.0, 1e-9);
    EXPECT_EQ(ran.chemistry.at("Calcite_rate_mol_s").back(), 0.0);
  }
}

// Water that dissolves the product comes by diffusion: when the product has gone, to the last bit, nothing more of it
// dissolves, and the host is what the wall has lost.
TEST(Deposits, WhatDissolvesAgainEndsAloneByDay) {
  const PetscSession petsc;
  const Slab slab;
  for (const char* coupling : {"in-turn", "coupled"}) {
    const WallsRun ran = test::run_walls(slab.deck({.product = "cover = 1e300\nrates = [\"3e-11\"]\n",
                                                    .time = "end = 3e6\ndt = 6e3\n",
                                                    .diffusivity = "2e-4",
                                                    .coupling = coupling,
                                                    .inlet = "water"}));
    expect_ledger(ran, "host");
    const std::vector<double>& amount = ran.chemistry.at("Product_amount_mol");
    EXPECT_GT(*std::ranges::max_element(amount), 1e-7);
    EXPECT_EQ(amount.back(), 0.0) << coupling;
    EXPECT_EQ(ran.reactions.at("steps_without_coupled_solution").get<int>(), 0);
    EXPECT_EQ(ran.chemistry.at("Product_rate_mol_s").back(), 0.0);
    EXPECT_LT(ran.chemistry.at("Product_saturation_index_mean").back(), -0.1);
    EXPECT_NEAR(ran.last("dissolved_m3"), 3.0, 1e-3);
  }
}

// On a wall that stands: quartz bears the product, and is there again, as it was, when the product has gone.
TEST(Deposits, WhatStandsBearsADepositAloneByDay) {
  const PetscSession petsc;
  const Slab slab;
  std::string deck = slab.deck({.product = "cover = 1e300\nrates = [\"5e-10\"]\n",
                                .time = "end = 3e6\ndt = 6e3\n",
                                .diffusivity = "2e-4",
                                .inlet = "water"});
  const std::string host = "[[chemistry.mineral]]\nphase = \"Calcite\"\nwall = \"host\"\nrates = [\"1e-10\"]\n";
  deck.replace(deck.find(host), host.size(), "");
  const WallsRun ran = test::run_walls(deck);
  const std::vector<double>& volume = ran.columns.at("Product_volume_m3");
  EXPECT_GT(*std::ranges::max_element(volume), 0.4);
  EXPECT_EQ(ran.chemistry.at("Product_amount_mol").back(), 0.0);
  EXPECT_NEAR(ran.last("dissolved_m3"), 0.0, 1e-9);
  EXPECT_NEAR(ran.last("porosity"), 12.7 / 24.0, 1e-6);
}

TEST(Deposits, Mistakes) {
  const PetscSession petsc;
  const Slab slab;
  const auto mistakes = [&](const std::string& product) {
    return test::error_of([&] { test::run_walls(slab.deck({.product = product, .time = "end = 1\ndt = 1\n"})); });
  };
  EXPECT_TRUE(test::has(mistakes("rates = [\"1\"]\nfraction = 0\n"), "a deposit needs a surface"));
  EXPECT_TRUE(test::has(mistakes("rates = [\"1\"]\nname = \"host\"\n"), "is a mineral of the geometry, too"));
  EXPECT_TRUE(test::has(mistakes("rates = [\"1\"]\ncover = 0\n"), "cover"));
}

}  // namespace
}  // namespace karst::deposits_test
