// SPDX-License-Identifier: BSD-3-Clause
#include "app/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "app/statistics.hpp"
#include "base/format.hpp"
#include "grid/rank_plan.hpp"

namespace karst {

namespace {

/// Least, mean and most, each in words.
template <class F>
std::string row(const std::string& name, const OverRanks& x, F&& words) {
  return fmt::format("  {:38} {:>12} {:>12} {:>12}\n", name, words(x.least), words(x.mean), words(x.most));
}

}  // namespace

std::string plan_text(const GridHierarchy& grid, const GridCounts& counts) {
  std::vector<const Layout*> layouts;
  double imbalance = 1.0;
  for (const GridLevel& level : grid.levels) {
    layouts.push_back(&level.layout);
    imbalance = std::max(imbalance, level.imbalance);
  }
  const RankPlan plan = plan_ranks(layouts);
  const double fluid = counts.box_cells > 0.0 ? counts.fluid / counts.box_cells : 1.0;
  const auto number = [](double x) { return fmt::format("{:.4g}", x); };
  const auto bytes = [&](double cells) { return format_bytes(fluid * cells * sizeof(double)); };
  std::string text =
      fmt::format("Plan for {} ranks, {} boxes\n  {:38} {:>12} {:>12} {:>12}\n", grouped(layouts.front()->n_ranks()),
                  grouped(plan.boxes), "of a rank", "least", "mean", "most");
  text += row("boxes", plan.boxes_of_rank, number);
  text += row("messages of an exchange, all levels", plan.messages, number);
  text += row("  bytes, of one value per cell", plan.cells, bytes);
  text += row("  cells sent / own cells", plan.surface, [](double x) { return fmt::format("{:.3f}", x); });
  text += fmt::format("  {:38} {:>12.3f}\n", "imbalance of the least even level", imbalance);
  if (plan.boxes_of_rank.least == 0.0)
    text += "  Some ranks have no box: fewer ranks, smaller boxes (grid.box) or a larger grid\n";
  return text;
}

}  // namespace karst
