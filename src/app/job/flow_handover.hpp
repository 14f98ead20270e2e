// SPDX-License-Identifier: BSD-3-Clause
// What the flow job of a run leaves for later jobs of the same run.
#pragma once

#include <optional>
#include <vector>

#include "ins/upscale/flow_fluxes.hpp"

namespace karst {

/// The flow from an inlet.
struct InletFluxes {
  int axis = 0;
  double darcy_velocity = 0.0;  ///< along the axis, negative where fluid comes in at the high end [m/s]
  FaceField faces;              ///< [h0³/s]
};

/// A flow in time, step by step: of the last step the fluxes at its beginning and at its end.
struct FluxesInTime {
  int axis = 0;
  bool downwards = false;  ///< the drive, where its factor is positive, goes towards the low end of the axis
  double time = 0.0;       ///< at the end of the step [s]
  FaceField before, now;   ///< [h0³/s]
};

/// Columns with their solutions (32 bytes per fluid cell and axis), by increasing axis; flow_fluxes() makes fluxes of
/// them. Also of flows that an earlier run has solved.
struct FlowHandover {
  bool wanted = false;  ///< by later jobs; else nothing is left for them
  std::vector<FlowColumn> columns{};
  std::optional<InletFluxes> inlet{};     ///< in place of columns
  std::optional<FluxesInTime> in_time{};  ///< in place of both
};

}  // namespace karst
