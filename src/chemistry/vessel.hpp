// SPDX-License-Identifier: BSD-3-Clause
// A kilogram of water with what sorbs from it and what reacts with it.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "chemistry/batch.hpp"
#include "chemistry/sorption.hpp"

namespace karst {

/// A mineral or gas that the water comes to equilibrium with as long as there is some of it.
struct EquilibriumOptions {
  std::string name, phase;
  double index = 0.0;  ///< saturation index that it holds; of a gas log10 of its partial pressure [atm]
  double amount = std::numeric_limits<double>::infinity();  ///< [mol/kgw]; infinite: it does not end
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

/// Throws Error, with the name of the part, for what is wrong. Not collective.
/// @param solution  which names all elements of the phases (add_elements_of_phase())
Vessel make_vessel(const Database& database, const Solution& solution, const VesselOptions& options);

}  // namespace karst
