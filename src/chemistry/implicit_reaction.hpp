// SPDX-License-Identifier: BSD-3-Clause
// What minerals give to a solution that is also the solution they react with:
//
//   ξ_m = min(most_m, share_m r_m(T + Σ_m ν_m ξ_m)),   r_m = Σ_paths k Π a_i^n_i (1 - Ω)   [mol/m²/s]
//
// With share = area dt it is a step of the implicit Euler method in a closed vessel. With share = d / D times kilograms
// it is the film between a value of the fluid and a wall that reacts, T_wall - T = (d / D) Σ ν r for totals that
// diffuse alike; and with both sums, the two at once.
#pragma once

#include <span>
#include <vector>

#include "chemistry/kinetics.hpp"

namespace karst {

/// A law of one mineral per surface, with what a mole of it brings.
struct SurfaceReaction {
  KineticMineral mineral;       ///< with area 1: its rate is per surface
  std::vector<double> brought;  ///< ν: [primary] totals of a mole
};
SurfaceReaction make_surface_reaction(const ChemicalSystem& system, const MineralOptions& options);

/// What a solve begins from, and what it finds.
struct ImplicitReaction {
  std::span<const double> totals;  ///< T: [primary] [mol/kgw]
  std::span<const double> share;   ///< [mineral] [m² s/kgw]; 0: does not react
  std::span<const double> most;    ///< [mineral] [mol/kgw] that can dissolve
  std::span<double> extent;        ///< ξ: [mineral] [mol/kgw]; a guess comes in
};

/// Buffers of solves; one per thread. Nothing is allocated after the first solve of a system.
struct ReactionWorkspace {
  SpeciationWorkspace speciation;
  std::vector<SolutionCondition> conditions;
  std::vector<double> start, slope, rate, residual, step, next, matrix, factors, trial;
  int evaluations = 0;  ///< speciations since it was made
};

/// Newton's method with slopes from activity_slopes(), each mineral by itself between bounds where that does not do.
/// The state is that of T + Σ ν ξ; its start comes in. False when no solution is found. Thread-safe. Not collective.
bool solve_reaction(const ChemicalSystem& system, std::span<const SurfaceReaction> minerals,
                    const ImplicitReaction& reaction, Speciation& state, ReactionWorkspace& work);

}  // namespace karst
