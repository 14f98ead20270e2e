// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ins/solve/steady_solver.hpp"

namespace karst {

/// Report on the way to a flow with inertia.
struct SteadyApproach {
  SteadyReport last;     ///< of the last solve
  double inertia = 0.0;  ///< that it was asked for
  bool reached = false;  ///< the flow is in the solver
  int newton_steps = 0, iterations = 0;
  int between = 0;  ///< strengths of inertia on the way that were solved for
};

/// Computes the flow at a given inertia, starting from a known flow. Where Newton's method fails, intermediate values
/// are solved: after a failure the factor between two values is replaced by its square root, after two successes by its
/// square. It ends after six failures, or at a factor of 1.1. Collective.
/// @param from     strength of the flow in the solver; 0: Stokes flow
/// @param on_flow  after each solve that succeeds: its strength of inertia and report
SteadyApproach approach(SteadySolver& steady, const StokesDrive& drive, double from, double inertia,
                        const std::function<void(double, const SteadyReport&)>& on_flow, const std::string& name);

}  // namespace karst
