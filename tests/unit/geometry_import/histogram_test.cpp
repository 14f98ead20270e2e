// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "image_generator/random_numbers.hpp"
#include "support/image_files.hpp"

namespace karst::histogram_test {
namespace {

TEST(Histogram, BinsAreIntegersWhenTheyFit) {
  Histogram h = histogram_for(3, 7, GrayValues::integers);
  h.add(std::vector<float>{3, 3, 4, 7, 7, 7});
  EXPECT_EQ(h.count, (std::vector<std::int64_t>{2, 1, 0, 0, 3}));
  EXPECT_EQ(h.center(4), 7.0);
  EXPECT_EQ(histogram_for(-32768, 32767, GrayValues::integers).count.size(), 65536u);
  EXPECT_EQ(histogram_for(0, 4e9, GrayValues::integers).count.size(), 65536u);
  Histogram f = histogram_for(-1.5, 2.5, GrayValues::real);
  f.add(std::vector<float>{-1.5F, 2.5F});
  EXPECT_EQ(f.count.front(), 1);
  EXPECT_EQ(f.count.back(), 1);
}

TEST(Histogram, OtsuOfTwoValuesLiesInTheMiddle) {
  Histogram h = histogram_for(10, 30, GrayValues::integers);
  h.add(std::vector<float>{10, 10, 10, 30});
  EXPECT_EQ(otsu_threshold(h), 20.0);
  EXPECT_EQ(halfway_threshold(h), 20.0);
}

// Two normal peaks and a share of voxels at the wall with any value between, as blur makes them. The wall is halfway
// between the peaks; Otsu's threshold is drawn towards the larger class.
TEST(Histogram, HalfwayThresholdIsHalfwayWhateverTheShares) {
  const RandomNumbers random(1, 0);
  for (const double pore : {0.15, 0.3, 0.7}) {
    Histogram h = histogram_for(0, 255, GrayValues::integers);
    std::vector<float> values;
    for (std::uint64_t n = 0; n < 200000; ++n) {
      const double u = random.uniform(2 * n), wall = 0.2;
      const double mean = u < pore * (1 - wall) ? 60 : u < 1 - wall ? 180 : 60 + 120 * random.uniform(7000000 + n);
      values.push_back(static_cast<float>(std::clamp(std::round(mean + 8 * random.normal(n)), 0.0, 255.0)));
    }
    h.add(values);
    EXPECT_NEAR(halfway_threshold(h), 120, 2.5) << "pore " << pore << ", Otsu " << otsu_threshold(h);
  }
}

/// Largest Σ over classes of sum² / number, by trying all splits.
double best_score(const Histogram& h, int classes, std::size_t first = 0) {
  double best = -1, number = 0, sum = 0;
  for (std::size_t b = first; b < h.count.size(); ++b) {
    number += static_cast<double>(h.count[b]);
    sum += static_cast<double>(h.count[b]) * h.center(b);
    const double here = number > 0 ? sum * sum / number : 0;
    if (classes == 1 && b + 1 < h.count.size()) continue;
    best = std::max(best, classes == 1 ? here : here + best_score(h, classes - 1, b + 1));
  }
  return best;
}

double score(const Histogram& h, const std::vector<double>& limits) {
  double total = 0, number = 0, sum = 0;
  std::size_t c = 0;
  for (std::size_t b = 0; b < h.count.size(); ++b) {
    if (c < limits.size() && h.center(b) > limits[c]) {
      total += number > 0 ? sum * sum / number : 0;
      number = sum = 0;
      ++c;
    }
    number += static_cast<double>(h.count[b]);
    sum += static_cast<double>(h.count[b]) * h.center(b);
  }
  return total + sum * sum / number;
}

TEST(Histogram, MultiOtsuIsTheBestOfAllSplits) {
  const RandomNumbers random(3, 0);
  for (int trial = 0; trial < 12; ++trial) {
    Histogram h = histogram_for(5, 24, GrayValues::integers);
    for (std::size_t b = 0; b < h.count.size(); ++b)
      h.count[b] = std::max(0L, static_cast<std::int64_t>(40 * random.uniform(100 * std::uint64_t(trial) + b)) - 10);
    for (int classes = 2; classes <= 5; ++classes) {
      const std::vector<double> limits = multi_otsu(h, classes);
      ASSERT_EQ(limits.size(), std::size_t(classes - 1));
      EXPECT_TRUE(std::is_sorted(limits.begin(), limits.end()));
      EXPECT_NEAR(score(h, limits) / best_score(h, classes), 1, 1e-12) << trial << " " << classes;
    }
    EXPECT_NEAR(multi_otsu(h, 2)[0], otsu_threshold(h), 1e-9);
  }
}

// With 65536 bins groups of bins are searched first: what comes out cannot be bettered by moving a limit.
TEST(Histogram, MultiOtsuOfManyBinsIsRefined) {
  const RandomNumbers random(4, 0);
  Histogram h = histogram_for(0, 65535, GrayValues::integers);
  std::vector<float> values;
  for (std::uint64_t n = 0; n < 60000; ++n)
    values.push_back(
        static_cast<float>(std::round(20000 * (1 + static_cast<double>(n % 3)) - 10000 + 4500 * random.normal(n))));
  h.add(values);
  const std::vector<double> limits = multi_otsu(h, 3);
  EXPECT_NEAR(limits[0], 20000, 200);
  EXPECT_NEAR(limits[1], 40000, 200);
  const double best = score(h, limits);
  for (const double move : {-64.0, -5.0, 5.0, 64.0})
    for (std::size_t c = 0; c < 2; ++c) {
      std::vector<double> other = limits;
      other[c] += move;
      EXPECT_LE(score(h, other), best * (1 + 1e-13)) << c << " " << move;
    }
}

TEST(Histogram, MultiOtsuNeedsEnoughValues) {
  Histogram h = histogram_for(0, 255, GrayValues::integers);
  h.count[3] = h.count[200] = 5;
  EXPECT_TRUE(test::has(test::error_of([&] { multi_otsu(h, 3); }), "3 classes given, but the image has only 2"));
  EXPECT_TRUE(test::has(test::error_of([&] { multi_otsu(h, 6); }), "allowed are 2 to 5"));
  EXPECT_EQ(multi_otsu(h, 2), std::vector<double>{101.5});
}

TEST(Histogram, PeaksAndWhatLiesHalfwayBetweenThem) {
  Histogram h = histogram_for(0, 255, GrayValues::integers);
  for (const std::size_t b : {20, 80, 200}) h.count[b - 1] = h.count[b + 1] = 10, h.count[b] = 30;
  const std::vector<double> limits{40, 100, 250}, peaks = class_peaks(h, limits);
  EXPECT_NEAR(peaks[0], 20, 1e-6);
  EXPECT_NEAR(peaks[2], 200, 1e-6);
  EXPECT_TRUE(std::isnan(peaks[3]));
  const std::vector<double> halfway = halfway_limits(h, limits);
  EXPECT_NEAR(halfway[0], 50, 1e-6);
  EXPECT_NEAR(halfway[1], 140, 1e-6);
  EXPECT_EQ(halfway[2], 250.0) << "beside an empty class";
}

/// Normal numbers of standard deviation 10 around each mean, `share` of 100 000 of them.
Histogram bells(const std::vector<std::pair<double, double>>& means_and_shares) {
  const RandomNumbers random(3, 1);
  Histogram h = histogram_for(0, 255, GrayValues::integers);
  std::uint64_t next = 0;
  for (const auto& [mean, share] : means_and_shares) {
    std::vector<float> values;
    for (int n = 0; n < share * 100'000; ++n)
      values.push_back(static_cast<float>(std::round(mean + 10 * random.normal(next++))));
    h.add(values);
  }
  return h;
}

// Two bells are two peaks from a distance of about 3 standard deviations on, however unequal; a flat top, a shoulder
// and the noise of counting are none.
TEST(Histogram, PeaksAreWhatRises) {
  const std::vector<double> two = histogram_peaks(bells({{80, 0.3}, {180, 0.7}}), 3);
  ASSERT_EQ(two.size(), 2U);
  EXPECT_NEAR(two[0], 80, 2);
  EXPECT_NEAR(two[1], 180, 2);
  EXPECT_EQ(histogram_peaks(bells({{80, 0.02}, {180, 0.98}}), 3).size(), 2U);
  EXPECT_EQ(histogram_peaks(bells({{80, 0.3}, {130, 0.3}, {200, 0.4}}), 3).size(), 3U);
  EXPECT_EQ(histogram_peaks(bells({{120, 0.5}, {145, 0.5}}), 3).size(), 1U);
  EXPECT_EQ(histogram_peaks(bells({{120, 0.5}, {165, 0.5}}), 3).size(), 2U);
  Histogram flat = histogram_for(0, 99, GrayValues::integers);
  for (std::int64_t& c : flat.count) c = 1000;
  EXPECT_LE(histogram_peaks(flat, 3).size(), 1U);
  const RandomNumbers random(5, 1);
  for (std::size_t b = 0; b < flat.count.size(); ++b) flat.count[b] += static_cast<std::int64_t>(30 * random.normal(b));
  EXPECT_LE(histogram_peaks(flat, 3).size(), 1U);
}

// 10, 10, 20, 30: half of the values lie in the bin of 10.
TEST(Histogram, QuantilesLieInTheirBin) {
  Histogram h = histogram_for(10, 30, GrayValues::integers);
  h.add(std::vector<float>{10, 10, 20, 30});
  EXPECT_DOUBLE_EQ(h.quantile(0.25), 10.0);
  EXPECT_DOUBLE_EQ(h.quantile(0.5), 10.5);
  EXPECT_DOUBLE_EQ(h.quantile(0.75), 20.5);
  EXPECT_DOUBLE_EQ(h.quantile(1.0), 30.5);
}

TEST(Histogram, CountsBelowALimitAndReduces) {
  Histogram h = histogram_for(0, 9, GrayValues::integers);
  h.add(std::vector<float>{0, 1, 1, 5, 9});
  EXPECT_EQ(h.below(-3), 0.0);
  EXPECT_EQ(h.below(1.0), 2.0) << "half of the bin of 1";
  EXPECT_EQ(h.below(1.5), 3.0);
  EXPECT_EQ(h.below(20), 5.0);
  EXPECT_EQ(h.filled(), 4);
  const Histogram r = h.reduced(4);
  EXPECT_EQ(r.count, (std::vector<std::int64_t>{3, 1, 0, 1}));
  EXPECT_EQ(r.low, -0.5);
  EXPECT_EQ(r.high, 11.5);
}

}  // namespace
}  // namespace karst::histogram_test
