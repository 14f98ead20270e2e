// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/job_words.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

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
TEST(Jobs, TransportStandsBehindTheTransientFlowThatItRidesAlongWith) {
  Config config;
  config.diffusion.axes = {0};
  config.flow.model = FlowModel::navier_stokes;
  config.transport.components.emplace_back();
  std::vector<std::string> names;
  for (const Job& job : asked_jobs(config)) names.emplace_back(job.word.name);
  EXPECT_EQ(names, (std::vector<std::string>{"flow", "transport", "diffusion"}));
  config.flow.model = FlowModel::stokes;
  EXPECT_EQ(asked_jobs(config).back().word.name, "transport");
}

}  // namespace
}  // namespace karst::job_words_test
