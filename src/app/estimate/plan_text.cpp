// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/plan_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "app/deck/statistics.hpp"
#include "base/core/format.hpp"
#include "grid/rank_plan.hpp"

namespace karst {

namespace {

/// Least, mean and most, each in words.
template <class F>
std::string row(const std::string& name, const OverRanks& x, F&& words) {
  return fmt::format("  {:38} {:>12} {:>12} {:>12}\n", name, words(x.least), words(x.mean), words(x.most));
}

}  // namespace

GridPlan plan_of(const GridHierarchy& grid) {
  std::vector<const Layout*> layouts;
  GridPlan plan;
  for (const GridLevel& level : grid.levels) {
    layouts.push_back(&level.layout);
    plan.imbalance = std::max(plan.imbalance, level.imbalance);
  }
  plan.ranks = layouts.front()->n_ranks();
  plan.plan = plan_ranks(layouts);
  return plan;
}

std::string plan_text(const GridPlan& grid_plan, const GridCounts& counts) {
  const RankPlan& plan = grid_plan.plan;
  const double fluid = counts.box_cells > 0.0 ? counts.fluid / counts.box_cells : 1.0;
  const auto number = [](double x) { return fmt::format("{:.4g}", x); };
  const auto bytes = [&](double cells) { return format_bytes(fluid * cells * sizeof(double)); };
  std::string text = fmt::format("Plan for {} ranks, {} boxes\n  {:38} {:>12} {:>12} {:>12}\n",
                                 grouped(grid_plan.ranks), grouped(plan.boxes), "of a rank", "least", "mean", "most");
  text += row("boxes", plan.boxes_of_rank, number);
  text += row("messages of an exchange, all levels", plan.messages, number);
  text += row("  at most, with walls on edges of boxes", plan.messages_with_edges, number);
  text += row("  bytes, of one value per cell", plan.cells, bytes);
  text += row("  cells sent / own cells", plan.surface, [](double x) { return fmt::format("{:.3f}", x); });
  text += fmt::format("  {:38} {:>12.3f}\n", "imbalance of the least balanced level", grid_plan.imbalance);
  if (plan.boxes_of_rank.least == 0.0)
    text += "  Some ranks have no box: use fewer ranks, smaller boxes (grid.box) or a larger grid\n";
  return text;
}

std::string seconds_text(const Machine& machine, const CountedRun& run, const std::string& folder, const GridPlan& plan,
                         const GridCounts& counts) {
  const PlannedSeconds there = planned_seconds(
      machine, run, {plan.ranks, counts.fluid, plan.imbalance, plan.plan.messages_with_edges, plan.plan.cells});
  std::string text =
      fmt::format("Time of the jobs, for {} ranks of {}, with the iterations and steps of {} ({} ranks, {})\n",
                  grouped(plan.ranks), machine.name, folder, run.ranks, format_seconds(run.communication.seconds));
  const auto line = [&](const char* name, double seconds) {
    text += fmt::format("  {:38} {:>12} {:>11.1f} %\n", name, format_seconds(seconds), 100.0 * seconds / there.total());
  };
  line("work", there.work);
  line("messages", there.messages);
  line("collective calls", there.collectives);
  line("set-up and solves", there.total());
  return text;
}

}  // namespace karst
