// SPDX-License-Identifier: BSD-3-Clause
#include "page/shade_volume.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "page/sheets.hpp"

namespace karst {
namespace {

constexpr int near_reach = 1, far_reach = 2;  // [blocks of two cubes]

/// Share of the body in blocks two cubes wide, about.
std::vector<float> share_in_blocks(const Volume& volume, const Index& blocks) {
  const Index& n = volume.size;
  std::vector<float> share(std::int64_t{blocks[0]} * blocks[1] * blocks[2]);
  parallel_for(std::int64_t{blocks[1]} * blocks[2], [&](std::int64_t row) {
    for (int c = 0; c < 8 * blocks[0]; ++c) {  // corner c % 8 of block c / 8
      const std::int64_t i = std::min(c / 8 * 2 + c % 2, n[0] - 1),
                         j = std::min<std::int64_t>(row % blocks[1] * 2 + c / 2 % 2, n[1] - 1),
                         k = std::min<std::int64_t>(row / blocks[1] * 2 + c / 4 % 2, n[2] - 1);
      share[row * blocks[0] + c / 8] +=
          0.125F * std::clamp(0.5F + volume.values[(k * n[1] + j) * n[0] + i], 0.0F, 1.0F);
    }
  });
  return share;
}

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

ShadeVolume::Lattice::Lattice(const Index& n) : size(n), stride{1, n[0], std::int64_t{n[0]} * n[1]} {
  for (int d = 0; d < 3; ++d) step[d] = n[d] > 1 ? stride[d] : 0;
}

ShadeVolume::ShadeVolume(const Volume& volume)
    : volume_(volume),
      cubes_(volume.size),
      wide_({(volume.size[0] + 1) / 2, (volume.size[1] + 1) / 2, (volume.size[2] + 1) / 2}),
      near_(share_in_blocks(volume, wide_.size)),
      far_(near_) {
  assert(static_cast<std::int64_t>(volume.values.size()) ==
         std::int64_t{volume.size[0]} * volume.size[1] * volume.size[2]);
  for (int pass = 0; pass < 2; ++pass)
    for (int d = 0; d < 3; ++d) {
      box_mean(wide_.size, d, near_reach, near_);
      box_mean(wide_.size, d, far_reach, far_);
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
  const float near = interpolate(near_, wide_, (p + normal * 1.5) * 0.5),
              far = interpolate(far_, wide_, (p + normal * 5.0) * 0.5);
  return std::clamp(1.15 - 0.75 * (double{near} + double{far}), 0.25, 1.0);
}

}  // namespace karst
