// SPDX-License-Identifier: BSD-3-Clause
// Descriptions of solutions, and their composition.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "chemistry/chemical_system.hpp"
#include "chemistry/database.hpp"
#include "chemistry/speciation.hpp"

namespace karst {

/// Description of a solution.
struct SolutionOptions {
  std::string name = "solution";
  double temperature = 25.0;        ///< [°C]
  std::string ph = "7";             ///< a number, "charge", or a phase and its saturation index: "Calcite 0.5"
  std::string units = "mol/kgw";    ///< of totals that name none
  double density = 1.0;             ///< of the solution [kg/L], for units per litre
  std::vector<std::string> totals;  ///< see parse_total()
};

/// One total: "Ca 1e-3", "Cl 19353 ppm charge", "Alkalinity 141.7 as HCO3", "C(4) 1e-3 CO2(g) -3.4".
struct SolutionTotal {
  std::string element;
  double value = 0.0;      ///< in units
  std::string units;       ///< empty: those of the solution
  std::string counted_as;  ///< formula or grams of a mole; empty: what the database says
  bool by_charge = false;  ///< the amount that balances the charge; the value is the initial guess
  std::string phase;       ///< the amount that brings this phase to the saturation index
  double index = 0.0;
};

/// Throws Error with the reason if the text is invalid. Not collective.
SolutionTotal parse_total(std::string_view text);

/// Whether any of its totals is an amount per litre, which alone its density is for. Unknown units count as none, as
/// totals do that parse_total() refuses. Not collective.
bool has_totals_per_litre(const SolutionOptions& options);

/// Amounts in moles (equivalents of Alkalinity) per kilogram of water. Units: mol, g or eq with the prefixes m and u
/// per kgw (kilogram of water), kgs (of solution) or L, and ppt, ppm, ppb by weight. Throws Error for incompatible
/// units, negative amounts, and solutes with a larger mass than the solution. Not collective.
std::vector<double> amounts_per_water(const Database& database, const SolutionOptions& options,
                                      const std::vector<SolutionTotal>& totals);

/// A described solution, solved.
struct Solution {
  SolutionOptions options;
  ChemicalSystem system;
  std::vector<SolutionCondition> conditions;
  Speciation state;
  /// Of elements that are named without a valence and have several: "Fe is taken as Fe(2), not Fe(3)". Carbon is
  /// carbonate.
  std::vector<std::string> valences;
};

/// Saturation of a phase at its index; of gases the index is log10 of the partial pressure in atm. Throws Error, with
/// the nearest name, if the system does not contain it. Not collective.
SolutionCondition saturation(const ChemicalSystem& system, const std::string& phase, double index);

/// Throws Error, with the nearest name, if the database does not contain the phase, and if the reaction of the phase
/// transfers electrons between valences (pyrite), which is not available. Not collective.
void require_usable_phase(const Database& database, const std::string& phase);

/// Adds a total of 0 for every element of a phase that the solution does not name, so that it can take the phase up: of
/// the valence that the phase is made of ("Fe(3)" for goethite, "N(-3)" for NH3(g)). Throws Error when the database
/// does not have the phase, naming the nearest; when the reaction of the phase takes electrons (pyrite); and when the
/// solution has the element without a valence and that is another one. Not collective.
void add_elements_of_phase(const Database& database, const std::string& phase, SolutionOptions& options);

/// Throws Error, with the solution's name, for all errors of a description, and if Newton's method finds no solution.
/// Not collective.
Solution solve_solution(const Database& database, const SolutionOptions& options);

/// log10 Ω of a phase; NaN where the solution has none of one of its elements. Not collective.
double index_of_phase(const Solution& solution, int phase);

/// Warnings: a charge error above 0.1 % of the ions, an ionic strength beyond the activity model, 1 mol/kgw, a density
/// without effect, elements without a valence.
std::vector<std::string> solution_warnings(const Solution& solution);

/// Tables for the terminal: description, totals, species by amount, saturation indices.
std::string solution_text(const Solution& solution, const std::string& database_name);

/// Lines of a table: solution,kind,name,value,unit,activity,log10_gamma; kind: property, total, species, phase. The
/// first line contains the column names if `header`.
std::string solution_csv(const Solution& solution, bool header);

}  // namespace karst
