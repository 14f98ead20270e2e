// SPDX-License-Identifier: BSD-3-Clause
// What a geometry will hold, from a sample of its boxes: nothing is built that grows with the grid. Per level:
//   1  boxes of the lattice are drawn, one at random from each of about equal parts of it, and classified as the layout
//      does; where a finer level follows, their octants are asked whether they are refined, and the refined ones are
//      the boxes to draw from on the next level;
//   2  of those that hold a wall some are cut, and their cells counted.
// Totals are expansion estimators of this double sampling (W. G. Cochran, Sampling Techniques, 3rd ed., Wiley 1977,
// chapter 12): boxes drawn on level 0 stand for as many as their part holds, cut ones for all boxes with a wall. A
// lattice that is smaller than the sample is counted completely.
#pragma once

#include <vector>

#include "base/comm/comm.hpp"
#include "eb/shapes/level_set.hpp"
#include "grid/grid_options.hpp"

namespace karst {

/// How much is looked at. The seconds end a sample early: a level set may be slow.
struct SampleSize {
  int classified = 16384, cut = 640;             ///< boxes of a level
  double classify_seconds = 2, cut_seconds = 2;  ///< of a level
};

/// Counts of a level, over the whole domain. Pores are all taken to stay.
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
  double classified = 0, cut = 0;  ///< boxes looked at
  /// Of one thread [s]: per box classified (where φ was at hand), and per cut cell of the boxes cut.
  double seconds_per_box = 0, seconds_per_cut_cell = 0;

  double sum(double LevelEstimate::*count) const;
};

/// Draws and counts; the ranks share the boxes. The same on every rank, and for any number of ranks and threads unless
/// the time ends a sample. Level 0 alone when nothing is refined. Collective.
GeometrySample sample_geometry(const Comm& comm, const GridOptions& grid, const LevelSet& level_set,
                               const SampleSize& size = {});

}  // namespace karst
