// SPDX-License-Identifier: BSD-3-Clause
#include "base/comm/timer.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>

#include "base/comm/comm.hpp"
#include "base/comm/parallel.hpp"

namespace karst::timer_test {
namespace {

void wait(double seconds) {
  const auto start = std::chrono::steady_clock::now();
  while (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < seconds) {
  }
}

class Timers : public ::testing::Test {
 protected:
  Timers() { reset_timers(); }
  ~Timers() override {
    reset_timers();
    set_n_threads(before_);
  }
  int before_ = n_threads();
};
using TimersMpi = Timers;

/// "name/depth/calls" of all rows.
std::vector<std::string> shape(const std::vector<TimerRow>& rows) {
  std::vector<std::string> s;
  for (const TimerRow& r : rows) s.push_back(r.name + "/" + std::to_string(r.depth) + "/" + std::to_string(r.calls));
  return s;
}

TEST_F(Timers, NestAndCount) {
  {
    const Timer total("total");
    for (int i = 0; i < 3; ++i) {
      const Timer step("step");
      const Timer solve("solve");
    }
    const Timer solve("solve");  // another place, another row
  }
  EXPECT_EQ(shape(collect_timers(Comm::self())),
            (std::vector<std::string>{"total/0/1", "step/1/3", "solve/2/3", "solve/1/1"}));
}

TEST_F(Timers, MeasureTime) {
  {
    const Timer total("total");
    {
      const auto before = std::chrono::steady_clock::now();
      Timer part("part");
      const auto after = std::chrono::steady_clock::now();
      wait(0.03);
      const double at_least = std::chrono::duration<double>(std::chrono::steady_clock::now() - after).count();
      const double seconds = part.seconds();
      const double at_most = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();
      EXPECT_GE(seconds, 0.999 * at_least);  // the two clocks differ by less than 1e-3
      EXPECT_LE(seconds, 1.001 * at_most);
      part.stop();
      EXPECT_EQ(part.seconds(), 0.0);
    }
    wait(0.03);
  }
  const auto rows = collect_timers(Comm::self());
  EXPECT_GE(rows[1].mean, 0.0299);  // a busy machine makes it longer, never shorter
  EXPECT_GE(rows[0].mean, rows[1].mean + 0.0299);
  EXPECT_NEAR(rows[1].part, rows[1].mean / rows[0].mean, 1e-12);
  EXPECT_EQ(rows[0].part, 1.0);
}

TEST_F(Timers, RunningTimersCountUpToNow) {
  const Timer total("total");
  wait(0.01);
  const auto rows = collect_timers(Comm::self());
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].calls, 1);
  EXPECT_GE(rows[0].mean, 0.00999);
}

TEST_F(Timers, ThreadsOfALoopCountUnderTheTimersAroundIt) {
  set_n_threads(2);
  {
    const Timer total("total");
    const Timer boxes("boxes");
    for (int twice = 0; twice < 2; ++twice) {
      parallel_for(10, [](std::int64_t) { const Timer box("box"); });
      parallel_for_dynamic(10, [](std::int64_t) {
        const Timer box("box");
        parallel_for(2, [](std::int64_t) { const Timer inner("inner"); });
      });
    }
  }
  const auto rows = collect_timers(Comm::self());
  EXPECT_EQ(shape(rows), (std::vector<std::string>{"total/0/1", "boxes/1/1", "box/2/40", "inner/3/40"}));
  EXPECT_EQ(rows[1].samples, 1);
  EXPECT_EQ(rows[2].samples, 2);
}

// Thread 1 works three times as long as thread 0: mean 2, CoV 1/2 in units of the shorter.
TEST_F(Timers, StatisticsOverThreads) {
  set_n_threads(2);
  parallel_for(2, [](std::int64_t i) {
    const Timer t("uneven");
    wait(i == 0 ? 0.02 : 0.06);
  });
  const TimerRow row = collect_timers(Comm::self()).at(0);
  EXPECT_EQ(row.samples, 2);
  EXPECT_GE(row.min, 0.0199);
  EXPECT_GE(row.max, 0.0599);
  EXPECT_NEAR(row.mean, 0.5 * (row.min + row.max), 1e-12);
  EXPECT_NEAR(row.cov, 0.5 * (row.max - row.min) / row.mean, 1e-6);
}

TEST_F(TimersMpi, RowsAreTheSameOnAllRanksAndAddThem) {
  const Comm comm = Comm::world();
  {
    const Timer total("total");
    if (comm.rank() == comm.size() - 1) {
      const Timer only("last rank");
      wait(0.01);
    }
    const Timer all("all");
  }
  const auto rows = collect_timers(comm);
  const std::string n = std::to_string(comm.size());
  std::vector<std::string> expected{"total/0/" + n, "all/1/" + n, "last rank/1/1"};
  if (comm.size() == 1) std::swap(expected[1], expected[2]);
  EXPECT_EQ(shape(rows), expected);
  const TimerRow& last =
      *std::find_if(rows.begin(), rows.end(), [](const TimerRow& r) { return r.name == "last rank"; });
  EXPECT_EQ(last.samples, comm.size());
  EXPECT_GE(last.max, 0.00999);
  EXPECT_EQ(last.min, comm.size() == 1 ? last.max : 0.0);
  EXPECT_NEAR(last.mean * comm.size(), last.max, 1e-12);
  EXPECT_NEAR(last.cov, std::sqrt(comm.size() - 1.0), 1e-5);  // one of n samples is not 0
  EXPECT_EQ(comm.max(last.mean), comm.min(last.mean));
}

TEST_F(Timers, TableHoldsTheTree) {
  {
    const Timer total("total");
    const Timer step("step");
  }
  const auto rows = collect_timers(Comm::self());
  const std::string table = timer_table(rows);
  EXPECT_NE(table.find("\ntotal "), std::string::npos) << table;
  EXPECT_NE(table.find("\n  step "), std::string::npos) << table;
}

/// Two messages of 24 bytes from each rank to the next, one call for all ranks, inside of a timer that others surround.
TEST_F(Timers, CountWhatIsSentInsideMpi) {
  const Comm comm = Comm::world();
  const int n = comm.size();
  {
    const Timer outer("outer");
    comm.max(1.0);
    const Timer inner("inner");
    comm.max(1.0);
    const std::array<double, 3> sent{};
    std::array<std::array<double, 3>, 2> arrived{};
    Exchange exchange(comm, 7);
    for (auto& to : arrived) exchange.receive((comm.rank() + n - 1) % n, std::as_writable_bytes(std::span(to)));
    for (int i = 0; i < 2; ++i) exchange.send((comm.rank() + 1) % n, std::as_bytes(std::span(sent)));
    while (exchange.wait_any() >= 0) {
    }
    exchange.wait_sends();
  }
  const std::array<std::string_view, 2> names{"inner", "another"};
  const Spent spent = spent_in(names);
  EXPECT_EQ(spent.sent.messages, 2);
  EXPECT_EQ(spent.sent.bytes, 48);
  EXPECT_EQ(spent.sent.collectives, n > 1 ? 1 : 0);
  EXPECT_GE(spent.sent.ticks_waited, 0);
  EXPECT_LE(seconds_waited(spent.sent), spent.seconds);
  const std::array<std::string_view, 2> both{"outer", "inner"};  // what is inside counts once
  EXPECT_EQ(spent_in(both).sent.messages, 2);
  const auto rows = collect_timers(comm);
  EXPECT_EQ(rows[0].messages, 2.0);
  EXPECT_EQ(rows[1].bytes, 48.0);
  EXPECT_EQ(rows[0].collectives, n > 1 ? 2.0 : 0.0);
  EXPECT_NE(timer_table(rows).find("MB sent"), std::string::npos);
}

// Of two samples the mean is in the middle, and the standard deviation is their difference over √2.
TEST_F(Timers, StepsOfARun) {
  for (const double seconds : {0.01, 0.03}) {
    {
      const Timer between("between");
      wait(0.001);
    }
    begin_timed_step();
    {
      const Timer step("step");
      wait(seconds);
      if (seconds > 0.02) const Timer rare("rare");
    }
    end_timed_step();
  }
  const auto rows = collect_timers(Comm::self());
  ASSERT_EQ(shape(rows), (std::vector<std::string>{"between/0/2", "step/0/2", "rare/1/1"}));
  const StepSpread &step = rows[1].step, &rare = rows[2].step;
  EXPECT_EQ(rows[0].step.max, 0.0);
  EXPECT_EQ(step.steps, 2);
  EXPECT_GE(step.min, 0.00999);
  EXPECT_GE(step.max, 0.02999);
  EXPECT_NEAR(step.mean, 0.5 * (step.min + step.max), 1e-12);
  EXPECT_NEAR(step.mean, 0.5 * rows[1].mean, 1e-12);
  EXPECT_NEAR(step.cov, (step.max - step.min) / std::sqrt(2.0) / step.mean, 1e-6);
  EXPECT_EQ(rare.min, 0.0);
  EXPECT_NEAR(rare.cov, std::sqrt(2.0), 1e-6);
  const std::string table = step_table(rows);
  EXPECT_NE(table.find("in 2 steps"), std::string::npos) << table;
  EXPECT_NE(table.find("\n  rare "), std::string::npos) << table;
  EXPECT_EQ(table.find("between"), std::string::npos) << table;
  EXPECT_EQ(step_table({rows[0]}), "");
}

// One rank works in one step of two: its variance is x²/2, that of the n - 1 others 0, the mean of all x/(2n).
TEST_F(TimersMpi, StepsVaryWithinRanks) {
  const Comm comm = Comm::world();
  for (int n = 0; n < 2; ++n) {
    begin_timed_step();
    {
      const Timer all("all");
      if (comm.rank() == 0 && n == 0) {
        const Timer one("one");
        wait(0.001);
      }
    }
    end_timed_step();
  }
  const StepSpread one = collect_timers(comm).at(1).step;
  EXPECT_EQ(one.steps, 2);
  EXPECT_EQ(one.min, 0.0);
  EXPECT_GE(one.max, 0.000999);
  EXPECT_NEAR(one.mean, one.max / (2.0 * comm.size()), 1e-12);
  EXPECT_NEAR(one.cov, std::sqrt(2.0 * comm.size()), 1e-6);
}

/// The least of many short runs, since other programs may use the machine [s].
template <class F>
double least_seconds(F&& what) {
  constexpr int n = 2000;
  double best = 1e9;
  for (int run = 0; run < 50; ++run) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < n; ++i) what();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / n);
  }
  return best;
}

// A start and a stop read the clock twice (about 45 ns in all); eight readings of it are too much on any machine.
TEST_F(Timers, CostLittle) {
#if defined(NDEBUG)
  volatile std::int64_t seen = 0;
  const double reading = least_seconds([&] { seen = std::chrono::steady_clock::now().time_since_epoch().count(); });
  const Timer outer("outer");
  const double cost = least_seconds([] { const Timer t("a name of usual length"); });
  RecordProperty("nanoseconds", std::to_string(1e9 * cost));
  RecordProperty("readings_of_the_clock", std::to_string(cost / reading));
  EXPECT_LT(cost, 8.0 * reading);
#else
  GTEST_SKIP() << "the cost is asserted in release builds";
#endif
}

}  // namespace
}  // namespace karst::timer_test
