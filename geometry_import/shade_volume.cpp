// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/shade_volume.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/parallel.hpp"

namespace karst {
namespace {

constexpr int near_reach = 2, far_reach = 5;  // [cubes]

/// Mean over 2 reach + 1 values along direction d; values beyond the end repeat it.
void box_mean(const Index& size, int d, int reach, std::vector<float>& values) {
  const std::int64_t n = size[d], row = size[0], plane = row * size[1];
  const std::int64_t stride = d == 0 ? 1 : d == 1 ? row : plane;
  const std::int64_t inner = d == 2 ? row : size[d == 0 ? 1 : 0], outer = d == 2 ? size[1] : size[2];
  const std::int64_t inner_stride = d == 0 ? row : 1, outer_stride = d == 2 ? row : plane;
  parallel_for(outer, [&](std::int64_t o) {
    std::vector<float> line(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < inner; ++i) {
      float* const at = values.data() + o * outer_stride + i * inner_stride;
      for (std::int64_t k = 0; k < n; ++k) line[static_cast<std::size_t>(k)] = at[k * stride];
      const auto of = [&](std::int64_t k) {
        return line[static_cast<std::size_t>(std::clamp<std::int64_t>(k, 0, n - 1))];
      };
      float sum = 0;
      for (std::int64_t k = -reach; k <= reach; ++k) sum += of(k);
      for (std::int64_t k = 0; k < n; ++k) {
        at[k * stride] = sum / static_cast<float>(2 * reach + 1);
        sum += of(k + reach + 1) - of(k - reach);
      }
    }
  });
}

}  // namespace

ShadeVolume::ShadeVolume(const Volume& volume) : volume_(volume), near_(volume.values.size()) {
  assert(static_cast<std::int64_t>(volume.values.size()) ==
         std::int64_t{volume.size[0]} * volume.size[1] * volume.size[2]);
  std::transform(volume.values.begin(), volume.values.end(), near_.begin(),
                 [](float v) { return std::clamp(0.5F + v, 0.0F, 1.0F); });
  far_ = near_;
  for (int pass = 0; pass < 2; ++pass)
    for (int d = 0; d < 3; ++d) {
      box_mean(volume.size, d, near_reach, near_);
      box_mean(volume.size, d, far_reach, far_);
    }
}

double ShadeVolume::interpolate(const std::vector<float>& values, const Vec3& p) const {
  std::int64_t at[3], next[3];
  double part[3];
  for (int d = 0; d < 3; ++d) {
    const double x = std::clamp(p[d] - 0.5, 0.0, volume_.size[d] - 1.0);
    at[d] = static_cast<std::int64_t>(x);
    next[d] = std::min<std::int64_t>(at[d] + 1, volume_.size[d] - 1);
    part[d] = x - static_cast<double>(at[d]);
  }
  const auto along_x = [&](std::int64_t y, std::int64_t z) {
    const float* row = values.data() + (z * volume_.size[1] + y) * volume_.size[0];
    return double{row[at[0]]} + part[0] * (double{row[next[0]]} - double{row[at[0]]});
  };
  const auto along_y = [&](std::int64_t z) {
    const double low = along_x(at[1], z);
    return low + part[1] * (along_x(next[1], z) - low);
  };
  const double low = along_y(at[2]);
  return low + part[2] * (along_y(next[2]) - low);
}

Vec3 ShadeVolume::outward(const Vec3& p) const {
  Vec3 n;
  for (int d = 0; d < 3; ++d) {
    Vec3 step;
    step[d] = 0.75;
    n[d] = value(p - step) - value(p + step);
  }
  const double length = norm(n);
  return length > 0 ? n * (1 / length) : n;
}

double ShadeVolume::openness(const Vec3& p, const Vec3& normal) const {
  const double near = interpolate(near_, p + normal * 1.5), far = interpolate(far_, p + normal * 5.0);
  return std::clamp(1.15 - 0.75 * near - 0.75 * far, 0.25, 1.0);
}

}  // namespace karst
