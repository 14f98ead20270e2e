// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fields/face_field.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

/// The fluxes through all faces of a flow solved by permeability(), for transport [velocity h0²], scaled to a Darcy
/// velocity along the axis of the column in any unit. Their sum is 0 in every VoF to the tolerance of the solve.
/// Rebuilds the operator, not its preconditioner; solves nothing. Throws Error if there is no flow. Collective.
/// @param column  with its solution, on this grid; reservoirs are not joined; options and viscosity are those it was
/// solved with
/// @param cell_width  h0 [m]
FaceField flow_fluxes(const std::shared_ptr<const Composite>& grid, const FlowOptions& options, double viscosity,
                      double cell_width, const FlowColumn& column, double velocity = 1.0);

/// Multiplies all fluxes. Not collective.
void scale(FaceField& fluxes, double factor);

}  // namespace karst
