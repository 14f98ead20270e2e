// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "eb/link/connected_pores.hpp"
#include "eb/link/home_cells.hpp"
#include "eb/link/level_geometry.hpp"

namespace karst {

/// Joins the kept pieces to their homes and builds the graph and the moments of the level. What joins changes place,
/// not size: volume, wall, its minerals and faces of a VoF are sums over its pieces, so volume and wall area of the
/// level stay.
/// @param n_minerals  that the pieces were cut with
/// Collective.
LevelGeometry vofs_from_pieces(const PieceBoxes& boxes, const Homes& homes, const Pores& pores, int n_minerals = 1);

}  // namespace karst
