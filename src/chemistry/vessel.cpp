// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/vessel.hpp"

#include <fmt/format.h>

#include "base/core/error.hpp"

namespace karst {

namespace {

SurfaceReaction equilibrium_of(const ChemicalSystem& system, const EquilibriumOptions& o) {
  try {
    const SolutionCondition at = saturation(system, o.phase, o.index);
    SurfaceReaction reaction = make_equilibrium(system, o.name, at.phase, at.value);
    reaction.dissolves = o.dissolves;
    reaction.precipitates = o.precipitates;
    return reaction;
  } catch (const Error& e) {
    throw Error(fmt::format("equilibrium with {}: {}", o.name, e.what()));
  }
}

}  // namespace

Vessel make_vessel(const Database& database, const Solution& solution, const VesselOptions& options) {
  const std::vector<std::string> elements(solution.system.elements.begin() + 1, solution.system.elements.end());
  ChemicalSystem system = options.sorbents.empty() ? solution.system
                                                   : make_system(database, elements, solution.system.kelvin,
                                                                 sorbents_of(database, options.sorbents));
  const std::vector<SolutionCondition> sites = sites_of(options.sorbents);
  Speciation start = options.sorbents.empty() ? solution.state : sorbed_state(system, solution.state, sites);
  Vessel vessel{{}, minerals_of(options.minerals), {}};
  std::vector<SurfaceReaction> reactions;
  for (const MineralOptions& o : options.minerals) reactions.push_back(make_surface_reaction(system, o));
  for (const EquilibriumOptions& o : options.equilibria) {
    reactions.push_back(equilibrium_of(system, o));
    vessel.minerals.area.push_back(1.0);
    vessel.minerals.amount.push_back(o.amount);
  }
  for (int p = 0; p < system.n_primaries; ++p)
    vessel.totals.push_back(total_of(system, start, p) + sorbed_of(system, start, p));
  vessel.medium = make_medium(std::move(system), std::move(reactions), std::move(start), sites);
  return vessel;
}

}  // namespace karst
