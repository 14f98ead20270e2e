// SPDX-License-Identifier: BSD-3-Clause
// Fluxes through all faces of a composite grid (a quantity per time; the area is in them). Each flux between two
// control volumes is stored in one of three places, so that a balance is a sum without interpolation:
//
//   primary      a face between VoFs that contain the centres of neighbouring cells of a level, so each is the only
//   primary
//                neighbour of the other, or a domain face: component d at slot v is the flux in +d through
//                the low face of v; those of the high domain faces are in the domain ghosts
//   extra        parallel to LevelGeometry::extra: OUT of the VoF of the extra face. Both VoFs of a face list it
//   coarse-fine  parallel to Composite::coarse_fine(): OUT of the fine VoF, into the coarse one
//
// Slots and extra faces between a VoF and a coarser level or a covered VoF contain 0, and so do all those of covered
// VoFs: these fluxes are the coarse-fine ones. Code that sets an extra face must set it for both of its VoFs, with
// opposite signs. Halo slots are filled here.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fields/cell_field.hpp"
#include "grid/halo_exchange.hpp"

namespace karst {

class FaceField {
 public:
  /// All 0. Collective.
  explicit FaceField(std::shared_ptr<const Composite> composite);

  const Composite& grid() const { return *composite_; }
  const std::shared_ptr<const Composite>& composite() const { return composite_; }
  Field& primary(int l) { return levels_[l].primary; }
  const Field& primary(int l) const { return levels_[l].primary; }
  std::span<double> extra(int l) { return levels_[l].extra.span(); }
  std::span<const double> extra(int l) const { return levels_[l].extra.span(); }
  /// Between levels l and l + 1.
  std::span<double> coarse_fine(int l) { return levels_[l].coarse_fine.span().first(levels_[l].n_coarse_fine); }
  std::span<const double> coarse_fine(int l) const {
    return levels_[l].coarse_fine.span().first(levels_[l].n_coarse_fine);
  }
  std::int64_t bytes() const;  ///< of this rank

  /// Calls f(l, box) for all own boxes, threaded, with the halo of primary(l) filled in the box and the coarse-fine
  /// fluxes of other ranks arrived (entering()). Collective.
  template <class F>
  void for_boxes(F&& f) {
    for (Level& level : levels_) level.exchange.exchange(level.coarse_fine.span());
    for (int l = 0; l < std::ssize(levels_); ++l)
      levels_[l].halo.for_boxes(levels_[l].primary, [&](int b) { f(l, b); });
  }
  /// Fluxes to which CoarseEntrance::value refers, after for_boxes().
  std::span<const double> entering(int l) const { return levels_[l].coarse_fine.span(); }

 private:
  struct Level {
    Field primary;
    Array<double> extra;
    Array<double> coarse_fine;  // of own fine faces, then of other ranks
    std::size_t n_coarse_fine = 0;
    ListExchange exchange;
    HaloExchange<double> halo;
  };

  std::shared_ptr<const Composite> composite_;
  std::vector<Level> levels_;
};

/// Σ of the fluxes out of each VoF, into one component of a field on the same composite; 0 in covered VoFs. Allocates
/// memory only at the first call. Collective.
///
///   out_v = Σ_d (F_d[high neighbour] - F_d[v]) + Σ extra + Σ towards coarser - Σ from finer
void divergence(FaceField& flux, CellField& out, int component = 0);

}  // namespace karst
