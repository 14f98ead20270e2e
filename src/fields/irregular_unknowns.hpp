// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "fields/composite.hpp"

namespace karst {

/// Calls f(own unknown, level, row, moments, center, inside) for the irregular own unknowns of all levels: row in
/// LevelGeometry::moments, center of its cell in widths of its level, inside: whether the center lies in the fluid.
template <class F>
void for_irregular_unknowns(const Composite& composite, F&& f) {
  for (int l = 0; l < composite.n_levels(); ++l) {
    const LevelGeometry& level = composite.level(l);
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph graph = level.graph.box(b);
      std::int64_t row = level.moments_begin[b];
      for (int r = 0; r < graph.n_irregular; ++r, ++row) {
        const std::int32_t v = composite.numbering().number(l, b, graph.row_vof[r]);
        if (v < 0) continue;
        const Index cell = graph.cells.cell(graph.row_cell[r]);
        f(v, l, row, level.moments[row], Vec3{cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5},
          level.centers.size() == 0 || level.centers[row].inside);
      }
    }
  }
}

}  // namespace karst
