// SPDX-License-Identifier: BSD-3-Clause
// What sites have between steps, as items of a state (fields/state.hpp), and as copies to go back to. With these and
// the state of the transport, reactions go on with the same bits.
#pragma once

#include <string>

#include "fields/state.hpp"
#include "transport/reactive/coupled_step.hpp"

namespace karst {

inline constexpr const char* sites_at_walls = "sites at walls";  ///< name of the set of all of them
inline constexpr const char* buried_item = "buried";             ///< in the numbers of the sites: ReactionState::buried

/// Adds the set of the volumes that are sites, their items "NAME: ...", and what is one number for all. Not collective.
/// @param unknowns  all volumes
/// @param name      of the set
/// @param coupled   of sites at walls; nullptr: in volumes, where steps are never coupled
void add_items(const ReactiveMedium& medium, const ReactiveSites& sites, const VofSet& unknowns,
               const std::string& name, const ReactionState& reaction, const CoupledScratch* coupled, State& state);

/// Name of the item with the amounts of minerals that end, [mineral]. Of walls after they have moved it stands on all
/// volumes; else on the sites.
std::string amounts_item(const std::string& name);

/// The inverse. Throws Error, maybe on some ranks alone: the state is of other sites. Not collective.
/// @param reaction  of start_reaction()
/// @param coupled   new; nullptr: steps are never coupled
void take_items(const State& state, const ReactiveMedium& medium, const ReactiveSites& sites, const VofSet& unknowns,
                const std::string& name, ReactionState& reaction, CoupledScratch* coupled);

/// The same lists and numbers as they were before a step.
struct SitesBefore {
  std::vector<float> start, seen, coupled_seen;
  std::vector<double> sorbed, amount, error, rate, coupled_rate, slope;
  double dt = 0.0;
  CoupledCounts counts;
};
/// Allocates nothing after the first steps. Not collective.
/// @param coupled  nullptr: steps are never coupled
void keep_sites(const ReactionState& reaction, const CoupledScratch* coupled, SitesBefore& before);
/// The inverse.
void give_sites_back(const SitesBefore& before, ReactionState& reaction, CoupledScratch* coupled);

}  // namespace karst
