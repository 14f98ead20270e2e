// SPDX-License-Identifier: BSD-3-Clause
// Inside of the timers: shared by timer.cpp (measuring) and timer_report.cpp (collecting).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "base/timer.hpp"
#include "base/timer_clock.hpp"
#include "base/traffic.hpp"

namespace karst::detail {

struct TimerNode {
  std::string name;
  TimerNode* parent = nullptr;
  TimerNode* last_used = nullptr;  // child
  std::vector<std::unique_ptr<TimerNode>> children;
  std::int64_t calls = 0;
  Ticks time = 0;
  Ticks begin = 0;
  Traffic sent, sent_before;      // inside of it; until it began
  std::int64_t traced_name = -1;  // its number in traces
};

/// Timers of one thread.
struct TimerTree {
  TimerNode root;
  TimerNode* current = &root;
  const TimerNode* under = nullptr;  // place in the tree of the thread that started the parallel loop
  bool placed = true;                // current is at that place
};

std::deque<std::unique_ptr<TimerTree>>& timer_trees();
/// Length of a tick [s].
double tick();
TimerTree& tree_of_this_thread();

}  // namespace karst::detail
