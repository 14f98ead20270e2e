// SPDX-License-Identifier: BSD-3-Clause
// How the cubes of a resampled label image lie among the voxels of its file. A cube has the label of the voxel that
// holds its centre. Along axes where cubes are not smaller than the voxels, the cubes count as the file's voxels.
#pragma once

#include <array>
#include <vector>

#include "base/math/triple.hpp"

namespace karst {

struct SourceLattice {
  Index voxels;               ///< of the file
  Vec3 ratio = Vec3::all(1);  ///< width of a cube [voxels of the file]
  /// [direction d][i]: first cube in voxel i of the file along d.
  std::array<std::vector<int>, 3> first_cube;
  /// [direction d][i]: width of the part of the file that cube i along d stands for: the cubes of a voxel share it.
  /// They add up to the number of cubes, so that volumes are those of the file. [cubes]
  std::array<std::vector<double>, 3> width;

  /// Nothing was resampled, or only to larger voxels: cubes are the voxels.
  bool same() const { return ratio == Vec3::all(1); }
  double width_of(int d, int i) const { return width[d].empty() ? 1.0 : width[d][i]; }
};

}  // namespace karst
