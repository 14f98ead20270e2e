// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ins/stokes_operator.hpp"

namespace karst {

/// Forces of a flow, in units of h0² times the stress unit (force density of 1 per h0). In a periodic domain the wall
/// takes what drives the fluid: drive = pressure + viscous, up to the error of the discretisation.
struct WallDrag {
  Vec3 pressure;  ///< Σ -p a_w n, p on the wall without the part that the mean gradient makes
  Vec3 viscous;   ///< Σ a_w ∂u/∂n, from the parabolas of the momentum rows
  Vec3 drive;     ///< force on the fluid: f times its volume
  /// |drive - pressure - viscous| / |drive|
  double imbalance() const { return norm(drive - pressure - viscous) / norm(drive); }
};

/// First order in h where walls bend. Of the values that the operator was last applied to. Walls of orphans are left
/// out. Collective.
WallDrag wall_drag(StokesOperator& op, const Vec3& force);

}  // namespace karst
