// SPDX-License-Identifier: BSD-3-Clause
// The walls around a flow cell.
#pragma once

#include <array>

#include "eb/link/level_geometry.hpp"

namespace karst {

inline constexpr double least_theta = 1e-2;  ///< smallest distance of a wall on a grid line; nearer ones are set to it

/// Distances from a cell centre to the walls on the grid lines / h; no_wall where there is none within one cell.
struct Walls {
  std::array<double, 6> theta{no_wall, no_wall, no_wall, no_wall, no_wall, no_wall};
  Vec3 normal;         ///< normal of a nearly plane wall, into the fluid; 0 if unknown
  Vec3 area;           ///< a_w n of all walls of the VoF
  bool plane = false;  ///< they are one plane
};

}  // namespace karst
