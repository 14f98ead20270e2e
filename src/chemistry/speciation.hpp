// SPDX-License-Identifier: BSD-3-Clause
// Speciation: distribution of the elements of a solution among its species, by Newton's method on logarithms.
//
// Unknowns are ln m of the primary species, ln a of the sorption sites, F ψ / (R T) of charged surfaces, the ionic
// strength I and ln a(H2O). With one kilogram of water and
//   ln m_i = ln K_i + Σ_j ν_ij (ln m_j + ln γ_j(I)) + ν_iw ln a_w - ln γ_i(I)
// (of what sorbs: chemical_system.hpp) each of the basis has one condition (see SolutionCondition), I = ½ Σ z² m, and
// a_w = 1 - 0.017 Σ m (Garrels and Christ 1965), sums over dissolved species. Sums of amounts are compared by
// logarithm, ln Σ_positive - ln (Σ_negative + total): as logarithms of sums of exponentials they are nearly linear in
// the unknowns, so that Newton's method converges from far away.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "chemistry/chemical_system.hpp"

namespace karst {

constexpr double least_amount = 1e-30;  ///< value used for a total of 0 [mol/kgw]

/// Condition that determines a primary species, a site or a potential.
struct SolutionCondition {
  enum class Kind : std::uint8_t {
    total,       ///< total_of() and sorbed_of() = value [mol/kgw]; of H+ it may be negative
    activity,    ///< ln a = value
    charge,      ///< Σ z m = value [eq/kgw], of what is dissolved
    alkalinity,  ///< Σ alkalinity m = value [eq/kgw]
    saturation,  ///< ln Ω of the phase = value
    potential    ///< of a surface with an area of value [m²/kgw]: the diffuse layer balances its charge
  } kind = Kind::total;
  double value = 0.0;
  int phase = -1;  ///< in ChemicalSystem::phases, of saturation
};

/// A solution, one kilogram of water. Also the initial guess of the next solve.
struct Speciation {
  std::vector<double> basis;        ///< ln m of primaries, ln a of sites, F ψ / (R T) of surfaces
  double ionic_strength = 0.0;      ///< [mol/kgw]
  double ln_water = 0.0;            ///< ln a(H2O)
  std::vector<double> molality;     ///< [species] [mol/kgw], of what sorbs per water, too
  std::vector<double> ln_activity;  ///< [basis]
  int iterations = 0;
  bool converged = false;
};

/// Buffers of solves; one per thread. Nothing is allocated after the first solve of a system.
struct SpeciationWorkspace {
  std::vector<SolutionCondition> conditions;                      ///< [basis]
  std::vector<double> unknowns, trial, residual, step, jacobian;  ///< basis, I, ln a(H2O)
  std::vector<double> ln_a, basis_slope, positive, negative;      ///< [basis], of the first two then water
  std::vector<double> ratio;                                      ///< of sums, then their logarithms
  std::vector<double> constant, amount, slope, share;             ///< [amount]; slope: d ln m / dI
  double strength = 0.0, water_left = 1.0;                        ///< ½ Σ z² m, 1 - 0.017 Σ m
};

/// A cold start: every primary at its total (or 1e-6), H+ at its activity or 1e-7; sites and potentials at 0.
/// @param conditions  [primary] or more
Speciation cold_start(const ChemicalSystem& system, std::span<const SolutionCondition> conditions);

/// Solves with the current state as initial guess, to 1e-13 of every sum. Returns Speciation::converged. Thread-safe.
/// Not collective.
/// @param conditions  [basis]; totals of 0 count as 1e-30
bool speciate(const ChemicalSystem& system, std::span<const SolutionCondition> conditions, Speciation& state,
              SpeciationWorkspace& work);

/// Derivatives of ln a of the basis and, after it, of water, for a change of totals along a direction, at a state found
/// by speciate() for these totals. False if the Jacobian is singular. Not collective.
/// @param direction  [primary] change of the totals
/// @param[out] slope  [basis], then water: d ln a / d(share of the direction) [kgw/mol times that of the direction]
bool activity_slopes(const ChemicalSystem& system, std::span<const SolutionCondition> conditions,
                     std::span<const double> direction, Speciation& state, SpeciationWorkspace& work,
                     std::span<double> slope);

/// Σ ν m over dissolved species, times the atoms of the element in the primary [mol/kgw]; of a site over those on it.
double total_of(const ChemicalSystem& system, const Speciation& state, int primary);
/// Σ ν m over species that sorb [mol/kgw].
double sorbed_of(const ChemicalSystem& system, const Speciation& state, int primary);
/// Σ z m [eq/kgw].
double charge_of(const ChemicalSystem& system, const Speciation& state);
/// Σ |z| m [eq/kgw]: the scale of charge_of().
double ions_of(const ChemicalSystem& system, const Speciation& state);
/// [eq/kgw]
double alkalinity_of(const ChemicalSystem& system, const Speciation& state);
/// Dissolved inorganic carbon: the total of C(4) [mol/kgw]; NaN in a solution without it.
double inorganic_carbon_of(const ChemicalSystem& system, const Speciation& state);
/// ln a of a species.
double ln_activity(const ChemicalSystem& system, const Speciation& state, int species);
/// log10 Ω of a phase; of gases log10 of the fugacity in atm.
double saturation_index(const ChemicalSystem& system, const Speciation& state, int phase);
/// -log10 a(H+).
double ph_of(const Speciation& state);

}  // namespace karst
