// SPDX-License-Identifier: BSD-3-Clause
// Flows along an axis without divergence, on any levels, in domains without walls.
#pragma once

#include <functional>

#include "eb/link/faces.hpp"
#include "fields/face_field.hpp"

namespace karst::test {

/// Fluxes of a flow along direction d whose mean over a face from lo to hi is speed(lo, hi) [h0]; it must not depend on
/// the place along d.
inline FaceField flow_along(const std::shared_ptr<const Composite>& composite, int d,
                            const std::function<double(const Vec3& lo, const Vec3& hi)>& speed) {
  FaceField flow(composite);
  const Composite& grid = *composite;
  for (int l = 0; l < grid.n_levels(); ++l) {
    const LevelGeometry& level = grid.level(l);
    const double h = Composite::width(l);
    const auto flux_of = [&](const Index& cell) {
      const Vec3 lo = h * Vec3{double(cell[0]), double(cell[1]), double(cell[2])};
      return h * h * speed(lo, lo + Vec3::all(h));
    };
    const NumberField numbers = grid.numbering().global_numbers(grid.comm(), level.graph, l);
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph box = level.graph.box(b);
      const auto number = numbers.box(b);
      for_each_face(box, level.box(b), [&](const FaceView& f) {
        const VofName to = box.name(f.neighbour);
        const bool unknown = number[f.vof] >= 0;
        if (direction_of(f.side) != d || to == coarse_face || !unknown) return;
        if (is_vof(to) && number[f.neighbour] < 0) return;
        const double flux = flux_of(box.cells.cell(f.cell));
        if (!is_high(f.side)) flow.primary(l).box(b, d)[f.vof] = flux;
        if (is_high(f.side) && to == domain_face) flow.primary(l).box(b, d)[f.neighbour] = flux;
      });
    }
    if (l == 0) continue;
    for (std::size_t i = 0; i < grid.coarse_fine(l - 1).size(); ++i) {
      const LevelFace& f = grid.coarse_fine(l - 1)[i];
      if (direction_of(f.face.side) != d || !f.behind.found) continue;
      const BoxGraph box = level.graph.box(level.graph.local(box_of(f.vof)));
      const double flux = flux_of(box.cells.cell(cell_of(box, vof_of(f.vof))));
      flow.coarse_fine(l - 1)[i] = is_high(f.face.side) ? flux : -flux;
    }
  }
  return flow;
}

/// Mean of sin(2π y / period) over [lo, hi].
inline double mean_sine(double lo, double hi, double period) {
  const double k = 2.0 * std::numbers::pi / period;
  return (std::cos(k * lo) - std::cos(k * hi)) / (k * (hi - lo));
}

}  // namespace karst::test
