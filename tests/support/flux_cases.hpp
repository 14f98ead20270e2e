// SPDX-License-Identifier: BSD-3-Clause
// Face fields of known divergence.
#pragma once

#include "eb/link/faces.hpp"
#include "fields/face_field.hpp"

namespace karst::test {

/// Fluxes of a uniform velocity [h0] through all faces.
inline void set_uniform(FaceField& flux, const Vec3& u) {
  const Composite& grid = flux.grid();
  for (int l = 0; l < grid.n_levels(); ++l) {
    const LevelGeometry& level = grid.level(l);
    const double h2 = Composite::width(l) * Composite::width(l);
    const NumberField numbers = grid.numbering().global_numbers(grid.comm(), level.graph, l);
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph box = level.graph.box(b);
      std::size_t extra = level.extra_begin[b];
      for_each_face(box, level.box(b), [&](const FaceView& f) {
        const int d = direction_of(f.side);
        const auto vof = static_cast<std::size_t>(f.vof), n = static_cast<std::size_t>(f.neighbour);
        const VofName to = box.name(f.neighbour);
        const bool open = numbers.box(b)[vof] >= 0 && to != coarse_face && (!is_vof(to) || numbers.box(b)[n] >= 0);
        const double along = open ? h2 * f.aperture * u[d] : 0.0, out = is_high(f.side) ? along : -along;
        if (!f.primary)
          flux.extra(l)[extra++] = out;
        else if (!is_high(f.side))
          flux.primary(l).box(b, d)[vof] = along;
        else if (to == domain_face)
          flux.primary(l).box(b, d)[n] = along;
      });
    }
    if (l == 0) continue;
    for (std::size_t i = 0; i < grid.coarse_fine(l - 1).size(); ++i) {
      const LevelFace& f = grid.coarse_fine(l - 1)[i];
      const double out = h2 * f.face.aperture * u[direction_of(f.face.side)];
      flux.coarse_fine(l - 1)[i] = f.behind.found ? (is_high(f.face.side) ? out : -out) : 0.0;
    }
  }
}

}  // namespace karst::test
