// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/sorption.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "base/core/error.hpp"
#include "chemistry/implicit_reaction.hpp"

namespace karst::sorption_test {
namespace {

const Database& shipped() {
  static const Database database = read_database(KARST_DATABASES "/phreeqc.dat");
  return database;
}

/// A kilogram of water with what sorbs from it, in equilibrium with it as it was.
struct Vessel {
  Solution water;
  ReactiveMedium medium;
  std::vector<double> totals;  ///< of water and sorbents
};

Vessel vessel(const std::string& ph, std::vector<std::string> totals, const std::vector<SorbentOptions>& sorbents) {
  SolutionOptions options;
  options.ph = ph;
  options.totals = std::move(totals);
  Vessel v{solve_solution(shipped(), options), {}, {}};
  const std::vector<std::string> elements(v.water.system.elements.begin() + 1, v.water.system.elements.end());
  ChemicalSystem system = make_system(shipped(), elements, 298.15, sorbents_of(shipped(), sorbents));
  Speciation state = sorbed_state(system, v.water.state, sites_of(sorbents));
  v.medium = make_medium(std::move(system), {}, std::move(state), sites_of(sorbents));
  for (int p = 0; p < v.medium.system.n_primaries; ++p)
    v.totals.push_back(total_of(v.medium.system, v.medium.start, p) + sorbed_of(v.medium.system, v.medium.start, p));
  return v;
}

/// The vessel after something has been added to it: moles by element; H of an acid is that of its H+.
Speciation after(const Vessel& v, const std::map<std::string, double>& added) {
  std::vector<double> totals = v.totals;
  for (const auto& [element, moles] : added) totals[v.medium.system.primary_of(element)] += moles;
  Speciation state = v.medium.start;
  ReactionWorkspace work;
  EXPECT_TRUE(solve_reaction(v.medium, {totals, {}, {}, {}}, state, work));
  for (std::size_t p = 0; p < totals.size(); ++p) {  // elements are where they were
    const double there =
        total_of(v.medium.system, state, static_cast<int>(p)) + sorbed_of(v.medium.system, state, static_cast<int>(p));
    EXPECT_NEAR(there, totals[p], 1e-12 * (std::abs(totals[p]) + 0.1));
  }
  return state;
}

void expect_species(const Vessel& v, const Speciation& state, const std::map<std::string, double>& molalities,
                    double tolerance) {
  for (const auto& [name, molality] : molalities) {
    const int i = v.medium.system.species_of(name);
    ASSERT_GE(i, 0) << name;
    EXPECT_NEAR(state.molality[i], molality, tolerance * molality) << name;
  }
}

const std::vector<std::string> brine{"Na 0.05", "K 0.002", "Ca 0.003", "Mg 0.001", "C(4) 0.001", "Cl 0.05 charge"};

// PhreeqcRM 0.0.20, phreeqc.dat, 25 °C: EXCHANGE in equilibrium with a solution, then 5 mmol of CaCl2.
TEST(Sorption, ExchangerAfterGainesAndThomas) {
  const Vessel v = vessel("7", brine, {{"clay", {"X 0.02"}}});
  expect_species(
      v, v.medium.start,
      {{"NaX", 5.426415550507e-3}, {"KX", 1.087890589440e-3}, {"CaX2", 5.575402805933e-3}, {"MgX2", 1.167444124094e-3}},
      1e-7);
  const Speciation calcium = after(v, {{"Ca", 0.005}, {"Cl", 0.01}});
  expect_species(
      v, calcium,
      {{"NaX", 4.046465074493e-3}, {"KX", 8.739116435239e-4}, {"CaX2", 6.714516468709e-3}, {"MgX2", 8.252950315261e-4}},
      1e-7);
  EXPECT_NEAR(ph_of(calcium), 6.989326119733, 1e-7);
  EXPECT_NEAR(total_of(v.medium.system, calcium, v.medium.system.primary_of("Ca")), 6.860886146142e-3, 1e-9);
  EXPECT_NEAR(sorbed_of(v.medium.system, calcium, v.medium.system.n_primaries), 0.02, 1e-14);
}

// Hydrous ferric oxide (Dzombak and Morel 1990) with zinc, calcium and sulphate at several pH, then 0.1 mmol of HCl:
// PhreeqcRM 0.0.20, phreeqc.dat, 25 °C: SURFACE with 600 m²/g, 0.09 g, with -no_edl and with its diffuse layer.
struct SurfaceCase {
  const char* ph;
  std::map<std::string, double> molalities;
  double psi, sigma;  ///< [V], [C/m²]
  double ph_after, zinc_after;
};

void expect_oxide(bool charged, const std::vector<SurfaceCase>& cases) {
  const SorbentOptions oxide{"Hfo", {"Hfo_w 2e-4", "Hfo_s 5e-6"}, true, charged, 600.0 * 0.09};
  for (const SurfaceCase& c : cases) {
    const Vessel v = vessel(c.ph, {"Na 0.1", "Ca 1e-3", "Zn 1e-5", "S(6) 1e-4", "Cl 0.1 charge"}, {oxide});
    expect_species(v, v.medium.start, c.molalities, 1e-6);
    const ChemicalSystem& system = v.medium.system;
    if (charged) {
      const double psi = v.medium.start.basis.back() * 8.3147 * 298.15 / 96493.5;
      EXPECT_NEAR(psi, c.psi, 1e-6 * c.psi) << c.ph;
      const std::string csv = sorption_csv("water", system, v.medium.start, {oxide});
      const std::string key = "surface_charge,Hfo,";
      EXPECT_NEAR(std::stod(csv.substr(csv.find(key) + key.size())), c.sigma, 2e-6 * c.sigma) << c.ph;
    }
    const Speciation acid = after(v, {{"H", 1e-4}, {"Cl", 1e-4}});
    EXPECT_NEAR(ph_of(acid), c.ph_after, 1e-5) << c.ph;
    EXPECT_NEAR(total_of(system, acid, system.primary_of("Zn")), c.zinc_after, 1e-5 * c.zinc_after) << c.ph;
  }
}

TEST(Sorption, SurfaceWithoutPotential) {
  expect_oxide(false, {{"4",
                        {{"Hfo_wOH", 1.025109918245e-7},
                         {"Hfo_wO-", 1.204399136491e-12},
                         {"Hfo_wOZn+", 3.517106077508e-11},
                         {"Hfo_sOHCa+2", 9.080304187055e-8},
                         {"Hfo_wSO4-", 1.693098233861e-8}},
                        0.0,
                        0.0,
                        3.743549420464,
                        1.000059362080e-5},
                       {"6",
                        {{"Hfo_wOH", 9.738864715470e-6},
                         {"Hfo_wOZn+", 3.338533701288e-7},
                         {"Hfo_sOZn+", 1.832216044730e-6},
                         {"Hfo_sOHCa+2", 2.020489010786e-6},
                         {"Hfo_wSO4-", 1.614417191420e-8}},
                        0.0,
                        0.0,
                        4.162770608495,
                        1.216387524464e-5},
                       {"8",
                        {{"Hfo_wOH", 4.655666290551e-5},
                         {"Hfo_wO-", 5.469930941383e-6},
                         {"Hfo_wOZn+", 1.363429714350e-4},
                         {"Hfo_wOCa+", 2.543966318658e-6},
                         {"Hfo_sOZn+", 4.933993662508e-6}},
                        0.0,
                        0.0,
                        7.135624352305,
                        4.975310561190e-5}});
}

TEST(Sorption, SurfaceWithDiffuseLayer) {
  expect_oxide(true, {{"4",
                       {{"Hfo_wOH", 4.758560264296e-6},
                        {"Hfo_wOH2+", 1.393567148968e-4},
                        {"Hfo_wOZn+", 2.452126843419e-11},
                        {"Hfo_sOHCa+2", 1.343467866407e-9},
                        {"Hfo_wSO4-", 5.232810031962e-5}},
                       1.078620113535e-1,
                       1.514505291085e-1,
                       3.750133389054,
                       1.000056776832e-5},
                      {"6",
                       {{"Hfo_wOH", 1.028138186015e-4},
                        {"Hfo_wOZn+", 1.373656464149e-7},
                        {"Hfo_sOZn+", 2.044199687052e-6},
                        {"Hfo_sOHCa+2", 8.785820806167e-8},
                        {"Hfo_wSO4-", 4.373002414387e-6}},
                       8.336390843865e-2,
                       9.167732425685e-2,
                       4.860271734640,
                       1.213666530362e-5},
                      {"8",
                       {{"Hfo_wOH", 8.949063627197e-5},
                        {"Hfo_wO-", 4.841338098092e-5},
                        {"Hfo_wOZn+", 5.691682820226e-5},
                        {"Hfo_wOCa+", 1.061987225212e-6},
                        {"Hfo_sOZn+", 4.973094328165e-6}},
                       3.923155900665e-2,
                       3.163473664030e-2,
                       6.946253862121,
                       4.848099651855e-5}});
}

// Random waters, exchangers and charged surfaces, a hundredth to a thousand times what is dissolved; then acid, base
// and salt: none fails, and elements stay (after()).
TEST(Sorption, RandomSorbentsTakeAcidBaseAndSalt) {
  std::mt19937 random(9);
  const auto in = [&](double from, double to) { return std::uniform_real_distribution<double>(from, to)(random); };
  for (int k = 0; k < 200; ++k) {
    const double sites = std::pow(10.0, in(-6.0, -0.5)), scale = in(-4.0, -1.0);
    std::vector<SorbentOptions> sorbents{{"clay", {fmt::format("X {}", std::pow(10.0, in(-6.0, 0.0)))}}};
    sorbents.push_back({"Hfo",
                        {fmt::format("Hfo_w {}", sites), fmt::format("Hfo_s {}", 0.02 * sites)},
                        true,
                        k % 2 == 0,
                        sites / 3.7e-6});
    std::vector<std::string> totals;
    for (const char* e : {"Na", "Ca", "Mg", "Zn", "C(4)", "S(6)", "P", "K"})
      totals.push_back(fmt::format("{} {}", e, std::pow(10.0, scale - in(0.0, 4.0))));
    totals.push_back(fmt::format("Cl {}", std::pow(10.0, scale)));
    const Vessel v = vessel(fmt::format("{}", in(3.0, 11.0)), totals, sorbents);
    const double added = std::pow(10.0, in(-6.0, -1.0));
    after(v, {{"H", added}, {"Cl", added}});
    after(v, {{"H", -added}, {"Na", added}});
    after(v, {{"Ca", added}, {"Cl", 2.0 * added}});
  }
}

TEST(Sorption, MistakesNameTheSorbent) {
  const auto problem = [](const std::vector<SorbentOptions>& sorbents) -> std::string {
    try {
      vessel("7", {"Na 0.1", "Cl 0.1"}, sorbents);
    } catch (const Error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(problem({{"clay", {"Y 0.02"}}}).find("clay: site Y is not in database"), std::string::npos);
  EXPECT_NE(problem({{"clay", {"X"}}}).find("\"X\" is not a site"), std::string::npos);
  EXPECT_NE(problem({{"clay", {"X 0"}}}).find("must be positive"), std::string::npos);
  EXPECT_NE(problem({{"clay", {"Hfo_w 1"}}}).find("clay: Hfo_w is a site of a surface"), std::string::npos);
  EXPECT_NE(problem({{"clay", {"X 1"}}, {"peat", {"X 1"}}}).find("peat: site X is given already"), std::string::npos);
}

TEST(Sorption, TablesNameEverySpecies) {
  const std::vector<SorbentOptions> sorbents{{"clay", {"X 0.02"}}};
  const Vessel v = vessel("7", brine, sorbents);
  const std::string text = sorption_text(v.medium.system, v.medium.start, sorbents);
  const std::string csv = sorption_csv("brine", v.medium.system, v.medium.start, sorbents);
  for (const char* name : {"NaX", "KX", "CaX2", "MgX2"}) {
    EXPECT_NE(text.find(name), std::string::npos) << text;
    EXPECT_NE(csv.find(std::string("brine,sorbed_species,") + name), std::string::npos) << csv;
  }
}

}  // namespace
}  // namespace karst::sorption_test
