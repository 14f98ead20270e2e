// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/wall_distances.hpp"

#include <cmath>

#include "base/comm/parallel.hpp"
#include "eb/cut/cut_edge.hpp"
#include "eb/link/level_builder.hpp"

namespace karst {

namespace {

/// φ on the line from a cell centre (s = 0) towards the next one (s = 1).
struct Line {
  const LocalLevelSet& phi;
  Vec3 from, step;
  double operator()(double s) const { return phi(from + s * step); }
};

/// Zero of φ between a, where φ > 0, and b, where φ <= 0: regula falsi, Illinois variant. Where b lies on the wall φ
/// may be 0 on a part of the line: its beginning is found by halving.
double zero_between(const Line& phi, double a, double at_a, double b, double at_b) {
  if (!is_fluid(at_b) && at_b >= -node_tolerance) {
    while (b - a > 1e-8) {
      const double s = 0.5 * (a + b);
      (is_fluid(phi(s)) ? a : b) = s;
    }
    return b;
  }
  for (int i = 0; i < 50 && b - a > 1e-7; ++i) {
    const double s = std::min(std::max((a * at_b - b * at_a) / (at_b - at_a), a + 5e-8), b - 5e-8);
    const double at_s = phi(s);
    if (at_s > 0.0) {
      a = s;
      at_a = at_s;
      at_b *= 0.5;
    } else {
      b = s;
      at_b = at_s;
      at_a *= 0.5;
    }
    if (std::abs(at_s) < 1e-9) return s;
  }
  return 0.5 * (a + b);
}

float wall_on(const Line& phi, double at_center, bool closed) {
  const double beyond = phi(1.0);
  if (is_fluid(beyond) && !closed) return no_wall;
  constexpr int parts = 8;
  double a = 0.0, at_a = at_center;
  for (int i = is_fluid(beyond) ? 1 : parts; i <= parts; ++i) {
    const double b = static_cast<double>(i) / parts, at_b = i == parts ? beyond : phi(b);
    if (!is_fluid(at_b)) return static_cast<float>(zero_between(phi, a, at_a, b, at_b));
    a = b;
    at_a = at_b;
  }
  return 0.5F;
}

}  // namespace

void find_wall_distances(const LevelSet& level_set, LevelGeometry& geometry, const KeptGraph& kept) {
  const double h = std::ldexp(1.0, -geometry.level);
  parallel_for_dynamic(geometry.graph.n_local(), [&](std::int64_t b) {
    const BoxGraph graph = geometry.graph.box(static_cast<int>(b));
    if (graph.n_irregular == 0 || geometry.centers.size() == 0 || kept.of(b) >= 0) return;
    const auto phi = local_level_set(level_set, graph.cells, geometry.level);
    for (int r = 0; r < graph.n_irregular; ++r) {
      VofCenter& center = geometry.centers[geometry.moments_begin[b] + r];
      if (!center.inside) continue;
      const Index cell = graph.cells.cell(graph.row_cell[r]);
      const Vec3 at{h * (cell[0] + 0.5), h * (cell[1] + 0.5), h * (cell[2] + 0.5)};
      const double at_center = (*phi)(at);
      for (int side = 0; side < 6; ++side) {
        Vec3 step;
        step[direction_of(side)] = is_high(side) ? h : -h;
        const bool closed = graph.neighbours[r][side] == graph.closed();
        center.wall_distance[side] = wall_on({*phi, at, step}, at_center, closed);
      }
    }
  });
}

}  // namespace karst
