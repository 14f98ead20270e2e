// SPDX-License-Identifier: BSD-3-Clause
// Loops over the own VoFs of a box that need no knowledge of runs and rows. For set-up, checks and output; kernels loop
// over graph.runs and graph.row_vof themselves.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "grid/level_graph.hpp"

namespace karst {

/// Calls f(vof, cell) or f(vof, cell, neighbours) for every own VoF in increasing order.
/// cell: offset of the VoF's cell in graph.cells; neighbours: std::array<std::uint16_t, 6>, slots across the sides.
template <class F>
void for_each_vof(const BoxGraph& graph, F&& f) {
  using Slots = std::array<std::uint16_t, 6>;
  constexpr bool with_neighbours = std::is_invocable_v<F, int, int, const Slots&>;
  constexpr int none = std::numeric_limits<int>::max();
  // Three increasing sequences: irregular rows, other rows, runs. f is called in one place, so that it is compiled
  // once.
  const std::size_t n_irregular = graph.n_irregular;
  std::size_t cut = 0, other = n_irregular, n_runs = 0;
  for (;;) {
    const int a = cut < n_irregular ? graph.row_vof[cut] : none;
    const int b = other < graph.row_vof.size() ? graph.row_vof[other] : none;
    const int c = n_runs < graph.runs.size() ? graph.runs[n_runs].first : none;
    const int next = std::min({a, b, c});
    if (next == none) return;
    const Run* run = next == a || next == b ? nullptr : &graph.runs[n_runs++];
    const std::size_t row = next == a ? cut++ : next == b ? other++ : 0;
    const int cell = run ? int{run->cell} : int{graph.row_cell[row]};
    const int length = run ? int{run->length} : 1;
    for (int t = 0; t < length; ++t) {
      if constexpr (with_neighbours) {
        const Slots slots = run ? run->neighbours(t) : graph.neighbours[row];
        f(next + t, cell + t, slots);
      } else {
        f(next + t, cell + t);
      }
    }
  }
}

/// Calls f(vof, side, slot) for every open face of every own VoF, extra faces after the primary ones. slot may be a
/// ghost. A face between two own VoFs is visited from both.
template <class F>
void for_each_face(const BoxGraph& graph, F&& f) {
  for_each_vof(graph, [&](int vof, int, const std::array<std::uint16_t, 6>& neighbours) {
    for (int side = 0; side < 6; ++side) {
      const int slot = neighbours[side];
      if (slot != graph.closed()) f(vof, side, slot);
    }
  });
  for (const ExtraFace& e : graph.extra) f(int{e.vof}, int{e.side}, int{e.neighbour});
}

/// Offset of the cell of an own VoF in graph.cells. O(log n); to visit many use for_each_vof.
inline int cell_of(const BoxGraph& graph, int vof) {
  const auto run =
      std::upper_bound(graph.runs.begin(), graph.runs.end(), vof, [](int v, const Run& r) { return v < r.first; });
  if (run != graph.runs.begin() && vof < std::prev(run)->first + std::prev(run)->length)
    return std::prev(run)->cell + vof - std::prev(run)->first;
  const auto regular = graph.row_vof.begin() + graph.n_irregular;
  auto row = std::lower_bound(graph.row_vof.begin(), regular, vof);
  if (row == regular || *row != vof) row = std::lower_bound(regular, graph.row_vof.end(), vof);
  return graph.row_cell[row - graph.row_vof.begin()];
}

}  // namespace karst
