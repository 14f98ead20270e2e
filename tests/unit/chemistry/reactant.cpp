// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/reactant.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/error.hpp"

namespace karst::reactant_test {
namespace {

const Database& shipped() {
  static const Database database = read_database(KARST_DATABASES "/phreeqc.dat");
  return database;
}

/// Totals of a mole, by element, in a solution that has the elements of `totals` and of the reactant.
std::map<std::string, double> totals_of(const std::string& reactant, const std::vector<std::string>& totals) {
  SolutionOptions options;
  options.totals = totals;
  add_elements_of_reactant(shipped(), parse_reactant(reactant), options);
  const Solution s = solve_solution(shipped(), options);
  const std::vector<double> all = totals_of_reactants(shipped(), s.system, {parse_reactant(reactant)});
  std::map<std::string, double> by_name;
  for (std::size_t p = 0; p < all.size(); ++p)
    if (all[p] != 0.0) by_name[s.system.elements[p]] = all[p];
  return by_name;
}

using Totals = std::map<std::string, double>;

// HCl is H+ and Cl-; NaOH takes an H+ of water; a phase is its reaction.
TEST(Reactant, IsMadeOfPrimaries) {
  EXPECT_EQ(totals_of("HCl", {"Na 0.1", "Cl 0.1"}), (Totals{{"H", 1.0}, {"Cl", 1.0}}));
  EXPECT_EQ(totals_of("NaOH 2", {"Na 0.1", "Cl 0.1"}), (Totals{{"H", -2.0}, {"Na", 2.0}}));
  EXPECT_EQ(totals_of("H2SO4", {"S(6) 0.1"}), (Totals{{"H", 2.0}, {"S(6)", 1.0}}));
  EXPECT_EQ(totals_of("NaHCO3", {"Na 0.1"}), (Totals{{"H", 1.0}, {"Na", 1.0}, {"C", 1.0}}));
  EXPECT_EQ(totals_of("CO2(g)", {"C(4) 0.1"}), (Totals{{"H", 2.0}, {"C(4)", 1.0}}));
  EXPECT_EQ(totals_of("Calcite 0.5", {}), (Totals{{"Ca", 0.5}, {"C", 0.5}}));
  EXPECT_EQ(totals_of("CaSO4:2H2O", {"Ca 0.1", "S(6) 0.1"}), (Totals{{"Ca", 1.0}, {"S(6)", 1.0}}));
}

TEST(Reactant, MistakesNameIt) {
  const auto problem = [](const std::string& reactant, const std::vector<std::string>& totals) -> std::string {
    try {
      totals_of(reactant, totals);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(problem("", {}).find("empty reactant"), std::string::npos);
  EXPECT_NE(problem("HCl x", {}).find("is not a reactant"), std::string::npos);
  EXPECT_NE(problem("QqCl", {}).find("reactant QqCl: Qq is neither"), std::string::npos);
  EXPECT_NE(problem("FeCl3", {"Fe(2) 1e-3", "Fe(3) 1e-3"}).find("Fe(2) and Fe(3)"), std::string::npos);
  EXPECT_NE(problem("FeCl3", {"Fe(2) 1e-3"}).find("redox reactions are not supported"), std::string::npos);
  EXPECT_NE(problem("CH4", {"C(4) 1e-3"}).find("redox reactions are not supported"), std::string::npos);
}

std::vector<BatchState> titrated(const Vessel& v, const std::vector<std::string>& reactants,
                                 const std::vector<double>& amounts) {
  std::vector<Reactant> all;
  for (const std::string& text : reactants) all.push_back(parse_reactant(text));
  return titrate(v, totals_of_reactants(shipped(), v.medium.system, all), amounts);
}

// PhreeqcRM 0.0.20, phreeqc.dat, 25 °C: REACTION, with as much of H2O as leaves a kilogram of water.
TEST(Titration, CarbonateWithAcid) {
  SolutionOptions water;
  water.ph = "10";
  water.totals = {"Na 0.01 charge", "C(4) 5e-3", "Ca 1e-4", "Cl 0"};
  const Vessel v = make_vessel(shipped(), solve_solution(shipped(), water), {});
  const std::vector<double> ph{7.325441288894, 6.160105159329, 3.391264763664, 2.572885821250};
  const std::vector<double> bicarbonate{4.538681002277e-3, 2.058885940741e-3, 5.978519551267e-6, 9.198837133147e-7};
  const std::vector<BatchState> states = titrated(v, {"HCl"}, {0.0025, 0.005, 0.0075, 0.01});
  const std::size_t i = v.medium.system.species_of("HCO3-");
  for (std::size_t k = 0; k < ph.size(); ++k) {
    EXPECT_NEAR(ph_of(states[k].solution), ph[k], 1e-7) << k;
    EXPECT_NEAR(states[k].solution.molality[i], bicarbonate[k], 1e-6 * bicarbonate[k]) << k;
  }
}

TEST(Titration, GypsumForms) {
  SolutionOptions water;
  water.totals = {"Na 0.01", "Cl 0.01 charge", "Ca 0", "S(6) 0"};
  const Vessel v = make_vessel(shipped(), solve_solution(shipped(), water), {{}, {}, {{"gypsum", "Gypsum", 0.0, 0.0}}});
  const std::vector<double> calcium{1.924510613251e-2, 2.179744511333e-2, 2.397081971274e-2};
  const std::vector<double> gypsum{7.548938674946e-4, 1.820255488667e-2, 3.602918028726e-2};
  const std::vector<BatchState> states = titrated(v, {"CaCl2 1", "Na2SO4 1"}, {0.02, 0.04, 0.06});
  for (std::size_t k = 0; k < calcium.size(); ++k) {
    EXPECT_NEAR(total_of(v.medium.system, states[k].solution, v.medium.system.primary_of("Ca")), calcium[k],
                1e-6 * calcium[k]);
    EXPECT_NEAR(-states[k].dissolved[0], gypsum[k], 1e-6 * gypsum[k]);
  }
}

}  // namespace
}  // namespace karst::reactant_test
