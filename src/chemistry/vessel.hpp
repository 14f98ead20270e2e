// SPDX-License-Identifier: BSD-3-Clause
// Batch reactor: a kilogram of water with its sorbents and reactants.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "chemistry/batch.hpp"
#include "chemistry/sorption.hpp"

namespace karst {

/// A mineral or gas in equilibrium with the water until it is exhausted.
struct EquilibriumOptions {
  std::string name, phase;
  double index = 0.0;  ///< saturation index in equilibrium; of a gas log10 of its partial pressure [atm]
  double amount = std::numeric_limits<double>::infinity();  ///< [mol/kgw]; infinite: never exhausted
  bool dissolves = true, precipitates = true;
};

struct VesselOptions {
  std::vector<SorbentOptions> sorbents;
  std::vector<MineralOptions> minerals;  ///< that react at their rates
  std::vector<EquilibriumOptions> equilibria;
};

struct Vessel {
  ReactiveMedium
      medium;  ///< minerals, then equilibria; it starts at the solution, with sorbents in equilibrium with it
  BatchMinerals minerals;
  std::vector<double> totals;  ///< [primary] of water and sorbents at the start [mol/kgw]
};

/// Throws Error, with the name of the part, for invalid descriptions. Not collective.
/// @param solution  must contain all elements of the phases (add_elements_of_phase())
Vessel make_vessel(const Database& database, const Solution& solution, const VesselOptions& options);

}  // namespace karst
