// SPDX-License-Identifier: BSD-3-Clause
// run.balance = "feedback": what ranks take for their boxes is measured while a run goes through time, and boxes move
// to other ranks when that pays (decision 041).
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "app/job.hpp"
#include "app/session.hpp"
#include "grid/box_costs.hpp"

namespace karst {

/// Thrown on all ranks, from a state that is kept: boxes are to be dealt out by these costs, and the run goes on.
struct BoxesMove {
  BoxCosts costs;
};

/// What is found after some steps.
struct BalanceLook {
  int step = 0;               ///< after which
  double imbalance = 1.0;     ///< measured: time that the busiest rank works, over the mean
  double expected = 1.0;      ///< of boxes dealt out by what was measured
  double gain = 0.0;          ///< by which the rest of the run would be shorter [s]
  double move_seconds = 0.0;  ///< that a move is expected to take
  bool pays = false;
};

/// How a run learns what its boxes cost. What it does is collective but where something else is said.
class FeedbackBalance {
 public:
  explicit FeedbackBalance(const Comm& comm) : comm_(comm) {}

  /// The geometry is to be built next, with boxes where they are for now. Not collective.
  void begin_pass();
  /// A job that is done has solved so long: a move would not do it again. Not collective.
  void add_solve(double seconds) { solved_ += seconds; }
  /// Around a step. Not collective.
  void begin_step();
  void end_step();
  /// Enough steps are made to look at what they took. The same on every rank. Not collective.
  bool due() const { return steps_ == stretch_; }
  /// @param cells  cell_work() of the geometry
  /// @param kinds  other kinds of work since the pass began
  /// @param step   number of the last one
  /// @param part   of the time of the run that is over
  /// @param[out] costs  found
  BalanceLook look(std::span<const Layout* const> layouts, std::vector<std::vector<double>> cells,
                   std::span<const BoxWork> kinds, int step, double part, BoxCosts& costs);

  const std::vector<BalanceLook>& looks() const { return looks_; }
  /// An object for summary.json.
  std::string json() const;

 private:
  const Comm& comm_;
  WallClock pass_, step_clock_;
  double solved_ = 0.0, move_seconds_ = 0.0;
  double waited_ = 0.0, busy_ = 0.0;  ///< of the steps of a stretch [s]
  double part_ = 0.0;                 ///< of the run that was over where the stretch began
  std::vector<double> kind_seconds_;  ///< of each kind until then
  int steps_ = 0, stretch_ = 0;
  bool first_pass_ = true, first_step_ = true;
  std::vector<BalanceLook> looks_;
};

/// Work on the cells of each own box, [level][box]: VoFs that no finer level covers, irregular ones several times.
/// Collective.
std::vector<std::vector<double>> cell_work(const Comm& comm, const Geometry& geometry, double irregular_cost);
/// Layouts of all levels.
std::vector<const Layout*> layouts_of(const Geometry& geometry);

/// Boxes by equal numbers, or by the weights of their geometry.
BoxCosts costs_at_start(const RunOptions& options);

}  // namespace karst
