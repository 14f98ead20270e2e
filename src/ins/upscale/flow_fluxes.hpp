// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fields/face_field.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

/// The fluxes through all faces of a flow that permeability() has solved, for what it carries [velocity h0²], scaled to
/// a Darcy velocity along the axis of the column in any unit. They add up to 0 in every VoF as far as the solve went.
/// Makes the operator again, not its preconditioner; solves nothing. Throws Error where nothing flows. Collective.
/// @param column  with its solution, on this geometry, without reservoirs; options and viscosity are those it was
/// solved with
/// @param cell_width  h0 [m]
FaceField flow_fluxes(const Comm& comm, const Geometry& geometry, const FlowOptions& options, double viscosity,
                      double cell_width, const FlowColumn& column, double velocity = 1.0);

/// Multiplies all fluxes. Not collective.
void scale(FaceField& fluxes, double factor);

}  // namespace karst
