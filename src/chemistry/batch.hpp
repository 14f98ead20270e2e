// SPDX-License-Identifier: BSD-3-Clause
// Batch reactor: a solution over time in a closed volume, with minerals that react at finite rates and phases in
// equilibrium.
#pragma once

#include <vector>

#include "chemistry/implicit_reaction.hpp"

namespace karst {

/// Contents of the batch reactor in addition to a kilogram of water, per mineral of the medium.
struct BatchMinerals {
  std::vector<double> area;    ///< [m²/kgw]; of equilibria any positive number
  std::vector<double> amount;  ///< [mol/kgw]
};
/// Of minerals as they are described.
BatchMinerals minerals_of(const std::vector<MineralOptions>& options);

/// A solution with minerals at one time.
struct BatchState {
  double time = 0.0;              ///< [s]
  std::vector<double> dissolved;  ///< [mineral] since the beginning [mol/kgw]
  Speciation solution;
};

/// The batch reactor in equilibrium with all instantaneous reactions, before anything else reacts. Throws Error if
/// there is no equilibrium. Not collective.
BatchState equilibrate(const ReactiveMedium& medium, const BatchMinerals& minerals, const std::vector<double>& totals);

/// The solution over time: elements and charge are those of the initial state plus the dissolved amounts. L-stable
/// Runge-Kutta steps of second order (γ = 1 - 1/√2; Alexander 1977) with the length chosen such that the difference to
/// the first order is below `tolerance` times the dissolved amount.
/// @param totals  [primary] initial amounts, dissolved and sorbed
/// @param times   increasing [s]
/// @return  the state at each of the times. Throws Error, with time and composition, if steps of 1e-12 of the interval
/// fail. Not collective.
std::vector<BatchState> react(const ReactiveMedium& medium, const BatchMinerals& minerals,
                              const std::vector<double>& totals, const std::vector<double>& times,
                              double tolerance = 1e-3);

}  // namespace karst
