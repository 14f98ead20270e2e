// SPDX-License-Identifier: BSD-3-Clause
// Pieces of wall gathered where the corners of a displacement around them are: what goes from piece to piece along a
// wall is found there, as geometries of one wall have other owners than its displacement.
#pragma once

#include <set>
#include <vector>

#include "eb/moving/near_pieces.hpp"
#include "eb/moving/wall_transfer.hpp"

namespace karst {

/// Pieces and volumes travel so many cells of level 0: as far as any volume looks for pieces.
constexpr int cells_around = 5;

/// The block of corners that has a place [spacings of the corners]; -1: none. Not collective.
std::int64_t block_at(const CornerBlocks& blocks, const Vec3& x);

/// Calls f(rank) for the ranks of the blocks of corners around a cell of level 0.
template <class F>
void for_ranks_around(const CornerBlocks& blocks, const Index& cell, int scale, F&& f) {
  if (blocks.layout().n_ranks() == 1) return f(0);
  Box around{cell - Index::all(cells_around), cell + Index::all(cells_around + 1)};
  for (int d = 0; d < 3; ++d) around.lo[d] *= scale, around.hi[d] *= scale;
  std::set<int> ranks;
  blocks.for_parts(around, [&](std::int64_t box, const Box&, const Index&) {
    if (box >= 0) ranks.insert(blocks.layout().owner(box));
  });
  for (const int rank : ranks) f(rank);
}

/// Pieces of any rank within cells_around of own blocks of corners. Collective.
/// @param values, owed  of the pieces: NearPiece::value, owed
std::vector<NearPiece> pieces_here(const Comm& comm, const WallPieces& walls, const WallRows& values,
                                   const WallRows& owed, const Displacement& displacement);

}  // namespace karst
