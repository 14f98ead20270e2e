// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>

#include "geometry_import/voxels/window.hpp"

namespace karst {

/// Area of the wall φ = 0 in the cubes between eight voxel centres whose low plane is in [first, last); each cube is
/// parted into the six tetrahedra about a diagonal and φ is linear in each: mean over the four diagonals, so that no
/// direction is preferred. φ goes on as it is for half a voxel beyond the image, so that the cubes fill it. The window
/// must hold one more plane on each side where the image does.
/// @param inside  [ny][nx], 0 for voxels that are not in the sample: cubes that reach there do not count; empty: none
/// [voxel²]
double wall_area(const ImageWindow& window, std::span<const float> phi, int first, int last,
                 std::span<const std::uint8_t> inside = {});

}  // namespace karst
