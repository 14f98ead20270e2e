// SPDX-License-Identifier: BSD-3-Clause
// A solution over time in a closed vessel, with minerals that react at finite rates and phases in equilibrium.
#pragma once

#include <vector>

#include "chemistry/implicit_reaction.hpp"

namespace karst {

/// What is in the vessel beside a kilogram of water, per mineral of the medium.
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

/// The vessel in equilibrium with all that reacts at once, before anything else reacts. Throws Error where it does not
/// come to it. Not collective.
BatchState equilibrate(const ReactiveMedium& medium, const BatchMinerals& minerals, const std::vector<double>& totals);

/// The solution over time: elements and charge are those of the start and of what has dissolved. L-stable Runge-Kutta
/// steps of second order (γ = 1 - 1/√2; Alexander 1977) with the length chosen such that the difference to the first
/// order is below `tolerance` of what has dissolved.
/// @param totals  [primary] at the beginning, of what is dissolved and sorbed
/// @param times   increasing [s]
/// @return  the state at each of the times
/// Throws Error, with time and composition, when steps of 1e-12 of the interval fail. Not collective.
std::vector<BatchState> react(const ReactiveMedium& medium, const BatchMinerals& minerals,
                              const std::vector<double>& totals, const std::vector<double>& times,
                              double tolerance = 1e-3);

}  // namespace karst
