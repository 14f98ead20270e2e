// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/job_words.hpp"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace karst::job_words_test
