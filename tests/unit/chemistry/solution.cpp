// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/solution.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/core/error.hpp"

namespace karst::solution_test {
namespace {

const Database& shipped() {
  static const Database database = read_database(KARST_DATABASES "/phreeqc.dat");
  return database;
}

std::string problem(const SolutionOptions& options) {
  try {
    solve_solution(shipped(), options);
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

double index(const Solution& s, const char* phase) {
  return saturation_index(s.system, s.state, s.system.phase(phase));
}

double molality(const Solution& s, const std::string& name) {
  const auto at = std::ranges::find(s.system.species, name, &SystemSpecies::name);
  return s.state.molality[at - s.system.species.begin()];
}

// Major ions of example 1 of PHREEQC's manual. Figures: PhreeqcRM 0.0.20 with the same phreeqc.dat and the same totals.
TEST(Solution, SeaWater) {
  SolutionOptions options;
  options.ph = "8.22";
  options.units = "ppm";
  options.density = 1.023;
  options.totals = {"Ca 412.3", "Mg 1291.8", "Na 10768",  "K 399.1",
                    "Si 4.28",  "Cl 19353",  "S(6) 2712", "Alkalinity 141.682 as HCO3"};
  const Solution s = solve_solution(shipped(), options);
  EXPECT_NEAR(s.state.ionic_strength, 0.6736604705, 1e-6);
  EXPECT_NEAR(std::exp(s.state.ln_water), 0.9805931544, 1e-6);
  EXPECT_NEAR(total_of(s.system, s.state, 8), 0.002232636066, 1e-8);
  EXPECT_NEAR(index(s, "Calcite"), 0.7752407106, 1e-5);
  EXPECT_NEAR(index(s, "Aragonite"), 0.6633671859, 1e-5);
  EXPECT_NEAR(index(s, "Dolomite"), 2.4900430916, 1e-5);
  EXPECT_NEAR(index(s, "Gypsum"), -0.7212882147, 1e-5);
  EXPECT_NEAR(index(s, "Halite"), -2.4841241778, 1e-5);
  EXPECT_NEAR(index(s, "CO2(g)"), -3.3491106994, 1e-5);
  EXPECT_NEAR(molality(s, "CO3-2"), 4.123770925e-5, 1e-5 * 4.1e-5);
  EXPECT_NEAR(molality(s, "MgHCO3+"), 2.865388257e-4, 1e-5 * 2.9e-4);
}

// verification.md G6: example 1 of PHREEQC's manual, with the uranium that it defines itself, its redox couples as
// valences of their own. Figures: PhreeqcRM 0.0.20 with the same input, redox O(0)/O(-2) where it has couples.
TEST(Solution, SeaWaterWithItsTraces) {
  SolutionOptions options;
  options.ph = "8.22";
  options.units = "ppm";
  options.density = 1.023;
  options.totals = {"Ca 412.3",
                    "Mg 1291.8",
                    "Na 10768",
                    "K 399.1",
                    "Fe(3) 0.002",
                    "Mn(2) 0.0002",
                    "Si 4.28",
                    "Cl 19353",
                    "S(6) 2712",
                    "Alkalinity 141.682 as HCO3",
                    "N(5) 0.29 gfw 62.0",
                    "N(-3) 0.03 as NH4",
                    "O(0) 1.0 O2(g) -0.7",
                    "U(6) 3.3 ppb"};
  const Database database =
      read_database(KARST_DATABASES "/phreeqc.dat", {KARST_DATABASES "/../inputs/speciation/uranium.dat"});
  const Solution s = solve_solution(database, options);
  EXPECT_NEAR(s.state.ionic_strength, 0.673664759407, 1e-7);
  EXPECT_NEAR(std::exp(s.state.ln_water), 0.980589296893, 1e-8);
  const auto total = [&](const char* element) { return total_of(s.system, s.state, s.system.primary_of(element)); };
  EXPECT_NEAR(total("C"), 2.232496367701e-3, 1e-7 * 2.2e-3);
  EXPECT_NEAR(total("O(0)"), 4.377470677653e-4, 1e-6 * 4.4e-4);  // of oxygen atoms: twice the O2
  EXPECT_NEAR(total("N(-3)"), 1.723559549544e-6, 1e-7 * 1.7e-6);
  EXPECT_NEAR(total("Fe(3)"), 3.711422714005e-8, 1e-6 * 3.7e-8);
  EXPECT_NEAR(total("U(6)"), 1.436793458682e-8, 1e-7 * 1.4e-8);
  for (const auto& [phase, value] : {std::pair{"Calcite", 0.775205593660},
                                     {"Aragonite", 0.663332069005},
                                     {"Dolomite", 2.489973375225},
                                     {"Gypsum", -0.721292255449},
                                     {"Halite", -2.484123168651},
                                     {"CO2(g)", -3.349144660502},
                                     {"O2(g)", -0.700081382973},
                                     {"Quartz", -0.086306063226},
                                     {"Goethite", 6.078603553150},
                                     {"Talc", 6.055741740385}})
    EXPECT_NEAR(index(s, phase), value, 2e-7) << phase;
  for (const auto& [species, value] : {std::pair{"CO3-2", 4.123440635453e-5},
                                       {"HCO3-", 1.612530779011e-3},
                                       {"MgHCO3+", 2.865162020866e-4},
                                       {"CaSO4", 7.270742346889e-4},
                                       {"MnCl+", 1.089993400995e-9},
                                       {"Fe(OH)3", 2.771559623451e-8},
                                       {"NO3-", 4.847486213679e-6},
                                       {"NH4+", 1.580844675857e-6},
                                       {"O2", 2.188735338826e-4},
                                       {"UO2+2", 2.418273784861e-16},
                                       {"UO2OH+", 2.707008909788e-14},
                                       {"(UO2)2(OH)2+2", 1.139325955417e-21},
                                       {"(UO2)3(OH)5+", 1.485165088948e-23},
                                       {"UO2CO3", 6.401171467580e-12},
                                       {"UO2(CO3)2-2", 1.688188311875e-9},
                                       {"UO2(CO3)3-4", 1.267331779156e-8}})
    EXPECT_NEAR(molality(s, species), value, 1e-6 * value) << species;
}

TEST(Solution, UnitsAreOfTheSameAmount) {
  // 100 mg/L of Ca in a solution of 1.1 kg/L with 50 g/kgs of NaCl: per kilogram of solution 90.909 mg, of water /
  // 0.9499.
  const double weight = 40.08, gram_nacl = 50.0;
  const double kgw = 1.0 - 1e-3 * (gram_nacl + 0.1 / 1.1);
  SolutionOptions options;
  options.density = 1.1;
  const auto amount = [&](const std::string& text) {
    return amounts_per_water(shipped(), options,
                             {parse_total(text), parse_total("Na 19.669 g/kgs"), parse_total("Cl 30.331 g/kgs")})[0];
  };
  EXPECT_NEAR(amount("Ca 100 mg/L"), 0.1 / 1.1 / weight / kgw, 1e-12);
  EXPECT_NEAR(amount("Ca 90.909090909 ppm"), amount("Ca 100 mg/L"), 1e-12);
  EXPECT_NEAR(amount("Ca 90909.0909 ppb"), amount("Ca 100 mg/L"), 1e-12);
  EXPECT_NEAR(amount("Ca 2.4950099800 mmol/L"), amount("Ca 100 mg/L"), 1e-12);
  EXPECT_NEAR(amount("Ca 5 mmol/kgw"), 5e-3, 1e-18);
  EXPECT_NEAR(amounts_per_water(shipped(), options, {parse_total("Alkalinity 50 mg/kgw as CaCO3")})[0],
              0.05 * 2.0 / 100.09, 1e-7);
}

TEST(Solution, TotalsAsUsersWriteThem) {
  const SolutionTotal t = parse_total("C(4) 1e-3 mmol/L CO2(g) -3.4");
  EXPECT_EQ(t.element, "C(4)");
  EXPECT_EQ(t.units, "mmol/L");
  EXPECT_EQ(t.phase, "CO2(g)");
  EXPECT_DOUBLE_EQ(t.index, -3.4);
  EXPECT_TRUE(parse_total("Cl 0.1 charge").by_charge);
  EXPECT_EQ(parse_total("S(6) 10 as SO4").counted_as, "SO4");
  for (const char* bad : {"", "Ca", "Ca x", "Ca -1", "Ca 1 as", "Ca 1 charge Calcite 0", "Ca 1 Calcite 0 more"})
    EXPECT_THROW(parse_total(bad), Error) << bad;
}

TEST(Solution, MistakesNameTheEntry) {
  SolutionOptions options;
  options.name = "brine";
  const auto with = [&](std::vector<std::string> totals, const std::string& ph = "7") {
    options.totals = std::move(totals);
    options.ph = ph;
    return problem(options);
  };
  EXPECT_NE(with({"Caa 1"}).find("solution brine: element Caa is not in database"), std::string::npos);
  EXPECT_NE(with({"Ca 1e-3 lb/L"}).find("lb/L"), std::string::npos);
  EXPECT_NE(with({"Ca 1 meq/kgw"}).find("alkalinity only"), std::string::npos);
  EXPECT_NE(with({"Ca 1e-3 Calcite 0"}).find("phase Calcite contains elements"), std::string::npos);
  EXPECT_NE(with({"Ca 1e-3", "C(4) 1e-3 Calcit 0"}).find("did you mean Calcite"), std::string::npos);
  EXPECT_NE(with({"Cl 1 charge"}, "charge").find("not 2"), std::string::npos);
  EXPECT_NE(with({"Ca 1e-3"}, "20").find("outside -2 to 16"), std::string::npos);
  EXPECT_NE(with({"C(4) 1e-3", "Alkalinity 1e-3"}).find("C(4) is given twice"), std::string::npos);
  EXPECT_NE(with({"Cl 2000 g/kgs"}).find("weigh"), std::string::npos);
  // Acid with too little chloride: less than no sodium would balance it. The message can be tried in PHREEQC.
  EXPECT_NE(with({"Cl 0.01", "Na 0.1 charge"}, "1").find("SOLUTION 1"), std::string::npos);
}

// What add_elements_of_phase() makes of the totals of a solution.
std::vector<std::string> totals_with(const std::string& phase, std::vector<std::string> totals) {
  SolutionOptions options;
  options.totals = std::move(totals);
  add_elements_of_phase(shipped(), phase, options);
  return options.totals;
}

TEST(Solution, PhasesAddTheValenceThatTheyAreMadeOf) {
  using Totals = std::vector<std::string>;
  EXPECT_EQ(totals_with("Calcite", {}), (Totals{"C 0", "Ca 0"}));
  EXPECT_EQ(totals_with("Calcite", {"Alkalinity 1e-3"}), (Totals{"Alkalinity 1e-3", "Ca 0"}));
  EXPECT_EQ(totals_with("Goethite", {}), Totals{"Fe(3) 0"});
  EXPECT_EQ(totals_with("Goethite", {"Fe(3) 1e-6"}), Totals{"Fe(3) 1e-6"});
  EXPECT_EQ(totals_with("Goethite", {"Fe(2) 1e-3"}), (Totals{"Fe(2) 1e-3", "Fe(3) 0"}));
  EXPECT_EQ(totals_with("Siderite", {"Fe(3) 1e-6", "C(-4) 0"}), (Totals{"Fe(3) 1e-6", "C(-4) 0", "C(4) 0", "Fe(2) 0"}));
  EXPECT_EQ(totals_with("CH4(g)", {"Alkalinity 1e-3"}), (Totals{"Alkalinity 1e-3", "C(-4) 0"}));
  EXPECT_EQ(totals_with("CH4(g)", {"C 0", "Ca 0"}), (Totals{"C(4) 0", "Ca 0", "C(-4) 0"}));
  EXPECT_EQ(totals_with("O2(g)", {"Na 1"}), (Totals{"Na 1", "O(0) 0"}));
  EXPECT_EQ(totals_with("NH3(g)", {"N(0) 1e-4", "N(5) 1e-3"}), (Totals{"N(0) 1e-4", "N(5) 1e-3", "N(-3) 0"}));
  const auto refused = [](const std::string& phase, const Totals& totals) -> std::string {
    try {
      totals_with(phase, totals);
    } catch (const Error& e) {
      return e.what();
    }
    return "taken";
  };
  EXPECT_NE(refused("Pyrite", {}).find("transfers electrons (e-)"), std::string::npos) << refused("Pyrite", {});
  EXPECT_NE(refused("Goethite", {"Fe 1e-3"}).find("all Fe of the solution is Fe(2)"), std::string::npos);
  EXPECT_NE(refused("Goethit", {}).find("did you mean Goethite"), std::string::npos);
}

// Brine below an atmosphere with N2, O2 and CO2: N2 and O2 do not react. PHREEQC without N2: pH 5.618.
TEST(Solution, GasesThatDoNotReactChangeNoPH) {
  SolutionOptions brine;
  brine.ph = "charge";
  brine.units = "mol/L";
  brine.totals = {"Na 1.1", "Cl 1.1", "O(0) 1e-4 O2(g) -0.68", "N(0) 1e-4 N2(g) -0.1", "C(4) 1e-5 CO2(g) -3.5"};
  for (const char* phase : {"CO2(g)", "O2(g)", "N2(g)"}) add_elements_of_phase(shipped(), phase, brine);
  EXPECT_NEAR(ph_of(solve_solution(shipped(), brine).state), 5.618, 5e-4);
  // Beside another valence of carbon, alkalinity is of C(4).
  brine.ph = "8";
  brine.totals = {"Na 0.1", "Cl 0.1 charge", "Alkalinity 1e-3", "C(-4) 1e-3"};
  const Solution two = solve_solution(shipped(), brine);
  EXPECT_NEAR(total_of(two.system, two.state, two.system.primary_of("C(4)")), 1e-3, 1e-4);
}

// Totals that a start at amounts of primaries, CO3-2 in acid, overrates by 16 decades: the charge is found all the
// same.
TEST(Solution, AcidWatersFindTheirChargeFromAnyCarbonate) {
  for (const char* ph : {"2", "3", "4", "5"})
    for (const char* carbon : {"C(4) 1e-4", "C(4) 1e-3", "C(4) 1e-2"}) {
      SolutionOptions options;
      options.ph = ph;
      options.totals = {"Cl 0.2", "Na 0.01 charge", "Ca 1e-3", carbon};
      const Solution s = solve_solution(shipped(), options);
      EXPECT_LT(std::abs(charge_of(s.system, s.state)), 1e-12 * ions_of(s.system, s.state)) << ph << carbon;
      EXPECT_NEAR(total_of(s.system, s.state, s.system.primary_of("Cl")), 0.2, 1e-13);
    }
}

TEST(Solution, DoubtsAreTold) {
  SolutionOptions options;
  options.totals = {"Na 0.1", "Cl 0.1"};
  EXPECT_TRUE(solution_warnings(solve_solution(shipped(), options)).empty());
  options.density = 1.1;  // of no litre
  EXPECT_EQ(solution_warnings(solve_solution(shipped(), options)).size(), 1U);
  options.totals = {"Na 0.1", "Cl 0.11 mol/L charge"};
  EXPECT_TRUE(solution_warnings(solve_solution(shipped(), options)).empty());
  options.density = 1.0;
  options.totals = {"Na 2", "Cl 1"};
  EXPECT_EQ(solution_warnings(solve_solution(shipped(), options)).size(), 2U);
  // Without redox, iron is one valence; which one no pe says. Carbon is carbonate, whoever says it.
  options.totals = {"Fe 1e-5", "C 1e-3", "Na 0.1", "Cl 0.1 charge"};
  const std::vector<std::string> doubts = solution_warnings(solve_solution(shipped(), options));
  ASSERT_EQ(doubts.size(), 1U);
  EXPECT_NE(doubts[0].find("Fe is taken as Fe(2), not Fe(3)"), std::string::npos) << doubts[0];
  options.totals[0] = "Fe(2) 1e-5";
  EXPECT_TRUE(solution_warnings(solve_solution(shipped(), options)).empty());
}

TEST(Solution, TableHasEverySpeciesAndPhase) {
  SolutionOptions options;
  options.totals = {"Na 0.1", "Cl 0.1"};
  const Solution s = solve_solution(shipped(), options);
  const std::string csv = solution_csv(s, true);
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(csv, '\n')),
            1 + 7 + 2 + s.system.species.size() + s.system.phases.size());
  EXPECT_NE(solution_text(s, "phreeqc.dat").find("Halite"), std::string::npos);
}

}  // namespace
}  // namespace karst::solution_test
