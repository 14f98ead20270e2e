// SPDX-License-Identifier: BSD-3-Clause
#include "app/study/variation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/error.hpp"
#include "base/file/json.hpp"
#include "support/errors.hpp"

namespace karst::variation_test {
namespace {

Json timer(const std::vector<std::string>& path, double most, double cov) {
  return {{"path", path}, {"most_s", most}, {"cov", cov}};
}

Json run(const std::vector<Json>& timers, const std::vector<double>& steps) {
  return {{"timers", timers}, {"steps", Json{{"first", 3}, {"seconds", steps}}}};
}

constexpr StepRange all{1, 1000};

TEST(Variation, PhasesOverTheRuns) {
  Json b = timer({"a", "b"}, 2.0, 0.0);
  b["in_steps"] = Json{{"cov", 0.5}};
  const Variation v = variation_of({{{"timers", std::vector<Json>{timer({"a"}, 1.0, 0.1)}}},
                                    {{"timers", std::vector<Json>{timer({"a"}, 3.0, 0.3), b}}}},
                                   all);
  ASSERT_EQ(v.phases.size(), 2U);
  EXPECT_EQ(v.runs, 2);
  const PhaseVariation &first = v.phases[0], &second = v.phases[1];
  EXPECT_EQ(first.runs.mean, 2.0);
  EXPECT_EQ(first.runs.least, 1.0);
  EXPECT_EQ(first.runs.most, 3.0);
  EXPECT_NEAR(first.runs.cov, std::sqrt(2.0) / 2.0, 1e-15);
  EXPECT_NEAR(first.cov_of_ranks_and_threads, 0.2, 1e-15);
  EXPECT_EQ(second.path, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(second.runs.mean, 1.0);  // 0 in the run that does without
  EXPECT_EQ(second.runs.least, 0.0);
  EXPECT_EQ(second.cov_of_steps, 0.25);
  EXPECT_TRUE(v.steps.empty());
  EXPECT_EQ(variation_text(v).find("steps"), std::string::npos);
}

TEST(Variation, LongStepsAndThoseThatAreLongInMostRuns) {
  const std::vector<Json> runs{run({timer({"a"}, 1.0, 0.0)}, {1.0, 1.0, 2.0, 1.0}),
                               run({timer({"a"}, 1.0, 0.0)}, {1.0, 1.25, 3.0, 1.0}),
                               run({timer({"a"}, 1.0, 0.0)}, {1.0, 1.0, 1.0, 1.3})};
  const Variation v = variation_of(runs, all);
  ASSERT_EQ(v.steps.size(), 3U);
  EXPECT_EQ(v.steps[0].long_steps, (std::vector<std::int64_t>{5}));
  EXPECT_EQ(v.steps[1].long_steps, (std::vector<std::int64_t>{5}));  // 1.25 is 1.11 medians
  EXPECT_EQ(v.steps[2].long_steps, (std::vector<std::int64_t>{6}));
  EXPECT_EQ(v.often_long, (std::vector<std::int64_t>{5}));
  EXPECT_PRED2(test::has, variation_text(v), "Long in most of the runs: 5\n");
  const Json json = Json::parse(variation_json(v));
  EXPECT_EQ(json.at("long_in_most_runs").get<std::vector<int>>(), std::vector<int>{5});
  EXPECT_EQ(json.at("steps").at(1).at("seconds").at("most").get<double>(), 3.0);
}

TEST(Variation, SomeSteps) {
  const std::vector<Json> runs{run({timer({"a"}, 1.0, 0.0)}, {9.0, 1.0, 2.0, 9.0})};
  const Variation v = variation_of(runs, {4, 5});
  EXPECT_EQ(v.steps.at(0).seconds.n, 2);
  EXPECT_EQ(v.steps[0].seconds.mean, 1.5);
  EXPECT_EQ(v.steps[0].long_steps, (std::vector<std::int64_t>{5}));
  EXPECT_PRED2(test::has, test::error_of([&] { variation_of(runs, {7, 9}); }), "made steps 3 to 6");
}

}  // namespace
}  // namespace karst::variation_test
