// SPDX-License-Identifier: BSD-3-Clause
#include "page/shade_volume.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "page/sheets.hpp"

namespace karst {
namespace {

constexpr int near_reach = 2, far_reach = 5;  // [cubes]

/// Mean over 2 reach + 1 values along direction d; values beyond the end repeat it.
void box_mean(const Index& size, int d, int reach, std::vector<float>& values) {
  for_each_sheet(size, d, values, [&](const Sheet& s) {
    const std::size_t width = s.width;
    std::vector<float> before(width * s.n), sum(width, 0.0F);
    for (std::int64_t k = 0; k < s.n; ++k) std::ranges::copy(s.row(k), before.begin() + k * s.width);
    const auto of = [&](std::int64_t k) { return before.data() + std::clamp<std::int64_t>(k, 0, s.n - 1) * width; };
    for (std::int64_t k = -reach; k <= reach; ++k)
      for (std::size_t i = 0; i < width; ++i) sum[i] += of(k)[i];
    const float part = 1.0F / static_cast<float>(2 * reach + 1);
    for (std::int64_t k = 0; k < s.n; ++k) {
      const std::span<float> now = s.row(k);
      const float *const added = of(k + reach + 1), *const left = of(k - reach);
      for (std::size_t i = 0; i < width; ++i) {
        now[i] = sum[i] * part;
        sum[i] += added[i] - left[i];
      }
    }
  });
}

}  // namespace

ShadeVolume::ShadeVolume(const Volume& volume) : volume_(volume), near_(volume.values.size()) {
  const Index& n = volume.size;
  stride_ = {1, n[0], std::int64_t{n[0]} * n[1]};
  for (int d = 0; d < 3; ++d) {
    end_[d] = n[d] - 1.0;
    last_[d] = std::max(n[d] - 2, 0);
    step_[d] = n[d] > 1 ? stride_[d] : 0;
  }
  assert(static_cast<std::int64_t>(volume.values.size()) ==
         std::int64_t{volume.size[0]} * volume.size[1] * volume.size[2]);
  far_.resize(near_.size());
  parallel_for(std::ssize(near_), [&](std::int64_t cube) {
    near_[cube] = far_[cube] = std::clamp(0.5F + volume.values[cube], 0.0F, 1.0F);
  });
  for (int pass = 0; pass < 2; ++pass)
    for (int d = 0; d < 3; ++d) {
      box_mean(volume.size, d, near_reach, near_);
      box_mean(volume.size, d, far_reach, far_);
    }
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
  const float near = interpolate(near_, p + normal * 1.5), far = interpolate(far_, p + normal * 5.0);
  return std::clamp(1.15 - 0.75 * (double{near} + double{far}), 0.25, 1.0);
}

}  // namespace karst
