// SPDX-License-Identifier: BSD-3-Clause
// Does an image repeat itself along an axis? Its last plane would have its first one for a neighbour.
#pragma once

#include "geometry_import/file/geometry_file.hpp"

namespace karst {

/// Fractions of the area of a plane across an axis that are pore on one of two planes and solid on the other.
struct EndPlanes {
  double differ = 0;     ///< first and last plane
  double inside = 0;     ///< neighbouring planes, mean of the three pairs nearest to each end
  double unrelated = 0;  ///< planes of the porosities of these two that know nothing of each other
};

/// Reads four planes at each end (fewer of thinner images). Not collective.
EndPlanes compare_ends(const GeometryFile& image, int axis);

/// The two ends differ no more than neighbours do: by a hundredth of the area, by half as much again as neighbours
/// inside, or by less than the geometric mean of what neighbours and unrelated planes do. Packings of grains of 4 to 12
/// voxels' radius lie below half of the limit along periodic axes, and above it by half where they do not repeat.
bool ends_match(const EndPlanes& planes);

}  // namespace karst
