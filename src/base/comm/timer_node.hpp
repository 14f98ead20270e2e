// SPDX-License-Identifier: BSD-3-Clause
// Inside of the timers: shared by timer.cpp (measuring) and timer_report.cpp (collecting).
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "base/comm/timer.hpp"
#include "base/core/timer_clock.hpp"
#include "base/core/traffic.hpp"

namespace karst::detail {

/// What a timer took in the steps of a run [ticks].
struct StepSums {
  Ticks before = 0;  ///< until the step began
  Ticks least = std::numeric_limits<Ticks>::max(), most = 0;
  double sum = 0.0, squares = 0.0;
  std::int64_t steps = 0;  ///< that it ran in
};

struct TimerNode {
  std::string name;
  TimerNode* parent = nullptr;
  TimerNode* last_used = nullptr;  // child
  std::vector<std::unique_ptr<TimerNode>> children;
  std::int64_t calls = 0;
  Ticks time = 0;
  Ticks begin = 0;
  Traffic sent, sent_before;  // inside of it; until it began
  StepSums in_steps;
  std::int64_t traced_name = -1;  // its number in traces
};

/// Timers of one thread.
struct TimerTree {
  TimerNode root;
  TimerNode* current = &root;
  const TimerNode* under = nullptr;  // place in the tree of the thread that started the parallel loop
  bool placed = true;                // current is at that place
  std::int64_t steps = 0;            // that have ended
};

std::deque<std::unique_ptr<TimerTree>>& timer_trees();
/// Length of a tick [s].
double tick();
TimerTree& tree_of_this_thread();

}  // namespace karst::detail
