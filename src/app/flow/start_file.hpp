// SPDX-License-Identifier: BSD-3-Clause
// flow.start and flow.start_file: what a flow in time begins with, such as what an earlier run has left in a plotfile,
// on the same or other cells.
#pragma once

#include <string>
#include <vector>

#include "app/flow/drive_in_time.hpp"
#include "app/job/job.hpp"
#include "ins/solve/stokes_solver.hpp"
#include "ins/solve/unsteady_solver.hpp"

namespace karst {

/// What is wrong with the file, as far as its head tells: no plotfile, no velocity in it, a domain of another size. The
/// same on every rank. Not collective.
std::vector<std::string> start_mistakes(const JobContext& run);

/// Leaves the flow of flow.start or flow.start_file in the solver; at rest, that which an inlet sets in motion at once.
/// Throws Error on all ranks. Collective.
void begin_flow(const JobContext& run, const DriveInTime& in_time, StokesSolver& stokes, UnsteadySolver& solver);

}  // namespace karst
