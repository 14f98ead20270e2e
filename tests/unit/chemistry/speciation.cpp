// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/speciation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

namespace karst::speciation_test {
namespace {

using Kind = SolutionCondition::Kind;
constexpr double ln10 = std::numbers::ln10;

const Database& shipped() {
  static const Database database = read_database(KARST_DATABASES "/phreeqc.dat");
  return database;
}

double molality(const ChemicalSystem& system, const Speciation& state, const std::string& name) {
  const auto at = std::ranges::find(system.species, name, &SystemSpecies::name);
  return state.molality[at - system.species.begin()];
}

SolutionCondition saturated(const ChemicalSystem& system, const char* phase, double log_omega) {
  return {Kind::saturation, log_omega * ln10, system.phase(phase)};
}

Speciation solved(const ChemicalSystem& system, const std::vector<SolutionCondition>& conditions) {
  Speciation state = cold_start(system, conditions);
  SpeciationWorkspace work;
  EXPECT_TRUE(speciate(system, conditions, state, work)) << state.iterations;
  return state;
}

// verification.md G2, from PHREEQC (PhreeqcRM 0.0.20, phreeqc.dat, 25 °C): pH 0.01, totals 1 %.
TEST(Speciation, WaterWithCarbonDioxide) {
  const ChemicalSystem system = make_system(shipped(), {"C(4)"}, 298.15);
  const double phi = fugacity_coefficient(298.15, 1.0, 304.2, 72.86, 0.225);
  const Speciation state = solved(system, {{Kind::charge, 0.0}, saturated(system, "CO2(g)", std::log10(phi))});
  EXPECT_NEAR(ph_of(state), 3.911, 0.003);
  EXPECT_NEAR(molality(system, state, "CO2"), 3.384e-2, 0.003 * 3.384e-2);
}

TEST(Speciation, CalciteWithCarbonDioxide) {
  const ChemicalSystem system = make_system(shipped(), {"C(4)", "Ca"}, 298.15);
  struct Case {
    double log_p, ph, calcium, bicarbonate;
  };
  for (const Case& c : {Case{-0.00226, 6.007, 8.868e-3, 1.772e-2}, Case{-3.4, 8.224, 5.433e-4, 1.054e-3}}) {
    const Speciation state =
        solved(system, {{Kind::charge, 0.0}, saturated(system, "CO2(g)", c.log_p), saturated(system, "Calcite", 0.0)});
    EXPECT_NEAR(ph_of(state), c.ph, 0.01);
    EXPECT_NEAR(total_of(system, state, 2), c.calcium, 0.01 * c.calcium);
    EXPECT_NEAR(molality(system, state, "HCO3-"), c.bicarbonate, 0.01 * c.bicarbonate);
  }
}

// Charge and elements come back to 1e-12 (verification.md G4), and what a solution is found from does not matter.
TEST(Speciation, ConditionsAreExchangeable) {
  const ChemicalSystem system = make_system(shipped(), {"Na", "Cl", "Ca", "C(4)"}, 298.15);
  const Speciation by_ph = solved(system, {{Kind::activity, -8.1 * ln10},
                                           {Kind::total, 0.1},
                                           {Kind::charge, 0.0},
                                           {Kind::total, 1e-3},
                                           {Kind::alkalinity, 2e-3}});
  EXPECT_LT(std::abs(charge_of(system, by_ph)), 1e-12 * ions_of(system, by_ph));
  EXPECT_NEAR(alkalinity_of(system, by_ph), 2e-3, 2e-15);
  std::vector<SolutionCondition> totals;
  for (int p = 0; p < system.n_primaries; ++p) totals.push_back({Kind::total, total_of(system, by_ph, p)});
  const Speciation by_totals = solved(system, totals);
  EXPECT_NEAR(ph_of(by_totals), 8.1, 1e-9);
  for (std::size_t i = 0; i < by_ph.molality.size(); ++i)
    EXPECT_NEAR(by_totals.molality[i], by_ph.molality[i], 1e-9 * by_ph.molality[i]) << system.species[i].name;
  EXPECT_LT(std::abs(charge_of(system, by_totals)), 1e-11 * ions_of(system, by_totals));
}

TEST(Speciation, WarmStartIsDoneAtOnce) {
  const ChemicalSystem system = make_system(shipped(), {"Na", "Cl"}, 298.15);
  const std::vector<SolutionCondition> conditions{{Kind::charge, 0.0}, {Kind::total, 0.5}, {Kind::total, 0.5}};
  Speciation state = solved(system, conditions);
  SpeciationWorkspace work;
  EXPECT_TRUE(speciate(system, conditions, state, work));
  EXPECT_LE(state.iterations, 1);
}

// verification.md G5: ten thousand random solutions, pH 0 to 14, totals over nine decades, cold starts: none may fail,
// and every total is met to 1e-12.
TEST(Speciation, RandomSolutionsConvergeFromColdStarts) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  const std::vector<std::string> all{"Na", "Cl", "Ca", "C(4)", "Mg", "S(6)", "K", "Al", "Si", "Fe(3)", "P", "F"};
  SpeciationWorkspace work;
  int failed = 0, iterations = 0, solutions = 0;
  for (int n = 2; n <= 12; ++n) {
    const ChemicalSystem system = make_system(shipped(), {all.begin(), all.begin() + n}, 298.15);
    for (int k = 0; k < 910; ++k) {
      std::vector<SolutionCondition> conditions{{Kind::activity, -14.0 * unit(random) * ln10}};
      for (int p = 1; p <= n; ++p) conditions.push_back({Kind::total, std::pow(10.0, -9.0 + 8.7 * unit(random))});
      Speciation state = cold_start(system, conditions);
      const bool good = speciate(system, conditions, state, work);
      failed += good ? 0 : 1;
      iterations += state.iterations;
      ++solutions;
      for (int p = 1; good && p <= n; ++p) {
        const double total = conditions[p].value;
        ASSERT_NEAR(total_of(system, state, p), total, 1e-11 * total) << n << ' ' << k;
      }
    }
  }
  EXPECT_EQ(failed, 0);
  EXPECT_GE(solutions, 10000);
  EXPECT_LT(iterations, 30 * solutions);
}

}  // namespace
}  // namespace karst::speciation_test
