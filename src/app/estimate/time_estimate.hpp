// SPDX-License-Identifier: BSD-3-Clause
// How long a run will take on this machine, with the ranks and threads of this program: a small packing is cut and
// solved by every rank at the same time, and what that takes per cell is scaled to the counts of the run. The progress
// of a run, where only ratios count, takes the usual paces instead.
#pragma once

#include <string>
#include <vector>

#include "app/deck/statistics.hpp"
#include "app/estimate/run_estimate.hpp"
#include "app/job/job.hpp"
#include "app/job/run_progress.hpp"
#include "base/comm/comm.hpp"

namespace karst {

/// Seconds of a rank with its threads.
struct MachinePace {
  double linking = 0.0;       ///< per VoF; a cut cell counts as several: cost_of_cut_cell
  std::vector<JobPace> jobs;  ///< of the jobs asked for
};

/// A packing, cut and solved. A few seconds. Collective; a PetscSession lives.
MachinePace measure_pace(const Comm& comm, const std::vector<Job>& jobs);

/// Making a geometry, cutting included: seconds of a rank with its threads.
struct GeometryPace {
  double per_box = 0.0, per_cut_cell = 0.0;
  double linking = 0.0;  ///< MachinePace::linking
};
/// Of one thread, on the runs of docs/performance.md.
inline constexpr GeometryPace usual_geometry_pace{2e-5, 3.5e-6, 0.77e-6};
inline constexpr double usual_import_per_voxel = 15e-6;  ///< seconds of one thread

struct TimePart {
  std::string name;
  double seconds = 0.0;
  double most = 0.0;  ///< where more iterations are needed than planned
};

/// @param pace  of the jobs of the run
std::vector<TimePart> time_parts(const MachinePace& pace, const RunEstimate& run, int ranks);

std::string time_table(const std::vector<TimePart>& parts);

/// What the expected times hang on.
struct RunSize {
  double voxels = 0.0;  ///< of an image that is imported first
  GridOptions grid;     ///< with cells
  GridCounts counts;    ///< before the geometry stands a guess
};

/// Before the image is opened: its voxels from what the deck says of it, or from the bytes of its file.
RunSize size_before(const Config& config);
RunSize size_of(const GeometryStatistics& geometry, const GridOptions& grid);

/// The parts of a run in order, with the times of one thread on the runs of docs/performance.md.
/// @param jobs  that it does; none: the geometry alone
/// Not collective.
std::vector<RunPart> parts_of_run(const Config& config, const std::vector<Job>& jobs, const RunSize& size);

/// The progress of `karst run` and, without jobs, of `karst geometry`, in its first part. Collective.
void follow_run(const Comm& comm, const Config& config, const std::vector<Job>& jobs, RunProgress& progress);

}  // namespace karst
