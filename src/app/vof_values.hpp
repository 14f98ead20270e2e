// SPDX-License-Identifier: BSD-3-Clause
// Values of unknowns as people look at them: per cell for the plotfile, and in a slice for a page.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "base/comm.hpp"
#include "eb/geometry.hpp"
#include "geometry_import/picture.hpp"
#include "solvers/composite_numbering.hpp"

namespace karst {

/// Mean over the VoFs of each cell of an own box; NaN in cells without an unknown (solid, or under a finer level).
/// @param value  of an own unknown of the numbering; NaN: none
/// @param[out] cells  one per cell of the box, x fastest
/// Not collective; may be called from several threads.
void fill_cells(const Geometry& geometry, const CompositeNumbering& numbering, int level, std::int64_t box,
                std::span<float> cells, const std::function<double(std::size_t unknown)>& value);

/// Level-0 cells of a plane, the first direction fastest; NaN without fluid.
struct PlaneValues {
  int direction = 0;  ///< across which it lies
  int plane = 0;      ///< cell along it
  int nx = 0, ny = 0;
  std::vector<double> values;
};
/// The plane through the middle of the domain; cells hold the mean of their unknowns. Collective; the same on every
/// rank to round-off.
PlaneValues middle_plane(const Comm& comm, const Geometry& geometry, const CompositeNumbering& numbering,
                         std::span<const double> values, int direction);

/// A colour per cell, from dark blue (low) to yellow (high), solid in gray; the second direction runs upwards.
Picture picture_of(const PlaneValues& plane, double low, double high);
/// An HTML figure with the scale of colours beside the picture. Texts are HTML already.
std::string plane_figure(const PlaneValues& plane, double low, double high, const std::string& caption);

}  // namespace karst
