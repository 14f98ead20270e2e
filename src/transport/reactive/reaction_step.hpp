// SPDX-License-Identifier: BSD-3-Clause
// Reaction of minerals with the transported totals (decision 035). At each site, with the time step dt,
//
//   T_wall = T* + g·t + s Σ_m a_m ν_m r_m(T_wall),   s = max(dt / 2 + τ, dt),     T = T* + dt Σ_m a_m ν_m r_m(T_wall)
//
// one implicit solve (chemistry/implicit_reaction.hpp). The wall sees the mean over the step of the totals before its
// film, to second order, as long as dt < 2 τ; beyond this, and in the volume (τ = 0), it is the implicit Euler method,
// in which no total becomes negative. Splitting from diffusion causes an error of 0.01 % of the flux at D dt / h² =
// 0.1, 0.1 % at 0.3, 5 % at 1 and half of it at 10, where steps are stable but inaccurate. Elements and charge are
// conserved between minerals and solution to round-off. Sites whose totals have hardly changed since their last solve
// keep its rates.
//
// With ReactionOptions::now = 1/2 and react_on() before the next step, reactions and transport are split symmetrically
// (Strang, SIAM J. Numer. Anal. 5 (1968) 506) with one solve per step: the second half of a step and the first half of
// the next one are one solve, whose state is evaluated in its middle.
//
// Sorption, and phases in equilibrium (volume_sites only), are part of the solve of their volume: it starts from the
// dissolved and sorbed amounts, T* + E, and returns T and E. Exchangers, surfaces and phases are immobile.
#pragma once

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chemistry/implicit_reaction.hpp"
#include "chemistry/phreeqc_engine.hpp"
#include "transport/reactive/reactive_sites.hpp"

namespace karst {

struct ReactionOptions {
  /// Sites whose totals have changed by a relative amount below this since their last solve, at the same dt, keep its
  /// rates; 0: none. Previous totals are stored to 6e-8, so values below 1e-7 skip almost none.
  double skip = 1e-7;
  /// Fraction of dt for which rates act before the next transport; react_on() applies the rest. 1 with sorption.
  double now = 1.0;
  /// Time in which flow and diffusion cross a cell [s]; 0: none is needed. Longer than dt, it bounds how well the time
  /// is known at which rates change: a front is somewhere in its cell.
  double crossing = 0.0;
};

/// Whether each total has changed by a relative amount below `skip`; never if `before` contains NaN.
bool hardly_changed(std::span<const double> now, std::span<const float> before, double skip);

/// Of ReactionState::seen: the next step solves the site anew.
inline constexpr float never = std::numeric_limits<float>::quiet_NaN();

/// State of sites over time. Initial guesses, and numbers used only to detect changes, are stored to 6e-8.
struct ReactionState {
  std::vector<float> start;    ///< [site][basis + 2]: of the last solve, then ionic strength, ln a(H2O)
  std::vector<float> seen;     ///< [site][primary]: totals at the film of the last solve; NaN: none yet
  std::vector<double> sorbed;  ///< [site][primary] E [mol/kgw]; empty where nothing sorbs
  std::vector<double> amount;  ///< [site][mineral] left [mol/kgw]; empty where none ends
  std::vector<double> error;   ///< [site][mineral] of what has dissolved, as ReactionReport::time_error; as `amount`
  std::vector<double> rate;    ///< [site][mineral] of the last step, per water of the volume [mol/kgw/s]; NaN: none yet
  std::vector<std::int32_t> cost;  ///< [site] speciations of the last step
  std::vector<double> buried;      ///< [mineral] of deposits where no wall was left; empty: none [mol/kgw h0³]
  double dt = 0.0;                 ///< of the last step
  double seconds = 0.0;            ///< that this rank has worked on solves of sites (traffic.hpp)
  std::int64_t bytes() const;
};

/// One step, over all ranks. Amounts: mol/kgw times h0³ of fluid.
struct ReactionReport {
  std::vector<double> dissolved;  ///< [mineral]
  /// [mineral] Σ |r(t + dt) - r(t)| dt / 2: the difference between the rates at the end of the step and their mean,
  /// which is the first-order error of splitting and the implicit Euler method; 0 in the first step, and for
  /// equilibria. Where a cell takes longer to cross than dt, that time stands in its place. Where all has gone that
  /// there was, what has dissolved is exact, and what was told there before is taken back.
  std::vector<double> time_error;
  std::vector<double> gained;  ///< [primary] by the solution: Σ ν dissolved, and what no longer sorbs
  std::vector<double> sorbed;  ///< [primary] at the end; empty where nothing sorbs
  std::int64_t solved = 0, kept = 0, speciations = 0;
};

/// Initial guess of the next solve at the site, from the last one: [basis + 2]. Not collective.
void keep_start(const Speciation& solution, float* start);
void begin_at(const float* start, Speciation& solution);
/// Totals that hardly_changed() compares with: [primary]. Not collective.
void keep_seen(std::span<const double> film, float* seen);

/// Adds the error of a step to that of site and mineral i, once rate and amount are those of the step. Thread-safe for
/// different i.
/// @param before    the rate of the step before
/// @param crossing  as in ReactionOptions
/// @return by how much the error grows, [mol/kgw]
double add_error(ReactionState& state, std::size_t i, double before, double dt, double crossing);

/// What is left of an amount when some has gone: what has gone wholly has gone to the last bit.
inline double left_after(double amount, double gone) {
  constexpr double round_off = 4e-15;
  const double left = amount - gone;
  return std::abs(left) <= round_off * std::abs(gone) ? 0.0 : left;
}

/// Sites at the beginning. Not collective.
ReactionState start_reaction(const ReactiveMedium& medium, const ReactiveSites& sites);

/// One step: changes the own values of the totals, from which those of other ranks follow (TransportStepper::
/// take_changes). Sites are distributed to threads by their cost in the previous step; the results do not depend on the
/// number of threads. Throws Error, on all ranks, if a site has no solution. Collective.
/// @param h           width of level-0 cells [m], for messages
/// @param[in,out] totals  [primary], n_values each
void react(const ReactiveMedium& medium, const ReactiveSites& sites, const ScalarGrid& grid, double dt,
           const ReactionOptions& options, ReactionState& state, std::span<Array<double>> totals,
           ReactionReport& report);

/// Applies the rates of the last step for another `time`, at most the rest of dt of react(). Collective.
/// @param[in,out] totals  [primary], n_values each
void react_on(const ReactiveMedium& medium, const ReactiveSites& sites, const ScalarGrid& grid, double time,
              ReactionState& state, std::span<Array<double>> totals, ReactionReport& report);

/// Minerals and equilibria, and their sites.
struct ReactionPlace {
  const ReactiveMedium& medium;
  const ReactiveSites& sites;  ///< volume_sites()
  const ScalarGrid& grid;
};

/// The same step by PHREEQC, which integrates the rates over it; without sorption. Throws Error, on all ranks, with
/// PHREEQC's message. Collective.
/// @param[in,out] cells  empty: made from the amounts that the state has left
void react_with_phreeqc(const PhreeqcFiles& files, std::optional<PhreeqcCells>& cells, const ReactionPlace& place,
                        double dt, ReactionState& state, std::span<Array<double>> totals, ReactionReport& report);

}  // namespace karst
