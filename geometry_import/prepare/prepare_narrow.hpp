// SPDX-License-Identifier: BSD-3-Clause
// What of a label image is too narrow for larger voxels: pores and walls between pores of few of them, which resampling
// closes, opens or makes wider, whatever it does to the porosity.
#pragma once

#include <array>

#include "base/comm/comm.hpp"
#include "geometry_import/read/image_file.hpp"

namespace karst {

/// Fractions of the voxels of pore and of solid that lie in runs of few of the larger voxels along x, y or z, whichever
/// of the three has most. Runs that end at a face of the image, beyond which they may go on, are not counted.
struct NarrowParts {
  double pore = 0.0, solid = 0.0;
};

/// Runs shorter than this [larger voxels].
inline constexpr double few_for_pore = 4.0, few_for_solid = 2.0;

/// Reads all planes once. Collective.
/// @param pore   value of the pore space
/// @param ratio  width of the larger voxels over that of the image along x, y and z; directions in which they are not
///               larger are left out
NarrowParts narrow_parts(const Comm& comm, ImageFile& image, double pore, const std::array<double, 3>& ratio);

}  // namespace karst
