// SPDX-License-Identifier: BSD-3-Clause
// Boxes get other owners while jobs go through time: the state is sent, and the processes are made again on the new
// ground (decision 055).
#pragma once

#include "app/run/checkpoint.hpp"

namespace karst {

/// Lists all that holds a ground during a run, and lets go of it: processes (made again from their state), what jobs
/// have left for one another (exchange.hpp), results of jobs that are done (by JobContext::dealt_out), and the context.
/// @param context       its ground is another one then
/// @param jobs          of the processes
/// @param[in,out] all   processes after a step
/// @param[in,out] clock theirs
/// Throws Error on all ranks. Collective.
void change_owners(JobContext& context, std::span<const Job> jobs, const BoxCosts& costs, Together& all, Clock& clock);

}  // namespace karst
