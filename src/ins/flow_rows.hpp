// SPDX-License-Identifier: BSD-3-Clause
// The discrete Stokes equations next to walls, as coefficients per VoF. Lengths in cell widths of the level, viscosity
// 1; velocity and pressure stand at the centres of the cells whose centres lie in the fluid ("flow cells").
//
//   momentum    -Δu + ∇p = f, at cell centres. Along each grid line the neighbours are θ+ and θ- away: 1 to a flow
//               cell, less where the line meets the wall first (u = 0 there):
//                 -∂²u ≈ 2 / (θ+ + θ-) [(u - u+) / θ+ + (u - u-) / θ-]       exact for parabolas
//               (Shortley & Weller, J. Appl. Phys. 9 (1938) 334). ∂p: mean of the differences across the open faces of
//               the direction.
//   continuity  Σ_faces ± w [ (ũ_l + ũ_r)_d / 2 - (t_l + t_r) / 2 (p_r - p_l) ] = 0,  ũ = u + t ∇p,  t = 1 / (diagonal
//   of
//               the momentum row): the mean of two cells without the checkerboard (Rhie & Chow, AIAA J. 21 (1983)
//               1525). w is the open area of the face between the two flow cells, plus half of the open area of the
//               slivers beside it: faces between joined pieces or a joined piece and a cell, given to the pair of flow
//               cells on the nearest grid line. docs/decisions/009 has the measurements behind the half.
//
// Regular cells among flow cells have no coefficients (θ = 1, w = 1). VoFs that do not hold their cell centre and
// belong to no flow cell (orphans) carry no flow; open area that reaches no pair of flow cells is closed. Both are
// counted.
#pragma once

#include <vector>

#include "eb/geometry.hpp"
#include "grid/field.hpp"
#include "ins/flow_sides.hpp"

namespace karst {

/// Coefficients of a flow cell next to a wall; sides in the order -x +x -y +y -z +z.
struct FlowRow {
  std::uint16_t vof;
  std::array<std::uint16_t, 6> slot;  ///< flow neighbour or ghost; the closed slot towards walls
  std::array<float, 6> viscous;       ///< weight of the neighbour's velocity
  float diagonal;                     ///< of the momentum row
  std::array<float, 6> gradient;      ///< ∂_d p = Σ gradient (p_neighbour - p)
  std::array<float, 6> area;          ///< w
  std::array<float, 6> theta;         ///< distance to the neighbour or wall
  float symmetric_scale;              ///< diagonal of the symmetric 1/θ form over that of the momentum row
};

/// Over all ranks; nothing is silent.
struct FlowCounts {
  std::int64_t flow_cells = 0, rows = 0;
  std::int64_t orphans = 0;         ///< VoFs without flow
  std::int64_t walls_half_way = 0;  ///< sides without a flow cell and without a wall on the grid line: θ = 1/2
  std::int64_t slivers = 0;         ///< faces beside the grid lines
  double sliver_area = 0.0;         ///< of these that count by half [h²]
  double closed_area = 0.0;         ///< of these that reach no pair of flow cells [h²]
  double open_area = 0.0;           ///< of the faces between flow cells [h²]
};

struct FlowRows {
  Array<FlowRow> rows;                    ///< box after box, by increasing VoF
  std::vector<std::int64_t> begin;        ///< n_local + 1
  std::vector<std::uint16_t> still;       ///< VoFs without flow, box after box, increasing
  std::vector<std::int64_t> still_begin;  ///< n_local + 1
  FlowCounts counts;
  std::span<const FlowRow> of(int box) const {
    const auto b = static_cast<std::size_t>(box);
    return rows.span().subspan(static_cast<std::size_t>(begin[b]), static_cast<std::size_t>(begin[b + 1] - begin[b]));
  }
  std::span<const std::uint16_t> still_in(int box) const {
    const auto b = static_cast<std::size_t>(box);
    return std::span(still).subspan(static_cast<std::size_t>(still_begin[b]),
                                    static_cast<std::size_t>(still_begin[b + 1] - still_begin[b]));
  }
};

/// Collective, threaded.
/// @param slivers  part of the area of slivers that counts; 1/2
FlowRows make_flow_rows(const Comm& comm, const Geometry& geometry, const FlowSides& sides, double slivers = 0.5);

}  // namespace karst
