// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/voxel_minerals.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace karst {

namespace {

/// The voxels at the least distance from a point.
struct Nearest {
  static constexpr double tie = 1e-9;  ///< [voxel²], far above the rounding of distances
  static constexpr std::size_t most = 32;
  double squared = 1e300;
  std::size_t n = 0;
  std::array<MineralNumber, most> minerals{};

  void look(double distance_squared, MineralNumber mineral) {
    if (distance_squared > squared + tie) return;
    if (distance_squared < squared - tie) n = 0;
    if (n == 0) squared = distance_squared;
    if (n < most) minerals[n++] = mineral;
  }
};

}  // namespace

VoxelMinerals::VoxelMinerals(const Box& block, Array<MineralNumber> numbers)
    : block_(block), numbers_(std::move(numbers)), everywhere_(no_mineral) {
  MineralNumber first = no_mineral;
  bool alike = true;
  for (const MineralNumber mineral : numbers_.span()) {
    if (mineral == no_mineral) continue;
    if (first == no_mineral) first = mineral;
    alike = alike && mineral == first;
  }
  if (alike) everywhere_ = first;
}

MineralNumber VoxelMinerals::only(const Vec3& lo, const Vec3& hi) const {
  if (everywhere_ != no_mineral) return everywhere_;
  constexpr double diagonal = 1.7320508075688773;
  Box near;
  for (int d = 0; d < 3; ++d) {  // voxels whose centres lie so close to [lo, hi]
    near.lo[d] = static_cast<int>(std::ceil(lo[d] - diagonal - 0.5));
    near.hi[d] = static_cast<int>(std::floor(hi[d] + diagonal - 0.5)) + 1;
  }
  near = intersect(near, block_);
  MineralNumber first = no_mineral;
  for (int k = near.lo[2]; k < near.hi[2]; ++k)
    for (int j = near.lo[1]; j < near.hi[1]; ++j) {
      const MineralNumber* row = numbers_.data() + block_.offset({near.lo[0], j, k});
      for (int i = near.lo[0]; i < near.hi[0]; ++i, ++row) {
        if (*row == no_mineral || *row == first) continue;
        if (first != no_mineral) return no_mineral;
        first = *row;
      }
    }
  return first;
}

void VoxelMinerals::add_nearest(const Vec3& x, double area, std::span<double> areas) const {
  if (everywhere_ != no_mineral) {
    areas[everywhere_] += area;
    return;
  }
  Index base;
  for (int d = 0; d < 3; ++d) base[d] = static_cast<int>(std::floor(x[d]));
  Nearest nearest;
  for (int r = 0; r <= reach; ++r) {  // shells of voxels, each at least r - 1/2 away
    if (nearest.n > 0 && nearest.squared + Nearest::tie < (r - 0.5) * (r - 0.5)) break;
    for (int k = -r; k <= r; ++k)
      for (int j = -r; j <= r; ++j) {
        const bool inside = std::abs(k) < r && std::abs(j) < r;
        for (int i = -r; i <= r; i += inside ? std::max(2 * r, 1) : 1) {
          const Index voxel = base + Index{i, j, k};
          const MineralNumber mineral = at(voxel);
          if (mineral == no_mineral) continue;
          const Vec3 apart{voxel[0] + 0.5 - x[0], voxel[1] + 0.5 - x[1], voxel[2] + 0.5 - x[2]};
          nearest.look(dot(apart, apart), mineral);
        }
      }
  }
  if (nearest.n == 0) areas[0] += area;
  for (std::size_t i = 0; i < nearest.n; ++i) areas[nearest.minerals[i]] += area / static_cast<double>(nearest.n);
}

}  // namespace karst
