// SPDX-License-Identifier: BSD-3-Clause
// Walls move between two steps, and all that goes through time goes on with the ground that follows (decision 062).
#pragma once

#include "app/run/checkpoint.hpp"

namespace karst {

/// Jobs that are done for each position of the walls (Job::does) and whose results others take: the steady flow that
/// carries transient transport. On the ground of now. Throws Error. Collective.
void do_jobs_for_walls(const JobContext& context);

/// Moves walls if a process asks for it (Process::wall_motion()): states out, processes down, walls, ground, jobs for
/// walls, processes on the state that follows. A motion that would leave transport in time without a flow is not made,
/// and the run ends in order. Contents of volumes follow their pieces of fluid (decision 061). Throws Error on all
/// ranks. Collective.
void move_walls(JobContext& context, std::span<const Job> jobs, Together& all, Clock& clock);

}  // namespace karst
