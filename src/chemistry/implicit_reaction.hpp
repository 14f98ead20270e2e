// SPDX-License-Identifier: BSD-3-Clause
// Implicit reaction: amounts that minerals and gases add to a solution, at rates that depend on the resulting solution:
//
//   ξ_m = share_m r_m(T + Σ_m ν_m ξ_m),   r_m = Σ_paths k Π a_i^n_i (1 - Ω)   [mol/m²/s],   or at once:  Ω_m = Ω_eq,m,
//
// each as long as it is between least_m and most_m. With share = area dt it is a step of the implicit Euler method in a
// batch reactor. With share = d / D times kilograms it is the film between a value of the fluid and a reacting wall,
// T_wall - T = (d / D) Σ ν r for totals of equal diffusivity; and with both sums, both at once.
//
// All equations form one system for Newton's method (equations.hpp). The paths of a rate are amounts like those of
// species, k Π a^n share for dissolution and k Π a^n Ω share for precipitation, in the sums of the totals. The sums are
// combined (Gauss-Jordan elimination on ν) such that each reaction is in the sum of only one primary, which an
// equilibrium replaces by ln Ω: the other sums do not change with the extent of the reaction, so no rate is too fast.
// Which equilibria are active, and which phases are exhausted, is found by changing one at a time, and a second one
// where the phase rule requires it.
#pragma once

#include <span>
#include <vector>

#include "chemistry/kinetics.hpp"

namespace karst {

/// The rate law of one mineral per surface, or an equilibrium, with the totals of a mole of it.
struct SurfaceReaction {
  KineticMineral mineral;       ///< with area 1: its rate is per surface; no paths: in equilibrium
  std::vector<double> brought;  ///< ν: [primary] totals of a mole
  double ln_omega = 0.0;        ///< Ω_eq of an equilibrium
  bool dissolves = true, precipitates = true;
  bool at_once() const { return mineral.paths.empty(); }
};
/// Throws Error, with the mineral's name, for invalid descriptions. Not collective.
SurfaceReaction make_surface_reaction(const ChemicalSystem& system, const MineralOptions& options);
/// @param phase     of the system
/// @param ln_omega  that it holds; of a gas ln of its fugacity [atm]
SurfaceReaction make_equilibrium(const ChemicalSystem& system, const std::string& name, int phase, double ln_omega);

/// A system with its reactions. Totals are those of the primaries, in mol/kgw, H+ first.
struct ReactiveMedium {
  ChemicalSystem system;
  std::vector<SurfaceReaction> minerals;
  Speciation start;                      ///< initial guess of the first solve
  SpeciesTable table;                    ///< species, followed by the paths of the rates: each forward and backward
  std::vector<int> first_term;           ///< [mineral] index of its paths in the table, and the end
  std::vector<SolutionCondition> sites;  ///< of the system: their amounts, and the areas of charged surfaces

  std::size_t n_totals() const { return system.n_primaries; }
  std::size_t n_basis() const { return system.n_basis(); }
};
ReactiveMedium make_medium(ChemicalSystem system, std::vector<SurfaceReaction> minerals, Speciation start,
                           std::vector<SolutionCondition> sites = {});

/// Initial guess and result of a solve.
struct ImplicitReaction {
  std::span<const double> totals;  ///< T: [primary] [mol/kgw], dissolved and sorbed
  std::span<const double> share;   ///< [mineral] [m² s/kgw]; 0: does not react; of equilibria any other number
  std::span<const double> most;    ///< [mineral] [mol/kgw] that can dissolve
  std::span<double> extent;        ///< ξ: [mineral] [mol/kgw]; contains an initial guess
  std::span<const double>
      least{};  ///< [mineral] smallest extent, minus the largest amount that can precipitate; empty: no limit
};

/// Buffers of solves; one per thread. Nothing is allocated after the first solve of a medium.
struct ReactionWorkspace {
  enum class Bound : std::uint8_t { free, at_most, at_least };
  SpeciationWorkspace speciation;
  std::vector<SolutionCondition> conditions;  ///< [basis] of the solution that was found: T + Σ ν ξ
  std::vector<Bound> bound;                   ///< [mineral]
  std::size_t entering = 0;                   ///< the equilibrium that was activated last; n: none
  bool forms = true;                          ///< it precipitates; otherwise it dissolves
  std::vector<int> pivot;                     ///< [mineral] primary whose sum contains it; -1: none
  std::vector<double> part;                   ///< [basis][amount] of the combined sums
  std::vector<double> brought;                ///< [mineral][primary] combined
  std::vector<double> value;                  ///< [basis] combined totals
  std::vector<double> share;                  ///< [mineral]
  std::vector<std::uint8_t> fast;             ///< [mineral] rates that dominate all else in their sums
  std::vector<double> totals, from;           ///< [primary] T, or that of the current stage
  Speciation before;                          ///< of the last stage
  WeightedSums sums;
  int evaluations = 0;  ///< solves since it was made
};

/// The state is that of T + Σ ν ξ; it contains the initial guess. If Newton's method fails, totals and rates are
/// changed in stages from those of the initial guess to the required ones. False if no solution is found. Thread-safe.
/// Not collective.
bool solve_reaction(const ReactiveMedium& medium, const ImplicitReaction& reaction, Speciation& state,
                    ReactionWorkspace& work);

}  // namespace karst
