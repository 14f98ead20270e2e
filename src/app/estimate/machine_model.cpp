// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/machine_model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/deck/statistics.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/file/json.hpp"
#include "grid/rank_plan.hpp"

namespace karst {

namespace {

PlannedSeconds price(const Machine& machine, double messages, double bytes, double collectives, int ranks) {
  return {0.0, messages * machine.latency + bytes / machine.bandwidth,
          collectives * machine.reduction * std::log2(static_cast<double>(ranks))};
}

/// What one halo exchange has now over what it had.
double times_as_many(double now, double before) { return before > 0.0 ? now / before : 1.0; }

}  // namespace

double Machine::slow_down_of(double at_work) const {
  if (cores == 1) return slow_down;
  return 1.0 + (slow_down - 1.0) * (std::clamp(at_work, 1.0, static_cast<double>(cores)) - 1.0) / (cores - 1);
}

void read(Reader& in, Machine& machine) {
  constexpr double never = 1e3, any = 1e300;
  in.text("name", machine.name, "for the table");
  in.integer("cores", machine.cores, "-", "that share a memory", 1, 1000000);
  in.number("slow_down", machine.slow_down, "-", "times as long as on one core takes the same work where all work", 1.0,
            any);
  in.number("latency", machine.latency, "s", "of a message to another rank", 0.0, never);
  in.number("bandwidth", machine.bandwidth, "B/s", "of messages of a rank", 1.0, any);
  in.number("reduction", machine.reduction, "s", "of a collective call, per doubling of the ranks", 0.0, never);
}

Machine read_machine(const std::string& path) {
  Machine machine;
  Reader in = Reader::from_file(path);
  read(in, machine);
  in.finish();
  return machine;
}

CountedRun read_counted_run(const std::string& folder) {
  const std::string name = folder + "/summary.json";
  const Json json = Json::of_file(name);
  require(json.is_object(), "{}: does not exist, or is not JSON; expected: the directory of a finished run", name);
  require(json.value("status", std::string("completed")) == "completed" && json.contains("communication"),
          "{}: the run is not completed, or was made by an older version; expected: a completed run of this version",
          name);
  CountedRun run;
  try {
    run.communication = read_communication(json.at("communication"));
    run.ranks = json.at("ranks").get<int>();
    run.threads = json.at("threads").get<int>();
    run.fluid = json.at("cells").at("fluid").get<double>();
    for (const Json& level : json.at("levels"))
      run.imbalance = std::max(run.imbalance, level.at("imbalance").get<double>());
  } catch (const JsonError& e) {
    throw Error(name + ": " + e.what());
  }
  require(run.ranks > 1,
          "{}: a run on one rank sends no messages that could be counted; expected: a run on two ranks or more", name);
  return run;
}

PlannedSeconds planned_seconds(const Machine& machine, const CountedRun& run, const OtherRanks& other) {
  const Communication& c = run.communication;
  const PlannedSeconds sent = price(machine, c.messages.most, c.bytes.most, c.collectives.most, run.ranks);
  const double at_work = static_cast<double>(run.threads) * run.ranks;
  const double per_cell =
      std::max(c.seconds - sent.total(), 0.0) / machine.slow_down_of(at_work) / (run.fluid / run.ranks * run.imbalance);
  PlannedSeconds seconds =
      price(machine, c.messages.most * times_as_many(other.messages.most, c.exchange_messages.most),
            c.bytes.most * times_as_many(other.cells.most, c.exchange_cells.most), c.collectives.most, other.ranks);
  seconds.work = per_cell * other.fluid / other.ranks * other.imbalance *
                 machine.slow_down_of(static_cast<double>(run.threads) * other.ranks);
  return seconds;
}

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
