// SPDX-License-Identifier: BSD-3-Clause
// Friction that takes away what rows and fluxes made for w (flow_edges.hpp) leave of the error of an edge.
//
// Around an edge of 3π/2 Stokes flow goes as r^0.545 (along it as r^(2/3)), and the discrete equations, as those of any
// grid, miss the flow far away by C h^1.09 K² per length of edge (C h^(4/3) K²): K, the strength of that flow, belongs
// to the sample, C to the place of the edge among the cell centres alone. So does the friction in the cell in front of
// the edge that makes C zero. It was found for 16 x 16 places with square and nearly square prisms of 128 cells per
// period against their limits (docs/decisions/015); 64 cells give the same within a twentieth of its range.
#pragma once

#include <array>

namespace karst {

/// σ / h² on the components of the velocity along an edge and at right angles to it.
struct EdgeFriction {
  double along = 0.0;
  std::array<double, 2> around{};  ///< on the components along the two grid lines
};

/// @param apex  place of the edge from the centre of the cell in front, along both grid lines, 0 to 1 cells
EdgeFriction tabulated_edge_friction(const std::array<double, 2>& apex);

}  // namespace karst
