// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <utility>

#include "eb/link/level_geometry.hpp"

namespace karst {

/// A face relative to one of its VoFs.
struct FaceView {
  int vof;   ///< own VoF
  int cell;  ///< offset of its cell in the box
  int side;
  int neighbour;  ///< slot
  bool primary;
  double aperture;  ///< area / h²
  Vec3 centroid;    ///< relative to the centre of the VoF's cell
};

/// Calls f(FaceView) for every open face of every own VoF of a box: runs, rows, extra faces.
template <class F>
void for_each_face(const BoxGraph& box, const BoxMoments& geometry, F&& f) {
  const auto plain = [&](int vof, int cell, int side, int neighbour) {
    Vec3 at;
    at[direction_of(side)] = is_high(side) ? 0.5 : -0.5;
    f(FaceView{vof, cell, side, neighbour, true, 1.0, at});
  };
  for (const Run& run : box.runs)
    for (int t = 0; t < run.length; ++t) {
      const std::array<std::uint16_t, 6> slots = run.neighbours(t);
      for (int side = 0; side < 6; ++side) plain(run.first + t, run.cell + t, side, slots[side]);
    }
  for (std::size_t r = 0; r < box.row_vof.size(); ++r) {
    const bool irregular = std::cmp_less(r, box.n_irregular);
    for (int side = 0; side < 6; ++side) {
      const int n = box.neighbours[r][side];
      if (n == box.closed()) continue;
      if (!irregular) {
        plain(box.row_vof[r], box.row_cell[r], side, n);
        continue;
      }
      const VofMoments& m = geometry.moments[r];
      Vec3 at;
      std::size_t axis = 0;
      for (int d = 0; d < 3; ++d)
        at[d] = d == direction_of(side) ? (is_high(side) ? 0.5 : -0.5) : double{m.face_centroid[side][axis++]};
      f(FaceView{box.row_vof[r], box.row_cell[r], side, n, true, m.aperture[side], at});
    }
  }
  std::size_t row = 0;
  for (std::size_t e = 0; e < box.extra.size(); ++e) {
    const ExtraFace& face = box.extra[e];
    while (box.row_vof[row] != face.vof) ++row;  // both lists increase, and VoFs with extra faces are irregular
    const auto& at = geometry.extra[e].centroid;
    f(FaceView{face.vof,
               box.row_cell[row],
               face.side,
               face.neighbour,
               false,
               geometry.extra[e].aperture,
               {at[0], at[1], at[2]}});
  }
}

}  // namespace karst
