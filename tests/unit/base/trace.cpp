// SPDX-License-Identifier: BSD-3-Clause
#include "base/comm/trace.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <optional>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/comm/trace_events.hpp"
#include "base/core/error.hpp"
#include "base/core/timer_clock.hpp"
#include "base/trace/trace_otf2.hpp"
#include "support/errors.hpp"

namespace karst::trace_test {
namespace {

namespace fs = std::filesystem;

class Traces : public ::testing::Test {
 protected:
  Traces() { fs::create_directories(folder_); }
  ~Traces() override {
    set_n_threads(before_);
    fs::remove_all(folder_);
  }
  Trace begin(TraceOptions options = {}) {
    options.file = folder_ / "trace";
    return Trace(Comm::self(), std::move(options), true);
  }
  fs::path folder_ = fs::temp_directory_path() / fmt::format("karst-trace-{}", ::getpid());
  int before_ = n_threads();
};
using TracesMpi = Traces;

std::int64_t count(trace::Kind kind) {
  std::int64_t n = 0;
  for (const auto& room : trace::rooms())
    for (std::size_t i = 0; i < room->n; ++i) n += static_cast<trace::Kind>(room->events[i].kind) == kind ? 1 : 0;
  return n;
}

TEST_F(Traces, HoldsTimersThatBeginWhileItIsTaken) {
  const Timer before("runs already");
  Trace t = begin();
  for (int i = 0; i < 3; ++i) {
    const Timer a("a");
    const Timer b("b");
  }
  EXPECT_EQ(count(trace::Kind::begin), 6);
  EXPECT_EQ(count(trace::Kind::end), 6);
  const Trace::Written w = t.write();
  EXPECT_EQ(w.events, 12);
  EXPECT_EQ(w.dropped, 0);
  EXPECT_EQ(w.bytes, static_cast<std::int64_t>(fs::file_size(folder_ / "trace")));
  { const Timer after("after"); }
  EXPECT_EQ(count(trace::Kind::begin), 6);
}

TEST_F(Traces, EachThreadHasItsShareOfALoop) {
  set_n_threads(2);
  Trace t = begin();
  {
    const Timer around("around");
    parallel_for(2, [](std::int64_t) {});
  }
  parallel_for(1, [](std::int64_t) {});  // no loop of two
  ASSERT_EQ(trace::rooms().size(), 2U);
  std::vector<std::string> names;
  for (const auto& room : trace::rooms())
    for (std::size_t i = 0; i < room->n; ++i)
      if (static_cast<trace::Kind>(room->events[i].kind) == trace::Kind::begin)
        names.push_back(std::to_string(room->thread) + " " + trace::names()[room->events[i].name]);
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{"0 around", "0 own time", "1 around"}));
}

TEST_F(Traces, AFullRoomEndsWhatItBegan) {
  TraceOptions options;
  options.megabytes = 1e-6 * 32 * 10 * n_threads();  // ten events
  Trace t = begin(options);
  const Timer outer("outer");
  {
    const Timer inner("inner");
    for (int i = 0; i < 20; ++i) const Timer small("small");
  }
  EXPECT_EQ(count(trace::Kind::begin), 5);  // outer keeps the place of its end
  EXPECT_EQ(count(trace::Kind::end), 4);
  const Trace::Written w = t.write();
  EXPECT_EQ(w.events, 9);
  EXPECT_EQ(w.dropped, 17);
}

TEST_F(Traces, HoldsTheStepsAskedFor) {
  TraceOptions options;
  options.first_step = 2;
  options.last_step = 3;
  Trace t = begin(options);
  for (int step = 1; step <= 5; ++step) {
    t.step(step);
    const Timer work("work");
  }
  EXPECT_EQ(count(trace::Kind::mark), 2);
  EXPECT_EQ(count(trace::Kind::begin), 2);
}

TEST_F(Traces, OfAnotherFileIsKeptUnlessAllowed) {
  { begin().write(); }
  TraceOptions options;
  options.file = folder_ / "trace";
  EXPECT_THROW(Trace(Comm::self(), options, false), Error);
  options.file = folder_ / "no such folder" / "trace";
  EXPECT_THROW(Trace(Comm::self(), options, true), Error);
}

// --overwrite replaces files; what stands for something else, as a device does, stays.
TEST_F(Traces, WhatIsNoFileIsNotReplaced) {
  const std::string pipe = folder_ / "pipe", link = folder_ / "link", gone = folder_ / "gone";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  std::ofstream(folder_ / "file") << "precious";
  fs::create_symlink(folder_ / "file", link);
  fs::create_symlink(folder_ / "nowhere", gone);
  for (const std::string& name : {pipe, link, gone, folder_.string()}) {
    TraceOptions options;
    options.file = name;
    const fs::file_type type = fs::symlink_status(name).type();
    EXPECT_THROW(Trace(Comm::self(), options, true), Error) << name;
    EXPECT_EQ(fs::symlink_status(name).type(), type);
  }
  EXPECT_EQ(fs::file_size(folder_ / "file"), 8U);
}

/// Calls of all ranks, and of every second one where there are several of those.
TEST_F(TracesMpi, CallsSayWhoseTheyAre) {
  const Comm comm = Comm::world();
  const std::optional<Comm> half = comm.every(2);
  Trace t = begin();
  std::vector<double> x(2);
  comm.broadcast(std::span(x), comm.size() - 1);
  if (half) half->sum(1.0);
  std::vector<trace::Event> calls;
  for (const auto& room : trace::rooms())
    for (std::size_t i = 0; i < room->n; ++i)
      if (static_cast<trace::Kind>(room->events[i].kind) == trace::Kind::begin) calls.push_back(room->events[i]);
  ASSERT_EQ(calls.size(), (comm.size() > 1 ? 1U : 0U) + (half && half->size() > 1 ? 1U : 0U));
  if (calls.empty()) return;
  EXPECT_EQ(trace::names()[calls[0].name], "broadcast");
  EXPECT_EQ(calls[0].message, 1U);
  EXPECT_EQ(static_cast<int>(calls[0].peer), comm.size() - 1);
  if (calls.size() > 1) {
    EXPECT_EQ(calls[1].message, 2U);
  }
}

TEST_F(Traces, EventsArePackedWhole) {
  set_n_threads(2);
  const Trace t = begin();
  {
    const Timer around("around");
    parallel_for(2, [](std::int64_t) {});
  }
  const trace::RankEvents events = trace::events_here({}), again = trace::unpacked(trace::packed(events));
  EXPECT_EQ(again.names, trace::names());
  ASSERT_EQ(again.tracks.size(), 2U);
  EXPECT_EQ(again.tracks[1].thread, 1);
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_EQ(again.tracks[i].events.size(), i == 0 ? 4U : 2U);
    EXPECT_EQ(again.tracks[i].events.back().time, events.tracks[i].events.back().time);
  }
  EXPECT_EQ(again.names[again.tracks[0].events[0].name], "around");
}

// One machine without the library, another with it: either an archive, or an Error before anything is computed.
TEST_F(TracesMpi, ArchivesOfOtf2) {
  const Comm comm = Comm::world();
  const std::optional<Comm> half = comm.every(2);
  TraceOptions options;
  std::string folder = folder_;
  comm.broadcast(folder);
  options.file = folder + "/run.otf2";
  if (!trace::has_otf2()) {
    EXPECT_PRED2(test::has, test::error_of([&] { Trace(comm, options, true); }), "without the OTF2 library");
    return;
  }
  for (const bool overwrite : {false, true}) {
    Trace t(comm, options, overwrite);
    { const Timer work("work"); }
    if (half) half->sum(1.0);
    EXPECT_GT(t.write().bytes, 0);
  }
  EXPECT_TRUE(fs::exists(options.file + "/traces.otf2"));
  EXPECT_PRED2(test::has, test::error_of([&] { Trace(comm, options, false); }), "exists already");
  comm.any(false);
  if (comm.rank() == 0) fs::remove(options.file + "/traces.otf2");
  comm.any(false);
  EXPECT_PRED2(test::has, test::error_of([&] { Trace(comm, options, true); }),
               "is not a directory that contains only a trace");
}

TEST_F(TracesMpi, AMessageHasOneNumberOnBothRanks) {
  const Comm comm = Comm::world();
  Trace t = begin();
  const int next = (comm.rank() + 1) % comm.size(), last = (comm.rank() + comm.size() - 1) % comm.size();
  Exchange exchange(comm, 7);
  for (int round = 0; round < 3; ++round) {
    double in = 0.0;
    const double out = 1.0;
    exchange.receive(last, std::as_writable_bytes(std::span(&in, 1)));
    exchange.send(next, std::as_bytes(std::span(&out, 1)));
    while (exchange.wait_any() >= 0) {
    }
    exchange.wait_sends();
  }
  std::vector<std::uint64_t> sent, received;
  for (std::size_t i = 0; i < trace::rooms().front()->n; ++i) {
    const trace::Event& e = trace::rooms().front()->events[i];
    if (static_cast<trace::Kind>(e.kind) == trace::Kind::sent) sent.push_back(e.message);
    if (static_cast<trace::Kind>(e.kind) != trace::Kind::received) continue;
    received.push_back(e.message);
    EXPECT_EQ(static_cast<int>(e.peer), last);
    EXPECT_EQ(e.value, 8);
  }
  trace::on = false;
  const std::vector<std::uint64_t> all_sent = comm.all_gather(std::span<const std::uint64_t>(sent));
  const std::vector<std::uint64_t> all_received = comm.all_gather(std::span<const std::uint64_t>(received));
  ASSERT_EQ(all_sent.size(), 3U * static_cast<std::size_t>(comm.size()));
  EXPECT_TRUE(std::ranges::is_permutation(all_sent, all_received));
  std::vector<std::uint64_t> different = all_sent;
  std::ranges::sort(different);
  EXPECT_EQ(std::ranges::adjacent_find(different), different.end());
}

// Ranks of one machine read one clock: what messages find must be what it is.
TEST_F(TracesMpi, ClocksOfOtherMachinesAreFoundByMessages) {
  const Comm comm = Comm::world();
  const trace::ClockMap there = trace::map_clock(comm, true), here = trace::map_clock(comm, false);
  const detail::Ticks now = detail::ticks_now();
  // The second start was later; both maps err by what ranks come late by.
  const double apart = 1e-9 * static_cast<double>(there.of(now) - here.of(now));
  EXPECT_LT(comm.max(std::abs(apart)), 0.02);
}

}  // namespace
}  // namespace karst::trace_test
