// SPDX-License-Identifier: BSD-3-Clause
// Friction that removes the remaining error at an edge of rows and fluxes that are exact for w (flow_edges.hpp).
//
// Around an edge of 3π/2 Stokes flow varies as r^0.545 (along it as r^(2/3)), and the discrete equations, as those of
// any grid, have an error of the flow far away of C h^1.09 K² per length of edge (C h^(4/3) K²). K, the strength of
// that flow, depends on the sample; C depends only on the position of the edge relative to the cell centres, and so
// does the friction in the cell in front of the edge that makes C zero. This friction was determined for 16 x 16
// positions with square and nearly square prisms of 128 cells per period against their limits for fine grids
// (docs/decisions/015); 64 cells give the same to a twentieth of its range.
#pragma once

#include <array>

namespace karst {

/// σ / h² on the components of the velocity along an edge and at right angles to it.
struct EdgeFriction {
  double along = 0.0;
  std::array<double, 2> around{};  ///< on the components along the two grid lines
};

/// @param apex  position of the edge relative to the centre of the cell in front, along both grid lines, 0 to 1 cells
EdgeFriction tabulated_edge_friction(const std::array<double, 2>& apex);

}  // namespace karst
