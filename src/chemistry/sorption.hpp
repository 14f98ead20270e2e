// SPDX-License-Identifier: BSD-3-Clause
// Exchangers and surfaces in contact with a solution.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chemistry/solution.hpp"

namespace karst {

/// Description of an exchanger or a surface.
struct SorbentOptions {
  std::string name;
  std::vector<std::string> sites;  ///< site of the database and its amount [mol/kgw]: "X 0.01"; a surface may have many
  bool surface = false;
  bool charged = false;  ///< its potential acts on its ions, held by a diffuse layer
  double area = 0.0;     ///< of a charged surface [m²/kgw]
};

/// "X 0.01". Throws Error with the reason if the text is invalid. Not collective.
struct SiteAmount {
  std::string site;
  double amount = 0.0;  ///< [mol/kgw]
};
SiteAmount parse_site(std::string_view text);

/// The sorbents as arguments of make_system(). Throws Error, with the sorbent's name, for sites of the other kind.
std::vector<Sorbent> sorbents_of(const Database& database, const std::vector<SorbentOptions>& options);

/// Conditions of the sites and of the charged surfaces, in the order of the basis.
std::vector<SolutionCondition> sites_of(const std::vector<SorbentOptions>& options);

/// The sorbents in equilibrium with a solution that is not changed. Throws Error if there is no equilibrium.
/// @param system  of the solution's elements and the sorbents
Speciation sorbed_state(const ChemicalSystem& system, const Speciation& solution,
                        const std::vector<SolutionCondition>& sites);

/// Tables for the terminal: species on each sorbent with their fraction of the sites, potential and charge of surfaces.
std::string sorption_text(const ChemicalSystem& system, const Speciation& state,
                          const std::vector<SorbentOptions>& options);

/// Lines as in solution_csv(), kinds: sorbed (of an element), sorbed_species, potential [V], surface_charge [C/m2].
/// @param when  before each kind: "", "equilibrium_"
std::string sorption_csv(const std::string& solution, const ChemicalSystem& system, const Speciation& state,
                         const std::vector<SorbentOptions>& options, const std::string& when = "");

}  // namespace karst
