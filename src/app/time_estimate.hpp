// SPDX-License-Identifier: BSD-3-Clause
// How long a run will take on this machine, with the ranks and threads of this program: a small packing is cut and
// solved by every rank at the same time, and what that takes per cell is scaled to the counts of the run.
#pragma once

#include <string>
#include <vector>

#include "app/memory_estimate.hpp"
#include "base/comm.hpp"

namespace karst {

/// Seconds of a rank with its threads.
struct MachinePace {
  double linking = 0.0;       ///< per VoF; a cut cell counts as several: cost_of_cut_cell
  std::vector<JobPace> jobs;  ///< of the jobs asked for
};

/// A packing, cut and solved. A few seconds. Collective; a PetscSession lives.
MachinePace measure_pace(const Comm& comm, const std::vector<Job>& jobs);

struct TimePart {
  std::string name;
  double seconds = 0.0;
  double most = 0.0;  ///< where more iterations are needed than planned
};

/// @param sample  what cutting took
/// @param plans   of the jobs, in the order of pace.jobs
/// @param n_components  of the plotfile
std::vector<TimePart> time_parts(const MachinePace& pace, const GeometrySample& sample, const std::vector<Job>& jobs,
                                 const std::vector<JobPlan>& plans, const GridCounts& counts, const GridOptions& grid,
                                 int n_components, int ranks);

std::string time_table(const std::vector<TimePart>& parts);

}  // namespace karst
