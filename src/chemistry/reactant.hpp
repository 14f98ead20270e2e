// SPDX-License-Identifier: BSD-3-Clause
// What is added to a solution from outside: a titration.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chemistry/vessel.hpp"

namespace karst {

/// "HCl 1", "Calcite": a formula or a phase of the database, and how much of it a mole of what is added holds.
struct Reactant {
  std::string name;
  double coefficient = 1.0;
};
/// Throws Error with what is wrong. Not collective.
Reactant parse_reactant(std::string_view text);

/// Adds a total of 0 for every element that the solution does not name. Throws Error for elements that the database
/// does not have. Not collective.
void add_elements_of_reactant(const Database& database, const Reactant& reactant, SolutionOptions& options);

/// [primary] totals of a mole of what is added. Elements of formulas count as their one valence in the solution. Throws
/// Error where there are several, or where the formula is more oxidised or reduced than these: no electrons are
/// exchanged. Not collective.
std::vector<double> totals_of_reactants(const Database& database, const ChemicalSystem& system,
                                        const std::vector<Reactant>& reactants);

/// The vessel in equilibrium after each of the amounts has been added, each from the beginning [mol/kgw]; nothing else
/// reacts. BatchState::time is the amount. Throws Error, with the amount, where there is no equilibrium. Not
/// collective.
std::vector<BatchState> titrate(const Vessel& vessel, const std::vector<double>& added,
                                const std::vector<double>& amounts);

}  // namespace karst
