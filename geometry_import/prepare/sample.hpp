// SPDX-License-Identifier: BSD-3-Clause
// What of a prepared image is the sample: all of it, or a cylinder along z. The rest is solid, and no statistics see
// it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "geometry_import/prepare/prepare.hpp"
#include "geometry_import/voxels/level_set.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {

class Sample {
 public:
  Sample() = default;
  Sample(const Index& voxels, const std::optional<SampleCylinder>& cylinder);
  bool whole() const { return inside_.empty(); }
  /// [ny][nx], 0 outside; empty when all of the image is the sample.
  std::span<const std::uint8_t> inside() const { return inside_; }
  /// Voxels and sub-samples in one plane.
  const WallSums& plane() const { return plane_; }

  /// φ <- min(φ, distance to the surface of the sample).
  void keep_inside(const ImageWindow& window, std::span<float> phi) const;
  /// Labels outside become outside_label.
  void mark(const ImageWindow& window, std::span<std::uint8_t> labels) const;
  /// Values outside become those of the nearest voxels of the sample in their plane, so that walls meet the surface
  /// of the sample at right angles.
  void continue_outwards(const ImageWindow& window, std::span<std::uint8_t> values) const;
  /// Moves the values of the sample to the front and returns them.
  std::span<const float> values_inside(std::span<float> values) const;

 private:
  std::vector<float> distance_;  ///< of the voxels of a plane to the surface of the sample, |d| >= phase_margin
  std::vector<std::uint8_t> inside_;
  std::vector<std::int64_t> nearest_;  ///< place in the plane of the nearest voxel inside
  WallSums plane_;
};

/// The four corners of a plane hold one value, or nearly so, and the rest does not: a cylinder in an empty square.
/// False for planes of less than 64 x 64 voxels. Not collective.
bool looks_cylindrical(const Index& voxels, std::span<const float> plane);
/// The same of labels, of which a corner may hold one by chance: the corners of eight planes hold the same one, and
/// lines through the middle change it often, unlike those through a tube or a ball. False for fewer planes.
/// @param read  the values of a plane
bool labels_look_cylindrical(const Index& voxels, const std::function<void(int, std::span<float>)>& read);

}  // namespace karst
