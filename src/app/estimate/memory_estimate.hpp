// SPDX-License-Identifier: BSD-3-Clause
// Memory of a run from counts of its cells, before anything is built. The bytes per cell are those of measured runs:
// docs/performance.md, "Estimates".
#pragma once

#include <string>
#include <vector>

#include "app/deck/config.hpp"
#include "app/job/job_cost.hpp"
#include "eb/geometry_sample.hpp"

namespace karst {

/// Cells of one geometry, over all levels.
struct GridCounts {
  double boxes = 0, box_cells = 0;  ///< with fluid, and their cells
  double fluid = 0, irregular = 0;  ///< VoFs
  double cut = 0;                   ///< cells
  double voxels = 0;                ///< of the image; 0: described solids
  double slots = 0;                 ///< values stored of a field, halo included
  bool minerals = false;            ///< several: kept for voxels and walls
};

GridCounts counts_of(const GeometrySample& sample, const GridOptions& grid, double voxels);
/// What more cells per direction mean: a larger piece of the material, which has more wall, or finer cells of the same
/// piece, with less wall per cell.
enum class MoreCells { larger_piece, finer_cells };

/// The same with so many times as many cells per direction.
GridCounts scaled(const GridCounts& counts, double cells, MoreCells more);
/// Of a sample, between reservoirs.
GridCounts with_reservoirs(const GridCounts& counts, const Reservoirs& reservoirs, const GridOptions& grid);
/// Those of a grid of a job.
GridCounts counts_on(const PlannedGrid& planned, const GridCounts& counts, const GridOptions& grid);

/// A part of the memory of a run [bytes].
struct MemoryPart {
  std::string name;
  double shared = 0;    ///< over all ranks, dealt out among them
  double per_rank = 0;  ///< of each rank
  double on(int ranks) const { return shared + per_rank * ranks; }
};

/// A time of the run and what lives then.
struct MemoryStage {
  std::string name;
  std::vector<MemoryPart> parts;
  double all_ranks(int ranks) const;
  double largest_rank(int ranks) const;  ///< with the imbalance that partitions have
};

/// What memory depends on beside the counts.
struct MemoryInput {
  double program = 0;         ///< resident set of a rank before it has done anything [bytes]
  std::vector<JobPlan> jobs;  ///< in their order
  std::vector<std::string> names;
  int n_components = 0;      ///< of the plotfile
  double import_voxels = 0;  ///< of an image that the run imports; 0: none
};

/// All stages of a run, in their order. At least the geometry.
std::vector<MemoryStage> memory_stages(const MemoryInput& input, const GridCounts& counts, const GridOptions& grid,
                                       int ranks);
/// The one that takes most on one rank.
const MemoryStage& peak_stage(const std::vector<MemoryStage>& stages, int ranks);

/// The parts of the peak, and the peaks of the other stages.
std::string memory_table(const std::vector<MemoryStage>& stages, int ranks);

}  // namespace karst
