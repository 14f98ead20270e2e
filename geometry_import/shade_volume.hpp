// SPDX-License-Identifier: BSD-3-Clause
// What the renderer asks about a body at a point.
#pragma once

#include <vector>

#include "geometry_import/render.hpp"

namespace karst {

/// Coordinates in widths of a cube; cube i reaches from i to i + 1. Keeps a reference to the volume.
class ShadeVolume {
 public:
  explicit ShadeVolume(const Volume& volume);
  /// Trilinear between centres.
  double value(const Vec3& p) const { return interpolate(volume_.values, p); }
  /// Unit vector towards falling values.
  Vec3 outward(const Vec3& p) const;
  /// 1 on a free plane or hill, less in hollows: share of the body in the surroundings in front of the surface.
  double openness(const Vec3& p, const Vec3& normal) const;

 private:
  double interpolate(const std::vector<float>& values, const Vec3& p) const;

  const Volume& volume_;
  std::vector<float> near_, far_;  ///< share of the body in balls of two sizes, about
};

}  // namespace karst
