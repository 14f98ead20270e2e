// SPDX-License-Identifier: BSD-3-Clause
// What a run will hold and take, from a sample: for `karst check`, and for a run that cannot fit (decision 020).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/deck/config.hpp"
#include "app/deck/image_sample.hpp"
#include "app/deck/node_memory.hpp"
#include "app/deck/source.hpp"
#include "app/estimate/memory_estimate.hpp"
#include "app/job/job.hpp"

namespace karst {

/// Cells and voxels from which on a grid or an image is large: a sample then costs little beside the run, and building
/// the geometry for a check would take long.
inline constexpr double large_grid = 8e6, large_import = 3e6;

struct RunEstimate {
  GridOptions grid;
  GeometrySample sample;  ///< for the whole domain, without reservoirs
  GridCounts counts;      ///< of what the jobs of the run compute on: with its reservoirs
  std::optional<Reservoirs> reservoirs{};
  std::optional<GridCounts> sample_counts{};  ///< with reservoirs: of the sample alone, which is built first
  std::vector<Job> jobs;                      ///< those asked for
  MemoryInput memory;
  double import_seconds = 0;
  bool material = false;  ///< of an image: smaller pieces of it are no coarser

  std::vector<MemoryStage> stages(int ranks) const;
  double cells() const;  ///< of level 0
};

/// @param jobs     of the run; may be none
/// @param program  resident set of this process before anything was built [bytes]
/// Collective.
RunEstimate estimate_run(const Comm& comm, const Config& config, const std::vector<Job>& jobs, double program,
                         const Source& source);
/// Of an image that the run imports.
RunEstimate estimate_run(const Comm& comm, const Config& config, const std::vector<Job>& jobs, double program,
                         const ImageSample& image, const ImageExtent& extent);

/// The busiest rank finds the memory it needs at the peak.
bool fits(const RunEstimate& estimate, const MemoryShare& share, int ranks);
/// What of the deck would fit, and how many nodes of this kind the whole needs. For a run that does not fit.
std::string what_fits(const RunEstimate& estimate, const MemoryShare& share);
/// "needs 9 GiB ..., and there are 5 GiB ..."
std::string need_against_limit(const RunEstimate& estimate, const MemoryShare& share, int ranks);

/// The sample as lines for the terminal.
std::string sample_table(const RunEstimate& estimate);

/// Throws Error where a large grid or image cannot fit, saying what would; says nothing of images that no sample can be
/// taken of. To be called before anything is written. Collective.
void refuse_what_cannot_fit(const Comm& comm, const Config& config, const std::vector<Job>& jobs);

}  // namespace karst
