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

}  // namespace karst
