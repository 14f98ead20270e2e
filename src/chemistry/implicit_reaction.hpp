// SPDX-License-Identifier: BSD-3-Clause
// What minerals and gases give to a solution that is also the solution they react with:
//
//   ξ_m = share_m r_m(T + Σ_m ν_m ξ_m),   r_m = Σ_paths k Π a_i^n_i (1 - Ω)   [mol/m²/s],   or at once:  Ω_m = Ω_eq,m,
//
// each as long as it stays between least_m and most_m. With share = area dt it is a step of the implicit Euler method
// in a closed vessel. With share = d / D times kilograms it is the film between a value of the fluid and a wall that
// reacts, T_wall - T = (d / D) Σ ν r for totals that diffuse alike; and with both sums, the two at once.
//
// All is one system for Newton's method (equations.hpp). The ways of a rate are amounts like those of species, k Π a^n
// share of what is supplied and k Π a^n Ω share of what is taken up, in the sums of the totals. These are combined
// (Gauss and Jordan, on ν) such that each reaction is in the sum of one primary alone, where an equilibrium puts ln Ω:
// the other sums do not change as it goes on, and no rate is too fast. Which equilibria hold, and which phases are used
// up, is found by changing one at a time, with a second one where the phase rule asks for it.
#pragma once

#include <span>
#include <vector>

#include "chemistry/kinetics.hpp"

namespace karst {

/// A law of one mineral per surface, or an equilibrium, with what a mole of it brings.
struct SurfaceReaction {
  KineticMineral mineral;       ///< with area 1: its rate is per surface; no paths: in equilibrium
  std::vector<double> brought;  ///< ν: [primary] totals of a mole
  double ln_omega = 0.0;        ///< Ω_eq of an equilibrium
  bool dissolves = true, precipitates = true;
  bool at_once() const { return mineral.paths.empty(); }
};
/// Throws Error, with the mineral's name, for what is wrong. Not collective.
SurfaceReaction make_surface_reaction(const ChemicalSystem& system, const MineralOptions& options);
/// @param phase     of the system
/// @param ln_omega  that it holds; of a gas ln of its fugacity [atm]
SurfaceReaction make_equilibrium(const ChemicalSystem& system, const std::string& name, int phase, double ln_omega);

/// A system with what reacts in it. Totals are those of the primaries, in mol/kgw, H+ first.
struct ReactiveMedium {
  ChemicalSystem system;
  std::vector<SurfaceReaction> minerals;
  Speciation start;                      ///< where solves begin for the first time
  SpeciesTable table;                    ///< species and, behind them, the ways of the rates: each there and back
  std::vector<int> first_term;           ///< [mineral] place of its ways in the table, and the end
  std::vector<SolutionCondition> sites;  ///< of the system: their amounts, and the areas of charged surfaces

  std::size_t n_totals() const { return system.n_primaries; }
  std::size_t n_basis() const { return system.n_basis(); }
};
ReactiveMedium make_medium(ChemicalSystem system, std::vector<SurfaceReaction> minerals, Speciation start,
                           std::vector<SolutionCondition> sites = {});

/// What a solve begins from, and what it finds.
struct ImplicitReaction {
  std::span<const double> totals;   ///< T: [primary] [mol/kgw], of what is dissolved and sorbed
  std::span<const double> share;    ///< [mineral] [m² s/kgw]; 0: does not react; of equilibria any other number
  std::span<const double> most;     ///< [mineral] [mol/kgw] that can dissolve
  std::span<double> extent;         ///< ξ: [mineral] [mol/kgw]; a guess comes in
  std::span<const double> least{};  ///< [mineral] the least extent, the most that can precipitate; empty: no limit
};

/// Buffers of solves; one per thread. Nothing is allocated after the first solve of a medium.
struct ReactionWorkspace {
  enum class Bound : std::uint8_t { free, at_most, at_least };
  SpeciationWorkspace speciation;
  std::vector<SolutionCondition> conditions;  ///< [basis] of the solution that was found: T + Σ ν ξ
  std::vector<Bound> bound;                   ///< [mineral]
  std::size_t entering = 0;                   ///< the equilibrium that was let go on last; n: none
  bool forms = true;                          ///< it precipitates; or else dissolves
  std::vector<int> pivot;                     ///< [mineral] primary whose sum it is in; -1: none of its own
  std::vector<double> part;                   ///< [basis][amount] of the combined sums
  std::vector<double> brought;                ///< [mineral][primary] combined
  std::vector<double> value;                  ///< [basis] combined totals
  std::vector<double> share;                  ///< [mineral]
  std::vector<std::uint8_t> fast;             ///< [mineral] rates that hide what else is in their sums
  std::vector<double> totals, from;           ///< [primary] T, or on the way there
  Speciation before;                          ///< of the last stage on this way
  WeightedSums sums;
  int evaluations = 0;  ///< solves since it was made
};

/// The state is that of T + Σ ν ξ; its start comes in. Where Newton's method does not find it, totals and rates go from
/// those of the start to those that are asked in stages. False when no solution is found. Thread-safe. Not collective.
bool solve_reaction(const ReactiveMedium& medium, const ImplicitReaction& reaction, Speciation& state,
                    ReactionWorkspace& work);

}  // namespace karst
