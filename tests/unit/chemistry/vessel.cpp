// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/vessel.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <random>

#include "base/core/error.hpp"

namespace karst::vessel_test {
namespace {

const Database& shipped() {
  static const Database database = read_database(KARST_DATABASES "/phreeqc.dat");
  return database;
}

Vessel vessel(const std::string& ph, std::vector<std::string> totals, const VesselOptions& options) {
  SolutionOptions water;
  water.ph = ph;
  water.totals = std::move(totals);
  for (const EquilibriumOptions& o : options.equilibria) add_elements_of_phase(shipped(), o.phase, water);
  return make_vessel(shipped(), solve_solution(shipped(), water), options);
}

/// A phase with its index, amount and what of it PHREEQC finds to have dissolved.
struct Phase {
  const char* name;
  double index, amount, dissolved;
  bool dissolves = true, precipitates = true;
};

/// @param totals  [mol/kgw] after PHREEQC
void expect_equilibrium(const std::string& ph, const std::vector<std::string>& water, const std::vector<Phase>& phases,
                        const std::map<std::string, double>& totals, double ph_after, double tolerance,
                        const std::vector<SorbentOptions>& sorbents = {}) {
  VesselOptions options{sorbents, {}, {}};
  for (const Phase& p : phases)
    options.equilibria.push_back({p.name, p.name, p.index, p.amount, p.dissolves, p.precipitates});
  const Vessel v = vessel(ph, water, options);
  const BatchState state = equilibrate(v.medium, v.minerals, v.totals);
  EXPECT_NEAR(ph_of(state.solution), ph_after, tolerance);
  for (std::size_t k = 0; k < phases.size(); ++k) {
    EXPECT_NEAR(state.dissolved[k], phases[k].dissolved, tolerance * std::abs(phases[k].dissolved)) << phases[k].name;
    EXPECT_LE(state.dissolved[k], phases[k].amount);
  }
  const ChemicalSystem& system = v.medium.system;
  for (const auto& [element, total] : totals) {
    const int p = std::max(system.primary_of(element), system.primary_of(element.substr(0, element.find('('))));
    EXPECT_NEAR(total_of(system, state.solution, p), total, tolerance * total) << element;
  }
  for (int p = 0; p < system.n_primaries; ++p) {  // elements are where they were
    double there = total_of(system, state.solution, p) + sorbed_of(system, state.solution, p);
    for (std::size_t k = 0; k < phases.size(); ++k) there -= v.medium.minerals[k].brought[p] * state.dissolved[k];
    EXPECT_NEAR(there, v.totals[p], 1e-13) << p;
  }
}

const std::vector<std::string> acid{"Na 0.01", "Cl 0.01 charge"};
const std::vector<std::string> brine{"Na 0.5", "Cl 0.6 charge", "Ca 0.02", "Mg 0.03", "S(6) 0.02", "C(4) 2e-3"};

// PhreeqcRM 0.0.20, phreeqc.dat, 25 °C: EQUILIBRIUM_PHASES, with as much of H2O taken away or added as leaves a
// kilogram of water at the end: there its mass changes, by up to 8e-4 here.
constexpr double close = 1e-6;

TEST(Vessel, CalciteAndCarbonDioxide) {
  expect_equilibrium("7", {}, {{"Calcite", 0, 10, 5.433466548297e-4}, {"CO2(g)", -3.4, 10, 5.396785190488e-4}},
                     {{"Ca", 5.433466548273e-4}, {"C(4)", 1.083025173875e-3}}, 8.223748137495, close);
  expect_equilibrium("7", {}, {{"Calcite", 0, 10, 8.868373976807e-3}, {"CO2(g)", 0, 10, 4.260249928691e-2}},
                     {{"Ca", 8.868373976806e-3}, {"C(4)", 5.147087326372e-2}}, 6.007128031107, close);
  expect_equilibrium("3", acid, {{"Calcite", 0, 1e-2, 2.217863958470e-3}, {"CO2(g)", -2, 10, 1.444487711664e-3}},
                     {{"Ca", 2.217863958470e-3}, {"C(4)", 3.662351670133e-3}}, 7.285377590802, close);
}

TEST(Vessel, PhasesEndAndChangeIntoOthers) {
  expect_equilibrium("3", acid, {{"Calcite", 0, 1e-4, 1e-4}}, {{"Ca", 1e-4}}, 3.087057882942, close);
  expect_equilibrium("7", {"Na 0.5", "Cl 0.5"}, {{"Anhydrite", 0, 0.05, 0.05}, {"Gypsum", 0, 0, -1.296238547763e-2}},
                     {{"Ca", 3.703761452236e-2}, {"S(6)", 3.703761452236e-2}}, 7.033771854468, close);
}

TEST(Vessel, PhasesThatOnlyDissolveOrPrecipitate) {
  const std::vector<std::string> hard{"Ca 5e-3", "Na 0.02", "C(4) 8e-3", "Cl 0.01 charge"};
  expect_equilibrium("8.5", hard, {{"Calcite", 0, 10, 0.0, true, false}}, {{"Ca", 5e-3}}, 8.5, 1e-9);
  expect_equilibrium("8.5", hard, {{"Calcite", 0, 0, -1.593148957631e-3}},
                     {{"Ca", 3.406851042367e-3}, {"C(4)", 6.406851042366e-3}}, 6.965949843782, close);
  expect_equilibrium("3", acid, {{"Calcite", 0, 10, 0.0, false, true}}, {{"Na", 0.01}}, 3.0, 1e-9);
}

// Six phases, of which aragonite gives way to calcite; and two beside an exchanger.
TEST(Vessel, ManyPhasesInABrine) {
  expect_equilibrium("7", brine,
                     {{"Calcite", 0, 1, -1.910273402912e-1},
                      {"Dolomite", 0, 1, -4.466064285573e-3},
                      {"Gypsum", 0, 0.1, 1.780223133737e-2},
                      {"Aragonite", 0, 0.2, 0.2},
                      {"Quartz", 0, 1, 8.609297599726e-5},
                      {"CO2(g)", -2, 10, 1.349290767330e-4}},
                     {{"Ca", 4.230882676060e-2}, {"Mg", 2.553393571443e-2}, {"S(6)", 3.780223133737e-2}},
                     6.863426896446, close);
  expect_equilibrium("7", brine, {{"Calcite", 0, 1, -1.873112161266e-5}, {"Gypsum", 0, 0.1, 2.310104299573e-2}},
                     {{"Ca", 3.827398375081e-2}, {"Mg", 3.178767193224e-2}, {"S(6)", 4.310104299573e-2}},
                     6.948135815087, close, {{"clay", {"X 0.1"}}});
}

// All at once: EXCHANGE, SURFACE and EQUILIBRIUM_PHASES.
TEST(Vessel, ExchangerSurfaceAndPhases) {
  const std::vector<std::string> water{"Na 0.05", "K 0.002",    "Ca 0.003",      "Mg 0.001",
                                       "Zn 1e-5", "C(4) 0.001", "Cl 0.05 charge"};
  expect_equilibrium("7", water, {{"Calcite", 0, 0.1, 1.2397658238e-3}, {"CO2(g)", -2, 10, 1.4238810716e-3}},
                     {{"Zn", 1.0911689223e-5}}, 7.2375649241, close,
                     {{"clay", {"X 0.02"}}, {"Hfo", {"Hfo_w 2e-4", "Hfo_s 5e-6"}, true, true, 54.0}});
}

// Each phase brings the valence that it is made of, whatever other valences of the element are in the water. PHREEQC
// 3 (IPhreeqc), the shipped database, 25 °C; its electrons turn less than 1e-4 of what dissolves into other valences.
// The pH beside methane, which here is no acid, is that of pure water.
TEST(Vessel, PhasesOfOneValence) {
  const double near = 1e-4;
  expect_equilibrium("charge", {}, {{"NH3(g)", -3, 10, 6.362650e-2}}, {{"N(-3)", 6.362707e-2}}, 11.017921, near);
  expect_equilibrium("charge", {}, {{"H2S(g)", -2, 10, 1.0236218e-3}}, {{"S(-2)", 1.0236216e-3}}, 4.968065, near);
  expect_equilibrium("charge", {"Na 0.02", "S(6) 0.01"}, {{"H2S(g)", -2, 10, 1.021485e-3}},
                     {{"S(-2)", 1.021485e-3}, {"S(6)", 0.01}}, 5.047583, near);
  expect_equilibrium("charge", {}, {{"CH4(g)", 0, 10, 1.574547e-3}}, {{"C(-4)", 1.574541e-3}}, 6.997376, near);
  expect_equilibrium("2", {"Cl 0.01 charge"}, {{"Goethite", 0, 10, 3.80526e-7}}, {{"Fe(3)", 3.80497e-7}}, 2.000042,
                     near);
}

// Random waters with up to eight of fourteen phases, some of which are other forms of the same, little or none of them
// at the beginning: each is in equilibrium, or at the bound that it goes to.
TEST(Vessel, RandomPhasesComeToEquilibriumOrEnd) {
  const std::vector<std::string> all{"Calcite",      "Aragonite",  "Dolomite",  "Gypsum",  "Anhydrite",
                                     "Quartz",       "Chalcedony", "SiO2(a)",   "CO2(g)",  "Celestite",
                                     "Strontianite", "Gibbsite",   "Kaolinite", "Fluorite"};
  std::mt19937 random(19);
  const auto in = [&](double from, double to) { return std::uniform_real_distribution<double>(from, to)(random); };
  for (int k = 0; k < 200; ++k) {
    SolutionOptions water;
    water.ph = fmt::format("{}", in(3.0, 11.0));
    const double scale = in(-4.0, -1.0);
    for (const char* e : {"Na", "Ca", "Mg", "C(4)", "S(6)", "K", "Si", "Al", "Sr", "F"})
      water.totals.push_back(fmt::format("{} {}", e, std::pow(10.0, scale - in(0.3, 5.0))));
    water.totals.push_back(fmt::format("Cl {}", std::pow(10.0, scale)));
    VesselOptions options;
    std::vector<std::string> phases = all;
    std::ranges::shuffle(phases, random);
    phases.resize(1 + random() % 8);
    for (const std::string& phase : phases)
      options.equilibria.push_back({phase, phase, phase == "CO2(g)" ? in(-4.0, 0.0) : 0.0,
                                    in(0.0, 1.0) < 0.3 ? 0.0 : std::pow(10.0, in(-5.0, 0.5)), in(0.0, 1.0) < 0.9,
                                    in(0.0, 1.0) < 0.9});
    const Vessel v = make_vessel(shipped(), solve_solution(shipped(), water), options);
    const BatchState state = equilibrate(v.medium, v.minerals, v.totals);
    for (std::size_t m = 0; m < phases.size(); ++m) {
      const SurfaceReaction& r = v.medium.minerals[m];
      const double over =
          saturation_index(v.medium.system, state.solution, r.mineral.phase) * std::numbers::ln10 - r.ln_omega;
      const double left = v.minerals.amount[m] - state.dissolved[m];
      EXPECT_GE(left, 0.0) << k << ' ' << phases[m];
      const bool none_left = left == 0.0, still = state.dissolved[m] == 0.0;
      EXPECT_TRUE(over > -1e-8 || none_left || (!r.dissolves && still)) << k << ' ' << phases[m];
      EXPECT_TRUE(over < 1e-8 || (!r.precipitates && still)) << k << ' ' << phases[m];
    }
  }
}

}  // namespace
}  // namespace karst::vessel_test
