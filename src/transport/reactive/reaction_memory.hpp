// SPDX-License-Identifier: BSD-3-Clause
// State of sites between steps, as a row of numbers per control volume: stored in checkpoints, and read on any ranks.
// With these rows, ReactionState::dt, CoupledScratch::counts and the state of the transport, a resumed run is bitwise
// the same.
#pragma once

#include <span>
#include <vector>

#include "transport/reactive/coupled_step.hpp"

namespace karst {

/// Numbers of a site, one after the other: start (basis + 2), seen (primary), sorbed (primary) where anything
/// sorbs, rate (mineral) and, where any ends, amount (mineral) of ReactionState; of sites whose steps may be coupled
/// then seen (primary), rate and slope (mineral) of CoupledScratch.
std::size_t memory_width(const ReactiveMedium& medium, const ReactiveSites& sites, bool coupled);

/// [own volume][memory_width()]; NaN where there is no site, and for values not computed yet. Not collective.
/// @param coupled  nullptr: steps are never coupled
std::vector<double> reaction_memory(const ReactiveMedium& medium, const ReactiveSites& sites, std::int64_t n_own,
                                    const ReactionState& state, const CoupledScratch* coupled);

/// The inverse. Throws Error, and changes nothing, if the rows belong to other sites. Not collective.
/// @param rows     [own volume][memory_width()]
/// @param state    of start_reaction()
/// @param coupled  new; nullptr: steps are never coupled
void take_reaction_memory(const ReactiveMedium& medium, const ReactiveSites& sites, std::span<const double> rows,
                          ReactionState& state, CoupledScratch* coupled);

}  // namespace karst
