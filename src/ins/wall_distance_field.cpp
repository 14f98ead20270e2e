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
/// A cell is at least so much farther away than its nearest neighbour where |∇d| = 1: 1 / √3, rounded down.
constexpr float least_step = 0.577F;

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

/// One sweep over a box: `to` is `from` where its neighbours tell nothing smaller. Returns whether anything changed.
bool sweep(const BoxGraph& box, std::span<const FlowRow> rows, const float* from, float* to) {
  bool changed = false;
  std::copy_n(from, box.n_own, to);
  const auto update = [&](std::size_t v, const std::array<float, 3>& m) {
    if (std::min({m[0], m[1], m[2]}) + least_step >= from[v] - least_change) return;
    const float d = eikonal(m);
    if (d >= from[v] - least_change) return;
    to[v] = d;
    changed = true;
  };
  kernels::for_plain(box, [&](std::size_t v, const std::array<std::uint16_t, 6>& n) {
    update(v, {std::min(from[n[0]], from[n[1]]), std::min(from[n[2]], from[n[3]]), std::min(from[n[4]], from[n[5]])});
  });
  for (const FlowRow& row : rows) {
    std::array<float, 3> m{farthest_wall, farthest_wall, farthest_wall};
    for (std::size_t s = 0; s < 6; ++s)
      if (row.slot[s] != box.closed()) m[s / 2] = std::min(m[s / 2], from[row.slot[s]]);
    update(row.vof, m);
  }
  return changed;
}

/// Own boxes where the next sweep could change anything.
void find_active(const HaloPlan& plan, std::span<const std::uint8_t> changed, std::span<std::uint8_t> active) {
  std::ranges::copy(changed, active.begin());
  for (std::size_t b = 0; b < active.size(); ++b)
    for (std::size_t k = plan.local_begin[b]; k < plan.local_begin[b + 1]; ++k)
      active[b] |= changed[static_cast<std::size_t>(plan.local[k].box)];
  for (const int b : plan.boundary) active[static_cast<std::size_t>(b)] = 1;
}

/// Distance to the plane through the points where the grid lines meet the wall; farthest_wall, in ghosts too,
/// elsewhere.
void set_next_to_walls(const LevelGraph& graph, const FlowRows& rows, FloatField& distance) {
  distance.fill(farthest_wall);
  for (int b = 0; b < graph.n_local(); ++b) {
    const int closed = graph.box(b).closed();
    for (const FlowRow& row : rows.of(b)) {
      float inverse = 0.0F;
      for (const float theta : walls_of(row, closed))
        if (theta < farthest_wall) inverse += 1.0F / std::max(theta * theta, 1e-8F);
      if (inverse > 0.0F) distance.box(b)[row.vof] = 1.0F / std::sqrt(inverse);
    }
  }
}

}  // namespace

FloatField find_wall_distance(const Comm& comm, const LevelGeometry& geometry, const FlowRows& rows) {
  const Timer timer("wall distance");
  const LevelGraph& graph = geometry.graph;
  FloatField now(graph, 1, Purpose::solver), next(graph, 1, Purpose::buffers);
  set_next_to_walls(graph, rows, now);
  next.fill(farthest_wall);
  HaloPull<float> halo(comm, graph, tag_distance);
  std::vector<std::uint8_t> changed(static_cast<std::size_t>(graph.n_local())), active(changed.size(), 1);
  for (int n = 0; n < 2 * static_cast<int>(farthest_wall); ++n) {
    halo.for_boxes(now, [&](int b) {
      const auto i = static_cast<std::size_t>(b);
      changed[i] = active[i] != 0 && sweep(graph.box(b), rows.of(b), now.box(b).data(), next.box(b).data());
    });
    std::swap(now, next);
    if (!comm.any(std::ranges::any_of(changed, [](std::uint8_t c) { return c != 0; }))) break;
    find_active(graph.halo_plan(), changed, active);
  }
  halo.for_boxes(now, [](int) {});
  return now;
}

}  // namespace karst
