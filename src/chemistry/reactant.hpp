// SPDX-License-Identifier: BSD-3-Clause
// Titration: additions to a solution.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chemistry/vessel.hpp"

namespace karst {

/// "HCl 1", "Calcite": a formula or a phase of the database, and its amount in a mole of the addition.
struct Reactant {
  std::string name;
  double coefficient = 1.0;
};
/// Throws Error with the reason if the text is invalid. Not collective.
Reactant parse_reactant(std::string_view text);

/// Adds a total of 0 for every element that is not in the solution. Throws Error for elements that the database does
/// not have. Not collective.
void add_elements_of_reactant(const Database& database, const Reactant& reactant, SolutionOptions& options);

/// [primary] totals of a mole of the addition. Elements of formulas have their valence in the solution. Throws Error if
/// there are several valences, or if the formula is more oxidised or reduced than these: electrons are not exchanged.
/// Not collective.
std::vector<double> totals_of_reactants(const Database& database, const ChemicalSystem& system,
                                        const std::vector<Reactant>& reactants);

/// The batch reactor in equilibrium after the addition of each amount to the initial state [mol/kgw]; nothing else
/// reacts. BatchState::time is the amount. Throws Error, with the amount, if there is no equilibrium. Not collective.
std::vector<BatchState> titrate(const Vessel& vessel, const std::vector<double>& added,
                                const std::vector<double>& amounts);

}  // namespace karst
