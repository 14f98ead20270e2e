// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "base/core/items_of.hpp"
#include "eb/link/level_geometry.hpp"

namespace karst {

/// Composition of the wall of an irregular VoF.
struct WallParts {
  MineralNumber mineral = 0;         ///< of the largest part
  std::span<const MixedWall> mixed;  ///< the parts when there are several, by mineral; empty: `mineral` alone
};

/// Of a row (its place in LevelGeometry::moments); for_each_mineral() with the parts themselves. O(log n).
inline WallParts wall_parts(const LevelGeometry& level, std::int64_t row) {
  return {level.mineral.size() == 0 ? MineralNumber{0} : level.mineral[row],
          items_of(level.mixed.span(), static_cast<std::uint32_t>(row), &MixedWall::row)};
}

}  // namespace karst
