// SPDX-License-Identifier: BSD-3-Clause
// Events as packets of Perfetto's Trace message; numbers of fields from protos/perfetto/trace of
// https://github.com/google/perfetto (track_event.proto, trace_packet.proto, track_descriptor.proto).
#include <fmt/format.h>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <memory>
#include <random>

#include "base/comm/fail_together.hpp"
#include "base/comm/parallel.hpp"
#include "base/comm/timer_node.hpp"
#include "base/comm/trace_events.hpp"
#include "base/core/error.hpp"
#include "base/file/atomic_file.hpp"
#include "base/file/growing_file.hpp"
#include "base/file/plain_file.hpp"
#include "base/file/protobuf.hpp"
#include "base/trace/trace_otf2.hpp"

namespace karst::trace {

namespace {

// Fields of TracePacket, TrackDescriptor, TrackEvent, InternedData, DebugAnnotation.
constexpr int packet = 1;
constexpr int timestamp = 8, sequence_id = 10, track_event = 11, interned_data = 12, sequence_flags = 13,
              track_descriptor = 60;
constexpr int uuid = 1, track_name = 2, process = 3, thread = 4, parent_uuid = 5;
constexpr int pid = 1, tid = 2, thread_name = 5, process_name = 6;
constexpr int annotation = 4, event_type = 9, name_iid = 10, track_uuid = 11, flow_id = 47, terminating_flow_id = 48;
constexpr int event_names = 2, annotation_names = 3;
constexpr int iid = 1, interned_name = 2;
constexpr int annotation_name_iid = 1, annotation_int = 4;
constexpr std::uint64_t slice_begin = 1, slice_end = 2, instant = 3;
constexpr std::uint64_t state_cleared = 1, needs_state = 2;

/// Names of what events tell beside their own name, from 1.
enum Annotation : std::uint64_t { value_of = 1, size_of, bytes_of, to_rank, from_rank };
constexpr std::array<const char*, 5> annotations{"value", "size", "bytes", "to rank", "from rank"};

constexpr std::uint64_t threads_per_rank = 1U << 16U;
std::uint64_t uuid_of(int rank) { return (static_cast<std::uint64_t>(rank) + 1) * threads_per_rank; }

ProtoMessage annotated(Annotation name, std::int64_t x) {
  ProtoMessage m;
  m.add(annotation_name_iid, name);
  m.add(annotation_int, static_cast<std::uint64_t>(x));
  return m;
}

void add_packet(std::string& all, const ProtoMessage& p) {
  ProtoMessage wrapped;
  wrapped.add(packet, p);
  all += wrapped.bytes();
}

ProtoMessage rank_track(int rank) {
  ProtoMessage who, track, p;
  who.add(pid, static_cast<std::uint64_t>(rank) + 1);
  who.add(process_name, fmt::format("rank {}", rank));
  track.add(uuid, uuid_of(rank));
  track.add(process, who);
  p.add(track_descriptor, track);
  p.add(sequence_id, uuid_of(rank));
  return p;
}

/// The track of a thread, and all names of the process.
ProtoMessage thread_track(int rank, std::uint64_t track_id, int number) {
  ProtoMessage who, track, p, interned;
  who.add(pid, static_cast<std::uint64_t>(rank) + 1);
  who.add(tid, track_id);
  who.add(thread_name, fmt::format("thread {}", number));
  track.add(uuid, track_id);
  track.add(parent_uuid, uuid_of(rank));
  track.add(track_name, fmt::format("thread {}", number));
  track.add(thread, who);
  const auto intern = [&](int list, std::uint64_t id, std::string_view name) {
    ProtoMessage m;
    m.add(iid, id);
    m.add(interned_name, name);
    interned.add(list, m);
  };
  std::uint64_t id = 0;
  for (const std::string& name : names()) intern(event_names, ++id, name);
  id = 0;
  for (const char* name : annotations) intern(annotation_names, ++id, name);
  p.add(track_descriptor, track);
  p.add(sequence_id, track_id);
  p.add(sequence_flags, state_cleared);
  p.add(interned_data, interned);
  return p;
}

ProtoMessage track_event_of(const Event& e, std::uint64_t track) {
  ProtoMessage m;
  const auto kind = static_cast<Kind>(e.kind);
  m.add(track_uuid, track);
  m.add(event_type, kind == Kind::begin ? slice_begin : kind == Kind::end ? slice_end : instant);
  if (kind == Kind::end) return m;
  m.add(name_iid, std::uint64_t{e.name} + 1);
  if (kind == Kind::sent || kind == Kind::received) {
    m.add(kind == Kind::sent ? flow_id : terminating_flow_id, ProtoMessage::Fixed{e.message});
    m.add(annotation, annotated(kind == Kind::sent ? to_rank : from_rank, e.peer));
    m.add(annotation, annotated(bytes_of, e.value));
  } else if (e.value != no_value) {
    m.add(annotation, annotated(kind == Kind::mark ? value_of : size_of, e.value));
  }
  return m;
}

void add_room(std::string& all, int rank, std::uint64_t number, const Room& room, const ClockMap& clock) {
  const std::uint64_t track = uuid_of(rank) + 1 + number;
  add_packet(all, thread_track(rank, track, room.thread));
  const auto add = [&](const Event& e) {
    ProtoMessage p;
    p.add(timestamp, static_cast<std::uint64_t>(std::max<std::int64_t>(clock.of(e.time), 0)));
    p.add(track_event, track_event_of(e, track));
    p.add(sequence_id, track);
    p.add(sequence_flags, needs_state);
    add_packet(all, p);
  };
  for (std::size_t i = 0; i < room.n; ++i) add(room.events[i]);
  if (room.n == 0) return;
  Event last = room.events[room.n - 1];
  last.kind = static_cast<std::uint8_t>(Kind::end) & 15U;
  for (std::size_t i = 0; i < room.open; ++i) add(last);
}

}  // namespace

std::string encode(int rank, const ClockMap& clock) {
  std::string all;
  add_packet(all, rank_track(rank));
  std::uint64_t number = 0;
  for (const auto& room : rooms()) add_room(all, rank, number++, *room, clock);
  return all;
}

ClockMap map_clock(const Comm& comm, bool shared) {
  ClockMap mine{detail::ticks_now(), 1e9 * detail::tick()};
  ClockMap first = mine;
  comm.broadcast(std::span(&first, 1));
  if (shared) return first;
  // What the clocks say after a reduction, when all ranks go on: the nearest of many, right to what ranks come late by.
  constexpr int rounds = 32;
  double least = std::numeric_limits<double>::max();
  for (int i = 0; i < rounds; ++i) {
    comm.any(false);
    const detail::Ticks here = detail::ticks_now();
    detail::Ticks there = here;
    comm.broadcast(std::span(&there, 1));
    const double since = static_cast<double>(there - first.zero) * first.nanoseconds / mine.nanoseconds;
    const double zero = static_cast<double>(here) - since;
    if (i == 0 || zero < least) least = zero;
  }
  mine.zero = static_cast<detail::Ticks>(least);
  return mine;
}

}  // namespace karst::trace

namespace karst {

namespace {

namespace fs = std::filesystem;

/// One operating system that has run since one start has one clock.
bool shares_clock(const Comm& comm) {
  std::string boot;
  std::getline(std::ifstream("/proc/sys/kernel/random/boot_id") >> std::ws, boot);
  std::string first = boot;
  comm.broadcast(first);
  return !boot.empty() && boot == first;
}

constexpr int tag = 2;

/// Rank 0 takes what each rank has, one after the other. What went wrong there, in words.
std::string take_parts(const Comm& comm, const std::string& mine, const std::function<void(const std::string&)>& take) {
  const std::int64_t size = std::ssize(mine);
  const std::vector<std::int64_t> sizes = comm.all_gather(std::span(&size, 1));
  Exchange exchange(comm, tag);
  std::string problem;
  if (comm.rank() != 0) {
    exchange.send(0, std::as_bytes(std::span(mine)));
    exchange.wait_sends();
    return problem;
  }
  std::string part = mine;
  for (int r = 0; r < comm.size(); ++r) {
    if (r > 0) {
      part.resize(sizes[r]);
      exchange.receive(r, std::as_writable_bytes(std::span(part)));
      while (exchange.wait_any() >= 0) {
      }
    }
    if (problem.empty()) try {
        take(part);
      } catch (const Error& e) {
        problem = e.what();
      }
  }
  return problem;
}

/// The bytes of all ranks in one file. Collective.
void write_perfetto(const Comm& comm, const trace::ClockMap& clock, const std::string& path) {
  AtomicFile file(comm, path);
  GrowingFile out;
  fail_together(comm, [&] {
    if (comm.rank() == 0) out.open(file.temporary(), false, path);
  });
  const std::string problem = take_parts(comm, trace::encode(comm.rank(), clock), [&](const std::string& part) {
    out.append(part);
    out.flush();
  });
  fail_together(comm, [&] {
    require(problem.empty(), "{}", problem);
    out.finish();
  });
  file.commit();
}

/// A new folder beside a path.
std::string make_folder_beside(const std::string& path) {
  std::random_device random;
  for (int tries = 0; tries < 100; ++tries)
    if (std::string name = fmt::format("{}.{:06x}.tmp", path, random() & 0xffffffU); fs::create_directory(name))
      return name;
  throw Error(fmt::format("{}: cannot write here: no free name for a temporary folder was found", path));
}

/// The folder is there when it is whole. Collective.
void write_archive(const Comm& comm, const trace::ClockMap& clock, const std::string& path) {
  std::string temporary;
  std::unique_ptr<trace::Otf2Archive> archive;
  fail_together(comm, [&] {
    if (comm.rank() != 0) return;
    temporary = make_folder_beside(path);
    archive = std::make_unique<trace::Otf2Archive>(temporary);
  });
  std::string problem = take_parts(comm, trace::packed(trace::events_here(clock)),
                                   [&](const std::string& part) { archive->add(trace::unpacked(part)); });
  fail_together(comm, [&] {
    if (comm.rank() != 0) return;
    if (problem.empty()) try {
        archive->close();
        fs::remove_all(path);
        fs::rename(temporary, path);
      } catch (const std::exception& e) {
        problem = e.what();
      }
    archive.reset();
    if (problem.empty()) return;
    fs::remove_all(temporary);
    throw Error(problem);
  });
}

/// An archive and nothing else.
bool is_archive(const std::string& path) {
  if (!fs::exists(path + "/traces.otf2")) return false;
  return std::ranges::all_of(fs::directory_iterator(path), [](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with("traces");
  });
}

std::int64_t bytes_of(const std::string& path) {
  if (!fs::is_directory(path)) return static_cast<std::int64_t>(fs::file_size(path));
  std::int64_t bytes = 0;
  for (const auto& file : fs::recursive_directory_iterator(path))
    if (file.is_regular_file()) bytes += static_cast<std::int64_t>(file.file_size());
  return bytes;
}

/// Throws Error where this may not be replaced by a trace, or needs what is not there.
void check_name(const std::string& file, bool overwrite) {
  const bool archive = trace::names_archive(file);
  require(!archive || trace::has_otf2(),
          "--trace {}: Karst was built without the OTF2 library; install libopen-trace-format2-dev and rebuild, or "
          "choose a name without .otf2, for https://ui.perfetto.dev",
          file);
  if (!fs::exists(fs::symlink_status(file))) return;
  require(overwrite, "--trace {}: exists already; choose another name, or give --overwrite to replace it", file);
  const std::string special = special_file(file);
  require(archive ? special == "a folder" && is_archive(file) : special.empty(),
          "--trace {}: is {}, which --overwrite does not replace; choose another name", file,
          archive ? "not a directory that contains only a trace" : special);
}

}  // namespace

Trace::Trace() = default;

Trace::Trace(const Comm& comm, TraceOptions options, bool overwrite) : comm_(comm), options_(std::move(options)) {
  fail_together(comm_, [&] { check_name(options_.file, overwrite); });
  { const AtomicFile possible(comm_, options_.file); }  // so that no run ends for want of a folder
  const double bytes = 1e6 * options_.megabytes / n_threads();
  trace::set_rooms(static_cast<std::size_t>(bytes / sizeof(trace::Event)));
  clock_ =
      std::make_unique<trace::ClockMap>(trace::map_clock(comm_, comm_.size() == 1 || !comm_.any(!shares_clock(comm_))));
  trace::on = options_.first_step <= 0;
}

Trace::~Trace() {
  if (!taken()) return;
  trace::on = false;
  trace::set_rooms(0);
}

void Trace::step(std::int64_t n) {
  if (!taken()) return;
  trace::on = n >= options_.first_step && n <= options_.last_step;
  static const std::uint32_t name = trace::number_of("step");
  if (trace::on) trace::mark(name, n);
}

Trace::Written Trace::write() {
  trace::on = false;
  std::array<std::int64_t, 2> counts{};
  for (const auto& room : trace::rooms()) {
    counts[0] += static_cast<std::int64_t>(room->n);
    counts[1] += room->dropped;
  }
  comm_.sum(std::span(counts));
  const auto write = trace::names_archive(options_.file) ? write_archive : write_perfetto;
  write(comm_, *clock_, options_.file);
  const std::int64_t bytes = comm_.rank() == 0 ? bytes_of(options_.file) : 0;
  return {counts[0], comm_.sum(bytes), counts[1]};
}

}  // namespace karst
