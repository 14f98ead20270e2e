// SPDX-License-Identifier: BSD-3-Clause
#include "base/file/orderly_end.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <thread>

namespace karst::orderly_end_test {
namespace {

/// Status of the early end that a check comes to; 0: none.
int checked(const Comm& comm) {
  try {
    end_if_asked(comm);
  } catch (const EarlyEnd& end) {
    return end.status;
  }
  return 0;
}

// One rank hears of it, all end.
TEST(OrderlyEndMpi, ASignalOnOneRankEndsAll) {
  const Comm comm = Comm::world();
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    const OrderlyEnd orderly(comm, 0.0);
    EXPECT_EQ(checked(comm), 0);
    if (comm.rank() == comm.size() - 1) std::raise(number);
    EXPECT_EQ(checked(comm), 128 + number);
  }
}

TEST(OrderlyEndMpi, TheSameRequestTwiceIsOne) {
  const Comm comm = Comm::world();
  const OrderlyEnd orderly(comm, 0.0);
  std::raise(SIGTERM);
  std::raise(SIGTERM);  // does not end the process
  EXPECT_EQ(checked(comm), 128 + SIGTERM);
}

TEST(OrderlyEndMpi, TheTimeLimitEndsAll) {
  const Comm comm = Comm::world();
  const OrderlyEnd orderly(comm, 1e-3);
  std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_EQ(checked(comm), time_limit_status);
}

TEST(OrderlyEndMpi, WithoutOneNothingEnds) {
  const Comm comm = Comm::world();
  { const OrderlyEnd orderly(comm, 1e-9); }
  EXPECT_EQ(checked(comm), 0);
}

TEST(OrderlyEndDeathTest, ASecondSignalEndsAtOnce) {
  GTEST_FLAG_SET(death_test_style, "fast");
  const OrderlyEnd orderly(Comm::world(), 0.0);
  EXPECT_EXIT(
      {
        std::raise(SIGTERM);
        std::this_thread::sleep_for(std::chrono::milliseconds(600));
        std::raise(SIGTERM);
      },
      ::testing::KilledBySignal(SIGTERM), "a second signal stops at once");
}

}  // namespace
}  // namespace karst::orderly_end_test
