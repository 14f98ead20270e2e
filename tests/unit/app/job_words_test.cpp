// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/config.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/job/exchange.hpp"
#include "app/job/job.hpp"

namespace karst::job_words_test {
namespace {

// What a deck can ask for are the jobs there are, in the order in which they run.
TEST(Jobs, AreThoseThatADeckCanAskFor) {
  ASSERT_EQ(job_words().size(), jobs().size());
  for (std::size_t i = 0; i < jobs().size(); ++i) {
    EXPECT_EQ(jobs()[i].word.name, job_words()[i].name);
    EXPECT_EQ(&job_word(jobs()[i].word.name), &job_words()[i]);
  }
}

// Also where a steady job stands between both in the list of jobs.
TEST(Jobs, TransportGoesThroughTimeWithTheTransientFlowThatItTakes) {
  Config config;
  config.diffusion.axes = {0};
  config.flow.model = FlowModel::navier_stokes;
  config.transport.components.emplace_back();
  std::vector<std::string> names;
  for (const Job& job : asked_jobs(config)) names.emplace_back(job.word.name);
  EXPECT_EQ(names, (std::vector<std::string>{"flow", "transport", "diffusion"}));
  EXPECT_EQ(n_together(asked_jobs(config), config), 2U);
  EXPECT_EQ(taken_by(asked_jobs(config), config), std::vector{ExchangeName::flow});
  config.flow.model = FlowModel::stokes;
  EXPECT_EQ(asked_jobs(config).back().word.name, "transport");
  EXPECT_EQ(n_together(asked_jobs(config), config), 1U);
  config.flow.model = FlowModel::none;
  EXPECT_TRUE(taken_by(asked_jobs(config), config).empty());
}

/// A job of this name in time.
Job job_in_time(std::string_view name, std::vector<ExchangeName> gives, bool takes) {
  Job job = transport_job();
  job.word.name = name;
  job.gives = std::move(gives);
  job.in_time = [](const Config&) { return true; };
  job.takes = [](const Config&) { return std::vector<ExchangeName>(); };
  if (takes) job.takes = [](const Config&) { return std::vector{ExchangeName::flow}; };
  return job;
}

// Behind what they take, in a row with those whose time they share; what none gives is named.
TEST(Jobs, OrderFollowsFromWhatTheyGiveAndTake) {
  const Config config;
  const Job taker = job_in_time("taker", {}, true), other = job_in_time("other", {}, false),
            giver = job_in_time("giver", {ExchangeName::flow}, false);
  const std::vector<Job> ordered = in_order({taker, other, giver}, config);
  std::vector<std::string_view> names;
  for (const Job& job : ordered) names.push_back(job.word.name);
  EXPECT_EQ(names, (std::vector<std::string_view>{"other", "giver", "taker"}));
  EXPECT_EQ(n_together(ordered, config), 1U);
  EXPECT_EQ(n_together(std::span(ordered).subspan(1), config), 2U);
  EXPECT_TRUE(not_given(ordered, config).empty());
  const std::vector<std::string> missing = not_given(std::span(&taker, 1), config);
  ASSERT_EQ(missing.size(), 1U);
  EXPECT_EQ(missing[0], "taker: it needs the flow, which no job that the deck requests computes");
  const Job one = job_in_time("one", {ExchangeName::flow}, true), two = job_in_time("two", {ExchangeName::flow}, true);
  EXPECT_THROW(in_order({one, two}, config), Error);
}

}  // namespace
}  // namespace karst::job_words_test
