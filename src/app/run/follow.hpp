// SPDX-License-Identifier: BSD-3-Clause
// Refinement that follows the solution (decision 060): where the processes of a group ask for boxes that are not there,
// or for far fewer than are there, the grid gets the boxes that they ask for.
#pragma once

#include "app/run/checkpoint.hpp"

namespace karst {

/// Jobs that go through time together begin on the grid that their first state asks for; what does not go through time
/// has all levels everywhere. Or they go on, as begin_together().
Together begin_on_own_grid(JobContext& context, std::span<const Job> jobs, std::optional<Checkpoint>& from);

/// After a step: another grid, where the processes ask for it. It depends on the state, the boxes and the number of the
/// step alone, so that a run that goes on from a checkpoint has the same grids. Throws Error on all ranks. Collective.
void follow(JobContext& context, std::span<const Job> jobs, Together& all, Clock& clock);

}  // namespace karst
