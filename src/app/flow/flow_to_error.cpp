// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "app/deck/node_memory.hpp"
#include "app/job/run_services.hpp"
#include "app/output/page_values.hpp"
#include "app/output/quantity.hpp"
#include "base/comm/memory.hpp"
#include "base/file/log.hpp"
#include "ins/upscale/error_by_friction.hpp"
#include "page/page_text.hpp"

namespace karst {

void each_quantity(Of<FlowRound> auto& r, auto&& f) {
  using namespace shown;
  f(Quantity{"boxes"}, r.boxes);
  f(Quantity{"cells", "", json | record}, r.cells);
  f(Quantity{"permeability", "m2", json | record}, r.permeability);
  f(Quantity{"error", "", json | record}, r.error);
  f(Quantity{"error_weight", "", json | record}, r.weight);
  f(Quantity{"iterations", "", json | record}, r.iterations);
  f(Quantity{"seconds", "", json | record}, r.seconds);
}

namespace {

constexpr int more_levels = 3;  ///< finer than those of the deck
constexpr int most_bits = 24;   ///< of cells along a direction
constexpr std::size_t most_grids = 8;
constexpr double aim = 0.9;               ///< of the error that is asked for
constexpr double without_estimate = 0.5;  ///< of M, where nothing is known of the error
constexpr double usual_part = 0.5;    ///< of the error from wider cells, which covers nearly all samples (decision 016)
constexpr double most_weight = 0.75;  ///< of M: a smaller change of K would say little about its error
constexpr double of_memory = 0.8, of_limit = 0.9;
constexpr double worth_it = 1.01;  ///< times as many cells
constexpr const char* record_name = "permeability, grids";

std::vector<int> solved_axes(const FlowColumns& columns) {
  std::vector<int> axes;
  for (const FlowColumn& c : columns)
    if (c.connected && !c.unbounded) axes.push_back(c.axis);
  return axes;
}

int finest_level(const JobContext& run) {
  int level = run.config.grid.levels - 1 + more_levels;
  const Index& cells = run.grid.cells;
  while ((std::int64_t{std::max({cells[0], cells[1], cells[2]})} << level) > (std::int64_t{1} << most_bits)) --level;
  return level;
}

/// Of cells as wide as voxels, or of others. Collective.
LevelWeights weights_of(const JobContext& run) {
  if (run.config.geometry.image.empty()) return second_order;
  const double voxel = run.again({run.grid.cells}).image->info().voxel;
  const double h = run.grid.cell_width();
  const int n = static_cast<int>(std::lround(run.grid.size[0] / h));
  return line_offset(h / voxel, n) < 0.0 ? cells_of_voxels : second_order;
}

/// Cells with flow that a grid may have.
struct MostCells {
  double cells = 0.0;
  std::string by;
};

/// What the memory allows, by what the cells of now have taken, or grid.max_cells, with room for levels that nest.
MostCells most_cells(const JobContext& run, std::int64_t cells) {
  const double taken = run.comm.max(static_cast<double>(arena::peak_resident_set()));
  const double left = memory_share(run.comm).of_rank().bytes;
  MostCells most{of_memory * left / taken * static_cast<double>(cells), "the memory"};
  const double limit = of_limit * static_cast<double>(run.grid.max_cells);
  if (limit > 0.0 && limit < most.cells) most = {limit, "grid.max_cells"};
  return most;
}

/// The error on this grid, from that on the one before. In an image cells half as wide see another wall, too (decision
/// 016), so there is nothing to extrapolate.
void estimate(const JobContext& run, const FlowRound& before, const FlowRound& now, FlowColumn& column) {
  const int a = column.axis;
  const ErrorOnGrid was{before.permeability[a], before.weight[a], before.error[a]};
  ErrorOnGrid is{now.permeability[a], now.weight[a]};
  estimate_from_change(was, is);
  column.estimated_error = is.error * column.permeability[a];
  column.extrapolated = run.config.geometry.image.empty() ? is.extrapolated : std::nullopt;
  column.error_basis = std::isnan(is.error) ? ErrorBasis::none : ErrorBasis::refinement;
}

/// M that each axis needs for the error that is asked for; infinite where it has it.
Vec3 goal_of(const FlowRound& round, const std::vector<int>& axes, double asked, bool is_first) {
  Vec3 goal = Vec3::all(std::numeric_limits<double>::infinity());
  for (const int a : axes) {
    if (round.error[a] <= asked) continue;
    const double likely = is_first ? std::max(asked, usual_part * round.error[a]) : round.error[a];
    const double part = std::isnan(round.error[a]) ? without_estimate : aim * asked / likely;
    goal[a] = std::min(part, most_weight) * round.weight[a];
  }
  return goal;
}

bool is_reached(const Vec3& goal) {
  return std::ranges::all_of(goal.v, [](double g) { return std::isinf(g); });
}

std::string percent(double part) { return std::isnan(part) ? "unknown" : fmt::format("{:.2g} %", 100.0 * part); }

/// "x 8.1 %, y 7.2 %".
std::string errors_text(const FlowRound& round) {
  std::string text;
  for (int a = 0; a < 3; ++a)
    if (!std::isnan(round.permeability[a]))
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", axis_names[a], percent(round.error[a]));
  return text;
}

/// Which grid is next, or why none is.
void choose_next(const JobContext& run, std::span<const OctantShare> octants, const LevelWeights& weights,
                 const std::vector<int>& axes, FlowRounds& rounds) {
  const FlowRound& now = rounds.grids.back();
  const double asked = run.config.flow.error;
  const Vec3 goal = goal_of(now, axes, asked, rounds.grids.size() == 1);
  rounds.limit.clear();
  if (is_reached(goal)) return;
  const int finest = finest_level(run);
  const MostCells most = most_cells(run, now.cells);
  const FinerGrid finer = finer_grid(run.grid, octants, weights, now.boxes, goal, finest, most.cells);
  const bool more = finer.cells >= worth_it * static_cast<double>(now.cells);
  if (more && rounds.grids.size() < most_grids) {
    rounds.next = finer.boxes;
    log_info(
        "Grid {} has {} cells with flow; estimated error of the permeability along {}, asked for {}: the next one has "
        "about {:.3g}, and takes some {:.2g} times the memory",
        rounds.grids.size(), now.cells, errors_text(now), percent(asked), finer.cells,
        finer.cells / static_cast<double>(now.cells));
  } else if (more) {
    rounds.limit = fmt::format("{} grids are the most", most_grids);
  } else if (finer.out_of_cells) {
    rounds.limit = fmt::format("{} allows about {:.3g} cells with flow", most.by, most.cells);
  } else {
    rounds.limit = fmt::format("cells of level {} are the finest", finest);
  }
}

void keep(const JobContext& run, const FlowRounds& rounds) {
  Json state{{"grids", json_of(rounds.grids, shown::record)},
             {"next", rounds.next ? Json(*rounds.next) : Json()},
             {"fine_weight", rounds.fine_weight}};
  run.services.solved.save(record_name, rounds.depends, {{{"grids", rounds.grids.size()}}, std::move(state)}, {});
}

/// What an earlier run has: it goes on with the grid that it has not finished.
void restore(const JobContext& run, FlowRounds& rounds) {
  const std::optional<Json> state = run.services.solved.load(record_name, rounds.depends);
  if (!state) return;
  take_value(state->at("grids"), rounds.grids);
  rounds.fine_weight = state->at("fine_weight").get<double>();
  if (!state->at("next").is_null()) {
    rounds.next = state->at("next").get<FlaggedBoxes>();
  } else {  // its last flow is not kept
    rounds.next = rounds.grids.back().boxes;
    rounds.grids.pop_back();
  }
  if (rounds.grids.empty()) rounds.next.reset();
}

class FlowToError final : public Process {
 public:
  FlowToError(const JobContext& context, JobResult (*run)(const JobContext&)) : context_(context), run_(run) {}
  void step(double) override {
    FlowRounds& rounds = context_.services.flow_rounds;
    if (rounds.depends.empty()) {
      rounds.depends = context_.services.solved.dependencies("flow", context_.geometry(), context_.grid.cell_width());
      restore(context_, rounds);
    }
    if (!rounds.next) result_ = run_(context_);
  }
  std::optional<FlaggedBoxes> finer_grid() override { return std::exchange(context_.services.flow_rounds.next, {}); }
  JobResult report() override { return std::move(result_); }

 private:
  const JobContext& context_;
  JobResult (*run_)(const JobContext&);
  JobResult result_;
};

}  // namespace

std::unique_ptr<Process> start_flow_to_error(const JobContext& context, JobResult (*run)(const JobContext&)) {
  return std::make_unique<FlowToError>(context, run);
}

void end_grid(const JobContext& context, FlowColumns& columns) {
  FlowRounds& rounds = context.services.flow_rounds;
  const std::vector<OctantShare> octants = octant_shares(context.comm, columns);
  FlowRound now{.boxes = context.flagged().value_or(FlaggedBoxes())};
  for (const OctantShare& o : octants) now.cells += o.cells;
  if (rounds.grids.empty()) rounds.fine_weight = weights_of(context).fine;
  const LevelWeights weights{rounds.fine_weight};
  const Vec3 weight = error_weight(octants, weights);
  const std::vector<int> axes = solved_axes(columns);
  for (FlowColumn& c : columns) {
    c.friction = std::vector<OctantFriction>();
    if (std::ranges::count(axes, c.axis) == 0) continue;
    now.permeability[c.axis] = c.permeability[c.axis];
    now.weight[c.axis] = weight[c.axis];
    if (!rounds.grids.empty()) estimate(context, rounds.grids.back(), now, c);
    now.error[c.axis] = c.estimated_error / c.permeability[c.axis];
    now.iterations += c.iterations;
    now.seconds += context.comm.max(c.seconds + c.setup_seconds);
  }
  rounds.grids.push_back(std::move(now));
  choose_next(context, octants, weights, axes, rounds);
  keep(context, rounds);
}

std::string grids_text(const JobContext& context) {
  const FlowRounds& rounds = context.services.flow_rounds;
  std::string text = fmt::format("  grids on the way to an error of {}\n", percent(context.config.flow.error));
  text += fmt::format("  {:>6} {:>12} {:>4} {:>14} {:>10}\n", "grid", "cells", "", "k [m2]", "error");
  for (std::size_t i = 0; i < rounds.grids.size(); ++i)
    for (int a = 0, first = 1; a < 3; ++a) {
      const FlowRound& g = rounds.grids[i];
      if (std::isnan(g.permeability[a])) continue;
      text +=
          fmt::format("  {:>6} {:>12} {:>4} {:>14.6g} {:>10}\n", first != 0 ? std::to_string(i + 1) : "",
                      first != 0 ? std::to_string(g.cells) : "", axis_names[a], g.permeability[a], percent(g.error[a]));
      first = 0;
    }
  return text;
}

Json grids_json(const JobContext& context) {
  const FlowRounds& rounds = context.services.flow_rounds;
  return {{"error", context.config.flow.error},
          {"reached", rounds.limit.empty()},
          {"grids", json_of(rounds.grids, shown::json)}};
}

std::string grids_card(const Json& summary) {
  if (!summary.contains("refinement")) return {};
  const Json& refinement = summary.at("refinement");
  ColumnTable table("");
  int n = 0;
  for (const Json& grid : refinement.at("grids")) table.add_column(fmt::format("grid {}", ++n), grid);
  table.row("cells with flow", [](const Json& g) { return fmt::format("{}", g.at("cells").get<std::int64_t>()); });
  for (int a = 0; a < 3; ++a) {
    if (refinement.at("grids").at(0).at("permeability_m2").at(a).is_null()) continue;
    table.row(fmt::format("permeability along {} [m²]", axis_names[a]),
              [a](const Json& g) { return fmt::format("{:.4g}", g.at("permeability_m2").at(a).get<double>()); });
    table.row("its estimated error [%]", [a](const Json& g) -> std::string {
      const Json& error = g.at("error").at(a);
      return error.is_null() ? "unknown" : fmt::format("{:.2g}", 100.0 * error.get<double>());
    });
  }
  table.row("iterations", [](const Json& g) { return fmt::format("{}", g.at("iterations").get<int>()); });
  table.row("time of the solves [s]", [](const Json& g) { return fmt::format("{:.3g}", number(g, "seconds")); });
  return card(fmt::format("Grids on the way to an error of {}", percent(refinement.at("error").get<double>())),
              table.html(),
              "Each grid is finer where the one before has most of its friction. The error of the first is estimated "
              "from wider cells, that of the others from the change of the permeability.");
}

std::vector<std::string> grids_warnings(const JobContext& context) {
  const FlowRounds& rounds = context.services.flow_rounds;
  if (rounds.limit.empty()) return {};
  return {
      fmt::format("flow.error: {} is not reached (estimated error along {}): {}; more cells in the deck or a larger "
                  "error help",
                  percent(context.config.flow.error), errors_text(rounds.grids.back()), rounds.limit)};
}

}  // namespace karst
