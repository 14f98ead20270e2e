// SPDX-License-Identifier: BSD-3-Clause
// Solutions drawn at random and solved from cold starts, a line of JSON each, for tests/cases/phreeqc.py to compare.
//   karst-random-solutions DATABASE SOLUTIONS
// 25 °C, every other one 2 to 98 °C, pH 0 to 14, 2 to 12 elements beside H and O, ionic strength up to 2 mol/kgw; each
// solution has a scale between 1e-8 and 1 mol/kgw, and each element up to four decades below it. Ends with status 1
// when one does not converge.
#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "base/file/json.hpp"
#include "chemistry/speciation.hpp"

namespace {

using namespace karst;
using Kind = SolutionCondition::Kind;

constexpr double strongest = 2.0;

Json line_of(const ChemicalSystem& system, const std::vector<SolutionCondition>& conditions, const Speciation& state) {
  Json totals = Json::object(), ln_m = Json::object(), indices = Json::object();
  for (int p = 1; p < system.n_primaries; ++p) totals[system.elements[p]] = conditions[p].value;
  for (std::size_t s = 0; s < system.species.size(); ++s) ln_m[system.species[s].name] = std::log10(state.molality[s]);
  for (std::size_t p = 0; p < system.phases.size(); ++p)
    if (!system.phases[p].is_gas) indices[system.phases[p].name] = saturation_index(system, state, static_cast<int>(p));
  return Json{{"temperature", system.kelvin - 273.15},
              {"pH", ph_of(state)},
              {"totals", totals},
              {"ionic_strength", state.ionic_strength},
              {"log10_water", state.ln_water / std::numbers::ln10},
              {"log10_molality", ln_m},
              {"saturation", indices}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return fmt::print(stderr, "karst-random-solutions DATABASE SOLUTIONS\n"), 2;
  const Database database = read_database(argv[1]);
  const std::vector<std::string> all{"Na", "Cl", "Ca", "C(4)", "Mg", "S(6)", "K", "Al", "Si", "Fe(3)", "P", "F"};
  std::mt19937 random(11);
  std::uniform_real_distribution<double> unit(0.0, 1.0);
  SpeciationWorkspace work;
  int failed = 0, written = 0;
  while (written < std::atoi(argv[2])) {
    const int n = 2 + static_cast<int>(11.0 * unit(random));
    std::vector<std::string> elements = all;
    std::ranges::shuffle(elements, random);
    elements.resize(n);
    const ChemicalSystem system =
        make_system(database, elements, written % 2 == 0 ? 298.15 : 275.15 + 96.0 * unit(random));
    std::vector<SolutionCondition> conditions{{Kind::activity, -14.0 * unit(random) * std::numbers::ln10}};
    const double scale = -8.0 * unit(random);
    for (int p = 1; p <= n; ++p) conditions.push_back({Kind::total, std::pow(10.0, scale - 4.0 * unit(random))});
    Speciation state = cold_start(system, conditions);
    if (!speciate(system, conditions, state, work)) {
      ++failed;
      continue;
    }
    if (state.ionic_strength > strongest) continue;
    fmt::print("{}\n", line_of(system, conditions, state).dump());
    ++written;
  }
  if (failed > 0) fmt::print(stderr, "{} solutions did not converge\n", failed);
  return failed > 0 ? 1 : 0;
}
