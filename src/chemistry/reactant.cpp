// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/reactant.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/core/error.hpp"

namespace karst {

namespace {

double count(const ChemicalFormula& formula, const std::string& element) {
  const auto at = formula.elements.find(element);
  return at == formula.elements.end() ? 0.0 : at->second;
}

/// The primary that an element of a formula counts as.
int primary_of_element(const ChemicalSystem& system, const std::string& element) {
  int found = -1;
  for (int p = 1; p < system.n_primaries; ++p) {
    const std::string& name = system.elements[p];
    if (element_name(name) != element) continue;
    require(found < 0, "{} is in the solution as {} and {}; name a phase of the valence to be added", element,
            system.elements[std::max(found, 0)], name);
    found = p;
  }
  require(found >= 0, "{} is not an element of the solution", element);
  return found;
}

/// Elements become primaries; what charge is left is H+, what oxygen is left water, which must leave no hydrogen over.
std::vector<double> totals_of_formula(const Database& database, const ChemicalSystem& system, const std::string& name) {
  const ChemicalFormula formula = parse_formula(name);
  std::vector<double> totals(system.n_primaries, 0.0);
  double charge = formula.charge, oxygen = count(formula, "O"), hydrogen = count(formula, "H");
  for (const auto& [element, n] : formula.elements) {
    if (element == "H" || element == "O") continue;
    const std::size_t p = primary_of_element(system, element);
    const ChemicalFormula& master = database.find_species(system.species[p].name)->formula;
    const double moles = n / count(master, element);
    totals[p] += n;
    charge -= moles * master.charge;
    oxygen -= moles * count(master, "O");
    hydrogen -= moles * count(master, "H");
  }
  totals[0] = charge;
  require(std::abs(hydrogen - 2.0 * oxygen - charge) < 1e-6,
          "its valences differ from those of the solution; redox reactions are not supported");
  return totals;
}

}  // namespace

Reactant parse_reactant(std::string_view text) {
  std::istringstream words{std::string(text)};
  Reactant reactant;
  std::string number, more;
  words >> reactant.name;
  require(!reactant.name.empty(), "an empty reactant; expected: a formula or a phase, and how much of it, \"HCl 1\"");
  if (words >> number) {
    char* end = nullptr;
    reactant.coefficient = std::strtod(number.c_str(), &end);
    require(*end == '\0' && std::isfinite(reactant.coefficient) && !(words >> more),
            "\"{}\" is not a reactant; expected: a formula or a phase, and how much of it, \"HCl 1\"", text);
  }
  return reactant;
}

void add_elements_of_reactant(const Database& database, const Reactant& reactant, SolutionOptions& options) {
  if (database.phase(reactant.name) != nullptr) return add_elements_of_phase(database, reactant.name, options);
  std::vector<std::string> there;
  for (const std::string& total : options.totals) {
    const std::string element = parse_total(total).element;
    there.push_back(element == "Alkalinity" ? "C" : element_name(element));
  }
  for (const auto& [element, n] : parse_formula(reactant.name).elements) {
    if (element == "H" || element == "O" || std::ranges::count(there, element) > 0) continue;
    require(database.master(element) != nullptr, "reactant {}: {} is neither a phase nor an element of database {}",
            reactant.name, element, database.name);
    options.totals.push_back(fmt::format("{} 0", element));
  }
}

std::vector<double> totals_of_reactants(const Database& database, const ChemicalSystem& system,
                                        const std::vector<Reactant>& reactants) {
  std::vector<double> all(system.n_primaries, 0.0);
  for (const Reactant& r : reactants) try {
      const int phase = system.phase(r.name);
      require(phase >= 0 || database.phase(r.name) == nullptr,
              "the phase contains elements that are not in the solution");
      const std::vector<double> totals = phase >= 0 ? make_equilibrium(system, r.name, phase, 0.0).brought
                                                    : totals_of_formula(database, system, r.name);
      for (std::size_t p = 0; p < all.size(); ++p) all[p] += r.coefficient * totals[p];
    } catch (const Error& e) {
      throw Error(fmt::format("reactant {}: {}", r.name, e.what()));
    }
  return all;
}

std::vector<BatchState> titrate(const Vessel& vessel, const std::vector<double>& added,
                                const std::vector<double>& amounts) {
  std::vector<BatchState> states;
  ReactiveMedium medium = vessel.medium;
  for (const double amount : amounts) try {
      std::vector<double> totals = vessel.totals;
      for (std::size_t p = 0; p < totals.size(); ++p) totals[p] += amount * added[p];
      states.push_back(equilibrate(medium, vessel.minerals, totals));
      states.back().time = amount;
      medium.start = states.back().solution;
    } catch (const Error& e) {
      throw Error(fmt::format("titration, {:g} mol/kgw added: {}", amount, e.what()));
    }
  return states;
}

}  // namespace karst
