// SPDX-License-Identifier: BSD-3-Clause
// Minerals react with the totals that transport has moved (decision 035). At each site, with the time step dt,
//
//   T_wall = T* + g·t + s Σ_m a_m ν_m r_m(T_wall),   s = max(dt / 2 + τ, dt),     T = T* + dt Σ_m a_m ν_m r_m(T_wall)
//
// one implicit solve (chemistry/implicit_reaction.hpp). The wall sees the mean over the step of what stands before its
// film, to second order, where the film holds more than a step takes, dt < 2 τ; beyond, and in the volume (τ = 0), it
// is the implicit Euler method, in which no total becomes negative. Splitting from diffusion costs 0.01 % of the flux
// at D dt / h² = 0.1, 0.1 % at 0.3, 5 % at 1 and half of it at 10, where steps are stable but wrong. Elements and
// charge go from mineral to solution as written, to round-off. Sites whose totals have hardly changed since their last
// solve keep its rates.
//
// With ReactionOptions::now = 1/2 and react_on() before the next step, reactions and transport are split symmetrically
// (Strang, SIAM J. Numer. Anal. 5 (1968) 506) with one solve per step: the second half of a step and the first half of
// the next one are one solve, whose state is read in its middle.
//
// What sorbs, and phases in equilibrium (volume_sites alone), are in the solve of their volume: it begins with all that
// is dissolved and sorbed, T* + E, and leaves T and E. Exchangers, surfaces and phases stay where they are.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chemistry/implicit_reaction.hpp"
#include "chemistry/phreeqc_engine.hpp"
#include "transport/reactive/reactive_sites.hpp"

namespace karst {

struct ReactionOptions {
  /// Sites whose totals, relative to what they are, have changed by less than this since their last solve, at the same
  /// dt, keep its rates; 0: none. What totals were is known to 6e-8: less than 1e-7 finds next to none.
  double skip = 1e-7;
  /// Part of dt that rates act before the totals are moved again; react_on() lets them act for the rest. 1 where
  /// anything sorbs.
  double now = 1.0;
};

/// Whether each total has changed by less than `skip`, relative to what it is; never where `before` holds NaN.
bool hardly_changed(std::span<const double> now, std::span<const float> before, double skip);

/// Sites over time. Numbers that a solve only begins from, or that changes are seen by, are kept to 6e-8.
struct ReactionState {
  std::vector<float> start;    ///< [site][basis + 2]: of the last solve, then ionic strength, ln a(H2O)
  std::vector<float> seen;     ///< [site][primary]: totals at the film of the last solve; NaN: none yet
  std::vector<double> sorbed;  ///< [site][primary] E [mol/kgw]; empty where nothing sorbs
  std::vector<double> amount;  ///< [site][mineral] left [mol/kgw]; empty where none ends
  std::vector<double> rate;    ///< [site][mineral] of the last step, per water of the volume [mol/kgw/s]; NaN: none yet
  std::vector<std::int32_t> cost;  ///< [site] speciations of the last step
  double dt = 0.0;                 ///< of the last step
  double seconds = 0.0;            ///< that this rank has worked on solves of sites (traffic.hpp)
  std::int64_t bytes() const;
};

/// One step, over all ranks. Amounts: mol/kgw times h0³ of fluid.
struct ReactionReport {
  std::vector<double> dissolved;  ///< [mineral]
  /// [mineral] Σ |r(t + dt) - r(t)| dt / 2: how far the rates at the end of the step are from their mean over it, which
  /// is what splitting and the implicit Euler method leave to first order; 0 in the first step, and of equilibria.
  std::vector<double> time_error;
  std::vector<double> gained;  ///< [primary] by the solution: Σ ν dissolved, and what no longer sorbs
  std::vector<double> sorbed;  ///< [primary] at the end; empty where nothing sorbs
  std::int64_t solved = 0, kept = 0, speciations = 0;
};

/// What a solve leaves for the next one at the site, and where that begins: [basis + 2]. Not collective.
void keep_start(const Speciation& solution, float* start);
void begin_at(const float* start, Speciation& solution);
/// Totals that hardly_changed() compares with: [primary]. Not collective.
void keep_seen(std::span<const double> film, float* seen);

/// Sites at the beginning. Not collective.
ReactionState start_reaction(const ReactiveMedium& medium, const ReactiveSites& sites);

/// One step: changes the own values of the totals, from which those of other ranks follow (TransportStepper::
/// take_changes). Threads share sites by what they cost in the step before; nothing depends on their number. Throws
/// Error, on all ranks, where a site has no solution. Collective.
/// @param h           width of level-0 cells [m], for messages
/// @param[in,out] totals  [primary], n_values each
void react(const ReactiveMedium& medium, const ReactiveSites& sites, const ScalarGrid& grid, double dt,
           const ReactionOptions& options, ReactionState& state, std::span<Array<double>> totals,
           ReactionReport& report);

/// Rates of the last step act for `time` more, at most what react() left of its dt. Collective.
/// @param[in,out] totals  [primary], n_values each
void react_on(const ReactiveMedium& medium, const ReactiveSites& sites, const ScalarGrid& grid, double time,
              ReactionState& state, std::span<Array<double>> totals, ReactionReport& report);

/// Minerals and equilibria, and where they are.
struct ReactionPlace {
  const ReactiveMedium& medium;
  const ReactiveSites& sites;  ///< volume_sites()
  const ScalarGrid& grid;
};

/// The same step by PHREEQC, which integrates the rates over it; without what sorbs. Throws Error, on all ranks, with
/// what PHREEQC says. Collective.
/// @param[in,out] cells  empty: made from the amounts that the state has left
void react_with_phreeqc(const PhreeqcFiles& files, std::optional<PhreeqcCells>& cells, const ReactionPlace& place,
                        double dt, ReactionState& state, std::span<Array<double>> totals, ReactionReport& report);

}  // namespace karst
