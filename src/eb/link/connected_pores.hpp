// SPDX-License-Identifier: BSD-3-Clause
// Connected pores: which pieces of fluid hang together, and which of them flow can reach.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "eb/link/home_cells.hpp"
#include "eb/link/piece_boxes.hpp"

namespace karst {

/// Which pores stay.
enum class KeepPores {
  connected,  ///< those that join two opposite ends of the domain; all, when there is none
  largest,    ///< the one of the largest volume
  all,
};

/// Result on this rank; the totals are over all ranks.
struct Pores {
  std::vector<std::vector<std::uint8_t>> kept;  ///< [slot][id]: 1 for pieces that stay; copies included
  std::int64_t n_pores = 0;                     ///< connected components of the fluid
  std::int64_t n_removed = 0;                   ///< of these, removed
  double volume = 0.0, removed_volume = 0.0;    ///< Σ κ
  double closed_volume = 0.0;                   ///< Σ κ of pores that stay but do not percolate
  std::array<bool, 3> percolates{};             ///< a pore carries flow between the two ends in this direction
};

/// Finds the connected pores of level 0 and decides which stay. Pieces are connected through face pieces; labels are
/// the smallest name in a pore, spread until nothing changes, so no rank holds more than its own boxes.
///
/// A pore percolates when flow leads from one end to the other inside the domain: from an open face of one end to one
/// of the other, through pieces that hold their cell centre or have joined a cell that does. So flow exists exactly
/// along the directions in which a pore is said to percolate. Pieces without such a home (isolated fragments) belong to
/// the pore but lead nowhere, except under a finer level, which decides there. In a periodic direction lying across the
/// ends is not enough. Collective.
Pores find_pores(const PieceBoxes& boxes, const Homes& homes, KeepPores keep);

/// For a refined level: a pore of the level stays when one of its pieces lies in a coarse cell with fluid that stays.
/// @param parent_kept  [own slot][coarse cell of the box's footprint, x fastest]: 1 when that cell holds fluid that
/// stays Collective.
Pores find_pores_of_refined_level(const PieceBoxes& boxes, const std::vector<std::vector<std::uint8_t>>& parent_kept);

/// Coarse cells (ratio 2) under the cells of a box.
inline Box footprint(const Box& fine) {
  Box coarse;
  for (int d = 0; d < 3; ++d) {
    coarse.lo[d] = fine.lo[d] / 2;
    coarse.hi[d] = (fine.hi[d] + 1) / 2;
  }
  return coarse;
}

}  // namespace karst
