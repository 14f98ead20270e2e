// SPDX-License-Identifier: BSD-3-Clause
#include "ins/wall_distance_field.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

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

class DistanceLevel {
 public:
  /// @param coupled  other levels change ghosts and covered cells between sweeps
  DistanceLevel(const Comm& comm, const WallDistanceLevel& level, bool coupled)
      : graph_(level.geometry->graph),
        rows_(*level.rows),
        coupled_(coupled),
        next_(graph_, 1, Purpose::buffers),
        halo_(comm, graph_, tag_distance),
        changed_(static_cast<std::size_t>(graph_.n_local())),
        active_(changed_.size(), 1) {
    next_.fill(farthest_wall);
  }

  FloatField start() const {
    FloatField distance(graph_, 1, Purpose::solver);
    set_next_to_walls(graph_, rows_, distance);
    return distance;
  }

  /// Returns whether anything changed on this rank. Collective.
  bool advance(FloatField& now) {
    halo_.for_boxes(now, [&](int b) {
      const auto i = static_cast<std::size_t>(b);
      const float* from = now.box(b).data();
      float* to = next_.box(b).data();
      changed_[i] = active_[i] != 0 && sweep(graph_.box(b), rows_.of(b), from, to);
      if (rows_.covered_in(b).empty()) return;
      for (const std::uint16_t v : rows_.covered_in(b)) to[v] = from[v];
      changed_[i] = !std::equal(to, to + graph_.box(b).n_own, from);
    });
    std::swap(now, next_);
    if (!coupled_) find_active(graph_.halo_plan(), changed_, active_);
    return std::ranges::any_of(changed_, [](std::uint8_t c) { return c != 0; });
  }

  void fill_halo(FloatField& now) {
    halo_.for_boxes(now, [](int) {});
  }

 private:
  const LevelGraph& graph_;
  const FlowRows& rows_;
  bool coupled_;
  FloatField next_;
  HaloPull<float> halo_;
  std::vector<std::uint8_t> changed_, active_;
};

}  // namespace

std::vector<FloatField> find_wall_distances(const Comm& comm, std::span<const WallDistanceLevel> levels,
                                            const std::function<void(std::span<FloatField>)>& fill) {
  const Timer timer("wall distance");
  const bool coupled = levels.size() > 1;
  std::vector<std::unique_ptr<DistanceLevel>> work;
  std::vector<FloatField> now;
  for (const WallDistanceLevel& level : levels) {
    work.push_back(std::make_unique<DistanceLevel>(comm, level, coupled));
    now.push_back(work.back()->start());
  }
  for (int n = 0; n < 2 * static_cast<int>(farthest_wall); ++n) {
    if (coupled) fill(now);
    bool changed = false;
    for (std::size_t l = 0; l < levels.size(); ++l) changed = work[l]->advance(now[l]) || changed;
    if (!comm.any(changed)) break;
  }
  if (coupled) fill(now);
  for (std::size_t l = 0; l < levels.size(); ++l) work[l]->fill_halo(now[l]);
  return now;
}

}  // namespace karst
