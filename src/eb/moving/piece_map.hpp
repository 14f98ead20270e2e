// SPDX-License-Identifier: BSD-3-Clause
// Where the fluid of the control volumes of one geometry is in those of another one, of the same grid, whose walls
// differ (docs/decisions/061-contents-where-walls-move.md). Pieces of fluid are compared cell by cell before they were
// merged (matching_pieces.hpp): a volume is born and dies as soon as its cell centre changes sides, and pieces get
// other homes, while their fluid hardly moves. For each volume, to round-off,
//
//   V  (before) = kept + closed                 closed: now solid
//   V' (after)  = Σ taken + opened              taken:  kept, and what opened beside it in the same piece
//                                               opened: in cells where no fluid was that it could have come from
//   Σ taken - Σ kept = opened beside, Σ over the volumes before = Σ over those after
//
// A piece that several homes share goes to the homes on the same sides of it. kept of a volume includes what has been
// cut off: it is fluid still, but its pore was removed.
#pragma once

#include <vector>

#include "base/comm/comm.hpp"
#include "eb/link/level_geometry.hpp"
#include "eb/moving/volume_events.hpp"

namespace karst {

/// Volumes / h³.
struct SharedFluid {
  VofName after;
  VofName before;      ///< no_face: fluid of a pore that was removed before
  double kept, taken;  ///< in both volumes; with what opened beside it
  Vec3 at{};           ///< centroid of `kept`, from the centre of the cell of `before` / h
};
struct OpenedFluid {
  VofName after;
  double volume;
};
struct OldFluid {
  VofName before;
  double kept = 0.0, closed = 0.0;
  double opened = 0.0;   ///< beside it, in pieces that are kept
  double cut_off = 0.0;  ///< of `kept`
  Vec3 at{};             ///< centroid of `kept`, from the centre of its cell / h
  double reach = 0.0;    ///< from there to the farthest centroid of its pieces / h; 0: they are in one volume after
};

struct PieceMap {
  /// Volumes that were one whole cell and are it still, with nothing of other cells.
  struct Whole {
    VofName after, before;
  };
  // Of own volumes after.
  std::vector<Whole> whole;
  std::vector<SharedFluid> shared;  ///< the others; by `after`, then `before`, each pair once
  std::vector<OpenedFluid> opened;  ///< by `after`, each once
  // Of own volumes before.
  std::vector<OldFluid> old;  ///< but for those that are whole; by name

  /// By the same rule as compare_volumes() but for cells with several pieces, where pieces follow those that they
  /// match.
  VolumeEvents events;  ///< over all ranks
};

/// Of one level. Boxes are compared by the owner of the later one; names of boxes and numbers of ranks play no part.
/// Throws Error unless both have the same cells, boxes of one size, and their pieces (VolumeOptions). Collective.
PieceMap map_pieces(const Comm& comm, const LevelGeometry& before, const LevelGeometry& after);

}  // namespace karst
