// SPDX-License-Identifier: BSD-3-Clause
// How long the parts of a run should take, for its progress.
#pragma once

#include <vector>

#include "app/deck/config.hpp"
#include "app/deck/statistics.hpp"
#include "app/estimate/memory_estimate.hpp"
#include "app/job/job.hpp"
#include "app/job/run_progress.hpp"

namespace karst {

/// What the expected times hang on.
struct RunSize {
  double voxels = 0.0;  ///< of an image that is imported first
  GridOptions grid;     ///< with cells
  GridCounts counts;    ///< before the geometry stands a guess
};

/// Before the image is opened: its voxels from what the deck says of it, or from the bytes of its file.
RunSize size_before(const Config& config);
RunSize size_of(const GeometryStatistics& geometry, const GridOptions& grid);

/// The parts of a run in order, with the times of one thread on the runs of docs/performance.md
/// (app/estimate/time_estimate.hpp).
/// @param jobs  that it does; none: the geometry alone
/// Not collective.
std::vector<RunPart> parts_of_run(const Config& config, const std::vector<Job>& jobs, const RunSize& size);

/// The progress of `karst run` and, without jobs, of `karst geometry`, in its first part. Collective.
void follow_run(const Comm& comm, const Config& config, const std::vector<Job>& jobs, RunProgress& progress);

}  // namespace karst
