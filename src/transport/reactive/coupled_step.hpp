// SPDX-License-Identifier: BSD-3-Clause
// Wall reactions coupled with the diffusion step, for steps with D dt / h² > 0.3 (decision 035). With the rates Q = a r
// of the previous step as sources of the transport, T^ = transport(T, Σ ν Q_old), the change of the rates spreads by
// low-order diffusion, one number δ per mineral, as all totals have equal diffusivity:
//
//   (V + dt K_low) δ_m = dt V (Q_m - Q_m,old),   Q_m = a_m r_m(T_wall),   T_wall = T + g·t + τ Σ a ν r(T_wall),
//   T = T^ + Σ_m ν_m δ_m
//
// solved by Newton's method with the derivatives dQ_m/dδ_m of the films, an M-matrix. In the steady state Q = Q_old and
// δ = 0, so it is that of second-order transport with the flux through the film for any step. Elements and charge are
// conserved to round-off. A step without a solution, or with a negative total, is retried with Q_old = 0, and then with
// operator splitting (reaction_step.hpp), which is always positive.
#pragma once

#include "transport/diffusion/implicit_diffusion.hpp"
#include "transport/march/transport_stepper.hpp"
#include "transport/reactive/reaction_step.hpp"

namespace karst {

/// Counts of the methods used.
struct CoupledCounts {
  std::int64_t steps = 0, iterations = 0;
  std::int64_t from_zero = 0;  ///< steps with Q_old = 0
  std::int64_t in_turn = 0;    ///< steps that were finally not coupled
};

/// Work arrays of coupled steps.
struct CoupledScratch {
  CoupledCounts counts;
  LowOrderTerms terms;  ///< with the derivatives of the sites as their walls
  ImplicitDiffusion implicit;
  std::vector<Array<double>> sources;    ///< [component] n_own
  std::vector<Array<double>> moved;      ///< [primary] T^
  std::vector<Array<double>> spread;     ///< [mineral] δ: n_values
  std::vector<Array<double>> dissolved;  ///< [mineral] dt (Q - Q_old) of own volumes
  Array<double> room;                    ///< n_values
  Array<double> source, b;               ///< n_own
  std::vector<double> rate, slope;       ///< [site][mineral] Q and dQ/dδ of the last solve
  std::vector<float> seen;               ///< [site][primary] totals at the film of the last solve; NaN: none yet
  std::int64_t bytes() const;
};

/// Reactions and their sites.
struct CoupledProblem {
  const ReactiveMedium& medium;
  const ReactiveSites& sites;  ///< minerals that end (deposits) dissolve as far as there is some
  std::size_t first = 0;       ///< component of the first total; all have the same D > 0 and the same fixed sides
  ReactionOptions options;     ///< of steps in turn
};

/// One step of transport and of the sites at walls. Throws Error as advance() and react(). Collective.
/// @param[out] moved    including the reacted amounts among the sources
/// @param[out] reacted  gained: without what moved counts
void advance_coupled(const CoupledProblem& problem, TransportStepper& stepper, double dt, ReactionState& reaction,
                     TransportState& state, CoupledScratch& scratch, TransportReport& moved, ReactionReport& reacted);

}  // namespace karst
