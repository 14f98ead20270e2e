// SPDX-License-Identifier: BSD-3-Clause
// Resampling to another voxel width. Along an axis where voxels become smaller the values are interpolated linearly
// between voxel centres; where they become larger, the linear interpolant is averaged over the new voxel, which keeps
// both the mean of the image (so the porosity) and linear fields. The ends repeat beyond the outer centres. Labels are
// not mixed: the new voxel takes the label of the voxel its centre lies in (lattice_of() tells how they lie) or, when
// larger, the one with the largest share of it; among equals the one with most voxels in and around it, then the
// smallest and the largest in turn.
#pragma once

#include <array>
#include <vector>

#include "geometry_import/read/image_file.hpp"
#include "geometry_import/voxels/source_lattice.hpp"

namespace karst {

/// The source voxels that make one new voxel along one axis; weights add up to 1.
struct Share {
  int first = 0;
  std::vector<double> weights;
};

/// One share per new voxel along an axis of n voxels; the new ones are `ratio` old ones wide and start at 0. Gray
/// values: what is left over at the end (less than a new voxel) is dropped. Labels: to the nearest number of new
/// voxels, the last of which may reach half of its width beyond the end. At least one is made.
std::vector<Share> resampling_shares(int n, double ratio, bool labels);

using Resampling = std::array<std::vector<Share>, 3>;

/// The width of the cubes that a label image is resampled to: the largest one from 0.75 times to once the smallest
/// width of the voxels of which whole numbers make every side of the image to 0.5 %; where there is none, the one that
/// comes closest. So the sample keeps its size, and as a rule cubes lie on the voxels of the axes with the smallest
/// ones.
/// @param voxels   of the image
/// @param spacing  their widths [m]
/// @return [m]
double cube_width(const Index& voxels, const Vec3& spacing);

/// How the new voxels lie among the old ones.
/// @param voxels  of the source
/// @param ratio   width of the new voxels over that of the old ones
SourceLattice lattice_of(const Resampling& resampling, const Index& voxels, const Vec3& ratio);

/// Voxels after resampling.
Index resampled_size(const Resampling& resampling);

/// Planes [first, last) of the new image. Reads the source planes they need once. Not collective.
void resample(ImageFile& source, const Resampling& resampling, bool labels, int first, int last,
              std::span<float> values);

}  // namespace karst
