// SPDX-License-Identifier: BSD-3-Clause
// Forces of a flow on bodies, parts of the solid that the minerals of its wall tell apart.
//
// The force is what the fluid of the wall's cells does not pass on. Over all cells of a body whose momentum rows know
// of its wall, and their faces towards other cells,
//
//   F = Σ_cells κ [ f - ∂u/∂t - inertia (w·∇)u ] - Σ_faces α (p n - ∂u/∂n),  p: mean of both cells
//
// (κ (w·∇)u is a sum over faces, and what leaves a cell enters its neighbour), which is how the rows of whole cells
// balance momentum: all surfaces of whole cells around the body give the same F, and what bodies, walls and ends take
// adds up to 0 to the tolerance of the solver. Second order, unlike sums of slopes on the wall. Of F the pressure on
// the wall, Σ -p a_w n (first order), is taken apart; the rest is friction. Pressures are without the linear fall that
// a force stands for.
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
/// @param body_of  mineral number -> body; negative: to none
/// @param rows     UnsteadySolver::momentum_rows(), SteadySolver::momentum_rows(); of creeping steady flow none
std::vector<BodyForce> body_forces(StokesLevels& op, const FlowValues& u, const StokesDrive& drive,
                                   const std::vector<int>& body_of, const MomentumRows& rows = {});

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
