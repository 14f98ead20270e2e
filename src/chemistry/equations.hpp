// SPDX-License-Identifier: BSD-3-Clause
// The equations of a solution at a vector of unknowns x: those of the basis (ln m of primaries, ln a of sites,
// F ψ / (R T) of surfaces), the ionic strength I and ln a(H2O). Used by speciation.cpp and implicit_reaction.cpp.
#pragma once

#include "chemistry/speciation.hpp"

namespace karst {

/// One equation of the basis, defined by a SolutionCondition, and its sum.
struct Equations {
  const ChemicalSystem& system;
  const SpeciesTable& table;                      ///< of the system, or with terms behind it
  const WeightedSums& sums;                       ///< [basis] what rows of totals, sites and potentials add up
  std::span<const SolutionCondition> conditions;  ///< [basis]; totals may be negative
  SpeciationWorkspace& work;
};

/// Work arrays for all equations of a table.
void prepare(const SpeciesTable& table, SpeciationWorkspace& work);

/// Sets work.constant of the amounts: for sorbed species including ln N of their sites.
/// @param conditions  [basis] as given, of which those of sites are looked at
void set_constants(const ChemicalSystem& system, const SpeciesTable& table,
                   std::span<const SolutionCondition> conditions, SpeciationWorkspace& work);

/// Amounts, activities of the basis, and their derivatives.
void evaluate(const Equations& e, std::span<const double> x);

/// Ionic strength and activity of water: unknowns, or constant.
enum class IonicMedium { unknown, held };

/// Residuals at the last evaluation; returns the largest one, infinity if one is not a number.
double residuals(const Equations& e, std::span<const double> x, IonicMedium medium);

/// The Jacobian of these residuals into work.jacobian.
void jacobian(const Equations& e, std::span<const double> x, IonicMedium medium);

/// work.step: the solution of jacobian · step = residual. False if it is singular.
bool solve_step(const Equations& e);

/// Newton's method with the strategies of speciate(). x contains the initial guess.
bool solve(const Equations& e, std::vector<double>& x, int& iterations);

/// Copies the last evaluation into a state: basis, molalities, activities.
void take_state(const Equations& e, std::span<const double> x, Speciation& state);

}  // namespace karst
