// SPDX-License-Identifier: BSD-3-Clause
// Which pieces of fluid of one cell before its walls moved are which after, from their volumes, centroids and walls
// alone.
#pragma once

#include <span>
#include <vector>

#include "base/math/triple.hpp"

namespace karst {

/// A piece of fluid in a cell.
struct CellPiece {
  double volume;  ///< / h³
  Vec3 centroid;  ///< from the centre of the cell / h
  Vec3 wall{};    ///< area vector of its wall, into the fluid, over the area of the wall; 0 without
};

/// Fluid of the old piece `before` in the new piece `after` (their positions in the lists).
struct MatchedPieces {
  int before, after;
  double kept;   ///< volume in both
  double taken;  ///< that, and what opened beside it: Σ over its old pieces is the volume of the new piece
};

/// Pieces with walls on opposite sides that have room beside each other in the cell, as those on both sides of a plate,
/// are never the same. Otherwise one old and one new piece are; of several, pairs are those closest to each other, and
/// one that is left over was a part of an old piece (or is a part of a new one) where its centroid says so: with the
/// piece that the old one is matched with, it has a common centroid closer to that of the old piece. Others have opened
/// or closed. So water stays on its side of a wall that moves by less than its thickness.
///
///   kept = min(V V' / Σ V' of the new pieces with this old one, V' V / Σ V of the old ones with this new one)
///
/// so that of one and one it is the smaller volume. The way back has the same pairs and the same `kept`. In the order
/// of `after`, then `before`. Not collective.
std::vector<MatchedPieces> match_pieces(std::span<const CellPiece> before, std::span<const CellPiece> after);

}  // namespace karst
