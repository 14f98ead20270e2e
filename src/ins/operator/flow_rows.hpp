// SPDX-License-Identifier: BSD-3-Clause
// The discrete Stokes equations next to walls, as coefficients per VoF. Lengths in cell widths of the level, viscosity
// 1; velocity and pressure are located at the centres of the cells whose centres are in the fluid ("flow cells").
//
//   momentum    -Δu + ∇p = f, at cell centres. Along each grid line the neighbours are θ+ and θ- away: 1 to a flow
//               cell, less if the line meets the wall first (u = 0 there):
//                 -∂²u ≈ 2 / (θ+ + θ-) [(u - u+) / θ+ + (u - u-) / θ-]       exact for parabolas
//               (Shortley & Weller, J. Appl. Phys. 9 (1938) 334). Next to convex edges of the solid σ u is added, the
//               friction that differences along grid lines do not capture (flow_edges.hpp). ∂p: mean of the differences
//               across the open faces
//               of the direction.
//   continuity  Σ fluxes = 0 over all faces of a VoF, those of merged pieces included. Between neighbours on a grid
//               line
//                 flux = w [ (ũ_l + ũ_r)_d / 2 - (t_l + t_r) / 2 (p_r - p_l) ] + b (f - (p_r - p_l)),
//                 ũ = u + t ∇p + c,   t = 1 / (diagonal of the momentum row):
//               the mean of two cells without the checkerboard (Rhie & Chow, AIAA J. 21 (1983) 1525). Away from walls
//               w = 1, b = 0, and c_d = Δu_d / 24 - ∂²_d u_d / 6 turns the mean of the two cells into that of the face.
//               Next
//               to walls c = 0, and w and b (face_weight.hpp) are those of the velocity that is 0 on the wall, has the
//               value of the cells and the curvature of the momentum balance: exact for plane flow between
//               plates. Figures: docs/measurements/010.
//
// VoFs that do not contain their cell centre and belong to no flow cell (isolated fragments, "orphans") have no flow:
// faces towards them are closed. They are counted, and so is the closed area.
#pragma once

#include <vector>

#include "eb/geometry.hpp"
#include "ins/operator/flow_lookup.hpp"

namespace karst {

/// Coefficients of a flow cell next to a wall; sides in the order -x +x -y +y -z +z.
struct FlowRow {
  std::uint16_t vof;
  std::uint16_t
      curved;  ///< 1: all neighbours are open, so that second differences are valid on both sides of its faces
  std::array<std::uint16_t, 6> slot;  ///< flow neighbour or ghost; the closed slot towards walls
  std::array<float, 6> viscous;       ///< weight of the neighbour's velocity
  float diagonal;                     ///< of -Δ in the momentum row
  std::array<float, 3> edge;          ///< friction of convex edges: adds to it, per component (flow_edges.hpp)
  std::array<float, 6> gradient;      ///< ∂_d p = Σ gradient (p_neighbour - p)
  std::array<float, 6> area;          ///< w
  std::array<float, 6> bend;          ///< b
  std::array<float, 6> theta;         ///< distance to the neighbour or wall
  /// Diagonal of the momentum row, mean of its components.
  float mean_diagonal() const { return diagonal + (edge[0] + edge[1] + edge[2]) / 3.0F; }
  float symmetric_scale;  ///< diagonal of the symmetric 1/θ form over that of the momentum row
};

/// A face between two flow cells that are not neighbours on a grid line, or a second one between neighbours; it comes
/// from merged pieces of one of them. Listed by both. Its flux is
///   area [ (u_v + u_n)_d / 2 + step · (t_v ∇p_v + t_n ∇p_n) / 2 - (t_v + t_n) / 2 (p_n - p_v) ]   towards n,
/// where a cell away from walls uses the ∇p of the other one.
struct FlowExtra {
  std::uint16_t vof, neighbour;     ///< slots: v, n
  std::uint8_t side;                ///< of v
  std::uint8_t curved;              ///< 1: v, 2: n is away from walls
  std::array<std::int8_t, 3> step;  ///< cells from v to n
  float area;
};

/// Counts over all ranks, for the report. Areas in h².
struct FlowCounts {
  std::int64_t flow_cells = 0, rows = 0;
  std::int64_t orphans = 0;         ///< VoFs without flow
  std::int64_t walls = 0;           ///< sides of flow cells where grid lines meet the wall or a no-slip end
  std::int64_t walls_half_way = 0;  ///< sides without a flow cell and without a wall on the grid line: θ = 1/2
  double open_area = 0.0;           ///< of the faces between neighbours on a grid line
  double extra_area = 0.0;          ///< of all other faces
  double closed_area = 0.0;         ///< of these that lead to orphans: closed
};

struct FlowRows {
  Array<FlowRow> rows;                           ///< box after box, by increasing VoF
  Array<FlowExtra> extra;                        ///< box after box, by increasing VoF
  std::vector<std::int64_t> begin, extra_begin;  ///< n_local + 1
  std::vector<std::uint16_t> still;              ///< VoFs without flow, box after box, increasing
  std::vector<std::int64_t> still_begin;         ///< n_local + 1
  FlowCounts counts;
  std::span<const FlowRow> of(int box) const { return rows.span().subspan(begin[box], begin[box + 1] - begin[box]); }
  std::span<const FlowExtra> extra_of(int box) const {
    return extra.span().subspan(extra_begin[box], extra_begin[box + 1] - extra_begin[box]);
  }
  std::span<const std::uint16_t> still_in(int box) const {
    return std::span(still).subspan(still_begin[box], still_begin[box + 1] - still_begin[box]);
  }
};

/// Of one level. Collective, threaded.
FlowRows make_flow_rows(const Comm& comm, const FlowLookup& lookup);

}  // namespace karst
