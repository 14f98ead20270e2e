// SPDX-License-Identifier: BSD-3-Clause
// The time of a run: [time] of the deck, the clock that goes by it, and when what is given on the ends of a transport
// jumps or bends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/deck/deck.hpp"
#include "transport/transport_deck.hpp"

namespace karst {

enum class StepScheme : std::uint8_t { bdf2, sdirk2 };

struct TimeOptions {
  double end = 0.0;     ///< [s]
  double dt = 0.0;      ///< longest step [s]; 0: Clock::limit() tells
  double output = 0.0;  ///< between plotfiles [s]; 0: at the end alone
  StepScheme scheme = StepScheme::bdf2;
  double cfl = 0.5;        ///< transport, flow with inertia: Courant number of a step
  bool cfl_leads = false;  ///< flow with inertia: steps follow cfl, dt is the longest
  /// Transport, in place of end and output: in times that the flow takes to fill the pores once; 0: not given.
  double end_pore_volumes = 0.0, output_pore_volumes = 0.0;
  /// Times [s], increasing, at which a step ends because what is given jumps or bends there; those that are no times of
  /// the run are passed over.
  std::vector<double> breaks{};
  /// Times [s], increasing, at which what is given jumps, 0 among them where the beginning does not fit it: steps begin
  /// short there and grow (longest_at()).
  std::vector<double> jumps{};
};

/// Longest step at a time [s], where steps are at most `longest` otherwise: after a jump a sixteenth of it, from step
/// to step by about half longer. What is not smooth in time is not of second order: an error of the first steps stays.
double longest_at(const TimeOptions& options, double time, double longest);

/// [checkpoint]: when a run that goes through time keeps its state for --resume.
struct CheckpointOptions {
  double every_minutes = 30.0;  ///< 0: when it is asked to end alone
  int every_steps = 0;          ///< 0: not by steps
  double every_time = 0.0;      ///< of the run's own time [s]; 0: not by it
  int keep = 2;                 ///< states, 1 to most_kept
};
inline constexpr int most_kept = 100;
void read(Reader& in, CheckpointOptions& options);

/// What of a deck goes through time.
enum class InTime : std::uint8_t {
  nothing,
  flow,
  flow_that_carries,  ///< components, without inertia
  flow_with_inertia,
  transport,
  steady_transport,
  walls  ///< that move, between steady states
};
/// Declares and reads [time]; notes as mistakes: values that are missing, or that have no effect.
void read(Reader& in, TimeOptions& options, InTime what);

/// Times of a run. Steps between two outputs or breaks are equal but after a jump, at most dt long, and land on the
/// output times, the breaks and the end exactly. A break that cannot be told from one of the others counts as that one.
class Clock {
 public:
  Clock() = default;  ///< of what has no time: one step
  explicit Clock(const TimeOptions& options);

  bool done() const { return finished_; }
  double time() const { return time_; }
  double end() const { return options_.end; }
  int steps() const { return steps_; }      ///< made so far
  int outputs() const { return outputs_; }  ///< output times met so far, the end not among them
  double dt() const { return dt_; }         ///< of the next step
  void advance();                           ///< the step was made
  /// Steps from here on are at most so long [s]; those to the next output or the end are equal again.
  void limit(double dt);
  /// To the next output time, break or end [s].
  double rest() const { return target_ - time_; }
  /// Behind a step: so much time passes without one [s], at most rest().
  void skip(double time);
  /// No step follows: the run ends at time().
  void end_now() { finished_ = true; }
  /// All of it but the options: a clock of the same options goes on from there with the same bits.
  std::vector<double> state() const;
  void go_on(const std::vector<double>& state);  ///< throws Error where that is none
  /// time() is an output time. The end is none: what a job reports shows it.
  bool output_due() const { return output_due_; }
  bool at_break() const { return at_break_; }  ///< time() is one of TimeOptions::breaks
  double part() const { return options_.end > 0.0 ? time_ / options_.end : 1.0; }

 private:
  void plan_interval();
  void end_interval();
  /// Calls f with each member but the options.
  static void each_number(auto& clock, const auto& f);

  TimeOptions options_;
  double time_ = 0.0, begin_ = 0.0, target_ = 0.0, dt_ = 0.0;
  std::int64_t made_ = 0, planned_ = 1;  // steps of the interval
  int steps_ = 0, outputs_ = 0;
  std::size_t next_break_ = 0;
  bool to_output_ = false;  // the interval ends at an output time
  bool output_due_ = false, at_break_ = false, finished_ = false;
};

/// Steps from 0 to the end. O(breaks), with jumps O(steps).
double count_steps(const TimeOptions& options);

/// Times between 0 and `end` at which a formula of t [s] jumps, to the last bit, increasing. Throws Error, naming the
/// key, where there are more than 10 000.
std::vector<double> jumps_of(const std::string& key, const std::string& formula, double end);

/// Times between 0 and `end` at which what is given on inlets and outlets jumps; those at which it bends or jumps:
/// lines of tables, jumps of formulas. Increasing. Throws Error for a formula that jumps more than 10 000 times. Not
/// collective.
std::vector<double> jumps_of(const TransportDeck& deck, double end);
std::vector<double> breaks_of(const TransportDeck& deck, double end);

/// Whether what is given on inlets and outlets is the same at all times between two [s]. Not collective.
bool is_constant(const TransportDeck& deck, double from, double to);

}  // namespace karst
