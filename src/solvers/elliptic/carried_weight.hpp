// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <algorithm>
#include <cmath>

namespace karst {

/// Weight of a neighbour with advection and diffusion: central differences, w + inflow / 2, as long as that is an
/// M-matrix, and upwind ones with a tenth of the diffusion where the flow is faster (the hybrid scheme: Spalding, Int.
/// J. Numer. Meth. Engng. 4 (1972) 551).
/// @param w       of diffusion
/// @param inflow  flow out of the neighbour into the node, in units of w; < 0: out of the node
inline float carried_weight(float w, float inflow) {
  constexpr float least = 0.1F;
  return std::max(inflow, 0.0F) + std::max(w - 0.5F * std::abs(inflow), least * w);
}

}  // namespace karst
