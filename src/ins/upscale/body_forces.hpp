// SPDX-License-Identifier: BSD-3-Clause
// Forces of a flow on bodies, parts of the solid that the minerals of its wall tell apart.
//
// The force is what the fluid of the wall's cells does not pass on. Around all cells of a body whose momentum rows know
// of its wall, over their faces towards other cells,
//
//   F = κ (f - ∂u/∂t) - Σ_faces [ inertia q u + α (p n - ∂u/∂n) ],  q: flux that carries, u, p: means of both cells,
//
// which is how the rows of whole cells balance momentum: all surfaces of whole cells around the body give the same F,
// and what bodies, walls and ends take adds up to 0 to the tolerance of the solver. Second order, unlike sums of slopes
// on the wall. Of F the pressure on the wall,
// Σ -p a_w n (first order), is taken apart; the rest is friction. Pressures are without the linear fall that a force
// stands for.
#pragma once

#include <vector>

#include "ins/operator/advection_levels.hpp"

namespace karst {

/// In units of h0² times the stress unit.
struct BodyForce {
  Vec3 pressure, friction;
  double wall_area = 0.0;  ///< of its cells that carry flow [h0²]
  Vec3 total() const { return pressure + friction; }
};

/// Forces of a flow on bodies. Values that were applied with this drive. Cells with walls of two
/// bodies count to the one with more wall; walls of pores without flow to none. Collective.
/// @param inertia  as in steady_solver.hpp; 0: Stokes flow
/// @param body_of  mineral number -> body; negative: to none
/// @param step     of a step in time (UnsteadySolver::momentum_of_step)
std::vector<BodyForce> body_forces(StokesLevels& op, const FlowValues& u, const StokesDrive& drive, double inertia,
                                   const std::vector<int>& body_of, const MomentumOfStep& step = {});

/// In the same units.
struct EndFriction {
  Vec3 force;
  double area = 0.0;
};
/// Friction of a flow on a no-slip end of the domain, at rest or moving: Σ α ∂u/∂n by the parabolas of the momentum
/// rows, exact for plane flow between plates; towards a corner with a wall of another velocity it grows without end as
/// cells get finer. Pieces that joined other cells are left out. Collective.
EndFriction end_friction(const StokesLevels& op, const FlowValues& u, const StokesDrive& drive, int side);

}  // namespace karst
