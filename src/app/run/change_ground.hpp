// SPDX-License-Identifier: BSD-3-Clause
// The ground changes while jobs go through time: boxes get other owners, or the grid other levels. States are sent or
// transferred, and the processes are made again on the new ground (decisions 055, 057).
#pragma once

#include "app/run/checkpoint.hpp"

namespace karst {

// change_levels() and change_owners() are two of the functions that replace the ground; another one is move_walls()
// (move_walls.hpp). What holds a ground, and lets go of it here: processes (made again from their state), what jobs
// have left for one another (flow_on_ground.hpp), results of jobs that are done (by JobContext::make_ground), and the
// context.
//
// On the same boxes states keep every bit. On others, with the same walls, contents and point values are transferred
// (transport/regrid), steady fluxes come from where the flow was solved, and schemes in time start again.
/// @param context       its ground is another one then
/// @param jobs          of the processes
/// @param[in,out] all   processes after a step
/// @param[in,out] clock theirs
/// Throws Error on all ranks. Collective.
void change_levels(JobContext& context, std::span<const Job> jobs, const std::optional<FlaggedBoxes>& flagged,
                   Together& all, Clock& clock);

/// The same boxes, dealt out by costs.
void change_owners(JobContext& context, std::span<const Job> jobs, const BoxCosts& costs, Together& all, Clock& clock);

}  // namespace karst
