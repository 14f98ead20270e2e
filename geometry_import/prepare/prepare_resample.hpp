// SPDX-License-Identifier: BSD-3-Clause
// Resampling to another voxel width. Along an axis where voxels become smaller the values are interpolated linearly
// between voxel centres; where they become larger, the linear interpolant is averaged over the new voxel, which keeps
// both the mean of the image (so the porosity) and linear fields. The ends repeat beyond the outer centres. Labels are
// not mixed: the new voxel takes the label of the voxel it lies in or, when larger, the one with the largest share of
// it (the smallest label among equals).
#pragma once

#include <array>
#include <vector>

#include "geometry_import/read/image_file.hpp"

namespace karst {

/// The source voxels that make one new voxel along one axis; weights add up to 1.
struct Share {
  int first = 0;
  std::vector<double> weights;
};

/// One share per new voxel along an axis of n voxels; the new ones are `ratio` old ones wide and start at 0. What is
/// left over at the end (less than a new voxel) is dropped; at least one new voxel is made.
std::vector<Share> resampling_shares(int n, double ratio, bool labels);

using Resampling = std::array<std::vector<Share>, 3>;

/// Voxels after resampling.
Index resampled_size(const Resampling& resampling);

/// Planes [first, last) of the new image. Reads the source planes they need once. Not collective.
void resample(ImageFile& source, const Resampling& resampling, bool labels, int first, int last,
              std::span<float> values);

}  // namespace karst
