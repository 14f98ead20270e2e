// SPDX-License-Identifier: BSD-3-Clause
// Fluxes through the faces between two levels. A face belongs to the fine level; its flux
//
//   β α h (φ_ghost - φ_v)
//
// leaves the fine VoF v and enters the coarse VoF behind the face: both rows use the same stencil, which conserves the
// flux. φ_ghost, at the fine cell centre across the face, is the quadratic least-squares polynomial through the coarse
// unknowns around that VoF (two rings of grid neighbours) and the fine ones around v (one ring; two at cut faces). Near
// walls there are fewer points; where the extrapolation would be too far, the degree is lower. For cut faces both
// values are moved to the line through their centroid by the same polynomial. Both VoFs of a face get access to the
// unknowns beyond it (VofLookup::beyond), so that isolated fragments between a wall and the other level take their
// value from both levels.
#pragma once

#include <functional>
#include <unordered_map>
#include <vector>

#include "fields/composite.hpp"
#include "solvers/elliptic/row_maker.hpp"

namespace karst {

/// Addition to the row of an own unknown.
struct RowAddition {
  Stencil stencil;
  unsigned sides = 0;  ///< bit s: the row's side s has such faces
};
using RowAdditions = std::unordered_map<std::int32_t, RowAddition>;

/// Faces between levels, over all ranks.
struct CoarseFineCounts {
  std::int64_t faces = 0;
  std::int64_t closed = 0;  ///< no coarse VoF was found behind a fine face: counted as wall on both sides
};

/// Data of one level for its neighbouring levels.
struct LevelRows {
  VofLookup& vofs;
  const RowMaker& maker;
};

/// What is known of the faces between two levels from a grid before.
struct KnownFluxes {
  /// Per face in Composite::coarse_fine(): whether its flux is known. Empty: none is. Both VoFs are of this rank then.
  std::vector<std::uint8_t> known;
  /// The flux of such a face into the fine VoF.
  std::function<void(std::size_t face, Stencil& flux)> read;
  /// Whether the row of an own unknown is known, too: nothing is added to it, only its sides are marked.
  std::function<bool(GlobalNumber row)> has_row;
  /// Whether no row is made near an own VoF of a level.
  std::function<bool(int level, VofName)> is_far;
};

/// Adds the fluxes between two levels to the additions of the own rows. Both look-ups must contain three rings around
/// at_level_boundary(). Collective.
/// @param told  empty, or called for each flux: number of the face in Composite::coarse_fine(), flux into the fine VoF
CoarseFineCounts add_coarse_fine_fluxes(const Composite& composite, const LevelRows& coarse, const LevelRows& fine,
                                        const KnownFluxes& before, RowAdditions& additions,
                                        const std::function<void(std::size_t face, const Stencil& flux)>& told);

}  // namespace karst
