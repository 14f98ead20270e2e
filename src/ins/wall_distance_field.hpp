// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ins/flow_rows.hpp"

namespace karst {

/// Distances beyond this many cells count as this.
inline constexpr float farthest_wall = 64.0F;

/// Distance of the flow cells to the nearest wall, in cells; for weights of a preconditioner. Next to the wall it is
/// that to a plane through the points where the grid lines meet it; from there |∇d| = 1 is solved by upwind
/// differences (Sethian, Proc. Natl. Acad. Sci. USA 93 (1996) 1591), cell by cell until nothing changes, so that it
/// does not depend on boxes, ranks and threads. Halo filled. Collective.
FloatField find_wall_distance(const Comm& comm, const LevelGeometry& geometry, const FlowRows& rows);

}  // namespace karst
