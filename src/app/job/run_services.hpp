// SPDX-License-Identifier: BSD-3-Clause
// What a run does for its jobs. All of it is always there: by default it does nothing, so that jobs do not ask.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "app/job/exchange.hpp"
#include "app/job/feedback_balance.hpp"
#include "app/job/job.hpp"
#include "app/job/run_progress.hpp"
#include "app/job/solve_store.hpp"
#include "app/job/step_times.hpp"
#include "base/comm/trace.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/json.hpp"
#include "base/math/no_number.hpp"
#include "base/math/triple.hpp"
#include "eb/geometry.hpp"
#include "grid/grid_options.hpp"

namespace karst {

/// A grid on which the permeability of a run was solved, finer than the one before (flow.error, decision 067). Entries
/// by axis; NaN: not solved, or not known.
struct FlowRound {
  FlaggedBoxes boxes{};                      ///< beside those of the deck
  std::int64_t cells = 0;                    ///< with flow, of all levels
  Vec3 permeability = Vec3::all(no_number);  ///< along the axis [m²]
  Vec3 weight = Vec3::all(no_number);        ///< M (ins/upscale/error_by_friction.hpp)
  Vec3 error = Vec3::all(no_number);         ///< estimated, relative
  int iterations = 0;                        ///< of all axes
  double seconds = 0.0;                      ///< of their solves with set-up, of the slowest rank
};

struct FlowRounds {
  std::vector<FlowRound> grids{};
  std::optional<FlaggedBoxes> next{};  ///< on which the flow is to be solved now; none: the last one is the result
  std::string limit{};       ///< why there is no finer one though the error is asked for; empty: it is reached
  double fine_weight = 1.0;  ///< LevelWeights::fine (ins/upscale/error_by_friction.hpp)
  std::string depends{};     ///< SolveStore::dependencies() on the first ground
};

/// The results that jobs write themselves; by default none.
struct ResultFiles {
  std::function<std::string(const std::string& name)> path{};  ///< where to write a result of this name
  /// Writes a plotfile of this name and time [s] with these components. Collective.
  std::function<void(const std::string& name, double time, const std::vector<JobComponent>&)> plot{};
  std::vector<std::string> left{};  ///< names of results that stay where the run ends early

  bool written() const { return path != nullptr; }
  bool plotted() const { return plot != nullptr; }
  /// A text file of this name, where results are written. Collective.
  void write(const Comm& comm, const std::string& name, const std::string& text) const {
    if (written()) write_file(comm, path(name), text);
  }
};

/// Unknowns of a component: VoFs that no finer level covers.
inline std::int64_t unknowns_of(const GeometryReport& report) {
  std::int64_t n = 0;
  for (const LevelReport& level : report.levels) n += level.vofs_composite;
  return n;
}

/// What a grid that follows the solution was like in a run, its steps before a checkpoint included.
struct FollowedGrid {
  std::int64_t changes = 0;
  double seconds = 0.0;  ///< in them, of the slowest rank
  std::int64_t steps = 0, most = 0;
  double unknown_steps = 0.0;  ///< Σ over steps of the unknowns
  // Of grid.max_cells:
  std::int64_t left_out = 0, most_left_out = 0;  ///< finer boxes that are asked for and would exceed it
  std::int64_t limited_steps = 0;                ///< on a grid that some are left out of

  void add_step(std::int64_t unknowns) {
    ++steps;
    if (left_out > 0) ++limited_steps;
    most = std::max(most, unknowns);
    unknown_steps += static_cast<double>(unknowns);
  }
  double mean() const { return steps > 0 ? unknown_steps / static_cast<double>(steps) : 0.0; }
  void leave_out(std::int64_t boxes) {
    left_out = boxes;
    most_left_out = std::max(most_left_out, boxes);
  }
  /// For summary.json; null: the grid followed nothing.
  /// @param max_cells  of the deck; 0: none
  Json json(std::int64_t max_cells) const {
    if (steps == 0) return {};
    Json all{{"changes", changes}, {"seconds", seconds}, {"unknowns_mean", mean()}, {"unknowns_most", most}};
    if (max_cells > 0)
      all.update({{"max_cells", max_cells}, {"limited_steps", limited_steps}, {"boxes_left_out_most", most_left_out}});
    return all;
  }
  /// For a checkpoint, and back.
  Json state() const {
    return Json::array({changes, seconds, steps, most, unknown_steps, left_out, most_left_out, limited_steps});
  }
  static FollowedGrid of_state(const Json& json) {
    if (!json.is_array()) return {};
    return {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4), json.at(5), json.at(6), json.at(7)};
  }
};

struct RunServices {
  RunProgress progress{};               ///< shows nothing
  ResultFiles files{};                  ///< writes nothing
  SolveStore solved{};                  ///< keeps nothing of what is solved, knows nothing that was
  Exchanges exchanges{};                ///< nobody takes anything
  Trace trace{};                        ///< records nothing
  StepTimes steps{};                    ///< takes the time of every step in time
  FeedbackBalance balance{};            ///< boxes stay where they are
  FollowedGrid followed{};              ///< the grid follows nothing
  std::optional<BaseGrid> base_grid{};  ///< of a grid that follows within grid.max_cells
  FlowRounds flow_rounds{};             ///< the grid is refined for no permeability
  bool solves_in_a_step = false;        ///< solves are part of a step in time, at whose end a run ends that is asked to
};

}  // namespace karst
