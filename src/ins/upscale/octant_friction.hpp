// SPDX-License-Identifier: BSD-3-Clause
// Where a flow loses its energy: the work of friction ∫ |∇u|² dV of a Stokes flow in each octant of the boxes, the part
// of a box that one box of the next finer level covers.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ins/operator/stokes_levels.hpp"

namespace karst {

/// An octant with flow.
struct OctantFriction {
  int level = 0;           ///< of its cells
  std::uint64_t key = 0;   ///< Morton key of the box of the next finer level that covers it
  std::int64_t cells = 0;  ///< with flow
  double friction = 0.0;   ///< ∫ |∇u|² dV, u and lengths in the units of the solver [h0³ / time²]
};

/// Own octants in increasing order of level and key, of the values that the operator was last applied to. Along a grid
/// line between two cells (Δu)² / 2 belongs to each; towards a wall after θ cells u² / θ, and what convex edges hold
/// back σ u² (flow_rows.hpp). First order in h at walls. Threaded, not collective.
std::vector<OctantFriction> octant_friction(const StokesLevels& op, const FlowValues& u);

}  // namespace karst
