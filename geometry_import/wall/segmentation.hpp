// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "geometry_import/voxels/level_set.hpp"
#include "geometry_import/voxels/slabs.hpp"
#include "geometry_import/wall/wall_fit.hpp"

namespace karst {

/// What a wall is made of: which voxel is what, and where gray values say the wall is.
struct Segmentation {
  Slabs<std::uint8_t> labels;
  std::vector<std::string> names;  ///< of labels 0, 1, ...
  bool gray = false;
  GrayScale scale;  ///< gray images: where the wall is, unless it is fitted
  std::optional<FittedWall> fitted;
};

}  // namespace karst
