// SPDX-License-Identifier: BSD-3-Clause
// What this rank has sent and how long it has waited for others through comm.hpp since the program began: differences
// of two looks tell of what lies between them, and what is left of a time is what the rank has worked. Timers hold such
// differences (timer.hpp).
#pragma once

#include <cstdint>

namespace karst {

struct Traffic {
  std::int64_t messages = 0, bytes = 0;  ///< to single ranks, by Exchange
  std::int64_t collectives = 0;          ///< calls for all ranks of a communicator of more than one
  std::int64_t ticks_waited = 0;         ///< of timer_clock.hpp

  Traffic& operator+=(const Traffic& o) {
    messages += o.messages;
    bytes += o.bytes;
    collectives += o.collectives;
    ticks_waited += o.ticks_waited;
    return *this;
  }
  Traffic& operator-=(const Traffic& o) {
    messages -= o.messages;
    bytes -= o.bytes;
    collectives -= o.collectives;
    ticks_waited -= o.ticks_waited;
    return *this;
  }
  friend Traffic operator-(Traffic a, const Traffic& b) { return a -= b; }
};

/// Not collective; of the thread that communicates.
const Traffic& traffic();
double seconds_waited(const Traffic& traffic);

/// Time of the program until now that this rank did not wait for others [s]: differences tell what it has worked.
/// By the wall's clock, or by that of the thread's processor. Not collective; of the thread that communicates.
double seconds_worked();
/// Ranks share processors: seconds_worked() is to leave out what others do there. Before any difference is taken.
void count_processor_time(bool yes);

}  // namespace karst
