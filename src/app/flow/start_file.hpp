// SPDX-License-Identifier: BSD-3-Clause
// flow.start_file: a flow in time begins with what an earlier run has left in a plotfile, on the same or other cells.
#pragma once

#include <string>
#include <vector>

#include "app/flow/drive_in_time.hpp"
#include "app/job/job.hpp"
#include "ins/solve/stokes_solver.hpp"

namespace karst {

/// What is wrong with the file, as far as its head tells: no plotfile, no velocity in it, a domain of another size. The
/// same on every rank. Not collective.
std::vector<std::string> start_mistakes(const JobContext& run);

/// Sets the velocity and, where the file has it, the pressure of all unknowns (stokes.all_values()) to those of the
/// file at the centres of their cells (io/plot_sampler.hpp); solid counts as fluid at rest. The flow is not free of
/// divergence. Throws the same Error on all ranks. Collective.
void read_start(const JobContext& run, const FlowUnits& units, StokesSolver& stokes);

}  // namespace karst
