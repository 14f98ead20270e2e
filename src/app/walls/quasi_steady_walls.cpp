// SPDX-License-Identifier: BSD-3-Clause
// Flow and transport are steady in each position of the walls: a step moves them by what these states dissolve.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "app/walls/walls_process.hpp"
#include "base/core/error.hpp"
#include "base/math/no_number.hpp"

namespace karst {

namespace {

class QuasiSteadyWalls final : public WallsProcess {
 public:
  explicit QuasiSteadyWalls(const JobContext& run) : WallsProcess(run) {}

  void begin() override {
    solve();
    begin_record();
  }
  State state() override {
    State state = WallsProcess::state();
    state.numbers["moved_over"] = moved_over_;
    return state;
  }
  /// Also behind a motion: the second half of what has dissolved over it.
  void go_on(const State& state) override {
    WallsProcess::go_on(state);
    const double moved_over = state.numbers.at("moved_over");
    try {
      solve();
    } catch (const Error& e) {  // the same on all ranks: what came out until here is worth more than the error
      evolution_.ended_by = fmt::format("flow and transport cannot be solved any more: {}", e.what());
    }
    if (moved_over == 0.0) return;
    if (evolution_.ended_by.empty())
      dissolve(run_.comm, now_, 0.5 * moved_over, state_);
    else
      settle(run_, state_);
  }
  double longest_step() override {
    if (now_.largest == 0.0) return Process::longest_step();
    const double width = std::ldexp(1.0, 1 - static_cast<int>(run_.geometry().levels.size()));
    const double longest = run_.config.walls.displacement * width / now_.largest;
    const double dt = run_.config.time.dt > 0.0 ? std::min(longest, run_.config.time.dt) : longest;
    return grown_step(dt, state_.dt);
  }
  void step(double dt) override { moved_over_ = dt; }
  /// The motion with the trend of before, and the first half of what dissolves.
  void accept() override {
    motion_ = motion_of(run_, now_, moved_over_, Trend::linear, state_);
    dissolve(run_.comm, now_, 0.5 * moved_over_, state_);
    state_.before = now_.speed;
    state_.dt = state_.trend = moved_over_;
  }
  std::vector<JobComponent> fields() override {
    std::vector<JobComponent> all;
    for (const JobResult& result : results_) std::ranges::copy(result.components, std::back_inserter(all));
    return asked_of(run_.config, std::move(all));
  }
  JobResult report() override {
    JobResult result = WallsProcess::report();
    finish_files(run_, recorder()->files(), evolution_.states.back().time, result);
    return result;
  }

 private:
  std::vector<JobResult>& results() override { return results_; }
  /// Of the beginning, by the trapezoidal rule, with the flow of steady transport.
  void add_pore_volumes(EvolutionLine& line) const override {
    line.pore_rate = no_number;
    for (const JobResult& result : results_)
      if (result.json.contains("transport"))
        line.pore_rate = 1.0 / number_or_nan(result.json.at("transport").at("pore_volume_time_s"));
    line.pore_volumes = std::isnan(line.pore_rate) ? no_number : 0.0;
    if (evolution_.states.empty()) return;
    const EvolutionLine& before = evolution_.states.back();
    line.pore_rate *= line.connected_porosity / evolution_.states.front().connected_porosity;
    line.pore_volumes = before.pore_volumes + 0.5 * state_.dt * (before.pore_rate + line.pore_rate);
  }
  void solve() {
    look_for_end();
    if (!evolution_.ended_by.empty()) return;
    Exchanges exchanges;
    results_ = steady_results(run_, {{flow_job(), transport_job()}}, exchanges);
    now_ = wall_speeds(run_, evolution_.minerals, exchanges);
  }

  std::vector<JobResult> results_;
  double moved_over_ = 0.0;  ///< the step that is under way [s]
};

}  // namespace

std::unique_ptr<Process> start_quasi_steady_walls(const JobContext& context) {
  return std::make_unique<QuasiSteadyWalls>(context);
}

}  // namespace karst
