// SPDX-License-Identifier: BSD-3-Clause
// Transport in time dissolves the walls: each of its steps says what they take, and when they are to have moved by
// walls.displacement, they do. Walls then go ahead of what has dissolved by half of that distance, so that they are
// where they ought to be in the middle between two motions: second order.
//
// Where transport stands still (walls.standstill) while the wall has hardly moved, nothing but the wall changes until
// it has: that time passes without steps, and the wall moves as between steady states (quasi_steady_walls.cpp).
#include <algorithm>
#include <cmath>

#include "app/job/run_services.hpp"
#include "app/walls/walls_process.hpp"

namespace karst {

namespace {

/// Time passes without steps where that is longer than so many of them.
constexpr double worth_it = 10.0;
/// Part of a displacement by which slow walls move while a change goes through the domain.
constexpr double slow = 0.1;

class WallsBesideTransport final : public WallsProcess {
 public:
  explicit WallsBesideTransport(const JobContext& run) : WallsProcess(run) {}

  void begin() override { begin_record(); }
  State state() override {
    State state = WallsProcess::state();
    state.numbers["travelled"] = motion_ ? 0.0 : travelled_;
    state.numbers["since"] = motion_ ? 0.0 : since_;
    state.numbers["keeps_up"] = keeps_up_;
    state.numbers["passed"] = passed_;
    state.numbers["provisional"] = provisional_;
    state.numbers["rates"] = motion_ ? std::vector<double>() : rates_;
    return state;
  }
  void go_on(const State& state) override {
    WallsProcess::go_on(state);
    travelled_ = state.numbers.at("travelled");
    since_ = state.numbers.at("since");
    keeps_up_ = state.numbers.at("keeps_up");
    passed_ = state.numbers.at("passed");
    provisional_ = state.numbers.at("provisional").get<std::vector<double>>();
    rates_ = state.numbers.at("rates").get<std::vector<double>>();
    look_for_end();
    leave_behind();
    if (evolution_.ended_by.empty()) return;
    settle(run_, state_);
    passed_ = 0.0;
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
    since_ += dt_;
    travelled_ += now_.largest * dt_;
    change_ = change_of_rates() / dt_;
    if (state_.trend == 0.0) remember_speed();
    const Settling& transport = run_.services.exchanges.settling;
    keeps_up_ = run_.config.walls.standstill == 0.0 || !std::isfinite(transport.change) ||
                now_.largest * transport.time > slow * most_;
    leave_behind();
  }
  const WallMotion* wall_motion(double longest) override {
    if (stands_still()) {
      // What may pass is shorter at first, as there is no trend yet, and so are its motions; what counts is how long it
      // will be. Asked of the first one, walls that move in some forty steps would never stand still.
      const double whole = (most_ - travelled_) / now_.largest,
                   most = std::min(longest - since_, run_.services.exchanges.settling.longest);
      if (std::min(whole, most) > worth_it * dt_) pass(std::min(grown_step(whole, state_.trend), most));
    }
    const bool stopped = now_.largest == 0.0 && travelled_ > 0.0;  // where it ought to be
    if (!motion_ && (stopped || travelled_ >= (1.0 - round_off) * (moved_once() ? most_ : 0.5 * most_))) {
      count_what_passed();
      state_.trend = 0.0;
      motion_ = motion_of(run_, now_, stopped ? 0.0 : 0.5 * most_ / now_.largest, Trend::none, state_);
    }
    return motion_ ? &*motion_ : nullptr;
  }
  void record(const Clock& clock) override {
    if (clock.done()) count_what_passed();
    WallsProcess::record(clock);
  }

 private:
  static constexpr double round_off = 1e-9;
  std::vector<JobResult>& results() override { return run_.walls->steady; }
  double to_be_counted(std::size_t mineral) const override { return passed_ > 0.0 ? provisional_[mineral] : 0.0; }
  void add_pore_volumes(EvolutionLine& line) const override {
    line.pore_volumes = run_.services.exchanges.pore_volumes;
  }
  bool moved_once() const { return state_.moved != 0.0; }

  /// What concentrations at the wall of the ground are beside those at the wall of the moles. Not of walls that are so
  /// slow that transport will stand still: it would follow them.
  void leave_behind() {
    run_.services.exchanges.walls_behind =
        keeps_up_ && state_.trend == 0.0 ? walls_behind(run_, evolution_.minerals, state_) : WallsBehind();
  }

  /// Means of steps do not swing where these are short beside the distance of walls, and leave out what follows
  /// motions.
  void remember_speed() {
    constexpr double latest = 0.5;
    for (std::size_t l = 0; l < now_.speed.size(); ++l)
      for (std::size_t r = 0; r < now_.speed[l].size(); ++r) {
        double& before = state_.before[l][r];
        before += (before == 0.0 ? 1.0 : latest) * (now_.speed[l][r] - before);
      }
  }

  /// Σ |change| / Σ |rate|, of what dissolves and what grows of each mineral.
  double change_of_rates() {
    std::vector<double> rates(2 * evolution_.minerals.size(), 0.0);
    for (const MovingPart& part : now_.parts)
      rates[2 * part.mineral + (part.speed < 0.0 ? 1 : 0)] += part.area * part.speed;
    run_.comm.sum(std::span(rates));
    rates_.resize(rates.size(), 0.0);
    double change = 0.0, all = 0.0;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      change += std::abs(rates[i] - rates_[i]);
      all += std::abs(rates[i]);
    }
    rates_ = std::move(rates);
    return all > 0.0 ? change / all : 0.0;
  }

  /// What changes as it did in the last step does not change by more than the deck allows: over the time since walls
  /// have moved, as what decays slowly takes as long again, and over that of the domain or of the next motion.
  bool stands_still() const {
    const double most = run_.config.walls.standstill;
    if (most == 0.0 || now_.largest == 0.0) return false;
    const Settling& transport = run_.services.exchanges.settling;
    const double ahead = std::min(transport.time, most_ / now_.largest);
    return std::max(transport.change, change_) * std::max(since_, ahead) <= most;
  }

  /// Time passes: half of what dissolves over it is that of now (trapezoidal rule). Before an output or the end there
  /// is time to stand still again.
  void pass(double time) {
    count_what_passed();
    motion_ = motion_of(run_, now_, time, Trend::linear, state_);
    motion_->over = time;
    provisional_ = state_.dissolved;
    dissolve_as_left(run_.comm, evolution_.minerals, now_, 0.5 * time, state_);
    for (std::size_t m = 0; m < provisional_.size(); ++m) provisional_[m] = state_.dissolved[m] - provisional_[m];
    state_.before = now_.speed;
    state_.dt += time;
    state_.trend = passed_ = time;
  }

  /// The other half is that of the walls that have moved, where they stand still again or move on.
  void count_what_passed() {
    if (passed_ > 0.0) dissolve_as_left(run_.comm, evolution_.minerals, now_, 0.5 * passed_, state_);
    passed_ = 0.0;
  }

  WallSpeeds tried_;
  bool keeps_up_ = false;  ///< the wall with changes that go through the domain
  double dt_ = 0.0;
  double since_ = 0.0;               ///< in steps, since walls have moved [s]
  double travelled_ = 0.0;           ///< by the fastest piece since then [h0]
  double passed_ = 0.0;              ///< without steps, of which half is still to be counted [s]
  std::vector<double> provisional_;  ///< [mineral] that half, as fast as before the walls moved [h0³]
  double change_ = 0.0;              ///< of the rates in the last step [1/s]
  std::vector<double> rates_;        ///< [mineral][dissolves, grows] of the last step [h0³/s]
  double most_ = run_.config.walls.displacement * std::ldexp(1.0, 1 - static_cast<int>(run_.geometry().levels.size()));
};

}  // namespace

std::unique_ptr<Process> start_walls_in_time(const JobContext& context) {
  return std::make_unique<WallsBesideTransport>(context);
}

}  // namespace karst
