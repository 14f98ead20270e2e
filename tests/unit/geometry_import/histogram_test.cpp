// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "geometry_import/random_numbers.hpp"

namespace karst {
namespace {

TEST(Histogram, BinsAreIntegersWhenTheyFit) {
  Histogram h = histogram_for(3, 7, true);
  h.add(std::vector<float>{3, 3, 4, 7, 7, 7});
  EXPECT_EQ(h.count, (std::vector<std::int64_t>{2, 1, 0, 0, 3}));
  EXPECT_EQ(h.center(4), 7.0);
  EXPECT_EQ(histogram_for(-32768, 32767, true).count.size(), 65536u);
  EXPECT_EQ(histogram_for(0, 4e9, true).count.size(), 65536u);
  Histogram f = histogram_for(-1.5, 2.5, false);
  f.add(std::vector<float>{-1.5F, 2.5F});
  EXPECT_EQ(f.count.front(), 1);
  EXPECT_EQ(f.count.back(), 1);
}

TEST(Histogram, OtsuOfTwoValuesLiesInTheMiddle) {
  Histogram h = histogram_for(10, 30, true);
  h.add(std::vector<float>{10, 10, 10, 30});
  EXPECT_EQ(otsu_threshold(h), 20.0);
  EXPECT_EQ(halfway_threshold(h), 20.0);
}

// Two normal peaks and a share of voxels at the wall with any value between, as blur makes them. The wall is halfway
// between the peaks; Otsu's threshold is drawn towards the larger class.
TEST(Histogram, HalfwayThresholdIsHalfwayWhateverTheShares) {
  const RandomNumbers random(1, 0);
  for (const double pore : {0.15, 0.3, 0.7}) {
    Histogram h = histogram_for(0, 255, true);
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

}  // namespace
}  // namespace karst
