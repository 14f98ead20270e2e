// SPDX-License-Identifier: BSD-3-Clause
// Rate laws of minerals that dissolve and precipitate.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "chemistry/chemical_system.hpp"
#include "chemistry/speciation.hpp"

namespace karst {

/// One path of a reaction: k Π a_i^n_i [mol/m²/s].
struct RatePath {
  double ln_k = 0.0;                             ///< at the temperature of the system
  std::vector<std::pair<int, double>> activity;  ///< species, exponent
  std::vector<std::pair<int, double>> phases;  ///< phase, exponent of its saturation ratio: of a gas its fugacity [atm]
};

/// A mineral with its surface: dr/dt = area Σ_paths k Π a_i^n_i (1 - Ω), transition-state theory (Lasaga 1984).
struct KineticMineral {
  std::string name;
  int phase = -1;       ///< in ChemicalSystem::phases
  double area = 0.0;    ///< [m²/kgw]
  double amount = 0.0;  ///< [mol/kgw]; dissolution ends when it is exhausted
  std::vector<RatePath> paths;
};

/// A path in the syntax of decks: "0.89 H+ 1", "5.01e-4 CO2 1", "6.6e-7 Ea 23.5": k at 25 °C, then species and
/// exponents (or gases, by their fugacity in atm, "3.3e-4 CO2(g) 1"), then the activation energy [kJ/mol] of Arrhenius'
/// law. Throws Error with the reason if the text is invalid. Not collective.
RatePath parse_rate_path(const ChemicalSystem& system, std::string_view text);

/// Description of a mineral.
struct MineralOptions {
  std::string name, phase;
  double area = 0.0;               ///< [m²/kgw]
  double amount = 0.0;             ///< [mol/kgw]
  std::vector<std::string> rates;  ///< see parse_rate_path()
};
/// Throws Error, with the mineral's name, for invalid descriptions. Not collective.
KineticMineral make_mineral(const ChemicalSystem& system, const MineralOptions& options);

/// Moles dissolved per second and kilogram of water; negative: precipitated.
double dissolution_rate(const ChemicalSystem& system, const Speciation& state, const KineticMineral& mineral);

/// Its derivative for given derivatives of ln a of the primaries and, after them, of water.
double dissolution_slope(const ChemicalSystem& system, const Speciation& state, const KineticMineral& mineral,
                         std::span<const double> ln_activity_slope);

}  // namespace karst
