// SPDX-License-Identifier: BSD-3-Clause
// What the renderer asks about a body at a point.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "page/render.hpp"

namespace karst {

/// Coordinates in widths of a cube; cube i reaches from i to i + 1. Keeps a reference to the volume.
class ShadeVolume {
 public:
  explicit ShadeVolume(const Volume& volume);
  /// Trilinear between centres.
  double value(const Vec3& p) const { return double{interpolate(volume_.values, cubes_, p)}; }
  /// Unit vector towards falling values.
  Vec3 outward(const Vec3& p) const;
  /// 1 on a free plane or hill, less in hollows: share of the body in the surroundings in front of the surface.
  double openness(const Vec3& p, const Vec3& normal) const;

 private:
  /// Values at the centres of equal blocks of cubes.
  struct Lattice {
    explicit Lattice(const Index& n);
    Index size;
    std::array<std::int64_t, 3> stride{};  ///< from a block to the next one
    std::array<std::int64_t, 3> step{};    ///< the same, 0 where there is one block only
  };
  /// @param p  in widths of a block
  static float interpolate(const std::vector<float>& values, const Lattice& of, const Vec3& p);

  const Volume& volume_;
  Lattice cubes_, wide_;           ///< and blocks two cubes wide
  std::vector<float> near_, far_;  ///< share of the body in balls of two sizes, about, at the wide blocks
};

inline float ShadeVolume::interpolate(const std::vector<float>& values, const Lattice& of, const Vec3& p) {
  std::array<float, 3> part{};
  std::int64_t at = 0;
  for (int d = 0; d < 3; ++d) {
    const double x = std::clamp(p[d] - 0.5, 0.0, of.size[d] - 1.0);
    const int low = std::min(static_cast<int>(x), std::max(of.size[d] - 2, 0));
    part[d] = static_cast<float>(x - low);
    at += low * of.stride[d];
  }
  const auto along_x = [&](const float* row) { return row[0] + part[0] * (row[of.step[0]] - row[0]); };
  const auto along_y = [&](const float* plane) {
    const float low = along_x(plane);
    return low + part[1] * (along_x(plane + of.step[1]) - low);
  };
  const float* const corner = values.data() + at;
  const float low = along_y(corner);
  return low + part[2] * (along_y(corner + of.step[2]) - low);
}

}  // namespace karst
