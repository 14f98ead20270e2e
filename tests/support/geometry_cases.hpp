// SPDX-License-Identifier: BSD-3-Clause
// Whole geometries for tests: grids, described bodies, and what holds across levels.
#pragma once

#include <cmath>

#include "eb/described_level_set.hpp"
#include "eb/geometry.hpp"
#include "support/level_cases.hpp"

namespace karst::test {

/// n^3 cells of a cube of 1 m in boxes of 8^3; levels above 0 cover the wall.
inline GridOptions grid_of(int n, int levels, bool periodic = false) {
  GridOptions grid;
  grid.cells = Index::all(n);
  grid.size = Vec3::all(1.0);
  grid.periodic = {periodic, periodic, periodic};
  grid.box = 8;
  grid.levels = levels;
  for (int l = 1; l < levels; ++l) grid.refine.push_back({l, Refinement::Where::wall, {}, {}, 1});
  return grid;
}

/// Cells of 1 m.
inline GridOptions unit_cells(const Index& cells, std::array<bool, 3> periodic, int box) {
  GridOptions grid;
  grid.cells = cells;
  grid.size = {double(cells[0]), double(cells[1]), double(cells[2])};
  grid.periodic = periodic;
  grid.box = box;
  return grid;
}

/// Σ a_w n over the VoFs that no finer level covers, minus the difference of the open area on the ends of the domain,
/// in units of h0². Zero when coarse and fine apertures agree on every face between levels.
inline Vec3 composite_closure(const Comm& comm, const Geometry& geometry) {
  Vec3 sum;
  for (int l = 0; l < static_cast<int>(geometry.levels.size()); ++l) {
    const LevelGeometry& level = geometry.levels[l];
    const double area = std::ldexp(1.0, -2 * l);
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph graph = level.graph.box(b);
      const auto covered = [&](int cell) {
        return l + 1 < geometry.grid.n_levels() && geometry.grid.cell_is_refined(l, graph.cells.cell(cell));
      };
      const auto moments = level.box(b);
      for (std::size_t r = 0; r < moments.moments.size(); ++r)
        if (!covered(graph.row_cell[r])) sum += area * moments.moments[r].wall;
      for_each_face(graph, moments, [&](const FaceView& f) {
        if (covered(f.cell) || graph.name(f.neighbour) != domain_face) return;
        sum[direction_of(f.side)] -= (is_high(f.side) ? area : -area) * f.aperture;
      });
    }
  }
  comm.sum(std::span(sum.v));
  return sum;
}

/// Bodies described in metres on a domain of this length.
inline Geometry described(const Comm& comm, double length) {
  GeometryOptions options;
  SolidOptions body;
  body.shape = SolidShape::sphere;
  body.center = length * Vec3{0.31, 0.42, 0.55};
  body.radius = 0.23 * length;
  options.solids.push_back(body);
  body.shape = SolidShape::torus;
  body.center = length * Vec3{0.6, 0.55, 0.4};
  body.axis = {0.3, 0.2, 1.0};
  body.major_radius = 0.25 * length;
  body.radius = 0.08 * length;
  options.solids.push_back(body);
  GridOptions grid = grid_of(32, 1);
  grid.size = Vec3::all(length);
  const auto phi = make_described_level_set(options, grid.cell_width(), grid.size, grid.periodic);
  return build_geometry(comm, grid, *phi, KeepPores::all);
}

}  // namespace karst::test
