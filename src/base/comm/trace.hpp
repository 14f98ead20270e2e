// SPDX-License-Identifier: BSD-3-Clause
// A trace: the activities of each thread of each rank over time, with the messages between ranks, for
// https://ui.perfetto.dev and tools/karst_trace.py. While a trace is recorded, each timer, part of a parallel loop,
// collective call and message stores an event in a preallocated buffer of its thread (no locks, no allocation); the
// file is written at the end. Without a trace the cost is the test of one flag.
//
// The rooms of all threads are the process-wide state of this file, as the trees of the timers are.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/comm/comm.hpp"

namespace karst {

namespace trace {

struct ClockMap;

/// True while events are recorded. Changes only outside of parallel loops.
inline bool on = false;

inline constexpr std::int64_t no_value = std::numeric_limits<std::int64_t>::min();

/// Number of a name, the same for equal ones in this process.
std::uint32_t number_of(std::string_view name);

/// Numbers of names used in headers and loops; each is number_of() its text.
extern const std::uint32_t boxes;

/// Begins a slice of the calling thread; false if its buffer is full: then end() must not be called.
/// @param value  bytes of a collective call, boxes of a loop; no_value: none
bool begin(std::uint32_t name, std::int64_t value = no_value);
/// Ends the last slice that was begun on this thread.
void end();
/// A moment with a value, such as the number of a step.
void mark(std::uint32_t name, std::int64_t value);

enum class End : std::uint8_t { sender, receiver };
/// Number of the next message between two ranks, the same on both: the n-th with this tag since recording began.
/// @param here  the end that asks
std::uint64_t next_message(int from, int to, int tag, End here);
/// This rank sent or received a message just now.
void sent(int to, std::uint64_t message, std::int64_t bytes);
void received(int from, std::uint64_t message, std::int64_t bytes);

/// A slice for the rest of a block, where a trace is taken.
class Slice {
 public:
  explicit Slice(std::uint32_t name, std::int64_t value = no_value, bool wanted = on)
      : begun_(wanted && begin(name, value)) {}
  Slice(const Slice&) = delete;
  Slice& operator=(const Slice&) = delete;
  ~Slice() {
    if (begun_) [[unlikely]]
      end();
  }

 private:
  bool begun_;
};

}  // namespace trace

struct TraceOptions {
  std::string file;
  std::int64_t first_step = 0;  ///< of a transient run, from 1; 0: including everything before the first step
  std::int64_t last_step = std::numeric_limits<std::int64_t>::max();
  double megabytes = 100.0;  ///< buffer size of each rank
};

/// Takes the trace of a program while it lives. One at a time.
class Trace {
 public:
  /// Takes none.
  Trace();
  /// Throws the same Error on every rank when the file exists and may not be replaced, or cannot be written there.
  /// Collective.
  Trace(const Comm& comm, TraceOptions options, bool overwrite);
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  ~Trace();

  bool taken() const { return clock_ != nullptr; }
  /// Step n begins: records from first_step to last_step. Collective.
  void step(std::int64_t n);

  struct Written {
    std::int64_t events = 0, bytes = 0;
    std::int64_t dropped = 0;  ///< slices and messages for which the buffer was full
  };
  /// Stops recording and writes the events of all ranks, completely or not at all, times since the start on the clock
  /// of rank 0: a file of TrackEvents of Perfetto's protobuf, or an OTF2 archive if the name ends with .otf2 (a folder;
  /// such names are rejected if Karst was built without the library). Collective; the same on every rank.
  Written write();

 private:
  Comm comm_ = Comm::self();
  TraceOptions options_;
  std::unique_ptr<trace::ClockMap> clock_;
};

}  // namespace karst
