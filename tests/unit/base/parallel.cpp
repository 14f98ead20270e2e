// SPDX-License-Identifier: BSD-3-Clause
#include "base/comm/parallel.hpp"

#include <gtest/gtest.h>

#include <random>

namespace karst::parallel_test {
namespace {

class Parallel : public ::testing::Test {
 protected:
  ~Parallel() override { set_n_threads(before_); }
  int before_ = n_threads();
};

TEST_F(Parallel, EveryIndexOnce) {
  for (const int threads : {1, 2, 3, 8}) {
    set_n_threads(threads);
    for (const std::int64_t n : {0, 1, 2, 7, 1000}) {
      std::vector<int> fixed(n), dynamic = fixed;
      parallel_for(n, [&](std::int64_t i) { ++fixed[i]; });
      parallel_for_dynamic(n, [&](std::int64_t i) { ++dynamic[i]; });
      EXPECT_EQ(fixed, std::vector<int>(n, 1)) << threads << " threads, n = " << n;
      EXPECT_EQ(dynamic, fixed) << threads << " threads, n = " << n;
    }
  }
}

TEST_F(Parallel, SharesAreEqualAndContiguous) {
  for (const std::int64_t n : {0, 1, 5, 16, 1000003}) {
    for (const std::int64_t m : {1, 2, 3, 7}) {
      EXPECT_EQ(detail::share_begin(n, 0, m), 0);
      EXPECT_EQ(detail::share_begin(n, m, m), n);
      for (std::int64_t t = 0; t < m; ++t) {
        const std::int64_t share = detail::share_begin(n, t + 1, m) - detail::share_begin(n, t, m);
        EXPECT_TRUE(share == n / m || share == n / m + 1);
      }
    }
  }
}

// Every index once, in contiguous shares; no thread has more than its share and one index.
TEST_F(Parallel, SharesOfEqualWeight) {
  for (const int threads : {1, 2, 3, 8}) {
    set_n_threads(threads);
    for (const int n : {0, 1, 2, 7, 1000}) {
      std::vector<std::int64_t> sums{5};  // the first sum counts for nothing
      for (int i = 0; i < n; ++i) sums.push_back(sums.back() + (i < n / 2 ? 1 : 9));
      std::vector<int> seen(n), by(seen);
      parallel_for_shares(sums, [&](std::int64_t i) {
        ++seen[i];
        by[i] = thread_number();
      });
      EXPECT_EQ(seen, std::vector<int>(n, 1));
      EXPECT_TRUE(std::ranges::is_sorted(by));
      std::vector<std::int64_t> weight(threads);
      for (std::size_t i = 0; i < by.size(); ++i) weight[by[i]] += sums[i + 1] - sums[i];
      for (const std::int64_t w : weight) EXPECT_LE(w, (sums.back() - sums[0]) / std::min(threads, std::max(n, 1)) + 9);
    }
  }
}

// Values over 16 decades: any other order of addition gives other last digits.
TEST_F(Parallel, SumIsBitwiseTheSameForAnyNumberOfThreads) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> exponent(-8.0, 8.0);
  for (const std::int64_t n : {1, 100, 5000, 3000000}) {
    std::vector<double> x(n);
    for (double& v : x) v = std::pow(10.0, exponent(random)) * (random() % 2 == 0 ? 1.0 : -1.0);
    const auto value = [&](std::int64_t i) { return x[i]; };
    set_n_threads(1);
    const double one = parallel_sum(n, value);
    for (const int threads : {2, 3, 5, 8}) {
      set_n_threads(threads);
      EXPECT_EQ(parallel_sum(n, value), one) << threads << " threads, n = " << n;
    }
  }
}

// Σ 1/i over 10^6: 14.392726722865723631... (Euler-Maclaurin); chunks and pairs lose less than plain addition.
TEST_F(Parallel, SumIsAccurate) {
  EXPECT_NEAR(parallel_sum(1000000, [](std::int64_t i) { return 1.0 / static_cast<double>(i + 1); }),
              14.392726722865723631, 1e-14);
  EXPECT_EQ(parallel_sum(0, [](std::int64_t) { return 1.0; }), 0.0);
}

TEST_F(Parallel, MaxSeesEveryValueAndNaN) {
  const auto peak = [](std::int64_t i) { return -std::abs(static_cast<double>(i) - 123456.0); };
  EXPECT_EQ(parallel_max(200000, peak), 0.0);
  EXPECT_EQ(parallel_max(0, peak), -std::numeric_limits<double>::infinity());
  for (const std::int64_t bad : {0, 5000, 9999}) {
    EXPECT_TRUE(std::isnan(parallel_max(10000, [&](std::int64_t i) { return i == bad ? std::nan("") : 1.0; })));
  }
}

TEST_F(Parallel, ReducesAnyType) {
  const auto pairs = parallel_reduce(
      std::int64_t{100000}, std::vector<int>{},
      [](std::int64_t i) { return i % 25000 == 0 ? std::vector{int(i)} : std::vector<int>{}; },
      [](std::vector<int> a, const std::vector<int>& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
      });
  EXPECT_EQ(pairs, (std::vector<int>{0, 25000, 50000, 75000}));  // in order
  EXPECT_TRUE(parallel_reduce(
      std::int64_t{1000}, false, [](std::int64_t i) { return i == 999; }, [](bool a, bool b) { return a || b; }));
}

TEST_F(Parallel, RethrowsTheErrorOfTheLowestIndex) {
  const auto fail = [](std::int64_t i) { require(i < 37, "box {} is broken", i); };
  for (const int threads : {1, 2, 7}) {
    set_n_threads(threads);
    for (int dynamic = 0; dynamic < 2; ++dynamic) {
      try {
        if (dynamic == 1) {
          parallel_for_dynamic(100, fail);
        } else {
          parallel_for(100, fail);
        }
        FAIL() << "no error came out";
      } catch (const Error& e) {
        EXPECT_STREQ(e.what(), "box 37 is broken");
      }
    }
    EXPECT_THROW(parallel_sum(10, [](std::int64_t) -> double { throw Error("no"); }), Error);
  }
}

TEST_F(Parallel, ThreadsAreCountedAndLoopsInsideLoopsRunAlone) {
  EXPECT_THROW(set_n_threads(0), Error);
  set_n_threads(3);
  EXPECT_EQ(n_threads(), 3);
  std::vector<int> used(3, 0), inner(3, 0);
  parallel_for(3, [&](std::int64_t) {
    const std::size_t me = thread_number();
    ++used[me];
    inner[me] = n_threads();
    parallel_for(10, [&](std::int64_t) { ++used[me]; });
  });
  EXPECT_EQ(used, (std::vector<int>{11, 11, 11}));
  EXPECT_EQ(inner, (std::vector<int>{1, 1, 1}));
}

}  // namespace
}  // namespace karst::parallel_test
