// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/flagged_boxes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "grid/morton.hpp"

namespace karst {
namespace {

/// Per own volume what is compared with a threshold: of a front 1 or 0, of a gradient the largest |C| / h [1/h0].
std::vector<double> steepness(const ScalarGrid& grid, const Refinement& rule, std::span<const double> values,
                              std::span<const double> at_ends) {
  std::vector<std::int8_t> level(grid.n_own);
  for (std::size_t l = 0; l + 1 < grid.level_begin.size(); ++l)
    std::fill(level.begin() + grid.level_begin[l], level.begin() + grid.level_begin[l + 1],
              static_cast<std::int8_t>(l));
  std::vector<double> steep(grid.n_own, 0.0);
  const bool front = rule.where == Refinement::Where::front;
  for_each_volume(grid, [&](std::int32_t v, auto&& faces) {
    const double here = values[v], width = ScalarGrid::width(level[v]);
    double most = 0.0;
    faces([&](std::int32_t, std::int32_t other, double) {
      const double there = other < grid.n_all ? values[other] : at_ends[other - grid.n_all];
      if (front)
        most = std::max(most, std::max(here, there) > rule.low && std::min(here, there) < rule.high ? 1.0 : 0.0);
      else if (const double c = std::abs(there - here) / width; c > most)  // not where there is none
        most = c;
    });
    steep[v] = most;
  });
  return steep;
}

/// Keys of boxes of the next level over cells of a level, wrapped where the domain is periodic.
void add_boxes(const Domain& finer, int box, Box cells, std::unordered_set<std::uint64_t>& keys) {
  const Index size = lattice_size(finer, box);
  Box places;
  for (int d = 0; d < 3; ++d) {
    if (!finer.periodic[d]) {
      cells.lo[d] = std::max(cells.lo[d], 0);
      cells.hi[d] = std::min(cells.hi[d], finer.cells[d] / 2);
    }
    const auto place = [&](int cell) { return static_cast<int>(std::floor(2.0 * cell / box)); };
    places.lo[d] = place(cells.lo[d]);
    places.hi[d] = std::min(place(cells.hi[d] - 1) + 1, places.lo[d] + size[d]);
  }
  for_each_cell(places, [&](Index at) {
    for (int d = 0; d < 3; ++d) at[d] = ((at[d] % size[d]) + size[d]) % size[d];
    keys.insert(morton_encode(at));
  });
}

}  // namespace

bool flag_boxes(const ScalarGrid& grid, const Refinement& rule, std::span<const double> values,
                std::span<const double> at_ends, FlaggedBoxes* boxes) {
  const std::vector<double> steep = steepness(grid, rule, values, at_ends);
  const bool front = rule.where == Refinement::Where::front;
  const auto threshold = [&](int level, double part) {  // for cells of a level to be refined
    return front ? 0.5 : part * rule.change / ScalarGrid::width(level);
  };
  const int n_levels = static_cast<int>(grid.level_begin.size()) - 1;
  bool missing = false;
  for (int l = 0; l < std::min(n_levels, rule.level); ++l)
    missing = missing || std::any_of(steep.begin() + grid.level_begin[l], steep.begin() + grid.level_begin[l + 1],
                                     [least = threshold(l, 1.0)](double s) { return s > least; });
  if (boxes == nullptr) return missing;
  const Layout& layout = grid.composite->graph(0).layout();
  if (std::ssize(*boxes) < rule.level) boxes->resize(rule.level);
  Domain finer = layout.domain().refined();
  for (int level = 0; level < rule.level; ++level, finer = finer.refined()) {
    std::vector<std::uint64_t>& all = (*boxes)[level];
    std::unordered_set<std::uint64_t> keys(all.begin(), all.end());
    const double least = threshold(level, 0.5);
    for (int l = 0; l < n_levels; ++l) {
      const int known = std::min(l, level), scale = 1 << (level - known);  // a coarser cell asks for all of itself
      for (std::int32_t v = grid.level_begin[l]; v < grid.level_begin[l + 1]; ++v) {
        if (!(steep[v] > least)) continue;
        const double width = ScalarGrid::width(known);
        Index cell;
        for (int d = 0; d < 3; ++d) cell[d] = static_cast<int>(std::floor(grid.centroid[v][d] / width));
        add_boxes(finer, layout.box_size(), Box{scale * cell, scale * (cell + Index::all(1))}.grown(rule.buffer), keys);
      }
    }
    all.assign(keys.begin(), keys.end());
    std::ranges::sort(all);
  }
  return missing;
}

}  // namespace karst
