// SPDX-License-Identifier: BSD-3-Clause
#include "base/comm/trace.hpp"

#include <map>
#include <mutex>
#include <tuple>

#include "base/comm/parallel.hpp"
#include "base/comm/trace_calls.hpp"
#include "base/comm/trace_events.hpp"

namespace karst::trace {

namespace {

struct State {
  std::mutex mutex;  // of rooms and names
  std::deque<std::unique_ptr<Room>> rooms;
  std::vector<std::string> names;
  std::map<std::string, std::uint32_t, std::less<>> numbers;
  std::map<std::tuple<int, int, int, End>, std::uint64_t>
      messages;  // by the ranks from and to, the tag, and the end here
  std::size_t room_events = 0;
  std::uint64_t generation = 0;  // of the trace: rooms of an earlier one are gone
};
State& state() {
  static State s;
  return s;
}

thread_local Room* this_room = nullptr;
thread_local std::uint64_t this_generation = 0;

Room& room() {
  State& s = state();
  if (this_room == nullptr || this_generation != s.generation) {
    const std::lock_guard lock(s.mutex);
    s.rooms.push_back(std::make_unique<Room>());
    this_room = s.rooms.back().get();
    this_generation = s.generation;
    this_room->thread = thread_number();
    this_room->events = Array<Event>(s.room_events, Purpose::buffers);
  }
  return *this_room;
}

/// Each slice that is open keeps the place of its end.
bool has_place(Room& r, std::size_t places) {
  if (r.n + r.open + places <= r.events.size()) return true;
  ++r.dropped;
  return false;
}

constexpr unsigned peer_bits = (1U << 28U) - 1;

void put(Room& r, Kind kind, std::uint32_t name, std::int64_t value, std::uint64_t message = 0, int peer = 0) {
  r.events[r.n++] = {detail::ticks_now(),
                     message,
                     value,
                     name,
                     static_cast<std::uint8_t>(kind) & 15U,
                     static_cast<unsigned>(peer) & peer_bits};
}

/// A mixture of all bits (splitmix64: Steele, Lea & Flood, OOPSLA 2014).
std::uint64_t mixed(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31U);
}

}  // namespace

const std::uint32_t boxes = number_of("boxes");

std::deque<std::unique_ptr<Room>>& rooms() { return state().rooms; }
std::vector<std::string> names() { return state().names; }

void set_rooms(std::size_t events) {
  State& s = state();
  ++s.generation;
  s.rooms.clear();
  s.messages.clear();
  s.room_events = events;
}

std::uint32_t number_of(std::string_view name) {
  State& s = state();
  const std::lock_guard lock(s.mutex);
  const auto found = s.numbers.find(name);
  if (found != s.numbers.end()) return found->second;
  s.names.emplace_back(name);
  return s.numbers[s.names.back()] = static_cast<std::uint32_t>(s.names.size() - 1);
}

bool begin(std::uint32_t name, std::int64_t value) {
  Room& r = room();
  if (!has_place(r, 2)) return false;
  put(r, Kind::begin, name, value);
  ++r.open;
  return true;
}

void end() {
  Room& r = room();
  if (r.open == 0) return;  // begun in an earlier trace
  --r.open;
  put(r, Kind::end, 0, no_value);
}

void among(std::uint32_t name, int every, int root) {
  Room& r = room();
  if (r.n == 0) return;
  Event& last = r.events[r.n - 1];
  if (static_cast<Kind>(last.kind) != Kind::begin || last.name != name) return;
  last.message = static_cast<std::uint64_t>(every);
  last.peer = static_cast<unsigned>(root) & peer_bits;
}

void mark(std::uint32_t name, std::int64_t value) {
  Room& r = room();
  if (has_place(r, 1)) put(r, Kind::mark, name, value);
}

std::uint64_t next_message(int from, int to, int tag, End here) {
  const std::uint64_t n = state().messages[{from, to, tag, here}]++;
  const auto part = [](int x) { return mixed(static_cast<std::uint64_t>(x)); };
  return mixed(mixed(mixed(part(from) ^ static_cast<std::uint64_t>(to)) ^ static_cast<std::uint64_t>(tag)) ^ n);
}

void sent(int to, std::uint64_t message, std::int64_t bytes) {
  static const std::uint32_t name = number_of("send");
  Room& r = room();
  if (has_place(r, 1)) put(r, Kind::sent, name, bytes, message, to);
}

void received(int from, std::uint64_t message, std::int64_t bytes) {
  static const std::uint32_t name = number_of("receive");
  Room& r = room();
  if (has_place(r, 1)) put(r, Kind::received, name, bytes, message, from);
}

}  // namespace karst::trace
