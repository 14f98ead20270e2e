// SPDX-License-Identifier: BSD-3-Clause
// The walls around a flow cell.
#pragma once

#include <array>

#include "eb/link/level_geometry.hpp"

namespace karst {

inline constexpr double least_theta = 1e-2;  ///< a wall nearer than this on a grid line counts as this far away

/// Distances from a cell centre to the walls on the grid lines / h; no_wall where there is none within one cell.
struct Walls {
  std::array<double, 6> theta{no_wall, no_wall, no_wall, no_wall, no_wall, no_wall};
  Vec3 normal;         ///< of a nearly plane wall, into the fluid; 0 when it is not known
  Vec3 area;           ///< a_w n of all walls of the VoF
  bool plane = false;  ///< they are one plane
};

}  // namespace karst
