// SPDX-License-Identifier: BSD-3-Clause
#include "transport/regrid/flagged_boxes.hpp"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "grid/hierarchy.hpp"

namespace karst {
bool flag_boxes(const ScalarGrid& grid, const Refinement& rule, const Indicator& indicator, AskedBoxes* boxes) {
  const std::vector<double>& value = indicator.value;
  const auto at_level = [&](double threshold, int level) {  // for cells of a level to be refined
    return indicator.per_width ? threshold / ScalarGrid::width(level) : threshold;
  };
  const int n_levels = static_cast<int>(grid.level_begin.size()) - 1;
  bool missing = false;
  for (int l = 0; l < std::min(n_levels, rule.level); ++l)
    missing = missing || std::any_of(value.begin() + grid.level_begin[l], value.begin() + grid.level_begin[l + 1],
                                     [least = at_level(indicator.above, l)](double s) { return s > least; });
  if (boxes == nullptr) return missing;
  const Layout& layout = grid.composite->graph(0).layout();
  if (std::ssize(*boxes) < rule.level) boxes->resize(rule.level);
  Domain finer = layout.domain().refined();
  for (int level = 0; level < rule.level; ++level, finer = finer.refined()) {
    std::vector<AskedBox>& all = (*boxes)[level];
    std::unordered_map<std::uint64_t, double> strengths;
    const double least = at_level(indicator.keep, level), above = at_level(indicator.above, level);
    for (int l = 0; l < n_levels; ++l) {
      const int known = std::min(l, level), scale = 1 << (level - known);  // a coarser cell asks for all of itself
      for (std::int32_t v = grid.level_begin[l]; v < grid.level_begin[l + 1]; ++v) {
        if (!(value[v] > least)) continue;
        const double width = ScalarGrid::width(known);
        Index cell;
        for (int d = 0; d < 3; ++d) cell[d] = static_cast<int>(std::floor(grid.centroid[v][d] / width));
        const Box around = Box{scale * cell, scale * (cell + Index::all(1))}.grown(rule.buffer);
        const double strength = above > 0.0 ? value[v] / above : 1.0;
        for (const std::uint64_t key : boxes_over(finer, layout.box_size(), around)) {
          double& most = strengths.try_emplace(key, strength).first->second;
          most = std::max(most, strength);
        }
      }
    }
    for (const auto& [key, strength] : strengths) all.push_back({key, strength});
    sort_unique(all);
  }
  return missing;
}

}  // namespace karst
