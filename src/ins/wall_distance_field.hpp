// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ins/flow_rows.hpp"

namespace karst {

/// Distances beyond this many cells count as this.
inline constexpr float farthest_wall = 64.0F;

/// A grid level as find_wall_distances() sees it.
struct WallDistanceLevel {
  const LevelGeometry* geometry;
  const FlowRows* rows;
};

/// Distance of the flow cells to the nearest wall, in cells of their level; for weights of a preconditioner. Next to
/// the wall it is that to a plane through the points where the grid lines meet it; from there |∇d| = 1 is solved by
/// upwind differences (Sethian, Proc. Natl. Acad. Sci. USA 93 (1996) 1591), cell by cell until nothing changes, so that
/// it does not depend on boxes, ranks and threads. Halos filled. Collective.
/// @param fill  sets covered cells and fine ghosts (LevelCoupling::fill_lengths()); not called on one level
std::vector<FloatField> find_wall_distances(const Comm& comm, std::span<const WallDistanceLevel> levels,
                                            const std::function<void(std::span<FloatField>)>& fill);

}  // namespace karst
