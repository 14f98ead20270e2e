// SPDX-License-Identifier: BSD-3-Clause
#include "app/estimate/machine_model.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"

namespace karst::machine_model_test {
namespace {

OverRanks all(double x) { return {x, x, x}; }

/// 1 µs a message, 1 GB/s, 2 µs a call for all ranks and doubling; four cores that all at work are 1.6 times as slow.
constexpr double slow_down = 1.6;
Machine machine() { return {"four cores", 4, slow_down, 1e-6, 1e9, 2e-6}; }

/// 8e6 cells on 8 ranks, 1000 exchanges with 3 messages of 1e4 cells in all, 16 bytes a cell: 3 ms and 160 ms; 500
/// calls for all ranks: 3 ms; the rest of 2 s is work.
CountedRun run_on_eight() {
  CountedRun run;
  run.communication = {2.0, all(3000.0), all(1.6e8), all(500.0), all(0.1), all(3.0), all(1e4)};
  run.ranks = 8;
  run.threads = 1;
  run.fluid = 8e6;
  run.imbalance = 1.05;
  return run;
}

constexpr double sent = 3e-3 + 0.16, calls = 500 * 2e-6 * 3;

TEST(MachineModel, OfTheSameRanksIsTheRunItself) {
  const PlannedSeconds s = planned_seconds(machine(), run_on_eight(), {8, 8e6, 1.05, all(3.0), all(1e4)});
  EXPECT_NEAR(s.total(), 2.0, 1e-12);
  EXPECT_NEAR(s.messages, sent, 1e-12);
  EXPECT_NEAR(s.collectives, calls, 1e-12);
}

/// 64 ranks: six messages and 1.5e4 cells in an exchange, twice as many doublings.
TEST(MachineModel, OfMoreRanksGoesAsCellsMessagesAndDoublings) {
  const PlannedSeconds s = planned_seconds(machine(), run_on_eight(), {64, 8e6, 1.26, all(6.0), all(1.5e4)});
  EXPECT_NEAR(s.work, (2.0 - sent - calls) / 8.0 * 1.26 / 1.05, 1e-12);
  EXPECT_NEAR(s.messages, 6e-3 + 0.24, 1e-12);
  EXPECT_NEAR(s.collectives, 2.0 * calls, 1e-12);
}

/// One rank sends nothing, and has the memory of the four cores for itself.
TEST(MachineModel, OfOneRankIsWorkAlone) {
  const PlannedSeconds s = planned_seconds(machine(), run_on_eight(), {1, 8e6, 1.0, all(0.0), all(0.0)});
  EXPECT_NEAR(s.work, (2.0 - sent - calls) * 8.0 / 1.05 / slow_down, 1e-12);
  EXPECT_EQ(s.messages + s.collectives, 0.0);
}

/// Two of four cores: a third of the way from 1 to 1.6.
TEST(MachineModel, CoresSlowEachOtherDownOneByOne) {
  EXPECT_EQ(machine().slow_down_of(1.0), 1.0);
  EXPECT_NEAR(machine().slow_down_of(2.0), 1.2, 1e-15);
  EXPECT_EQ(machine().slow_down_of(4.0), slow_down);
  EXPECT_EQ(machine().slow_down_of(4000.0), slow_down);
}

/// Where the price of what was sent is more than what the run took nothing is left for work.
TEST(MachineModel, WorkIsNeverNegative) {
  Machine slow = machine();
  slow.latency = 1.0;
  EXPECT_EQ(planned_seconds(slow, run_on_eight(), {8, 8e6, 1.05, all(3.0), all(1e4)}).work, 0.0);
}

}  // namespace
}  // namespace karst::machine_model_test
