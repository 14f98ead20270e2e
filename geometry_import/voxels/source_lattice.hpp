// SPDX-License-Identifier: BSD-3-Clause
// How the cubes of a resampled label image lie among the voxels of its file. A cube has the label of the voxel that
// holds its centre, so the face between two cubes of different label stands for the boundary of two voxels of the file,
// up to half a cube away.
#pragma once

#include <array>
#include <vector>

#include "base/math/triple.hpp"

namespace karst {

struct SourceLattice {
  /// [direction d][i]: how far the boundary of the file's voxels lies above the face between the cubes i and i + 1
  /// along d, from -1/2 to 1/2; empty: on the faces. [cubes]
  std::array<std::vector<float>, 3> boundary;
  /// [direction d][i]: width of the part of the file that cube i along d stands for, between the boundaries around it;
  /// empty: 1 everywhere. They add up to the number of cubes, so that volumes are those of the file. [cubes]
  std::array<std::vector<double>, 3> width;

  /// Widths of the file's voxels. [cubes]
  Vec3 voxel = Vec3::all(1);

  bool on_faces() const { return boundary[0].empty() && boundary[1].empty() && boundary[2].empty(); }
  double width_of(int d, int i) const {
    const auto e = static_cast<std::size_t>(d);
    return width[e].empty() ? 1.0 : width[e][static_cast<std::size_t>(i)];
  }
};

}  // namespace karst
