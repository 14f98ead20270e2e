// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/threads.hpp"

#include <gtest/gtest.h>

#include "base/comm/parallel.hpp"
#include "base/core/traffic.hpp"

namespace karst::threads_test {
namespace {

RankPlace place(std::uint64_t node, int first, int last) {
  RankPlace p{node, {}};
  for (int i = first; i <= last; ++i) p.processors.set(static_cast<std::size_t>(i));
  return p;
}

TEST(Threads, OneRankHasTheWholeNode) { EXPECT_EQ(share_of_processors({place(1, 0, 15)}, 0), 16); }

TEST(Threads, UnboundRanksOfANodeShareIt) {
  const std::vector<RankPlace> ranks(3, place(1, 0, 7));
  for (int r = 0; r < 3; ++r) EXPECT_NEAR(share_of_processors(ranks, r), 8.0 / 3.0, 1e-12);
}

TEST(Threads, BoundRanksHaveWhatTheyAreBoundTo) {
  const std::vector<RankPlace> ranks{place(1, 0, 3), place(1, 4, 7)};
  EXPECT_EQ(share_of_processors(ranks, 0), 4);
  EXPECT_EQ(share_of_processors(ranks, 1), 4);
}

TEST(Threads, OtherNodesDoNotCount) {
  const std::vector<RankPlace> ranks{place(1, 0, 7), place(2, 0, 7), place(2, 0, 7)};
  EXPECT_EQ(share_of_processors(ranks, 0), 8);
  EXPECT_EQ(share_of_processors(ranks, 2), 4);
}

TEST(Threads, MoreRanksThanProcessorsGetAPartOfOneEach) {
  EXPECT_NEAR(share_of_processors(std::vector<RankPlace>(5, place(1, 0, 1)), 4), 0.4, 1e-12);
}

TEST(ThreadsMpi, WhatIsAskedForIsSet) {
  const int before = n_threads();
  EXPECT_EQ(choose_threads(Comm::world(), 3).threads, 3);
  EXPECT_EQ(n_threads(), 3);
  EXPECT_FALSE(choose_threads(Comm::world(), 4096).warning.empty());
  set_n_threads(before);
  count_processor_time(false);
}

}  // namespace
}  // namespace karst::threads_test
