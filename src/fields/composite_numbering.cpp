// SPDX-License-Identifier: BSD-3-Clause
#include "fields/composite_numbering.hpp"

#include <algorithm>
#include <limits>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "grid/halo_exchange.hpp"
#include "grid/vof_loops.hpp"

namespace karst {

namespace {

/// The octant (x + 2 y + 4 z) of a box in which a cell lies.
int octant_of(const Box& box, const Index& cell, int box_size) {
  int octant = 0;
  for (int d = 0; d < 3; ++d)
    if (cell[d] - box.lo[d] >= box_size / 2) octant |= 1 << d;
  return octant;
}

}  // namespace

CompositeNumbering::CompositeNumbering(const Comm& comm, const Geometry& geometry) : rank_(comm.rank()) {
  std::int64_t next = 0;
  for (int l = 0; l < static_cast<int>(geometry.levels.size()); ++l) {
    const LevelGraph& graph = geometry.levels[l].graph;
    const auto& refined = geometry.grid.levels[l].refined;
    Level level;
    level.begin.assign(1, static_cast<std::int32_t>(next));
    for (int b = 0; b < graph.n_local(); ++b) {
      const BoxGraph box = graph.box(b);
      const unsigned covered = refined.empty() ? 0U : refined[box.box];
      level.n_vofs.push_back(box.n_own);
      level.table.push_back(covered == 0 ? -1 : static_cast<std::int64_t>(level.entries.size()));
      if (covered == 0) {
        next += box.n_own;
      } else {
        for_each_vof(box, [&](int, int cell) {
          const int octant = octant_of(box.cells, box.cells.cell(cell), graph.layout().box_size());
          level.entries.push_back((covered >> octant & 1U) != 0 ? -1 : static_cast<std::int32_t>(next++));
        });
      }
      require(next < std::numeric_limits<std::int32_t>::max(),
              "numbering: rank {} has more than 2^31 unknowns; use more ranks", comm.rank());
      level.begin.push_back(static_cast<std::int32_t>(next));
    }
    levels_.push_back(std::move(level));
  }
  n_own_ = next;
  ranges_ = comm.all_gather<std::int64_t>(std::span<const std::int64_t>(&n_own_, 1));
  std::int64_t sum = 0;
  for (std::int64_t& n : ranges_) n = std::exchange(sum, sum + n);
  ranges_.push_back(sum);
}

int CompositeNumbering::owner(GlobalNumber g) const {
  return static_cast<int>(std::upper_bound(ranges_.begin(), ranges_.end(), g) - ranges_.begin()) - 1;
}

std::span<const std::int32_t> CompositeNumbering::numbers(int level, int local) const {
  const Level& l = of(level);
  if (l.table[local] < 0) return {};
  return std::span(l.entries).subspan(l.table[local], l.n_vofs[local]);
}

NumberField CompositeNumbering::global_numbers(const Comm& comm, const LevelGraph& graph, int level) const {
  NumberField numbers_field(graph, 1, Purpose::solver);
  numbers_field.fill(no_unknown);
  parallel_for(graph.n_local(), [&](std::int64_t b) {
    const auto own = numbers_field.own(static_cast<int>(b));
    for (std::size_t v = 0; v < own.size(); ++v) {
      const std::int32_t n = number(level, static_cast<int>(b), static_cast<int>(v));
      own[v] = n < 0 ? no_unknown : first() + n;
    }
  });
  fill_halo(comm, graph, numbers_field);
  return numbers_field;
}

std::int64_t CompositeNumbering::bytes() const {
  std::int64_t sum = 0;
  for (const Level& l : levels_)
    sum += static_cast<std::int64_t>(4 * (l.begin.size() + l.entries.size() + l.n_vofs.size()) + 8 * l.table.size());
  return sum;
}

}  // namespace karst
