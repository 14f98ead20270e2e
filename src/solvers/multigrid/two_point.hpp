// SPDX-License-Identifier: BSD-3-Clause
// Two-point-flux operator on the composite grid, on which the graph multigrid preconditioner works.
//
//   (A φ)_v = s_v φ_v + Σ_n w_vn (φ_v - φ_n),   w_vn = w_nv >= 0,  s_v >= 0
//
// over the faces of each VoF; a symmetric M-matrix on any geometry. Everything is in units of the level-0 cell width
// h0: a fully open face of level l has the weight β 2^-l, a wall of area a_w at the distance d the shift β 2^-l a_w /
// d, the term a φ the shift a κ 8^-l. The value of a domain ghost is factor x (value of its VoF): -1 for a Dirichlet
// side (weight 2 w in all), 1 for a Neumann side, between them for a Robin side. Unknowns are the VoFs that are not
// covered by a finer level, in the order level, box, VoF.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/comm/memory.hpp"
#include "eb/geometry.hpp"
#include "eb/link/faces.hpp"
#include "fields/composite.hpp"
#include "solvers/elliptic/carried_weight.hpp"
#include "solvers/elliptic/elliptic_problem.hpp"
#include "solvers/elliptic/row_maker.hpp"

namespace karst {

/// An open face between two levels, listed by the owner of its fine VoF.
struct CoarseFineLink {
  VofName fine, coarse;  ///< on the level that holds the link and on the next coarser one; both are unknowns
  float weight;
};

/// Plain data, parallel to the lists of a LevelGeometry, which must outlive it.
struct TwoPointLevel {
  const LevelGeometry* geometry = nullptr;
  const Field* face_beta = nullptr;       ///< β on the faces; must exist while multigrids are constructed from this
  float face_weight = 1.0F;               ///< of a face between two regular VoFs, over its β where face_beta is given
  float regular_shift = 0.0F;             ///< s of a regular VoF
  std::vector<float> ghost_factor;        ///< per domain ghost, box after box
  std::array<bool, 6> mirrors{};          ///< sides that fix the normal one of three components at 0 (factor -1)
  std::vector<std::int64_t> ghost_begin;  ///< n_local + 1
  Array<std::array<float, 6>> weight;     ///< irregular rows, box after box; 0 where there is no face
  Array<float> shift;                     ///< irregular rows
  Array<float> extra;                     ///< weights of the extra faces, box after box
  /// Per own VoF and side, in units of the weights: inflow of the flow through a face (carried_weight.hpp); empty: no
  /// flow. With a flow the operator is not symmetric. For the form `lines`, which has no weights of extra faces.
  Array<std::array<float, 6>> inflow;
  /// Per own VoF, in the same units: flow that enters through sides of the domain with a given value. It is part of the
  /// diagonal, as the flow out of the VoF is; coarse levels do not scale it. Empty: none.
  Array<float> entering;
  std::vector<std::uint16_t> covered;       ///< VoFs under the next finer level, box after box, increasing
  std::vector<std::int64_t> covered_begin;  ///< n_local + 1; both empty on the finest level
  std::vector<CoarseFineLink> links;        ///< to the next coarser level
  std::int64_t unlinked = 0;                ///< coarse-fine faces without a coarse VoF behind them: closed

  bool has_flow() const { return inflow.size() > 0; }
  /// Regular VoFs differ from each other.
  bool has_rows_only() const { return face_beta != nullptr || has_flow(); }
  /// Weight of a fully open face of an own VoF towards this slot.
  float whole_weight(int box, int vof, int side, int slot) const {
    if (face_beta == nullptr) return face_weight;
    return face_weight * static_cast<float>(beta(box, vof, side, slot));
  }
  /// Of a VoF that has the weight w towards a side without a flow.
  float carried(float w, int box, int vof, std::size_t side) const {
    return !has_flow() || w <= 0.0F ? w : carried_weight(w, inflow_of(box, vof, side));
  }
  float inflow_of(int box, int vof, std::size_t side) const {
    return inflow[geometry->graph.vof_begin(box) + vof][side];
  }
  float entering_of(int box, int vof) const {
    return entering.size() == 0 ? 0.0F : entering[geometry->graph.vof_begin(box) + vof];
  }
  double beta(int box, int vof, int side, int slot) const {
    return face_beta->box(box, direction_of(side))[is_high(side) ? slot : vof];
  }
  std::span<const std::uint16_t> covered_in(int box) const {
    if (covered_begin.empty()) return {};
    return std::span(covered).subspan(covered_begin[box], covered_begin[box + 1] - covered_begin[box]);
  }
};

/// Distance of the position of a VoF's unknown to the plane through its wall centroid, along the wall normal, in units
/// of h: that of the cell centre if it is in the fluid, otherwise that of the fluid's centroid, and never less than
/// `smallest_wall_distance`.
double wall_distance(const VofMoments& vof);
inline constexpr double smallest_wall_distance = 0.05;

/// The two forms of the accurate operator (row_maker.hpp) with two-point fluxes.
///   fluxes  weights α β 2^-l of all faces; walls a_w / d (Dirichlet), a_w / (d + β / (rate h)) (Robin), d in units
///           of h. The distance of two VoFs is one cell width.
///   lines   for Dirichlet walls, the same as the accurate operator on one level: weights β 2^-l between VoFs that hold
///           their cell centres, β 2^-l / θ towards a wall after θ h; other VoFs have no connections.
/// Collective, threaded.
TwoPointLevel make_two_point_level(const Comm& comm, const LevelGeometry& geometry, const EllipticProblem& problem,
                                   WallForm form = WallForm::fluxes);

/// All levels, with links of weight β α (area) / (3/4 of the coarse cell width) at coarse-fine faces; α is 1 in lines.
/// Collective.
std::vector<TwoPointLevel> make_two_point_levels(const Composite& grid, const EllipticProblem& problem,
                                                 WallForm form = WallForm::fluxes);

/// Fills covered and links with the composite's covered VoFs and coarse-fine faces. Not collective.
void set_coarse_fine_links(const Composite& grid, WallForm form, std::vector<TwoPointLevel>& levels);

}  // namespace karst
