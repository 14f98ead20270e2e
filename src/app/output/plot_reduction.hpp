// SPDX-License-Identifier: BSD-3-Clause
// Smaller plotfiles: the boxes of a region, and coarser cells. Both make one description of a plotfile from another.
//
// A cell of a coarsened file is a block of n x n x n cells of the grid, on each level. Boxes of level 0 are merged to
// boxes of the same number of cells again, since what reads plotfiles takes a time per box; boxes of refined levels
// shrink, since a merged one could cover cells that are not refined. No block is refined in part: one octant of a box
// has at least n cells along an edge.
#pragma once

#include <cstdint>
#include <vector>

#include "base/comm/comm.hpp"
#include "io/plotfile.hpp"

namespace karst {

/// How a component of a block follows from those of its cells. Cells without fluid or under a finer level do not count
/// where the fluid does; neither do values that are NaN.
enum class BlockValue : std::uint8_t {
  fluid_mean,      ///< Σ α v / Σ α with the fluid fraction α: contents Σ α v V stay
  mean,            ///< over all cells of the block
  sum,             ///< over them
  wall_direction,  ///< of three components: the direction of Σ a v with the wall area a
  wall_majority    ///< the value on most of the wall area; 0 without wall
};

/// Components, beyond those that are written, by which PlotDescription::fill gives the weights of cells.
struct BlockWeights {
  int fraction, wall_area;
};

/// The boxes of a region; `plot` and what it points to must live as long as the result is used. Levels without a box
/// there are left out, but level 0.
/// @param region  cells of level 0: whole boxes
/// Not collective.
PlotDescription plot_within(const PlotDescription& plot, int rank, const Box& region);

/// Blocks of n x n x n cells, whose values are kept in memory; `plot` is not needed afterwards.
/// @param n       1, 2, 4 .. half the width of a box; divides the cells of the domain, and the region is of whole boxes
///                that are merged
/// @param values  per component
/// Throws the same Error on all ranks. Collective.
PlotDescription plot_coarsened(const Comm& comm, const PlotDescription& plot, int n,
                               const std::vector<BlockValue>& values, const BlockWeights& weights);

}  // namespace karst
