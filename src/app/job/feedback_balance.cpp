// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/feedback_balance.hpp"

#include <algorithm>

#include "base/comm/parallel.hpp"
#include "base/core/traffic.hpp"
#include "base/file/log.hpp"
#include "grid/partition.hpp"

namespace karst {

namespace {

constexpr double tolerated = 1.05;      ///< imbalance that stays
constexpr double pays_from = 1.5;       ///< gain over the cost of a move: both are estimates
constexpr std::size_t short_looks = 3;  ///< at first: of what the start did, the first move, the second
constexpr double kept = 0.5;            ///< part of what was measured before that counts in the looks after these

/// Where boxes of ranks begin now, [level][rank].
std::vector<std::vector<std::int64_t>> as_they_are(std::span<const Layout* const> layouts, int n_ranks) {
  std::vector<std::vector<std::int64_t>> begin;
  for (const Layout* layout : layouts) {
    std::vector<std::int64_t>& level = begin.emplace_back(1, 0);
    for (int r = 0; r < n_ranks; ++r) level.push_back(layout->owned(r).second);
  }
  return begin;
}

/// Where boxes dealt out by their costs begin, [level][rank].
std::vector<std::vector<std::int64_t>> deal_out(const BoxCosts& costs, int n_ranks) {
  std::vector<std::vector<std::int64_t>> begin;
  for (const std::vector<double>& level : costs.cost) begin.push_back(partition(level, n_ranks, costs.slowness).begin);
  return begin;
}

}  // namespace

BoxCosts costs_at_start(const RunOptions& options) {
  BoxCosts costs;
  costs.equal = options.balance == Balancing::off;
  return costs;
}

std::vector<const Layout*> layouts_of(const Geometry& geometry) {
  std::vector<const Layout*> layouts;
  for (const LevelGeometry& level : geometry.levels) layouts.push_back(&level.graph.layout());
  return layouts;
}

std::vector<std::vector<double>> cell_work(const Ground& ground, double irregular_cost) {
  const CompositeNumbering& numbering = *ground.numbering();
  std::vector<std::vector<double>> work;
  for (int l = 0; l < numbering.n_levels(); ++l) {
    const LevelGraph& graph = ground.geometry().levels[l].graph;
    std::vector<double>& level = work.emplace_back(graph.n_local(), 0.0);
    parallel_for(graph.n_local(), [&](std::int64_t b) {
      const int box = static_cast<int>(b);
      const BoxGraph of_box = graph.box(box);
      std::int64_t irregular = 0;
      for (int row = 0; row < of_box.n_irregular; ++row)
        irregular += numbering.number(l, box, of_box.row_vof[row]) >= 0 ? 1 : 0;
      level[b] = static_cast<double>(numbering.box_end(l, box) - numbering.box_begin(l, box)) +
                 (irregular_cost - 1.0) * static_cast<double>(irregular);
    });
  }
  return work;
}

std::vector<std::vector<double>> sums_of_boxes(const CompositeNumbering& numbering, const Geometry& geometry,
                                               std::span<const double> values) {
  std::vector<std::vector<double>> sums;
  for (int l = 0; l < numbering.n_levels(); ++l) {
    std::vector<double>& level = sums.emplace_back(geometry.levels[l].graph.n_local(), 0.0);
    for (int b = 0; b < std::ssize(level); ++b)
      for (std::int32_t n = numbering.box_begin(l, b); n < numbering.box_end(l, b); ++n) level[b] += values[n];
  }
  return sums;
}

BalanceLook look_at(const Comm& comm, std::span<const Layout* const> layouts, std::span<const BoxWork> kinds,
                    const RankWork& work, const BalanceStretch& stretch, int step, double move_seconds,
                    BoxCosts& costs) {
  costs = measured_costs(comm, layouts, kinds, work);
  const std::vector<double> measured = comm.all_gather<double>(std::span<const double>(&stretch.busy, 1)),
                            now = rank_times(costs, as_they_are(layouts, comm.size())),
                            then = rank_times(costs, deal_out(costs, comm.size()));
  BalanceLook found{step, imbalance_of(measured), imbalance_of(then)};
  const double rest = stretch.steps * (1.0 - stretch.end) / (stretch.end - stretch.begin);  // of the run, in steps
  found.gain = rest * (*std::ranges::max_element(now) - *std::ranges::max_element(then));
  found.move_seconds = comm.max(move_seconds);
  found.pays = found.imbalance > tolerated && found.gain > pays_from * found.move_seconds;
  return found;
}

void FeedbackBalance::begin_pass() {
  pass_ = {};
  pass_worked_ = seconds_worked();
  solved_ = 0.0;
  first_step_ = true;
  stretch_ = {};
  kind_seconds_.clear();
}

/// What a move costs is told in time worked, as what it gains is: where ranks share processors, the clock tells more.
void FeedbackBalance::begin_step(double part) {
  worked_ = seconds_worked();
  const double seconds = pass_.seconds();
  if (first_step_) move_seconds_ = std::max(0.0, 1.0 - solved_ / seconds) * (worked_ - pass_worked_);
  if (stretch_.steps == 0) stretch_.begin = part;
}

/// The first step of a pass brings its memory into the caches, and is left out.
void FeedbackBalance::end_step() {
  if (!first_step_) {
    stretch_.busy += seconds_worked() - worked_;
    ++stretch_.steps;
  }
  first_step_ = false;
}

void FeedbackBalance::leave_out(std::span<const BoxWork> kinds) {
  kind_seconds_.clear();
  for (const BoxWork& kind : kinds) kind_seconds_.push_back(kind.seconds);
}

BalanceLook FeedbackBalance::look(std::span<const Layout* const> layouts, std::vector<std::vector<double>> cells,
                                  std::span<const BoxWork> kinds, double end, int step, BoxCosts& costs) {
  std::vector<BoxWork> all(kinds.begin(), kinds.end());
  kind_seconds_.resize(all.size(), 0.0);
  double of_cells = stretch_.busy;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const double until_now = all[k].seconds;
    all[k].seconds -= kind_seconds_[k];
    kind_seconds_[k] = until_now;
    of_cells -= all[k].seconds;
  }
  all.push_back({std::move(cells), std::max(of_cells, 0.0)});
  stretch_.end = end;
  add_steps(work_, all, stretch_.steps, looks_.size() < short_looks ? 0.0 : kept);
  const BalanceLook found = look_at(*comm_, layouts, all, work_, stretch_, step, move_seconds_, costs);
  if (looks_.size() >= short_looks - 1) length_ *= 2;
  looks_.push_back(found);
  stretch_ = {};
  log_detail(
      "balance: the busiest rank works {:.3f} times as long as the mean; moving boxes would give {:.3f} and save "
      "{:.3g} s, the move takes {:.3g} s",
      found.imbalance, found.expected, found.gain, found.move_seconds);
  return found;
}

Json FeedbackBalance::json() const {
  if (!measures()) return {};
  Json looks = Json::array();
  for (const BalanceLook& l : looks_)
    looks.push_back({{"after_step", l.step},
                     {"imbalance", l.imbalance},
                     {"expected", l.expected},
                     {"gain_s", l.gain},
                     {"move_s", l.move_seconds},
                     {"boxes_move", l.pays}});
  return {{"looks", looks}};
}

}  // namespace karst
