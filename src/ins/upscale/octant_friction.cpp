// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/octant_friction.hpp"

#include <algorithm>
#include <array>

#include "base/comm/parallel.hpp"
#include "grid/morton.hpp"
#include "grid/vof_loops.hpp"
#include "ins/operator/face_weight.hpp"

namespace karst {

namespace {

double squared(const Quad& a) { return a.v[0] * a.v[0] + a.v[1] * a.v[1] + a.v[2] * a.v[2]; }

double squared_difference(const Quad& a, const Quad& b) {
  double sum = 0.0;
  for (std::size_t c = 0; c < 3; ++c) sum += (a.v[c] - b.v[c]) * (a.v[c] - b.v[c]);
  return sum;
}

/// Of a cell whose faces are all open.
double friction_of(const Quad* x, int vof, const std::array<std::uint16_t, 6>& slots) {
  double sum = 0.0;
  for (const std::uint16_t slot : slots) sum += 0.5 * squared_difference(x[slot], x[vof]);
  return sum;
}

double friction_of(const Quad* x, const FlowRow& row) {
  const Quad& here = x[row.vof];
  double sum = 0.0;
  for (std::size_t side = 0; side < 6; ++side)
    sum += row.viscous[side] > 0.0F ? 0.5 * squared_difference(x[row.slot[side]], here)
                                    : squared(here) / std::max(double{row.theta[side]}, least_theta);
  for (std::size_t c = 0; c < 3; ++c) sum += std::max(double{row.edge[c]}, 0.0) * here.v[c] * here.v[c];
  return sum;
}

using Octants = std::array<OctantFriction, 8>;

Octants in_box(const StokesOperator& op, const Quad* x, int b) {
  const LevelGraph& graph = op.geometry().graph;
  const BoxGraph box = graph.box(b);
  const int half = graph.layout().box_size() / 2;
  const std::span<const FlowRow> rows = op.rows().of(b);
  const std::span<const std::uint16_t> covered = op.covered_in(b);
  Octants all;
  std::size_t row = 0;
  for_each_vof(box, [&](int vof, int cell, const std::array<std::uint16_t, 6>& slots) {
    while (row < rows.size() && rows[row].vof < vof) ++row;
    const bool has_row = row < rows.size() && rows[row].vof == vof;
    if (!has_row && !op.is_plain(graph.vof_begin(b) + vof)) return;
    if (std::ranges::binary_search(covered, vof)) return;
    const Index at = box.cells.cell(cell);
    const std::uint64_t key = morton_encode({at[0] / half, at[1] / half, at[2] / half});
    OctantFriction& octant = all[key & 7U];
    octant.key = key;
    ++octant.cells;
    octant.friction += has_row ? friction_of(x, rows[row]) : friction_of(x, vof, slots);
  });
  return all;
}

}  // namespace

std::vector<OctantFriction> octant_friction(const StokesLevels& op, const FlowValues& u) {
  std::vector<OctantFriction> found;
  for (int l = 0; l < op.n_levels(); ++l) {
    const StokesOperator& level = op.level(l);
    std::vector<Octants> in_boxes(level.geometry().graph.n_local());
    parallel_for_dynamic(std::ssize(in_boxes), [&](std::int64_t i) {
      const int b = static_cast<int>(i);
      in_boxes[i] = in_box(level, u.level(l).x.box(b).data(), b);
    });
    for (const Octants& octants : in_boxes)
      for (OctantFriction octant : octants) {
        if (octant.cells == 0) continue;
        octant.level = l;
        octant.friction *= StokesLevels::width(l);  // (Δu / h)² h³
        found.push_back(octant);
      }
  }
  return found;
}

}  // namespace karst
