// SPDX-License-Identifier: BSD-3-Clause
// Inside of the timers: shared by timer.cpp (measuring) and timer_report.cpp (collecting).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/timer.hpp"
#include "base/timer_clock.hpp"

namespace karst::detail {

struct TimerNode {
  std::string name;
  TimerNode* parent = nullptr;
  TimerNode* last_used = nullptr;  // child
  std::vector<std::unique_ptr<TimerNode>> children;
  std::int64_t calls = 0;
  Ticks time = 0;
  Ticks begin = 0;
  int event = -1;  // id of the sink
};

/// Timers of one thread.
struct TimerTree {
  TimerNode root;
  TimerNode* current = &root;
  const TimerNode* under = nullptr;  // place in the tree of the thread that started the parallel loop
  bool placed = true;                // current is at that place
  TimerSink sink;
  std::map<std::string, int> events;  // of the sink, by name

  int event_of(const std::string& name) {
    const auto found = events.find(name);
    return found != events.end() ? found->second : events[name] = sink.register_name(name.c_str());
  }
};

inline void forget_events(TimerNode& node) {
  node.event = -1;
  for (const auto& c : node.children) forget_events(*c);
}

std::deque<std::unique_ptr<TimerTree>>& timer_trees();
/// Length of a tick [s].
double tick();
TimerTree& tree_of_this_thread();

}  // namespace karst::detail
