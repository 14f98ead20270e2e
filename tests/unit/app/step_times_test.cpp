// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/step_times.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/error.hpp"
#include "support/errors.hpp"

namespace karst::step_times_test {
namespace {

TEST(StepTimes, SpreadOfValues) {
  const TimeSpread s = spread_of({6.0, 1.0, 2.0});  // variance (9 + 4 + 1) / 2
  EXPECT_EQ(s.n, 3);
  EXPECT_EQ(s.least, 1.0);
  EXPECT_EQ(s.mean, 3.0);
  EXPECT_EQ(s.median, 2.0);
  EXPECT_EQ(s.most, 6.0);
  EXPECT_NEAR(s.cov, std::sqrt(7.0) / 3.0, 1e-15);
  EXPECT_EQ(spread_of({1.0, 2.0, 4.0, 8.0}).median, 3.0);
  EXPECT_EQ(spread_of({5.0}).cov, 0.0);
}

TEST(StepTimes, TheSlowestRankOfEachStepMpi) {
  const Comm comm = Comm::world();
  StepTimes times;
  for (int number = 7; number < 9; ++number) {
    times.begin();
    const WallClock clock;
    while (comm.rank() == comm.size() - 1 && number == 8 && clock.seconds() < 0.01) {
    }
    times.end(number);
  }
  const StepSeconds found = times.of_slowest_rank(comm);
  EXPECT_EQ(found.first, 7);
  ASSERT_EQ(found.seconds.size(), 2U);
  EXPECT_GE(found.seconds[1], 0.01);
  EXPECT_EQ(found.seconds[0], comm.max(found.seconds[0]));
}

TEST(StepTimes, StepsOfTheCommandLine) {
  Config in_time, steady;
  in_time.flow.model = FlowModel::navier_stokes;
  const StepRange range = read_steps("--steps", "3:12", in_time);
  EXPECT_EQ(range.first, 3);
  EXPECT_EQ(range.last, 12);
  for (const char* text : {"", "3", "3:", ":3", "0:3", "4:3", "3:4x", "-1:4"})
    EXPECT_PRED2(test::has, test::error_of([&] { read_steps("--steps", text, in_time); }), "FIRST:LAST") << text;
  EXPECT_PRED2(test::has, test::error_of([&] { read_steps("--steps", "3:12", steady); }), "no time steps");
}

}  // namespace
}  // namespace karst::step_times_test
