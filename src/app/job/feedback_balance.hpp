// SPDX-License-Identifier: BSD-3-Clause
// run.balance = "feedback": what ranks take for their boxes is measured while a run goes through time, and boxes move
// to other ranks when that pays (decision 041).
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "app/deck/session.hpp"
#include "base/file/json.hpp"
#include "fields/ground.hpp"
#include "grid/box_costs.hpp"

namespace karst {

/// What is found after some steps.
struct BalanceLook {
  int step = 0;               ///< after which
  double imbalance = 1.0;     ///< measured: time that the busiest rank works, over the mean
  double expected = 1.0;      ///< of boxes dealt out by what was measured
  double gain = 0.0;          ///< by which the rest of the run would be shorter [s]
  double move_seconds = 0.0;  ///< that a move is expected to take
  bool pays = false;
};

/// Steps that were measured on this rank.
struct BalanceStretch {
  int steps = 0;
  double begin = 0.0;  ///< part of the time of the run that was over before them
  double end = 0.0;    ///< and after them
  double busy = 0.0;   ///< that this rank has worked on them, without waiting [s]
};

/// What a stretch tells: costs by measured_costs(), and whether a move pays, for the rest of the run with steps as long
/// in proportion. The same on every rank. Collective.
/// @param kinds  of work of these steps
/// @param work   of the same kinds: of these steps, or with part of what was before
/// @param step   number of the last of them
/// @param[out] costs  found
BalanceLook look_at(const Comm& comm, std::span<const Layout* const> layouts, std::span<const BoxWork> kinds,
                    const RankWork& work, const BalanceStretch& stretch, int step, double move_seconds,
                    BoxCosts& costs);

/// The clocks of a run that learns what its boxes cost, and what it has found. Not collective but for look().
class FeedbackBalance {
 public:
  /// Measures nothing: boxes stay where they are.
  FeedbackBalance() = default;
  explicit FeedbackBalance(const Comm& comm) : comm_(comm) {}
  bool measures() const { return comm_.has_value(); }

  /// A geometry is to be built next, after which boxes stay for some steps.
  void begin_pass();
  /// Of the time since then so much went into solves, which a move does not do again.
  void add_solves(double seconds) { solved_ += seconds; }
  /// Around a step.
  /// @param part  of the time of the run that is over before it
  void begin_step(double part);
  void end_step();
  /// The first step of the pass is over. The same on every rank.
  bool begins() const { return measures() && !first_step_ && stretch_.steps == 0; }
  /// What the other kinds of work have taken until now is left out, as the first step is.
  void leave_out(std::span<const BoxWork> kinds);
  /// Enough steps are made to look at what they took. The same on every rank.
  bool due() const { return measures() && stretch_.steps == length_; }
  /// look_at() of the steps since the last one. Collective.
  /// @param cells  cell_work() of the geometry
  /// @param kinds  other kinds of work, with their seconds since the pass began
  /// @param end    part of the time of the run that is over now
  BalanceLook look(std::span<const Layout* const> layouts, std::vector<std::vector<double>> cells,
                   std::span<const BoxWork> kinds, double end, int step, BoxCosts& costs);

  const std::vector<BalanceLook>& looks() const { return looks_; }
  /// An object for summary.json; null where nothing is measured.
  Json json() const;

 private:
  std::optional<Comm> comm_;
  WallClock pass_;
  double pass_worked_ = 0.0, solved_ = 0.0, move_seconds_ = 0.0, worked_ = 0.0;
  BalanceStretch stretch_;
  /// Of the stretch [steps]: the first three are as short as they can be, as the second look tells how good the first
  /// move was, and the third the second; then each is twice as long as the one before, so that looks and moves are few
  /// however much times scatter.
  int length_ = 2;
  std::vector<double> kind_seconds_;  ///< of each kind before it
  RankWork work_;                     ///< of all stretches: the present one alone at first, then those before by halves
  bool first_step_ = true;            ///< of the pass, comes next
  std::vector<BalanceLook> looks_;
};

/// Work on the cells of each own box, [level][box]: VoFs that no finer level covers, irregular ones several times.
/// Collective.
std::vector<std::vector<double>> cell_work(const Ground& ground, double irregular_cost);
/// Sums over the own unknowns of each own box, [level][box]. Not collective.
/// @param values  of all own unknowns
std::vector<std::vector<double>> sums_of_boxes(const CompositeNumbering& numbering, const Geometry& geometry,
                                               std::span<const double> values);
/// Layouts of all levels.
std::vector<const Layout*> layouts_of(const Geometry& geometry);

/// Boxes by equal numbers, or by the weights of their geometry.
BoxCosts costs_at_start(const RunOptions& options);

}  // namespace karst
