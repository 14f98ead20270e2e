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
#include <optional>
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
  double here;                 ///< w at the cell
  FlowEdge(const std::array<int, 2>& sides, const std::array<double, 2>& at, double first_wall, double of_fluid)
      : side(sides), apex(at), begin(first_wall), angle(of_fluid), here(value({})) {}
  /// The cell is the one whose grid lines pass the edge by on both sides.
  bool in_front() const { return apex[0] > 0.0 && apex[1] > 0.0; }
  /// w at a position; 0 in the solid.
  double value(const Vec3& x) const;
};

/// The edges next to the flow cells of a level: those that a cell, or one beside it in their plane, stands in front of.
class FlowEdges {
 public:
  /// Look-up and walls must outlive it. Threaded, not collective.
  /// @param has_row  of the own VoFs: the edges next to others are not found
  FlowEdges(const FlowLookup& lookup, const CellWalls& walls, std::span<const std::uint8_t> has_row);
  /// @param[out] scratch  holds them for VoFs of other ranks
  std::span<const FlowEdge> of(VofName v, std::vector<FlowEdge>& scratch) const;
  /// σ / h² of the vertices that a flow cell stands in front of: its grid lines meet no wall, and the cells across
  /// three of its sides stand in front of the edges that meet there. The sum of their w is 0 on the solid; its power of
  /// the right degree takes the place of w (docs/decisions/072). 0 without one.
  double vertex_friction(VofName v) const;

 private:
  struct OfBox {
    std::vector<std::uint16_t> vof;       ///< that have any, increasing
    std::vector<std::uint32_t> begin{0};  ///< one more
    std::vector<FlowEdge> edges;
    std::span<const FlowEdge> of(int vof) const;
    /// To be called by increasing VoF when all of its edges have been added.
    void close(int vof);
  };
  /// The quadrants of a flow cell in which an edge may lie: the flow cells across both of its sides meet a wall towards
  /// it. A bit for each of the twelve. Most cells have none, and each is asked for by all cells around it.
  std::uint16_t possible(VofName v) const;
  void find_possible_in(int box);
  void find_fronts_in(int box);
  /// The edge in one quadrant of a flow cell in front of it, if there is one.
  std::optional<FlowEdge> in_front(VofName v, int first, int second) const;
  void find_in(int box, std::span<const std::uint8_t> has_row);
  void add_near(VofName v, std::vector<FlowEdge>& edges) const;

  const FlowLookup& lookup_;
  const CellWalls& walls_;
  std::vector<std::uint16_t> possible_;  ///< of the own VoFs
  std::vector<OfBox> fronts_;            ///< edges of the own flow cells in front of them, in both orders of the sides
  std::vector<OfBox> near_;              ///< all edges next to the own flow cells
};

/// σ / h² per component of the velocity: -Δ_h u + σ u = 0 for u = w of each edge, Δ_h: the second differences of the
/// momentum row; at right angles to the edge twice that, for Stokes flow. In front of right angles along the grid lines
/// the remaining error is removed by tables (edge_table.hpp).
Vec3 edge_friction(std::span<const FlowEdge> edges, const Walls& walls);

}  // namespace karst
