// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "eb/link/level_geometry.hpp"
#include "eb/shapes/level_set.hpp"

namespace karst {

/// Fills the wall distances of the irregular VoFs that contain their cell centre: the first zero of φ on the line to
/// the centre of the next cell (to 1e-7 h). Searched where that centre is solid or the face towards it is closed; if no
/// zero is found at a closed face (a wall thinner than h/8), the distance is 1/2, that of the face. Threaded, not
/// collective.
/// @param[in,out] geometry  centers[].inside is given
/// @param kept  boxes that have them
void find_wall_distances(const LevelSet& level_set, LevelGeometry& geometry, const KeptGraph& kept = {});

}  // namespace karst
