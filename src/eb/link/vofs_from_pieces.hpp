// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "eb/link/connected_pores.hpp"
#include "eb/link/home_cells.hpp"
#include "eb/link/level_geometry.hpp"
#include "eb/link/vof_assembly.hpp"

namespace karst {

/// Merges the kept pieces with their homes and builds the graph and the moments of the level. Volume, wall, its
/// minerals and faces of a VoF are sums over its pieces, so merging does not change volume and wall area of the level.
/// @param n_minerals   number with which the pieces were cut
/// @param keep_pieces  whether LevelGeometry::pieces is filled
/// @param kept         boxes that are copied in place of that; none with keep_pieces
/// Collective.
LevelGeometry vofs_from_pieces(const PieceBoxes& boxes, const Homes& homes, const Pores& pores, int n_minerals = 1,
                               bool keep_pieces = false, const KeptVofs& kept = {});

}  // namespace karst
