// SPDX-License-Identifier: BSD-3-Clause
// From the [chemistry] table of a deck for `karst run` to what is transported and what reacts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/deck/config.hpp"
#include "base/core/text.hpp"
#include "chemistry/phreeqc_engine.hpp"
#include "chemistry/vessel.hpp"
#include "eb/geometry.hpp"

namespace karst {

/// A solution that is in the pores at the beginning, or enters.
struct RunWater {
  std::string name;
  std::string use;  ///< "initial", "inlet", "initial, inlet"
  double ph = 7.0;
  double ionic_strength = 0.0;  ///< [mol/kgw]
  double charge_error = 0.0;    ///< charge_error() [%]
  /// [eq/kgw], [mol/kgw]; NaN without carbon.
  double alkalinity = 0.0, inorganic_carbon = 0.0;
  std::vector<double> saturation;  ///< [reaction] log10 Ω; NaN where it has none of one of its elements
};

struct ReactivePlan {
  ReactiveMedium medium;                ///< what is dissolved, with the minerals of the deck in their order
  std::optional<Vessel> bulk;           ///< what is in every cell: these minerals, then phases in equilibrium, sorbents
  std::optional<PhreeqcFiles> phreeqc;  ///< of the engine phreeqcrm
  std::vector<double> initial;          ///< [primary] totals [mol/kgw]
  std::vector<std::vector<double>> inlets;  ///< the same of what enters: one, or one per [[chemistry.inflow]]
  std::vector<RunWater> waters;             ///< the solution at the beginning, then others at the inlet
  std::vector<int> species;                 ///< of chemistry.species, in the system
  std::size_t first = 0;                    ///< component of the first total in TransportDeck::components
  std::uint64_t database = 0;               ///< Database::fingerprint
  double water = 997.0;                     ///< kilograms of water in a cubic metre of fluid
  Messages warnings;
  std::string left_out;  ///< of the database

  /// Minerals of the deck, then phases in equilibrium.
  const std::vector<SurfaceReaction>& reactions() const { return bulk ? bulk->medium.minerals : medium.minerals; }
};

/// Reads the database, solves the solutions and adds their totals to config.transport.components, such that they bound
/// nothing else; notes as mistakes all that is wrong with names, phases, species, rates and compositions. Not
/// collective.
void add_chemistry(Reader& in, Config& config);

/// Whether a mineral of [chemistry] lies on the walls of a mineral of the geometry. Not collective.
bool lies_on(const MineralDeck& mineral, const std::string& wall);
/// [m³/mol] of a reaction; 0: the database does not give it. Not collective.
double molar_volume_of(const ReactivePlan& plan, std::size_t reaction);
/// [mineral] ReactiveSites::covers; empty without deposits. Not collective.
std::vector<double> covers_of(const Config& config);
/// Whether a mineral of [chemistry], not the law of a component, moves the walls of this one. Not collective.
bool moved_by_chemistry(const Config& config, const MovingMineral& mineral);

/// Species of the primary are on sites. Not collective.
bool sorbs(const ReactivePlan& plan, std::size_t primary);
/// Fields of the plot word "chemistry": pH, saturation index per mineral, molality per chosen species, what is left of
/// minerals in the volume, sorbed amount per element; 0 without chemistry. Not collective.
int n_fields(const Config& config);

/// What of the chemistry does not go with the geometry. Not collective.
std::vector<std::string> chemistry_mistakes(const Config& config, const Geometry& geometry);

}  // namespace karst
