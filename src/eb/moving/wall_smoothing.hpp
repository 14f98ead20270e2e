// SPDX-License-Identifier: BSD-3-Clause
// Evens out along the wall what its pieces are to move by, without loss. With the thickness d = amount / area,
//
//   a_p d_p += Σ_q T_pq (d_q - d_p),   T_pq = T_qp = a_p a_q k_pq / max(Σ_r a_r k_pr, Σ_r a_r k_qr)
//   k_pq = (1 - r²/R²)² max(0, n_p·n_q)²,   r the distance of the centroids, n the normals
//   R = 2.5 widths of the larger of their cells
//
// in each pass: diffusion over about a cell (variance R²/7 along a plane wall). Σ a d stays as it is to round-off,
// d keeps its bounds, and the same thickness everywhere stays so. Walls that face each other exchange nothing.
#pragma once

#include "eb/moving/wall_transfer.hpp"

namespace karst {

/// Collective.
/// @param takes_part       of each piece: others than 0 are smoothed
/// @param passes           > 0
/// @param[in,out] amounts  of the pieces, per area to be evened out
void smooth_along_walls(const Comm& comm, const WallPieces& walls, const WallRows& takes_part, int passes,
                        const Displacement& displacement, WallRows& amounts);

}  // namespace karst
