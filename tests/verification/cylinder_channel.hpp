// SPDX-License-Identifier: BSD-3-Clause
// The channel of Schäfer & Turek (Notes Numer. Fluid Mech. 52 (1996) 547) with a cylinder across it, 2-D (one coarse
// cell thick and periodic) or between four walls, with finer cells around the cylinder on request. Lengths in cells of
// level 0.
#pragma once

#include <array>
#include <cmath>
#include <span>

#include "fields/composite.hpp"
#include "grid/vof_loops.hpp"
#include "support/flow_cases.hpp"

namespace karst {

struct CylinderChannel {
  static constexpr double diameter = 0.1, height = 0.41;  ///< [m]

  int per_diameter;      ///< cells of level 0
  bool thick = false;    ///< between four walls
  int levels = 1;        ///< the cells around the cylinder are 2^(levels - 1) times finer
  bool at_wall = false;  ///< the finest of them only within a quarter of a diameter of its wall

  double width() const { return diameter / per_diameter; }  ///< of a cell of level 0 [m]
  Vec3 axis() const { return {(thick ? 0.5 : 0.2) / width(), 0.2 / width(), 0.0}; }
  Index cells() const {
    const auto n = [&](double x) { return static_cast<int>(std::lround(x / width())); };
    return {n(thick ? 2.5 : 2.2), n(height), thick ? n(height) : 1};
  }
  /// Of the finest cells.
  int finest_per_diameter() const { return per_diameter << (levels - 1); }

  /// Finer cells reach a diameter upstream and beside the axis and three downstream, those of each coarser level half a
  /// diameter, a quarter and two further.
  GridOptions grid() const {
    GridOptions grid = test::flow_grid(cells(), {false, false, !thick}, 16);
    const double d = per_diameter, depth = cells()[2];
    const int around = at_wall ? levels - 2 : levels - 1;
    for (int l = 1; l <= around; ++l) {
      const int coarser = around - l;
      const double before = d * (1.0 + 0.5 * coarser), beside = d * (1.0 + 0.25 * coarser),
                   behind = d * (3.0 + 2.0 * coarser);
      const Vec3 a = axis();
      grid = test::refined_in(grid, l, {a[0] - before, a[1] - beside, 0.0}, {a[0] + behind, a[1] + beside, depth});
    }
    if (!at_wall) return grid;
    grid.levels = levels;
    Refinement& wall = grid.refine.emplace_back();
    wall.level = levels - 1;
    wall.buffer = (per_diameter << around) / 4;
    return grid;
  }
  Geometry geometry(const Comm& comm) const {
    const Vec3 a = axis();
    const test::DistanceFunction phi(
        [&](const Vec3& x) { return std::hypot(x[0] - a[0], x[1] - a[1]) - 0.5 * per_diameter; });
    return build_geometry(comm, grid(), phi, KeepPores::connected);
  }

  /// The pressure before or behind the cylinder, from the finest cells beside the line through its middle: the parabola
  /// through the three next to it. Collective.
  /// @param solution  own unknowns
  double pressure_at(const Comm& comm, const Geometry& geometry, const CompositeNumbering& numbering,
                     std::span<const Quad> solution, bool front) const {
    const int level = levels - 1;
    const double fine = std::ldexp(1.0, level);
    const Vec3 at = fine * (axis() + Vec3{(front ? -0.5 : 0.5) * per_diameter, 0.0, 0.5 * cells()[2]});
    constexpr std::array<double, 3> weight{15.0 / 8.0, -10.0 / 8.0, 3.0 / 8.0};
    const LevelGraph& graph = geometry.levels[level].graph;
    std::array<double, 2> sums{};
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      for_each_vof(box, [&](int vof, int cell) {
        const Index i = box.cells.cell(cell);
        const double away = front ? at[0] - 0.5 - i[0] : i[0] + 0.5 - at[0];
        const bool beside = std::abs(i[1] + 0.5 - at[1]) <= 0.5 + 1e-9 && std::abs(i[2] + 0.5 - at[2]) <= 0.5 + 1e-9;
        const auto k = static_cast<std::size_t>(std::max(std::floor(away), 0.0));
        if (!beside || away < 0.0 || k > 2) return;
        sums[0] += weight[k] * solution[numbering.number(level, b, vof)].v[3];
        sums[1] += weight[k];
      });
    }
    comm.sum(std::span(sums));
    return sums[0] / sums[1];
  }
};

}  // namespace karst
