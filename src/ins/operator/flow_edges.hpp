// SPDX-License-Identifier: BSD-3-Clause
// Convex edges of the solid that pass between grid lines. In the cross-section through two grid directions the fluid
// around an edge fills an angle ω > π. Next to it a harmonic function that is 0 on the wall varies as
//
//   w = r^(π/ω) sin(π ϕ / ω),      r: distance from the edge, ϕ: angle from one of the walls
//
// (Kondrat'ev, Trans. Moscow Math. Soc. 16 (1967) 227), which parabolas along grid lines cannot represent: the grid
// line through the cell in front of the edge meets no wall at all. Rows next to an edge are therefore exact for w
// (edge_friction()), and fluxes there are those of w instead of a plane. Figures: docs/measurements/015.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "ins/operator/flow_lookup.hpp"
#include "ins/operator/flow_walls.hpp"

namespace karst {

/// Relative to the centre of a flow cell; lengths in cells.
struct FlowEdge {
  std::array<int, 2> side;     ///< in whose quadrant the solid lies
  std::array<double, 2> apex;  ///< along these sides
  double begin;                ///< angle of the wall that is met along side[1], from side[0] towards side[1]
  double angle;                ///< ω
  /// Whether the cell is the one in front of the edge: its grid lines pass on both sides of it.
  bool in_front() const { return apex[0] > 0.0 && apex[1] > 0.0; }
  /// w at a position; 0 in the solid.
  double value(const Vec3& x) const;
};

using WallsOf = std::function<Walls(VofName)>;

/// The quadrants of a flow cell that may contain an edge: the flow cells across both of its sides have a wall towards
/// it. One bit for each of the twelve quadrants. Most cells have none; this fast test is evaluated first because all
/// cells around a cell query it.
std::uint16_t possible_edges(const FlowLookup& lookup, const WallsOf& walls_of, VofName v);
using PossibleEdges = std::function<std::uint16_t(VofName)>;

/// The edges next to a flow cell: those in front of which it is, or a cell beside it in their plane.
/// @param possible  possible_edges() of any flow cell beside v, and of v
std::vector<FlowEdge> edges_near(const FlowLookup& lookup, const WallsOf& walls_of, const PossibleEdges& possible,
                                 VofName v);

/// σ / h² per component of the velocity: -Δ_h u + σ u = 0 for u = w of each edge, Δ_h: the second differences of the
/// momentum row; at right angles to the edge twice that, for Stokes flow. In front of right angles along the grid lines
/// the remaining error is removed by tables (edge_table.hpp).
Vec3 edge_friction(std::span<const FlowEdge> edges, const Walls& walls);

}  // namespace karst
