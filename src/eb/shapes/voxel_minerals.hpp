// SPDX-License-Identifier: BSD-3-Clause
// Minerals of the voxels around a box, and which of them is nearest to a point of the wall.
#pragma once

#include <span>

#include "base/comm/memory.hpp"
#include "eb/shapes/level_set.hpp"
#include "grid/box.hpp"

namespace karst {

class VoxelMinerals {
 public:
  static constexpr int reach = 3;  ///< a voxel of the solid is looked for so many voxels away

  /// One mineral everywhere.
  VoxelMinerals() = default;
  /// @param block    voxels, with `reach` more around those that points lie in; others are taken to be pore
  /// @param numbers  of its voxels, x fastest; no_mineral: pore
  VoxelMinerals(const Box& block, Array<MineralNumber> numbers);

  /// The mineral of all voxels of the solid that may be nearest to a point of [lo, hi] [voxels] whose nearest one is at
  /// most a diagonal of a voxel away, as it is of all walls that were not moved; no_mineral when there are several, or
  /// none.
  MineralNumber only(const Vec3& lo, const Vec3& hi) const;
  /// Adds the area to the mineral of the voxel of the solid whose centre is nearest to x [voxels]; of n that are
  /// equally near each gets an n-th. To number 0 when there is none within reach.
  void add_nearest(const Vec3& x, double area, std::span<double> areas) const;

 private:
  MineralNumber at(const Index& voxel) const {
    return block_.contains(voxel) ? numbers_[block_.offset(voxel)] : no_mineral;
  }
  Box block_;
  Array<MineralNumber> numbers_;
  MineralNumber everywhere_ = 0;  ///< no_mineral: look
};

}  // namespace karst
