// SPDX-License-Identifier: BSD-3-Clause
// Two-point-flux operator on the composite grid: what the graph multigrid preconditions with.
//
//   (A φ)_v = s_v φ_v + Σ_n w_vn (φ_v - φ_n),   w_vn = w_nv >= 0,  s_v >= 0
//
// over the faces of each VoF; a symmetric M-matrix on any geometry. Everything is in units of the level-0 cell width
// h0: a whole face of level l has the weight β 2^-l, a wall of area a_w at the distance d the shift β 2^-l a_w / d, the
// term a φ the shift a κ 8^-l. A domain ghost stands for factor x (value of its VoF): -1 for a Dirichlet side (weight
// 2 w in all), 1 for a Neumann side. Unknowns are the VoFs that no finer level covers, in the order level, box, VoF.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "base/memory.hpp"
#include "eb/geometry.hpp"

namespace karst {

/// An open face between two levels, listed by the owner of its fine VoF.
struct CoarseFineLink {
  VofName fine, coarse;  ///< on the level that holds the link and on the next coarser one; both are unknowns
  float weight;
};

/// Plain data, parallel to the lists of a LevelGeometry, which must outlive it.
struct TwoPointLevel {
  const LevelGeometry* geometry = nullptr;
  float face_weight = 1.0F;                                               ///< of a face between two regular VoFs
  float regular_shift = 0.0F;                                             ///< s of a regular VoF
  std::array<float, 6> ghost_factor{1.0F, 1.0F, 1.0F, 1.0F, 1.0F, 1.0F};  ///< of domain ghosts, by side
  Array<std::array<float, 6>> weight;       ///< irregular rows, box after box; 0 where there is no face
  Array<float> shift;                       ///< irregular rows
  Array<float> extra;                       ///< weights of the extra faces, box after box
  std::vector<std::uint16_t> covered;       ///< VoFs under the next finer level, box after box, increasing
  std::vector<std::int64_t> covered_begin;  ///< n_local + 1; both empty on the finest level
  std::vector<CoarseFineLink> links;        ///< to the next coarser level
  std::int64_t unlinked = 0;                ///< coarse-fine faces whose coarse VoF was not found: closed

  std::span<const std::uint16_t> covered_in(int box) const {
    if (covered_begin.empty()) return {};
    const auto b = static_cast<std::size_t>(box);
    return std::span(covered).subspan(static_cast<std::size_t>(covered_begin[b]),
                                      static_cast<std::size_t>(covered_begin[b + 1] - covered_begin[b]));
  }
};

/// Distance of the point of a VoF's unknown to the plane through its wall centroid, along the wall normal, in units of
/// h: that of the cell centre when it lies in the fluid, else that of the fluid's centroid, and never less than
/// `smallest_wall_distance`.
double wall_distance(const VofMoments& vof);
inline constexpr double smallest_wall_distance = 0.05;

/// What is to be solved, as far as the two-point operator knows it.
struct TwoPointProblem {
  double a = 0.0, beta = 1.0;
  std::array<bool, 6> dirichlet_side{};  ///< else Neumann
  /// Conductance of the wall of an irregular VoF: flux into the wall per unit of φ and of a_w, over β, with lengths in
  /// units of the level's h: 1/d for a Dirichlet wall, 1/(d + β/rate) for a Robin wall; none (empty): Neumann. Called
  /// from several threads for an own box and one of its irregular rows.
  std::function<double(const LevelGeometry& level, int box, int row)> wall;
};

/// Weights α β 2^-l of all faces and the shifts. The distance of two VoFs is one cell width. Threaded. Not collective.
TwoPointLevel make_two_point_level(const LevelGeometry& geometry, const TwoPointProblem& problem);

/// All levels, with links of weight β α (area) / (3/4 of the coarse cell width) at coarse-fine faces. Collective.
std::vector<TwoPointLevel> make_two_point_levels(const Comm& comm, const Geometry& geometry,
                                                 const TwoPointProblem& problem);

/// Fills covered and links. Collective.
void find_coarse_fine_links(const Comm& comm, const Geometry& geometry, double beta,
                            std::vector<TwoPointLevel>& levels);

}  // namespace karst
