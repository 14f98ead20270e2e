// SPDX-License-Identifier: BSD-3-Clause
// Normal speeds given per piece of wall, as rates of reactions are: one number per irregular VoF.
#pragma once

#include <span>
#include <vector>

#include "eb/link/level_geometry.hpp"
#include "eb/moving/wall_motion.hpp"
#include "grid/hierarchy.hpp"

namespace karst {

/// Speeds at points near the wall from those of the pieces, constant in time: the mean over the pieces around the
/// point, with weights area (1 - r²/R²)², r the distance from a piece's centroid and R = 1.75 spacings of the corners
/// of s, or where there is none that near, of the pieces within 2.5 spacings (7 on sides of the domain, for walls that
/// leave it). Walls farther from any piece stand: those of pores that were removed.
///
/// @param levels  finished levels of one geometry, on the lattice of the displacement or a coarser one
/// @param speed   per level: of each row of LevelGeometry::moments [h0 / unit of time]
/// Collective.
WallSpeed speed_of_pieces(const Comm& comm, const GridHierarchy& grid, std::span<const LevelGeometry> levels,
                          std::span<const std::vector<double>> speed, const Displacement& displacement);

}  // namespace karst
