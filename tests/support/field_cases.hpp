// SPDX-License-Identifier: BSD-3-Clause
// Values on composite grids that depend on the place alone, and not on ranks or boxes.
#pragma once

#include <functional>
#include <memory>

#include "eb/geometry.hpp"
#include "fields/cell_field.hpp"
#include "grid/vof_loops.hpp"

namespace karst::test {

/// f(centre of the cell [h0], own VoF, its cell, level, box) for all unknowns of this rank.
template <class F>
void for_unknowns(const Composite& grid, F&& f) {
  for (int l = 0; l < grid.n_levels(); ++l)
    for (int b = 0; b < grid.graph(l).n_local(); ++b) {
      const BoxGraph box = grid.graph(l).box(b);
      for_each_vof(box, [&](int vof, int cell) {
        if (grid.numbering().number(l, b, vof) < 0) return;
        const Index at = box.cells.cell(cell);
        f(Composite::width(l) * Vec3{at[0] + 0.5, at[1] + 0.5, at[2] + 0.5}, static_cast<std::size_t>(vof), l, b);
      });
    }
}

inline void set_by_place(CellField& field, const std::function<double(const Vec3&, int component)>& value) {
  for_unknowns(field.grid(), [&](const Vec3& x, std::size_t vof, int l, int b) {
    for (int c = 0; c < field.n_components(); ++c) field.level(l).box(b, c)[vof] = value(x, c);
  });
}

inline std::shared_ptr<const Composite> composite_of(const Comm& comm, const GridOptions& grid, const LevelSet& walls) {
  return std::make_shared<const Composite>(
      comm, std::make_shared<const Geometry>(build_geometry(comm, grid, walls, KeepPores::all)));
}

}  // namespace karst::test
