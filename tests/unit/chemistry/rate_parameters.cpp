// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/rate_parameters.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/error.hpp"
#include "chemistry/implicit_reaction.hpp"
#include "chemistry/solution.hpp"
#include "support/errors.hpp"

namespace karst::rate_parameters_test {
namespace {

const Database& shipped() {
  static const Database database = read_database(KARST_DATABASES "/phreeqc.dat");
  return database;
}

const std::string master_species =
    "SOLUTION_MASTER_SPECIES\nH H+ -1 H 1.008\nO H2O 0 O 16\nSOLUTION_SPECIES\nH+ = H+\nH2O = H2O\n";

std::vector<DatabaseRate> rates() {
  std::vector<DatabaseRate> all = read_rates(KARST_DATABASES "/palandri-kharaka.dat");
  // albite after Hermanská et al. 2022, and magnesite after Palandri and Kharaka
  const Database others = parse_database(master_species +
                                             "RATE_PARAMETERS_HERMANSKA\n"
                                             "Albite -10.32 0.7 58 0.3 -11.19 0.21 60 -13.58 1.5e-5 50 -0.3\n"
                                             "RATE_PARAMETERS_PK\nMagnesite -6.38 14.4 1 -9.34 23.5 -5.22 62.8 1 33\n",
                                         "others");
  all.insert(all.end(), others.rates.begin(), others.rates.end());
  return all;
}

/// Of dissolution per surface, far from equilibrium: Σ k Π a^n.
double rate_of(const ChemicalSystem& system, const Speciation& state, const char* phase, const char* source) {
  MineralOptions options{phase, phase, 1.0, 1.0, {source}};
  take_rates(rates(), options);
  const KineticMineral mineral = make_mineral(system, options);
  return dissolution_rate(system, state, mineral) /
         -std::expm1(saturation_index(system, state, mineral.phase) * std::log(10.0));
}

// PhreeqcRM 0.0.20 with phreeqc.dat and these lines: RATE_PK and RATE_HERMANSKA at pH 5. It takes 2.303 x 8.314 for
// R ln 10 in the former, which is 3.5e-4 of a rate at 60 °C with an energy of 66 kJ/mol, and 8.314 for R in the latter,
// 1.35e-3 at 25 °C with 60 kJ/mol.
TEST(RateParameters, AreThoseOfPhreeqc) {
  struct Case {
    double celsius, calcite, albite, barite, hermanska, off;
  };
  for (const Case& c :
       {Case{25.0, 1.58960191272991e-5, 2.13117907854699e-12, 2.25892541179417e-8, 8.80733342249666e-12, 1e-9},
        Case{60.0, 9.91024473183097e-5, 3.35410999852901e-11, 8.33134986932668e-8, 1.06805005949782e-10, 3.5e-4}}) {
    SolutionOptions options;
    options.ph = "5";
    options.temperature = c.celsius;
    options.totals = {"Na 0.1",    "Cl 0.1 charge", "Al 1e-6", "Si 1e-4", "Ca 1e-3",
                      "C(4) 1e-3", "S(6) 1e-9",     "Ba 1e-9", "Mg 1e-9"};
    const Solution s = solve_solution(shipped(), options);
    EXPECT_NEAR(rate_of(s.system, s.state, "Calcite", "database") / c.calcite, 1.0, c.off);
    EXPECT_NEAR(rate_of(s.system, s.state, "Albite", "database") / c.albite, 1.0, c.off);
    EXPECT_NEAR(rate_of(s.system, s.state, "Barite", "database PK") / c.barite, 1.0, c.off);
    const double hermanska = rate_of(s.system, s.state, "Albite", "database HERMANSKA");
    EXPECT_NEAR(hermanska / c.hermanska, 1.0, 1.4e-3);
    const double rt = 8.314462618e-3 * (c.celsius + 273.15);
    EXPECT_NEAR(hermanska,
                0.7 * std::exp(-58.0 / rt) * std::pow(1e-5, 0.3) + 0.21 * std::exp(-60.0 / rt) +
                    1.5e-5 * std::exp(-50.0 / rt) * std::pow(1e-5, -0.3),
                1e-12 * hermanska);
  }
}

// By hand, fluorite at pH 3: 10^-7.14 a(H+) + 10^-13.79, both with 73 kJ/mol.
TEST(RateParameters, OfFluoriteByHand) {
  for (const double celsius : {25.0, 60.0}) {
    SolutionOptions options;
    options.ph = "3";
    options.temperature = celsius;
    options.totals = {"Na 0.1", "Cl 0.1 charge", "Ca 1e-6", "F 1e-6"};
    const Solution s = solve_solution(shipped(), options);
    const double arrhenius = std::exp(-73.0 / 8.314462618e-3 * (1.0 / (celsius + 273.15) - 1.0 / 298.15));
    const double by_hand = (7.2443596007e-8 * 1e-3 + 1.6218100974e-14) * arrhenius;
    EXPECT_NEAR(rate_of(s.system, s.state, "Fluorite", "database"), by_hand, 1e-9 * by_hand);
  }
}

// RATE_PK("pyrite") at pH 5, a(O2) = 5.12002e-5, a(Fe+3) = 3.44808e-11: 2.017235e-7.
TEST(RateParameters, OfPyriteGoWithOxygenAndIron) {
  const std::vector<std::string> paths =
      paths_of_palandri_kharaka({-7.52, 56.9, -0.5, 0.5, -4.55, 56.9, 0.5, -30, 0, 0, 35});
  ASSERT_EQ(paths.size(), 2U);
  SolutionOptions options;
  options.ph = "5";
  options.totals = {"Na 0.1", "Cl 0.1 charge", "O(0) 1e-4", "Fe(3) 1e-6"};
  const Solution s = solve_solution(shipped(), options);
  double sum = 0.0;
  for (const std::string& text : paths) {
    const RatePath path = parse_rate_path(s.system, text);
    double ln = path.ln_k;
    for (const auto& [species, n] : path.activity)
      ln += n * (s.system.species[species].name == "O2"     ? std::log(5.12001813400204e-5)
                 : s.system.species[species].name == "Fe+3" ? std::log(3.44808241451315e-11)
                                                            : std::log(1e-5));
    sum += std::exp(ln);
  }
  EXPECT_NEAR(sum, 2.01723500924019e-7, 1e-9 * 2e-7);
}

TEST(RateParameters, MistakesNameMineralAndLine) {
  const auto of = [&](const char* phase, const char* rate) {
    return test::error_of([&] {
      MineralOptions options{"grain", phase, 1.0, 1.0, {rate}};
      take_rates(rates(), options);
    });
  };
  EXPECT_NE(of("Calcit", "database").find("mineral grain: \"database\": Calcit has no rate parameters"),
            std::string::npos);
  EXPECT_NE(of("Calcit", "database").find("did you mean Calcite"), std::string::npos);
  EXPECT_NE(of("Calcite", "database HERMANSKA").find("Calcite has no rate parameters (HERMANSKA)"), std::string::npos);
  EXPECT_NE(of("Calcite", "database SVD").find("expected: \"database\", \"database PK\""), std::string::npos);
  EXPECT_EQ(of("Calcit", "1e-6"), "");
  EXPECT_NE(test::error_of([] {
              parse_database(master_species + "RATE_PARAMETERS_PK\nX 1 2\n", "d");
            }).find("line 8: 2 rate parameters"),
            std::string::npos);
  EXPECT_NE(test::error_of([] { read_rates(KARST_DATABASES "/phreeqc.dat"); }).find("neither RATE_PARAMETERS_PK"),
            std::string::npos);
}

// Calcite in acid under CO2: with a rate that goes with the fugacity of a gas the implicit step is that of its law.
TEST(RateParameters, GasesAreInTheImplicitReaction) {
  SolutionOptions options;
  options.ph = "5";
  options.totals = {"Na 0.1", "Cl 0.1 charge", "Ca 1e-3", "C(4) 1e-2"};
  const Solution s = solve_solution(shipped(), options);
  MineralOptions calcite{"calcite", "Calcite", 1.0, 1.0, {"database"}};
  take_rates(rates(), calcite);
  const ReactiveMedium medium = make_medium(s.system, {make_surface_reaction(s.system, calcite)}, s.state);
  std::vector<double> totals, share{3.0}, most{1.0}, extent{0.0};
  for (int p = 0; p < s.system.n_primaries; ++p) totals.push_back(total_of(s.system, s.state, p));
  Speciation state = s.state;
  ReactionWorkspace work;
  ASSERT_TRUE(solve_reaction(medium, {totals, share, most, extent}, state, work));
  EXPECT_NEAR(extent[0], 3.0 * dissolution_rate(s.system, state, medium.minerals[0].mineral), 1e-10 * extent[0]);
  EXPECT_GT(extent[0], 1e-6);
}

}  // namespace
}  // namespace karst::rate_parameters_test
