// SPDX-License-Identifier: BSD-3-Clause
// The ground changes while jobs go through time: boxes get other owners, or the grid other levels. States are sent or
// transferred, and the processes are made again on the new ground (decisions 055, 057). It also becomes another one
// between groups of jobs, with steady flows that jobs have left for others (exchange.hpp).
#pragma once

#include "app/job/job.hpp"
#include "app/run/checkpoint.hpp"
#include "transport/regrid/grid_change.hpp"

namespace karst {

// change_levels() and change_owners() are two of the functions that replace the ground; another one is move_walls()
// (move_walls.hpp). What holds a ground, and lets go of it here: processes (made again from their state), what jobs
// have left for one another (move_flow()), results of jobs that are done (by JobContext::make_ground), and the
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

/// Same lattice boxes on all levels, on any ranks. Not collective.
bool same_boxes(const Geometry& a, const Geometry& b);

/// On the same boxes flows keep every bit. On others they become fluxes, kept from cell to cell of the coarser grid and
/// made continuous by who takes them. These are always made from the fluxes on the grid where the flow was solved,
/// which stay: they do not depend on the grids between, and back on that grid they are the same to the last bit.
/// @param context  on its new ground; its exchanges are changed
/// @param change   from the ground of before to that of now, where it is known; nullptr: not
/// Throws Error on all ranks. Collective.
void move_flow(const JobContext& context, const Ground& before, GridChange* change = nullptr);

/// Before a run has any process: the ground of these boxes and of where walls are now. Throws Error on all ranks.
/// Collective.
void set_ground(JobContext& context, const std::optional<FlaggedBoxes>& flagged);

/// Before a run has any process of a group: it goes on with these boxes. Throws Error on all ranks. Collective.
void set_levels(JobContext& context, const std::optional<FlaggedBoxes>& flagged);

}  // namespace karst
