// SPDX-License-Identifier: BSD-3-Clause
// What the flow job of a run leaves for later jobs of the same run.
#pragma once

#include <vector>

#include "ins/upscale/flow_fluxes.hpp"

namespace karst {

/// Columns with their solutions (32 bytes per fluid cell and axis), by increasing axis; flow_fluxes() makes fluxes of
/// them. Also of flows that an earlier run has solved.
struct FlowHandover {
  std::vector<FlowColumn> columns;
};

}  // namespace karst
