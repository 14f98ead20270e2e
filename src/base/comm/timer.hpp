// SPDX-License-Identifier: BSD-3-Clause
// Hierarchical timers: `Timer t("cut cells");` times the rest of the block, as a child of the enclosing timer. Each
// thread has its own tree (no locks, no atomics); threads of a parallel loop count under the timers around the loop.
// The trees of all threads and their list are process-wide state, so that timers need not be passed through every call.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/core/traffic.hpp"

namespace karst {

class Comm;

namespace detail {
struct TimerNode;
/// The timer that runs on this thread, as a place to count under for the threads of a parallel loop.
const TimerNode* running_timer();
/// Begins the slice of this thread's share of a parallel loop, where a trace is taken: with the name of the timer
/// around the loop, "own share" on the thread that runs that timer. False where there is none to end.
bool begin_share(const TimerNode* place, bool is_own);
/// While it lives, timers of this thread count under a place in the tree of another thread.
class TimersUnder {
 public:
  explicit TimersUnder(const TimerNode* place);
  TimersUnder(const TimersUnder&) = delete;
  TimersUnder& operator=(const TimersUnder&) = delete;
  ~TimersUnder();

 private:
  const TimerNode* before_;
};
}  // namespace detail

/// Times a block. Timers of one thread stop in the reverse order of their start.
class Timer {
 public:
  explicit Timer(std::string_view name);
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() { stop(); }
  void stop();             ///< before the end of the block; the second stop does nothing
  double seconds() const;  ///< since the start [s]

 private:
  detail::TimerNode* node_;
  bool traced_ = false;
};

/// Times a call.
/// @return what `f` returns
template <class F>
decltype(auto) timed(std::string_view name, F&& f) {
  const Timer timer(name);
  return f();
}

/// Times of a timer in the steps of a run, on the main thread of each rank. A sample is one step of one rank, 0 where
/// the timer did not run.
struct StepSpread {
  std::int64_t steps = 0;             ///< of a rank
  double min = 0, mean = 0, max = 0;  ///< over the samples [s]
  double cov = 0;  ///< standard deviation over the steps of a rank, root mean square of all, over mean
};

/// One timer over all ranks and threads. A sample is the time of one rank, or of one thread of a rank when the timer
/// ran on several threads anywhere; ranks and threads that did not run it count as 0.
struct TimerRow {
  std::string name;
  int depth = 0;
  std::int64_t calls = 0;  ///< of all samples
  std::int64_t samples = 0;
  double min = 0, mean = 0, max = 0;  ///< over the samples [s]
  double cov = 0;                     ///< standard deviation over mean of the samples
  double part = 0;                    ///< mean over mean of the parent; 1 at the top
  double messages = 0, bytes = 0;     ///< that a rank sent inside of it, mean
  double collectives = 0;             ///< calls for all ranks inside of it, mean
  StepSpread step;
};

/// Rows in depth-first order. Timers running on the calling thread count up to now. Collective, outside of parallel
/// loops; the same rows on every rank.
std::vector<TimerRow> collect_timers(const Comm& comm);
std::string timer_table(const std::vector<TimerRow>& rows);
/// TimerRow::step of the timers that run in steps; empty where there were none.
std::string step_table(const std::vector<TimerRow>& rows);
/// A step of a run on this thread, for TimerRow::step. No timer of the thread runs at its begin and end.
void begin_timed_step();
void end_timed_step();
/// What timers of this thread that have stopped took, those inside of one of them left out.
struct Spent {
  double seconds = 0.0;
  Traffic sent;
};
Spent spent_in(std::span<const std::string_view> names);
/// Forgets all counts. No timer may run.
void reset_timers();

}  // namespace karst
