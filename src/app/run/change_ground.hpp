// SPDX-License-Identifier: BSD-3-Clause
// The ground changes while jobs go through time: boxes get other owners, or the grid other levels. States are sent or
// transferred, and the processes are made again on the new ground (decisions 055, 057).
#pragma once

#include <functional>

#include "app/run/checkpoint.hpp"

namespace karst {

/// Makes the new ground, when the processes have gone. Collective.
using MakeGround = std::function<std::shared_ptr<const Ground>()>;

/// Lists all that holds a ground during a run, and lets go of it: processes (made again from their state), what jobs
/// have left for one another (exchange.hpp), results of jobs that are done (by JobContext::dealt_out), and the context.
///
/// On the same boxes states keep every bit. On others, with the same walls, contents and point values are transferred
/// (transport/regrid), steady fluxes are kept from cell to cell of the coarser grid and made continuous, and schemes in
/// time start again.
/// @param context       its ground is another one then
/// @param jobs          of the processes
/// @param[in,out] all   processes after a step
/// @param[in,out] clock theirs
/// Throws Error on all ranks. Collective.
void change_ground(JobContext& context, std::span<const Job> jobs, const MakeGround& make, Together& all, Clock& clock);

/// The same with boxes dealt out by costs (JobContext::dealt_out).
void change_owners(JobContext& context, std::span<const Job> jobs, const BoxCosts& costs, Together& all, Clock& clock);

}  // namespace karst
