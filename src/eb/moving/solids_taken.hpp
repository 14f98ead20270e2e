// SPDX-License-Identifier: BSD-3-Clause
// Whole solids are taken out of the ground at once: fluid where they were.
#pragma once

#include <cstdint>
#include <span>

#include "eb/link/components.hpp"
#include "eb/moving/displacement.hpp"

namespace karst {

/// Lowers s so that φ = φ0 - s > 0 in some solids. At the corners of their cells, and at those nearer than
/// `zone_of_taken_solids` to one, φ becomes the distance to the wall that stays, found from where it crosses edges of
/// the lattice (at most `farthest_known`); fluid whose wall stays keeps its φ. A corner in a cell with several solids
/// belongs to the piece whose centroid is nearest. What is thinner than a cell between them and other solids may stay.
/// Corners of s have to be those of cells of level 0.
///
/// @param solids  of the geometry of φ0 - s (Geometry::topology), labelled on level 0
/// @param taken   their numbers, the same on every rank
/// Collective.
void take_solids(const Comm& comm, const Components& solids, std::span<const std::int32_t> taken, const LevelSet& phi0,
                 Displacement& displacement);

constexpr int zone_of_taken_solids = 2;  ///< corners
constexpr double farthest_known = 4.0;   ///< [h0]

}  // namespace karst
