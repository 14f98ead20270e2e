// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ins/upscale/sample_flow.hpp"

namespace karst {

/// Forces of a flow, in units of h0² times the stress unit (force density of 1 per h0). Pressures on inlet and outlet
/// are split into a linear decrease G over the sample, which acts like a force, and a remainder p' that is 0 on both
/// faces; no other force acts there, where the velocity has zero normal derivative. Between connected reservoirs
/// (sample.low > 0 in a periodic domain) the force on all cells is that of such a decrease. Along the driving force
///
///   drive = pressure + viscous + sides,    up to the error of the discretisation.
struct WallDrag {
  Vec3 pressure;  ///< Σ -p' a_w n
  Vec3 viscous;   ///< Σ a_w ∂u/∂n, from the parabolas of the momentum rows, and the friction of convex edges
  Vec3 sides;     ///< Σ α ∂u/∂n on the no-slip domain faces
  Vec3 drive;     ///< (f + G) times the volume of the fluid on which they act
  /// Along the drive.
  double imbalance() const { return std::abs(dot(drive, drive - pressure - viscous - sides)) / dot(drive, drive); }
};

/// Distance of a no-slip domain face from the centre of the cell beside it [cells].
inline constexpr double to_side = 0.5;

using WallVelocities = std::array<Vec3, 6>;

/// ∂u/∂n on a wall at a distance θ towards a side, from the parabola of the momentum row along that grid line.
/// @param of_wall  velocities of the walls that the row meets, by side
Vec3 slope_towards(const Quad* x, const FlowRow& row, int side, double theta, const WallVelocities& of_wall = {});

/// First order in h at curved walls. For the values that the operator was last applied to. Walls of isolated fragments
/// are left out. Collective.
/// @param drive   what moves them
/// @param sample  where the pressure falls, and along which axis
WallDrag wall_drag(const StokesLevels& op, const FlowValues& u, const StokesDrive& drive, const SampleCells& sample);

}  // namespace karst
