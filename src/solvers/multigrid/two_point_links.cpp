// SPDX-License-Identifier: BSD-3-Clause
// Coarse-fine faces of the composite grid as links of the two-point operator.
#include <algorithm>
#include <cassert>
#include <utility>

#include "solvers/multigrid/two_point.hpp"

namespace karst {
namespace {

/// The open part of a face as the form counts it; 0: no link.
double open_part(const LevelFace& f, const VofCenter* center, WallForm form) {
  if (form == WallForm::fluxes) return f.face.aperture;
  if (center == nullptr) return 1.0;
  const float wall = center->wall_distance[f.face.side];
  return center->inside && f.face.primary && wall > 1.0F ? 1.0 : 0.0;
}

/// Slots of the faces of a box towards the coarser level. The k-th face of a VoF and side is the k-th of Composite's.
class GhostSlots {
 public:
  GhostSlots(const BoxGraph& graph, const BoxMoments& moments) {
    for_each_face(graph, moments, [&](const FaceView& f) {
      if (graph.name(f.neighbour) == coarse_face) faces_.push_back({f.vof, f.side, f.neighbour});
    });
    std::ranges::stable_sort(faces_, {}, place);
  }
  /// Of the next face of this VoF and side.
  int next(int vof, int side) {
    auto face = std::ranges::lower_bound(faces_, std::pair(vof, side), {}, place);
    while (face->slot < 0) ++face;
    assert(place(*face) == std::pair(vof, side));
    return std::exchange(face->slot, -1);
  }

 private:
  struct Face {
    int vof, side, slot;
  };
  static std::pair<int, int> place(const Face& f) { return {f.vof, f.side}; }
  std::vector<Face> faces_;
};

/// @param l  coarse level
void set_links(const Composite& grid, int l, WallForm form, TwoPointLevel& fine) {
  const LevelGeometry& geometry = grid.level(l + 1);
  for (int b = 0; b < geometry.graph.n_local(); ++b) {
    const std::size_t begin = grid.coarse_fine_begin(l, b), end = grid.coarse_fine_begin(l, b + 1);
    if (begin == end) continue;
    const BoxGraph graph = geometry.graph.box(b);
    const auto irregular = graph.row_vof.first(graph.n_irregular);
    GhostSlots slots(graph, geometry.box(b));
    for (const LevelFace& f : grid.coarse_fine(l).subspan(begin, end - begin)) {
      const int vof = vof_of(f.vof);
      const auto row = std::ranges::lower_bound(irregular, vof);
      const bool cut = row != irregular.end() && *row == vof;
      const VofCenter* center = cut ? &geometry.box(b).centers[row - irregular.begin()] : nullptr;
      // Two thirds of a face of the level: h_f² / (3/4 · 2 h_f).
      const float weight = fine.whole_weight(b, vof, f.face.side, slots.next(vof, f.face.side)) *
                           static_cast<float>(open_part(f, center, form) / 1.5);
      if (weight <= 0.0F) continue;
      if (f.behind.found)
        fine.links.push_back({f.vof, f.behind.vof, weight});
      else
        ++fine.unlinked;
    }
  }
}

}  // namespace

void set_coarse_fine_links(const Composite& grid, WallForm form, std::vector<TwoPointLevel>& levels) {
  for (std::size_t l = 0; l + 1 < levels.size(); ++l) {
    TwoPointLevel& level = levels[l];
    level.covered_begin.assign(1, 0);
    for (int b = 0; b < level.geometry->graph.n_local(); ++b) {
      const auto covered = grid.covered_in(static_cast<int>(l), b);
      level.covered.insert(level.covered.end(), covered.begin(), covered.end());
      level.covered_begin.push_back(std::ssize(level.covered));
    }
    set_links(grid, static_cast<int>(l), form, levels[l + 1]);
  }
}

}  // namespace karst
