// SPDX-License-Identifier: BSD-3-Clause
// Cubes cut out of an image, for a study of how large a sample must be.
#pragma once

#include <vector>

#include "base/math/triple.hpp"

namespace karst {

/// Cubes of one edge.
struct ImageParts {
  std::vector<Index> low;  ///< corner of each [voxels]
  double overlap = 0.0;    ///< largest part of a cube that another one shares; 0 while there is room
};

/// n cubes spread evenly over an image: places of a lattice from end to end, in the order in which Halton's points
/// (Numer. Math. 2 (1960) 84) come to them. The lattice is the largest without overlap; where it has fewer than n
/// places it gets more, direction by direction where neighbours share least. One cube alone is in the middle. Fewer
/// than n where the image does not have as many different ones. Not collective.
/// @param size  of the image [voxels]
/// @param edge  of the cubes, at most the smallest edge of the image
ImageParts parts_of_image(const Index& size, int edge, int n);

}  // namespace karst
