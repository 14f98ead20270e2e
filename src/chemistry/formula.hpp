// SPDX-License-Identifier: BSD-3-Clause
// Chemical formulas and reactions as PHREEQC's databases write them.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace karst {

/// "CaHCO3+": {Ca 1, H 1, C 1, O 3}, charge 1.
struct ChemicalFormula {
  std::map<std::string, double> elements;
  double charge = 0.0;
};

/// Elements and charge of "Fe+3", "SO4-2", "CaSO4:2H2O", "Ca0.5(CO3)0.5", "(CO2)2", "e-", "Al+++". Throws Error with
/// the reason if the text is invalid. Not collective.
ChemicalFormula parse_formula(std::string_view text);

/// The name that a species goes by: "Cu+" of "Cu+1", "Al+3" of "Al+++". Not collective.
std::string species_name(std::string_view text);

/// The element of a valence: "Fe" of "Fe(3)" and of "Fe". Not collective.
std::string element_name(std::string_view valence);

/// A term of a reaction: 2 H+.
struct ReactionTerm {
  std::string species;
  double coefficient = 1.0;
};

/// left = right, as written.
struct Reaction {
  std::vector<ReactionTerm> left, right;
};

/// "CO3-2 + 2 H+ = CO2 + H2O"; terms are apart by a plus between blanks, and a coefficient may touch its species
/// ("2H+"). Throws Error with the reason if the text is invalid. Not collective.
Reaction parse_reaction(std::string_view text);

/// Throws Error when elements or charge do not balance to 1e-3. Not collective.
void check_balance(const Reaction& reaction);

}  // namespace karst
