// SPDX-License-Identifier: BSD-3-Clause
// The ground of a run becomes another one between groups of jobs, with steady flows that jobs have left for others
// (exchange.hpp).
#pragma once

#include "app/job/job.hpp"
#include "transport/regrid/grid_change.hpp"

namespace karst {

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
