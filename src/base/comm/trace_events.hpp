// SPDX-License-Identifier: BSD-3-Clause
// Inside of traces: shared by trace.cpp (recording) and trace_file.cpp (writing).
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/comm/memory.hpp"
#include "base/comm/trace.hpp"
#include "base/core/timer_clock.hpp"

namespace karst::trace {

enum class Kind : std::uint8_t { begin, end, mark, sent, received };

struct Event {
  detail::Ticks time;
  std::uint64_t message;  ///< of sent, received; begin of a call for several ranks: every how many of all, else 0
  std::int64_t value;     ///< bytes of messages
  std::uint32_t name;
  std::uint32_t kind : 4, peer : 28;  ///< a Kind; the other rank of a message, the root of a call
};
static_assert(sizeof(Event) == 32);

/// Events of one thread.
struct Room {
  int thread = 0;
  Array<Event> events;
  std::size_t n = 0, open = 0;  ///< recorded; slices without their end
  std::int64_t dropped = 0;
};

std::deque<std::unique_ptr<Room>>& rooms();
/// Discards all buffers; those of new threads have this number of events. Outside of parallel loops.
void set_rooms(std::size_t events);
/// By number.
std::vector<std::string> names();

/// Offset of the clock of this rank from that of rank 0.
struct ClockMap {
  detail::Ticks zero = 0;  ///< of this rank's clock, at the start of the trace
  double nanoseconds = 1;  ///< per tick
  std::int64_t of(detail::Ticks t) const {
    return static_cast<std::int64_t>(static_cast<double>(t - zero) * nanoseconds);
  }
};

/// @param shared  all ranks read the clock of rank 0, as on one machine; otherwise the offset is found by messages,
/// accurate to
///                the delays of ranks after a reduction
/// Collective.
ClockMap map_clock(const Comm& comm, bool shared);

/// The events of a rank on their way to where they are written.
struct RankEvents {
  struct Track {
    int thread;
    std::vector<Event> events;  ///< with times since the start of the trace [ns]
  };
  std::vector<std::string> names;  ///< by number
  std::vector<Track> tracks;       ///< one per room, by thread; there is one of thread 0
};
RankEvents events_here(const ClockMap& clock);
/// As bytes, and back.
std::string packed(const RankEvents& events);
RankEvents unpacked(std::string_view bytes);

/// The events of this rank as packets of Perfetto's Trace message; slices without an end are ended with the last event.
std::string encode(int rank, const ClockMap& clock);

}  // namespace karst::trace
