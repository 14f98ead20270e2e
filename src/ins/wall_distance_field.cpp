// SPDX-License-Identifier: BSD-3-Clause
#include "ins/wall_distance_field.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"
#include "base/timer.hpp"
#include "ins/flow_kernels.hpp"
#include "solvers/halo_pull.hpp"

namespace karst {
namespace {

constexpr int tag_distance = 42;
constexpr float least_change = 0.01F;  ///< of a distance in a sweep [cells]

/// θ of the walls on the grid lines through a flow cell, per direction; farthest_wall without one.
std::array<float, 3> walls_of(const FlowRow& row, int closed) {
  std::array<float, 3> nearest;
  for (std::size_t d = 0; d < 3; ++d) {
    nearest[d] = farthest_wall;
    for (std::size_t s = 2 * d; s < 2 * d + 2; ++s)
      if (row.slot[s] == closed) nearest[d] = std::min(nearest[d], row.theta[s]);
  }
  return nearest;
}

/// d with Σ (d - m)²₊ = 1 over the three directions.
float eikonal(std::array<float, 3> m) {
  std::ranges::sort(m);
  float d = m[0] + 1.0F;
  if (d <= m[1]) return d;
  const float sum2 = m[0] + m[1], square2 = m[0] * m[0] + m[1] * m[1];
  d = 0.5F * (sum2 + std::sqrt(std::max(sum2 * sum2 - 2.0F * (square2 - 1.0F), 0.0F)));
  if (d <= m[2]) return d;
  const float sum3 = sum2 + m[2], square3 = square2 + m[2] * m[2];
  return (sum3 + std::sqrt(std::max(sum3 * sum3 - 3.0F * (square3 - 1.0F), 0.0F))) / 3.0F;
}

}  // namespace

FloatField find_wall_distance(const Comm& comm, const LevelGeometry& geometry, const FlowRows& rows) {
  const Timer timer("wall distance");
  const LevelGraph& graph = geometry.graph;
  FloatField now(graph, 1, Purpose::solver), next(graph, 1, Purpose::buffers);
  for (int b = 0; b < graph.n_local(); ++b) {
    const int closed = graph.box(b).closed();
    std::ranges::fill(now.own(b), farthest_wall);
    for (const FlowRow& row : rows.of(b)) {
      float inverse = 0.0F;
      for (const float theta : walls_of(row, closed))
        if (theta < farthest_wall) inverse += 1.0F / std::max(theta * theta, 1e-8F);
      if (inverse > 0.0F) now.box(b)[row.vof] = 1.0F / std::sqrt(inverse);
    }
  }
  HaloPull<float> halo(comm, graph, tag_distance);
  std::vector<std::uint8_t> changed(static_cast<std::size_t>(graph.n_local()));
  for (int sweep = 0; sweep < 2 * static_cast<int>(farthest_wall); ++sweep) {
    halo.for_boxes(now, [&](int b) {
      const BoxGraph box = graph.box(b);
      const float* from = now.box(b).data();
      float* to = next.box(b).data();
      const int first_ghost = box.n_own + box.halo.n_vofs();
      const auto update = [&](std::size_t v, const std::array<std::uint16_t, 6>& n) {
        std::array<float, 3> m{farthest_wall, farthest_wall, farthest_wall};
        for (std::size_t s = 0; s < 6; ++s)
          if (n[s] < first_ghost) m[s / 2] = std::min(m[s / 2], from[n[s]]);
        const float d = eikonal(m);
        to[v] = d < from[v] - least_change ? d : from[v];
      };
      kernels::for_plain(box, update);
      for (const FlowRow& row : rows.of(b)) update(row.vof, row.slot);
      for (const std::uint16_t v : rows.still_in(b)) to[v] = farthest_wall;
      changed[static_cast<std::size_t>(b)] = !std::equal(to, to + box.n_own, from);
    });
    std::swap(now, next);
    if (!comm.any(std::ranges::any_of(changed, [](std::uint8_t c) { return c != 0; }))) break;
  }
  halo.for_boxes(now, [](int) {});
  return now;
}

}  // namespace karst
