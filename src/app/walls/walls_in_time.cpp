// SPDX-License-Identifier: BSD-3-Clause
// Transport in time dissolves the walls: each of its steps says what they take, and when they are to have moved by
// walls.displacement, they do. Walls then go ahead of what has dissolved by half of that distance, so that they are
// where they ought to be in the middle between two motions: second order.
#include <cmath>

#include "app/job/run_services.hpp"
#include "app/walls/walls_process.hpp"

namespace karst {

namespace {

class WallsBesideTransport final : public WallsProcess {
 public:
  explicit WallsBesideTransport(const JobContext& run) : WallsProcess(run) {}

  void begin() override { begin_record(); }
  State state() override {
    State state = WallsProcess::state();
    state.numbers["travelled"] = motion_ ? 0.0 : travelled_;
    return state;
  }
  void go_on(const State& state) override {
    WallsProcess::go_on(state);
    travelled_ = state.numbers.at("travelled");
    look_for_end();
    if (!evolution_.ended_by.empty()) settle(run_, state_);
  }
  /// As fast as in the step before.
  double longest_step() override { return now_.largest > 0.0 ? most_ / now_.largest : Process::longest_step(); }
  /// Behind that of transport, which has left what walls took over it.
  void step(double dt) override {
    tried_ = wall_speeds(run_, evolution_.minerals, run_.services.exchanges);
    dt_ = dt;
  }
  void accept() override {
    now_ = std::move(tried_);
    dissolve(run_.comm, now_, dt_, state_);
    state_.dt = dt_;
    travelled_ += now_.largest * dt_;
    if (travelled_ < (1.0 - round_off) * (moved_once() ? most_ : 0.5 * most_)) return;
    motion_ = motion_of(run_, now_, 0.5 * most_ / now_.largest, Trend::none, state_);
  }

 private:
  static constexpr double round_off = 1e-9;
  std::vector<JobResult>& results() override { return run_.walls->steady; }
  bool moved_once() const { return state_.moved != 0.0; }

  WallSpeeds tried_;
  double dt_ = 0.0;
  double travelled_ = 0.0;  ///< by the fastest piece since the last motion [h0]
  double most_ = run_.config.walls.displacement * std::ldexp(1.0, 1 - static_cast<int>(run_.geometry().levels.size()));
};

}  // namespace

std::unique_ptr<Process> start_walls_in_time(const JobContext& context) {
  return std::make_unique<WallsBesideTransport>(context);
}

}  // namespace karst
