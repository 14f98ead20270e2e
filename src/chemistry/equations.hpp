// SPDX-License-Identifier: BSD-3-Clause
// The equations of a solution at a vector of unknowns x: those of the basis (ln m of primaries, ln a of sites,
// F ψ / (R T) of surfaces), the ionic strength I and ln a(H2O). Used by speciation.cpp and implicit_reaction.cpp.
#pragma once

#include "chemistry/speciation.hpp"

namespace karst {

/// One equation of the basis, as SolutionCondition says it, and what it sums.
struct Equations {
  const ChemicalSystem& system;
  const SpeciesTable& table;                      ///< of the system, or with terms behind it
  const WeightedSums& sums;                       ///< [basis] what rows of totals, sites and potentials add up
  std::span<const SolutionCondition> conditions;  ///< [basis]; totals may be negative
  SpeciationWorkspace& work;
};

/// Room for all equations of a table.
void prepare(const SpeciesTable& table, SpeciationWorkspace& work);

/// work.constant of the amounts: of what sorbs, with ln N of its sites.
/// @param conditions  [basis] as given, of which those of sites are looked at
void set_constants(const ChemicalSystem& system, const SpeciesTable& table,
                   std::span<const SolutionCondition> conditions, SpeciationWorkspace& work);

/// Amounts, activities of the basis, and their slopes.
void evaluate(const Equations& e, std::span<const double> x);

/// Ionic strength and activity of water: unknowns, or held as they are.
enum class IonicMedium { unknown, held };

/// Residuals at what was evaluated; the largest one is returned, infinity where one is no number.
double residuals(const Equations& e, std::span<const double> x, IonicMedium medium);

/// The Jacobian of these residuals into work.jacobian.
void jacobian(const Equations& e, std::span<const double> x, IonicMedium medium);

/// work.step: the solution of jacobian · step = residual. False where it is singular.
bool solve_step(const Equations& e);

/// Newton's method, with the ways that speciate() has. x comes in as the start.
bool solve(const Equations& e, std::vector<double>& x, int& iterations);

/// Takes what was evaluated last into a state: basis, molalities, activities.
void take_state(const Equations& e, std::span<const double> x, Speciation& state);

}  // namespace karst
