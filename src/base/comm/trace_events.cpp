// SPDX-License-Identifier: BSD-3-Clause
#include "base/comm/trace_events.hpp"

#include <algorithm>
#include <cstring>

namespace karst::trace {

namespace {

template <class T>
void put(std::string& all, const T* values, std::size_t n) {
  all.append(reinterpret_cast<const char*>(values), n * sizeof(T));
}
void put(std::string& all, std::int64_t number) { put(all, &number, 1); }

/// Takes values off the front.
template <class T>
void take(std::string_view& bytes, T* values, std::size_t n) {
  if (n > 0) std::memcpy(values, bytes.data(), n * sizeof(T));
  bytes.remove_prefix(n * sizeof(T));
}
std::int64_t take(std::string_view& bytes) {
  std::int64_t number = 0;
  take(bytes, &number, 1);
  return number;
}

}  // namespace

RankEvents events_here(const ClockMap& clock) {
  RankEvents all{names(), {}};
  for (const auto& room : rooms()) {
    RankEvents::Track& track = all.tracks.emplace_back(RankEvents::Track{room->thread, {}});
    for (std::size_t i = 0; i < room->n; ++i) {
      track.events.push_back(room->events[i]);
      track.events.back().time = clock.of(track.events.back().time);
    }
  }
  std::ranges::stable_sort(all.tracks, {}, &RankEvents::Track::thread);
  if (all.tracks.empty() || all.tracks[0].thread != 0) all.tracks.insert(all.tracks.begin(), RankEvents::Track{0, {}});
  return all;
}

std::string packed(const RankEvents& events) {
  std::string all;
  put(all, std::ssize(events.names));
  for (const std::string& name : events.names) {
    put(all, std::ssize(name));
    all += name;
  }
  put(all, std::ssize(events.tracks));
  for (const RankEvents::Track& track : events.tracks) {
    put(all, track.thread);
    put(all, std::ssize(track.events));
    put(all, track.events.data(), track.events.size());
  }
  return all;
}

RankEvents unpacked(std::string_view bytes) {
  RankEvents events;
  events.names.resize(take(bytes));
  for (std::string& name : events.names) {
    name.resize(take(bytes));
    take(bytes, name.data(), name.size());
  }
  events.tracks.resize(take(bytes));
  for (RankEvents::Track& track : events.tracks) {
    track.thread = static_cast<int>(take(bytes));
    track.events.resize(take(bytes));
    take(bytes, track.events.data(), track.events.size());
  }
  return events;
}

}  // namespace karst::trace
