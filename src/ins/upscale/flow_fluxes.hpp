// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fields/face_field.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

/// The fluxes through all faces of a flow solved by permeability(), for transport [velocity h0²], scaled to a Darcy
/// velocity along the axis of the column in any unit. Their sum is 0 in every VoF to the tolerance of the solve.
/// Solves nothing; without FlowColumn::fluxes it rebuilds the operator, not its preconditioner. Throws Error if there
/// is no flow. Collective.
/// @param column  with its fluxes or its solution, on this grid; reservoirs are not joined; options and viscosity are
/// those it was solved with
/// @param cell_width  h0 [m]
FaceField flow_fluxes(const std::shared_ptr<const Composite>& grid, const FlowOptions& options, double viscosity,
                      double cell_width, const FlowColumn& column, double velocity = 1.0);

/// FlowColumn::fluxes, with the operator of the solve. Collective.
/// @param column  with its solution
FaceField fluxes_in_units(StokesLevels& op, double viscosity, double cell_width, const FlowColumn& column);

/// Multiplies all fluxes. Not collective.
void scale(FaceField& fluxes, double factor);

}  // namespace karst
