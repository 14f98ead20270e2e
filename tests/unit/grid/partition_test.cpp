// SPDX-License-Identifier: BSD-3-Clause
#include "grid/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <span>

#include "base/core/error.hpp"
#include "unit/grid/model.hpp"

namespace karst::partition_test {
namespace {

double heaviest(const std::vector<double>& w, const std::vector<std::int64_t>& begin) {
  double largest = 0.0;
  for (std::size_t r = 0; r + 1 < begin.size(); ++r)
    largest = std::max(largest, std::accumulate(w.begin() + begin[r], w.begin() + begin[r + 1], 0.0));
  return largest;
}

/// Smallest possible longest time, by trying every cut.
/// @param slowness  of the ranks that are left
double best(const std::vector<double>& w, std::size_t first, std::span<const double> slowness) {
  if (slowness.size() == 1)
    return slowness[0] * std::accumulate(w.begin() + static_cast<std::ptrdiff_t>(first), w.end(), 0.0);
  double smallest = std::numeric_limits<double>::infinity(), mine = 0.0;
  for (std::size_t end = first;; ++end) {
    smallest = std::min(smallest, std::max(slowness[0] * mine, best(w, end, slowness.subspan(1))));
    if (end == w.size()) return smallest;
    mine += w[end];
  }
}

void expect_valid(const Partition& p, std::size_t n, int n_ranks) {
  ASSERT_EQ(p.begin.size(), static_cast<std::size_t>(n_ranks) + 1);
  EXPECT_EQ(p.begin.front(), 0);
  EXPECT_EQ(p.begin.back(), static_cast<std::int64_t>(n));
  EXPECT_TRUE(std::is_sorted(p.begin.begin(), p.begin.end()));
}

// Weights are whole numbers, so sums are exact and the optimum is met exactly.
TEST(Partition, IsOptimal) {
  for (int seed = 0; seed < 200; ++seed) {
    const int n = static_cast<int>(test::mixed({seed}) % 9), n_ranks = 1 + static_cast<int>(test::mixed({seed, 1}) % 5);
    std::vector<double> w;
    for (int i = 0; i < n; ++i) w.push_back(static_cast<double>(test::mixed({seed, 2, i}) % 20));  // zeros too
    const Partition p = partition(w, n_ranks);
    expect_valid(p, w.size(), n_ranks);
    EXPECT_EQ(heaviest(w, p.begin), best(w, 0, std::vector<double>(n_ranks, 1.0))) << "seed " << seed;
    EXPECT_EQ(p.largest, heaviest(w, p.begin));
  }
}

// Slowness of powers of 2: products are exact, too.
TEST(Partition, IsOptimalForRanksOfDifferentSpeed) {
  for (int seed = 0; seed < 200; ++seed) {
    const int n = static_cast<int>(test::mixed({seed}) % 9), n_ranks = 1 + static_cast<int>(test::mixed({seed, 1}) % 5);
    std::vector<double> w, slowness;
    for (int i = 0; i < n; ++i) w.push_back(static_cast<double>(test::mixed({seed, 2, i}) % 20));
    for (int r = 0; r < n_ranks; ++r)
      slowness.push_back(std::ldexp(1.0, static_cast<int>(test::mixed({seed, 3, r}) % 4)));
    const Partition p = partition(w, n_ranks, slowness);
    expect_valid(p, w.size(), n_ranks);
    double longest = 0.0;
    for (std::size_t r = 0; r < slowness.size(); ++r)
      longest =
          std::max(longest, slowness[r] * std::accumulate(w.begin() + p.begin[r], w.begin() + p.begin[r + 1], 0.0));
    EXPECT_EQ(longest, best(w, 0, slowness)) << "seed " << seed;
    EXPECT_EQ(p.largest, longest);
  }
}

// A rank at half speed gets half of what the other gets.
TEST(Partition, ASlowRankGetsLess) {
  const Partition p = partition(std::vector<double>(300, 1.0), 2, std::vector<double>{1.0, 2.0});
  EXPECT_EQ(p.begin[1], 200);
  EXPECT_NEAR(p.imbalance, 1.0, 1e-12);
  EXPECT_THROW(partition(std::vector<double>(3, 1.0), 2, std::vector<double>{1.0, 0.0}), Error);
  EXPECT_THROW(partition(std::vector<double>(3, 1.0), 2, std::vector<double>{1.0}), Error);
}

// A cut is within one weight of the equal share, whatever the weights: sum / n <= largest <= sum / n + max.
TEST(Partition, StaysWithinOneWeightOfTheMean) {
  std::vector<double> w;
  for (int i = 0; i < 20000; ++i) w.push_back(1e-3 * static_cast<double>(1 + test::mixed({i}) % 1000));
  const double sum = std::accumulate(w.begin(), w.end(), 0.0);
  for (const int n_ranks : {1, 2, 7, 64, 1000}) {
    const Partition p = partition(w, n_ranks);
    expect_valid(p, w.size(), n_ranks);
    EXPECT_LE(heaviest(w, p.begin), sum / n_ranks + 1.0);
    EXPECT_NEAR(p.imbalance, heaviest(w, p.begin) * n_ranks / sum, 1e-9);
  }
}

TEST(Partition, EqualWeightsGiveEqualShares) {
  const Partition p = partition(std::vector<double>(10, 1.0), 4);
  for (int r = 0; r < 4; ++r) {
    const auto n = p.begin[r + 1] - p.begin[r];
    EXPECT_TRUE(n == 2 || n == 3) << n;  // not 3 3 3 1
  }
}

TEST(Partition, MoreRanksThanItemsNoItemsNoWeight) {
  EXPECT_EQ(partition(std::vector<double>{1, 1, 1}, 8).largest, 1.0);
  expect_valid(partition(std::vector<double>{1, 1, 1}, 8), 3, 8);
  expect_valid(partition(std::vector<double>{}, 3), 0, 3);
  const Partition zero = partition(std::vector<double>(9, 0.0), 3);
  EXPECT_EQ(zero.begin, (std::vector<std::int64_t>{0, 3, 6, 9}));
  EXPECT_EQ(zero.imbalance, 1.0);
}

TEST(Partition, BadWeightsAreNamed) {
  EXPECT_THROW(partition(std::vector<double>{1.0, -1.0}, 2), Error);
  EXPECT_THROW(partition(std::vector<double>{std::numeric_limits<double>::infinity()}, 2), Error);
  EXPECT_THROW(partition(std::vector<double>{1.0}, 0), Error);
}

}  // namespace
}  // namespace karst::partition_test
