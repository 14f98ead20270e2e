// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "base/comm/memory.hpp"
#include "ins/operator/stokes_levels.hpp"

namespace karst {

/// κ h_l³ [h0³] of the VoFs that carry flow, 0 of all others; as vectors of StokesLevels. Not collective.
Array<float> flow_volumes(const StokesLevels& op, const Geometry& geometry);

}  // namespace karst
