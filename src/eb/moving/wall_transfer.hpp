// SPDX-License-Identifier: BSD-3-Clause
// From the pieces of a wall to those of the same wall after it has moved. Pieces have no names that last: a piece is
// followed by those around the place where it was.
#pragma once

#include <span>
#include <vector>

#include "eb/moving/cell_changes.hpp"
#include "eb/moving/displacement.hpp"

namespace karst {

/// One number per irregular VoF: per level, parallel to LevelGeometry::moments.
using WallRows = std::vector<std::vector<double>>;

/// Zeros.
WallRows wall_rows(std::span<const LevelGeometry> levels);

/// Volumes in h0³.
struct WallTransfer {
  WallRows means;      ///< at the new pieces
  WallRows owed;       ///< of the new pieces
  double moved = 0.0;  ///< by which the fluid has grown
  double lost = 0.0;   ///< Σ owed before - Σ owed after - moved: where no wall is left that could owe it
};

/// What has become of the fluid of cells.
enum class CellChanges : std::uint8_t {
  owed,     ///< walls have moved, which pays what they owed
  not_owed  ///< solid was taken away: `moved` is 0
};

/// What the walls owe the fluid after they have moved: each piece before owed a volume, and each cell has gained or
/// lost one. Both are shared among the new pieces around, by their areas and distances,
///
///   owed_q = Σ_p w_q(x_p) owed_p - Σ_c w_q(x_c) (V_c after - V_c before),   Σ_q w_q = 1,
///
/// so that Σ owed + fluid volume stays as it is to round-off. Cells: changes_of_cells(). Means: with the same weights,
/// of the pieces before that are around a new one; 0 where there is none.
///
/// @param before, after  of one domain, with all pores (a pore that is removed would count as solid); levels are
/// finished
/// @param means          of the pieces before, any quantity
/// @param owed           of the pieces before [h0³]: volume by which they ought to have moved
/// @param takes          of each new piece, the part of its area that may owe
/// Collective.
WallTransfer transfer_to_moved_walls(const Comm& comm, const WallPieces& before, const WallRows& means,
                                     const WallRows& owed, const WallPieces& after, const WallRows& takes,
                                     const Displacement& displacement, CellChanges changes = CellChanges::owed);

/// Amounts of pieces that are not volumes.
struct SharedAmounts {
  WallRows amounts;   ///< of the new pieces
  double lost = 0.0;  ///< Σ before - Σ after: where no wall is left that could take it
};
/// The same sharing, amount_q = Σ_p w_q(x_p) amount_p, of something that lies on walls: Σ amounts + lost stays as it is
/// to round-off. Collective.
/// @param amounts  of the pieces before
/// @param takes    of each new piece, the part of its area that it may lie on
SharedAmounts share_on_moved_walls(const Comm& comm, const WallPieces& before, const WallRows& amounts,
                                   const WallPieces& after, const WallRows& takes, const Displacement& displacement);

}  // namespace karst
