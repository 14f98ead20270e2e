// SPDX-License-Identifier: BSD-3-Clause
// Messages that this rank has sent and the time that it has waited for others in comm.hpp since the start of the
// program. Differences of two readings describe the interval between them; time minus waiting is working time. Timers
// store such differences (timer.hpp).
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

/// Time since the start of the program in which this rank did not wait for others [s]: differences are working times.
/// Wall-clock time, or processor time of the thread. Not collective; for the thread that communicates.
double seconds_worked();
/// Ranks share processors: seconds_worked() then uses processor time, without the work of others. To be called before
/// any difference is taken.
void count_processor_time(bool yes);

}  // namespace karst
