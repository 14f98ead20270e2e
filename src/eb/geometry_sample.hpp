// SPDX-License-Identifier: BSD-3-Clause
// Estimate of a geometry from a sample of its boxes, without memory that grows with the grid. Per level:
//   1  boxes of the lattice are drawn, one at random from each of about equal parts of it, and classified as for the
//   layout;
//      if there is a finer level, their octants are tested for refinement, and the refined ones are
//      the boxes to draw from on the next level;
//   2  some of those that contain a wall are cut, and their cells counted.
// Totals are expansion estimators of this double sampling (W. G. Cochran, Sampling Techniques, 3rd ed., Wiley 1977,
// chapter 12): boxes drawn on level 0 represent all boxes of their part, cut ones all boxes with a wall. A lattice that
// is smaller than the sample is counted completely.
#pragma once

#include <vector>

#include "base/comm/comm.hpp"
#include "eb/shapes/level_set.hpp"
#include "grid/grid_options.hpp"

namespace karst {

/// Size of the sample. The limit in seconds ends it early, because a level set may be slow.
struct SampleSize {
  int classified = 16384, cut = 640;             ///< boxes of a level
  double classify_seconds = 2, cut_seconds = 2;  ///< of a level
};

/// Counts of a level, over the whole domain. All pores are assumed to be kept.
struct LevelEstimate {
  double candidates = 0, boxes = 0;          ///< of its region; of those, with fluid
  double cells = 0;                          ///< of the boxes with fluid
  double fluid = 0;                          ///< VoFs
  double irregular = 0;                      ///< VoFs
  double cut = 0;                            ///< cells
  double volume = 0, wall_area = 0;          ///< Σ κ [h³] and of the walls [h²]
  double fluid_error = 0, volume_error = 0;  ///< standard errors; 0: counted, not sampled
};

struct GeometrySample {
  std::vector<LevelEstimate> levels;
  double classified = 0, cut = 0;  ///< boxes evaluated
  /// Times of one thread [s]: per classified box (where φ was available), and per cut cell of the boxes cut.
  double seconds_per_box = 0, seconds_per_cut_cell = 0;

  double sum(double LevelEstimate::*count) const;
};

/// Draws and counts; the boxes are distributed to the ranks. The same on every rank, and for any number of ranks and
/// threads unless the time limit ends a sample. Only level 0 without refinement. Collective.
GeometrySample sample_geometry(const Comm& comm, const GridOptions& grid, const LevelSet& level_set,
                               const SampleSize& size = {});

}  // namespace karst
