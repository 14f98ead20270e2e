// SPDX-License-Identifier: BSD-3-Clause
// Connected pores: connected components of the pieces of fluid, and which of them can have flow.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "eb/link/components.hpp"
#include "eb/link/home_cells.hpp"
#include "eb/link/piece_boxes.hpp"

namespace karst {

/// Which pores are kept.
enum class KeepPores {
  connected,  ///< those that connect two opposite domain faces; all, if there is none
  largest,    ///< the one of the largest volume
  all,
};

/// Result on this rank; the totals are over all ranks.
struct Pores {
  std::vector<std::vector<std::uint8_t>> kept;  ///< [slot][id]: 1 for pieces that are kept; copies included
  std::int64_t n_pores = 0;                     ///< connected components of the fluid
  std::int64_t n_removed = 0;                   ///< of these, removed
  double volume = 0.0, removed_volume = 0.0;    ///< Σ κ
  double closed_volume = 0.0;                   ///< Σ κ of pores that are kept but do not percolate
  std::array<bool, 3> percolates{};             ///< whether a pore percolates in this direction
  std::array<bool, 3>
      joined{};           ///< whether one would if pieces without a home connected pores, too: cells are too wide
  Components components;  ///< if asked for
};

/// Finds the connected pores of level 0 (connected_parts.hpp) and decides which are kept.
///
/// A pore percolates if flow is possible inside the domain from an open domain face to one on the opposite side,
/// through pieces that contain their cell centre or have been merged with a cell that does. So flow exists exactly
/// along the directions in which a pore percolates. Pieces without such a home (isolated fragments) belong to the pore
/// but do not connect it, except under a finer level, where the finer pieces decide. In a periodic direction a
/// connection across the periodic boundary alone is not sufficient. Collective.
Pores find_pores(const PieceBoxes& boxes, const Homes& homes, KeepPores keep, bool keep_components = false);

/// For a refined level: a pore of the level is kept if one of its pieces is in a coarse cell with fluid that is kept.
/// @param parent_kept  [own slot][coarse cell of the box's footprint, x fastest]: 1 if that cell contains fluid that is
/// kept. Collective.
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
