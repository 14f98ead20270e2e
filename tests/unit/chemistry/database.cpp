// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/database.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>

#include "base/core/error.hpp"
#include "chemistry/chemical_system.hpp"
#include "chemistry/water.hpp"

namespace karst::database_test {
namespace {

constexpr double kelvin_25 = 298.15;

const Database& shipped() {
  static const Database database = read_database(KARST_DATABASES "/phreeqc.dat");
  return database;
}

std::string problem(const std::string& text) {
  try {
    parse_database(text, "test.dat");
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

const std::string small =
    "SOLUTION_MASTER_SPECIES\nH H+ -1 H 1.008\nO H2O 0 O 16\nCl Cl- 0 Cl 35.453\n"
    "SOLUTION_SPECIES\nH+ = H+\n-gamma 9 0\nH2O = H2O\nCl- = Cl-\n";

TEST(ChemicalFormula, ElementsAndChargeOfDatabaseNames) {
  const ChemicalFormula gypsum = parse_formula("CaSO4:2H2O");
  EXPECT_EQ(gypsum.elements, (std::map<std::string, double>{{"Ca", 1}, {"S", 1}, {"O", 6}, {"H", 4}}));
  const ChemicalFormula half = parse_formula("Ca0.5(CO3)0.5");
  EXPECT_DOUBLE_EQ(half.elements.at("O"), 1.5);
  EXPECT_EQ(parse_formula("Fe2(OH)2+4").charge, 4.0);
  EXPECT_EQ(parse_formula("Mg(SO4)2-2").charge, -2.0);
  EXPECT_EQ(parse_formula("Al+++").charge, 3.0);
  EXPECT_EQ(parse_formula("(CO2)2").elements.at("C"), 2.0);
  EXPECT_EQ(parse_formula("e-").charge, -1.0);
  EXPECT_EQ(species_name("Cu+1"), "Cu+");
  EXPECT_EQ(species_name("Al+++"), "Al+3");
  EXPECT_EQ(species_name("H4SiO4"), "H4SiO4");
  EXPECT_THROW(parse_formula("Ca(OH"), Error);
  EXPECT_THROW(parse_formula("ca+2"), Error);
}

TEST(ChemicalFormula, ReactionsBalance) {
  EXPECT_NO_THROW(check_balance(parse_reaction("CO3-2 + 2H+ = CO2 + H2O")));
  EXPECT_THROW(check_balance(parse_reaction("CO3-2 + H+ = CO2 + H2O")), Error);
  EXPECT_THROW(parse_reaction("CO3-2 + H+"), Error);
}

// verification.md G1: constants of phreeqc.dat at 25 °C from PHREEQC (PhreeqcRM 0.0.20), to 1e-3.
TEST(Database, ConstantsOfTheShippedDatabase) {
  const auto log_k = [](const char* name) { return shipped().find_species(name)->constant.log_k(kelvin_25); };
  EXPECT_NEAR(log_k("OH-"), -13.995, 1e-3);
  EXPECT_NEAR(log_k("HCO3-"), 10.329, 1e-3);
  EXPECT_NEAR(log_k("CO2"), 16.681, 1e-3);
  EXPECT_NEAR(log_k("CaCO3"), 3.225, 1e-3);
  EXPECT_NEAR(log_k("CaHCO3+"), 6.272, 1e-3);
  EXPECT_NEAR(shipped().phase("Calcite")->constant.log_k(kelvin_25), -8.448, 1e-3);
  EXPECT_EQ(shipped().master("C(4)")->species, "CO3-2");
  EXPECT_NEAR(shipped().gram_formula_weight(shipped().master("Alkalinity")->counted_as), 50.05, 0.01);
  EXPECT_TRUE(shipped().phase("CO2(g)")->is_gas());
}

TEST(Database, SeparatorsLineEndsAndForeignBytesMeanTheSame) {
  const std::string reaction = "H+ + Cl- = HCl\n-log_k -0.46; delta_h -1.1 kcal # caf\xe9\n-gamma 0 \\\n0.4256\n";
  std::string crlf;
  for (const char c : small + reaction) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  for (const std::string& text : {small + reaction, crlf}) {
    const Database database = parse_database(text, "test.dat");
    const DatabaseSpecies& hcl = *database.find_species("HCl");
    EXPECT_DOUBLE_EQ(hcl.constant.log_k_25, -0.46);
    EXPECT_DOUBLE_EQ(hcl.constant.enthalpy, -1.1 * 4.184);
    EXPECT_DOUBLE_EQ(hcl.linear, 0.4256);
    EXPECT_EQ(hcl.from.size(), 2U);
  }
}

// A database that counts hydrogen by another species than H+ would be misread: PHREEQC's iso.dat.
TEST(Database, HydrogenCountedByAnotherSpeciesIsRefused) {
  std::string other = small;
  other.replace(other.find("H H+"), 4, "H H3O+");
  const std::string said = problem(other);
  EXPECT_NE(said.find("line 2: H is counted by H3O+; expected: H+"), std::string::npos) << said;
  EXPECT_NE(said.find("iso.dat"), std::string::npos) << said;
  EXPECT_EQ(problem(small), "");
}

TEST(Database, MistakesNameLineAndEntry) {
  EXPECT_NE(problem(small + "H+ + Cl- = HCl\nlog_k abc\n").find("line 11: log_k: 'abc' is not a number"),
            std::string::npos);
  EXPECT_NE(problem(small + "2 H+ + Cl- = HCl\n").find("line 10: H does not balance"), std::string::npos);
  EXPECT_EQ(problem(small + "2 H+ + Cl- = HCl\n-no_check\n"), "");
  EXPECT_NE(problem(small + "PHASES\nSalt\nHCl = 2 H+ + Cl-\n").find("line 12: H does not balance"), std::string::npos);
  EXPECT_NE(problem(small + "LLNL_AQUEOUS_MODEL_PARAMETERS\n").find("not supported"), std::string::npos);
  EXPECT_NE(problem(small + "PITZER\n").find("PITZER"), std::string::npos);
  EXPECT_NE(problem("SOLUTION_MASTER_SPECIES\nCl Cl- 0 Cl 35.4\n").find("SOLUTION_SPECIES"), std::string::npos);
  EXPECT_NE(problem("no database").find("MASTER"), std::string::npos);
  EXPECT_THROW(read_database("no_such.dat"), Error);
}

TEST(Database, ConstantsFollowTheTemperature) {
  // CO3-2 + H+ = HCO3-: log_k 10.329, analytical expression of the database; at 60 °C by hand from its five terms.
  const double t = 333.15;
  const double expected = 107.8871 + 0.03252849 * t - 5151.79 / t - 38.92561 * std::log10(t) + 563713.9 / (t * t);
  EXPECT_NEAR(shipped().find_species("HCO3-")->constant.log_k(t), expected, 1e-12);
  // van 't Hoff: d log K / d(1/T) = -ΔH / (R ln 10), with the R of PHREEQC
  EquilibriumConstant k;
  k.log_k_25 = 1.0;
  k.enthalpy = 10.0;
  EXPECT_NEAR(k.log_k(308.15), 1.0 + 10.0 / (8.3147e-3 * std::log(10.0)) * (1.0 / 298.15 - 1.0 / 308.15), 1e-12);
}

TEST(Water, DensityPermittivityAndDebyeHueckel) {
  // CRC Handbook: 0.99705 g/cm³ and 0.98320 at 25 and 60 °C; permittivity 78.36 (25), 66.8 (60).
  EXPECT_NEAR(water_density(298.15), 0.99705, 1e-5);
  EXPECT_NEAR(water_density(333.15), 0.98320, 2e-5);
  EXPECT_NEAR(water_permittivity(298.15), 78.36, 0.05);
  EXPECT_NEAR(water_permittivity(333.15), 66.8, 0.2);
  // Usual values at 25 °C: A 0.509 to 0.511, B 0.328 to 0.329.
  EXPECT_NEAR(debye_hueckel(298.15).a, 0.510, 1e-3);
  EXPECT_NEAR(debye_hueckel(298.15).b, 0.3285, 5e-4);
}

// PhreeqcRM 0.0.20: RHO_0 and DH_A of its Basic in 1e-3 mol/kgw of NaCl. In strong brines it takes another density of
// pure water (decision 032).
TEST(Water, DensityAndDebyeHueckelArePhreeqcs) {
  struct Case {
    double celsius, density, a;
  };
  for (const Case& c : {Case{5.0, 0.9999638829, 0.494241315}, Case{25.0, 0.9970430118, 0.510024789},
                        Case{50.0, 0.9880291191, 0.534578896}, Case{75.0, 0.9748371507, 0.564520925},
                        Case{98.0, 0.9597759775, 0.597013253}}) {
    EXPECT_NEAR(water_density(c.celsius + 273.15), c.density, 1e-7);
    EXPECT_NEAR(debye_hueckel(c.celsius + 273.15).a, c.a, 3e-8);
  }
}

TEST(Water, FugacityOfCarbonDioxide) {
  // Second virial coefficient of CO2 at 25 °C: -123 cm³/mol (Dymond and Smith 1980), so φ = exp(B p / R T) near 0.995.
  EXPECT_NEAR(fugacity_coefficient(298.15, 1.0, 304.2, 72.86, 0.225), 0.995, 1e-3);
  EXPECT_NEAR(fugacity_coefficient(298.15, 1e-6, 304.2, 72.86, 0.225), 1.0, 1e-7);
}

TEST(ChemicalSystem, HoldsWhatItsElementsMake) {
  const ChemicalSystem system = make_system(shipped(), {"Ca", "C(4)"}, kelvin_25);
  ASSERT_EQ(system.n_primaries, 3);
  std::vector<std::string> names;
  for (const SystemSpecies& s : system.species) names.push_back(s.name);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"(CO2)2", "CO2", "CO3-2", "Ca+2", "CaCO3", "CaHCO3+", "CaOH+", "H+",
                                             "HCO3-", "OH-"}));
  EXPECT_GE(system.phase("Calcite"), 0);
  EXPECT_LT(system.phase("Gypsum"), 0);
}

TEST(ChemicalSystem, UnknownAndDoubleElementsAreNamed) {
  const auto text = [](const std::vector<std::string>& elements) -> std::string {
    try {
      make_system(shipped(), elements, kelvin_25);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(text({"Xx"}).find("Xx"), std::string::npos);
  EXPECT_NE(text({"C", "C(4)"}).find("are the same"), std::string::npos);
  EXPECT_NE(text({"O"}).find("pH"), std::string::npos);
}

TEST(Database, WhatIsNotUsedIsNamed) {
  const std::string unused = left_out(read_database(KARST_DATABASES "/phreeqc.dat"));
  for (const char* word : {"MEAN_GAMMAS", "RATES"}) EXPECT_NE(unused.find(word), std::string::npos) << unused;
  EXPECT_EQ(unused.find("RATES"), unused.rfind("RATES")) << unused;
  EXPECT_EQ(left_out(parse_database(small, "small")), "");
}

/// Writes it into a file of this name; removes it in the end.
struct File {
  File(const std::string& name, const std::string& text) : path(testing::TempDir() + name) {
    std::ofstream(path) << text;
  }
  ~File() { std::remove(path.c_str()); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path;
};

// What a second file defines again takes the place of the first one's; its mistakes name it, and its own line.
TEST(Database, AdditionsComeBehindTheDatabase) {
  const File first("first.dat", small + "H+ + Cl- = HCl\nlog_k 1\n"),
      more("more.dat",
           "SOLUTION_MASTER_SPECIES\nBr Br- 0 Br 79.9\nSOLUTION_SPECIES\nBr- = Br-\nH+ + Cl- = HCl\nlog_k 2\n"),
      wrong("wrong.dat", "SOLUTION_SPECIES\n2 H+ + Cl- = HCl\n"), loose("loose.dat", "log_k 3\n");
  const Database plain = read_database(first.path), both = read_database(first.path, {more.path});
  EXPECT_EQ(plain.find_species("HCl")->constant.log_k_25, 1.0);
  EXPECT_EQ(both.find_species("HCl")->constant.log_k_25, 2.0);
  EXPECT_EQ(plain.master("Br"), nullptr);
  EXPECT_EQ(both.master("Br")->species, "Br-");
  EXPECT_EQ(both.masters.size(), plain.masters.size() + 1);
  EXPECT_NE(both.fingerprint, plain.fingerprint);
  const auto said = [&](const std::string& last) -> std::string {
    try {
      read_database(first.path, {more.path, last});
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(said(wrong.path).find("wrong.dat: the reaction of line 2: H does not balance"), std::string::npos);
  EXPECT_NE(said(loose.path).find("loose.dat: contains no keyword"), std::string::npos);  // no option of HCl before
}

TEST(Database, AnotherTextHasAnotherFingerprint) {
  const std::string text(small);
  EXPECT_EQ(parse_database(text, "a").fingerprint, parse_database(text, "b").fingerprint);
  EXPECT_NE(parse_database(text, "a").fingerprint, parse_database(text + " ", "a").fingerprint);
}

// What sorbs, or what it sorbs to, in the block of something else is found with its line: each of these crashed, or
// would have made a solution of it.
TEST(Database, EntriesInTheWrongBlockAreNamed) {
  const std::string exchanger = "EXCHANGE_MASTER_SPECIES\nX X-\nEXCHANGE_SPECIES\nX- = X-\n",
                    surface = "SURFACE_MASTER_SPECIES\nHfo_w Hfo_wOH\nSURFACE_SPECIES\nHfo_wOH = Hfo_wOH\n";
  EXPECT_EQ(problem(small + exchanger + "SOLUTION_SPECIES\nH+ + X- = HX\n"),
            "database test.dat, line 15: HX holds the site X of an exchanger; it belongs under EXCHANGE_SPECIES");
  EXPECT_EQ(problem(small + exchanger + "SURFACE_SPECIES\nH+ + X- = HX\n"),
            "database test.dat, line 15: HX holds the site X of an exchanger; it belongs under EXCHANGE_SPECIES");
  EXPECT_EQ(
      problem(small + surface + "SOLUTION_SPECIES\nHfo_wOH + H+ = Hfo_wOH2+\n"),
      "database test.dat, line 15: Hfo_wOH2+ holds the site Hfo_w of a surface; it belongs under SURFACE_SPECIES");
  EXPECT_EQ(
      problem(small + exchanger + "EXCHANGE_SPECIES\nH+ + Cl- = HCl\n"),
      "database test.dat, line 15: HCl under EXCHANGE_SPECIES holds no site of EXCHANGE_MASTER_SPECIES; it belongs "
      "under SOLUTION_SPECIES");
  EXPECT_EQ(problem(small + exchanger + "PHASES\nSalt\nHX = H+ + X-\n"),
            "database test.dat, line 16: Salt holds the site X of an exchanger; it belongs under EXCHANGE_SPECIES");
  EXPECT_EQ(problem(small + "EXCHANGE_MASTER_SPECIES\nX X-\nSOLUTION_SPECIES\nX- = X-\n"),
            "database test.dat, line 11: master species X- of X stands under SOLUTION_SPECIES (database test.dat, line "
            "13); it belongs under EXCHANGE_SPECIES");
  EXPECT_EQ(problem(small + exchanger + "SOLUTION_MASTER_SPECIES\nB X- 0 B 10.8\n"),
            "database test.dat, line 15: master species X- of B stands under EXCHANGE_SPECIES (database test.dat, line "
            "13); it belongs under SOLUTION_SPECIES");
  EXPECT_EQ(
      problem(small + "EXCHANGE_MASTER_SPECIES\nCl Cl-\n"),
      "database test.dat, line 11: Cl is an element of solutions (database test.dat, line 4); a site needs another "
      "name");
  EXPECT_EQ(problem(small + exchanger + surface + "EXCHANGE_SPECIES\nH+ + X- = HX\nSOLUTION_SPECIES\nH+ + Cl- = HCl\n"),
            "");
}

// Towers of brackets and numbers that are none end in a message.
TEST(ChemicalFormula, TowersAndBrokenNumbersAreRefused) {
  for (const std::string& text :
       {"Ca" + std::string(100'000, '('), std::string("Ca1.2.3"), "Ca" + std::string(400, '9')})
    EXPECT_THROW(parse_formula(text), Error) << text.substr(0, 20);
  std::string hydrate = "Ca";
  for (int n = 0; n < 100'000; ++n) hydrate += ":H2O";
  EXPECT_THROW(parse_formula(hydrate), Error);
}

}  // namespace
}  // namespace karst::database_test
