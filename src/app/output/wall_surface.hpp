// SPDX-License-Identifier: BSD-3-Clause
// The wall as a surface for ParaView: a polygon per irregular VoF that has an unknown, in the plane of its wall.
#pragma once

#include <vector>

#include "eb/geometry.hpp"
#include "fields/composite_numbering.hpp"
#include "io/surface_file.hpp"

namespace karst {

/// A piece of wall of this rank.
struct WallPlace {
  int level = 0;
  std::int64_t row = 0;      ///< place in LevelGeometry::moments
  std::int32_t unknown = 0;  ///< own number of its VoF
  double area = 0.0;         ///< [h0²]
};

/// Pieces of this rank with a wall, level by level in the order of their rows. Not collective.
std::vector<WallPlace> wall_places(const Geometry& geometry, const CompositeNumbering& numbering);

/// Polygons of these pieces and the arrays `area_m2` and `mineral` (1, 2, ... in the order of the statistics, of the
/// largest part of the wall). A polygon is the plane through the centroid of the wall within its cell, scaled to the
/// area of the wall, so that sums over the surface are those of the rows; where walls face each other in one cell, or
/// reach into the next one, it is a square of that area. Not collective.
/// @param cell_width  h0 [m]
Surface wall_surface(const Geometry& geometry, const std::vector<WallPlace>& places, double cell_width);

}  // namespace karst
