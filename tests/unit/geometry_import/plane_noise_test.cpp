// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/wall/plane_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "geometry_import/voxels/clusters.hpp"
#include "geometry_import/voxels/diffusion.hpp"
#include "image_generator/random_numbers.hpp"

namespace karst::plane_noise_test {
namespace {

constexpr int n = 64;
const ImageWindow window{{n, n, 4}, 0, 4};

/// Noise of standard deviation 0.1 for x < 32 (pore) and 0.3 beyond (solid), on a trend across all of the range.
std::vector<float> values_with(double trend) {
  const RandomNumbers random(7, 1);
  std::vector<float> values;
  for (std::size_t i = 0; i < window.count(); ++i) {
    const auto x = static_cast<double>(i % n);
    values.push_back(static_cast<float>(trend * x + (x < 32 ? 0.1 : 0.3) * random.normal(i)));
  }
  return values;
}
std::vector<std::uint8_t> halves() {
  std::vector<std::uint8_t> phases;
  for (std::size_t i = 0; i < window.count(); ++i) phases.push_back(i % n < 32 ? inner_pore : inner_solid);
  return phases;
}

// Each phase has its own, whatever trend there is; both together by numbers. 5 000 places a phase: 1.17 / √(2 · 5000)
// of it is one standard deviation of the median.
TEST(PlaneNoise, SeesNoTrend) {
  for (const double trend : {0.0, 0.5}) {
    PlaneNoise noise(10);
    noise.add(window, values_with(trend), halves());
    EXPECT_NEAR(noise.of(inner_pore), 0.1, 0.004) << trend;
    EXPECT_NEAR(noise.of(inner_solid), 0.3, 0.012) << trend;
    EXPECT_NEAR(noise.of_both(), std::sqrt((0.01 + 0.09) / 2), 0.008) << trend;
  }
}

// One voxel in a hundred far off does not matter; noise smoothed by half a voxel is seen whole, where neighbours alone
// would tell three quarters of it.
TEST(PlaneNoise, SeesWhatNeighboursShare) {
  std::vector<float> values = values_with(0.0);
  for (std::size_t i = 0; i < values.size(); i += 100) values[i] = 5;
  PlaneNoise odd(10);
  odd.add(window, values, halves());
  EXPECT_NEAR(odd.of(inner_pore), 0.1, 0.008);
  values = values_with(0.0);
  diffuse(window, 0.25, values);
  double sum = 0;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (i % n < 28) sum += std::pow(double{values[i]}, 2);
  PlaneNoise smooth(10);
  smooth.add(window, values, halves());
  EXPECT_NEAR(smooth.of(inner_pore), std::sqrt(sum / (28.0 * n * 4)), 0.003);
}

TEST(PlaneNoise, KnowsWhenItKnowsNothing) {
  const std::vector<std::uint8_t> none(window.count(), near_wall);
  PlaneNoise noise(1);
  noise.add(window, values_with(0.0), none);
  EXPECT_TRUE(std::isnan(noise.of(inner_pore)));
  EXPECT_TRUE(std::isnan(noise.of_both()));
  PlaneNoise flat(1);
  flat.add(window, std::vector<float>(window.count(), 0.5F), halves());
  EXPECT_LT(flat.of(inner_pore), 1e-3);
}

// A pore of 3³ voxels in a solid: its middle is inner pore, and the solid from the second voxel on is inner solid; what
// is outside of the sample does not count as another phase.
TEST(PlaneNoise, InnerPhasesAreAVoxelAwayFromTheWall) {
  const ImageWindow all{Index::all(9), 0, 9};
  std::vector<std::uint8_t> labels(all.count(), 1);
  const auto place = [](int x, int y, int z) { return static_cast<std::size_t>((z * 9 + y) * 9 + x); };
  for (int z = 3; z < 6; ++z)
    for (int y = 3; y < 6; ++y)
      for (int x = 3; x < 6; ++x) labels[place(x, y, z)] = pore_label;
  labels[place(0, 4, 4)] = outside_label;
  labels[place(8, 8, 8)] = 2;  // another mineral is solid
  const Array<std::uint8_t> inner = inner_phases(all, labels, all);
  EXPECT_EQ(inner[place(4, 4, 4)], inner_pore);
  EXPECT_EQ(inner[place(3, 4, 4)], near_wall);
  EXPECT_EQ(inner[place(2, 2, 2)], near_wall);
  EXPECT_EQ(inner[place(1, 4, 4)], inner_solid);
  EXPECT_EQ(inner[place(0, 4, 4)], near_wall);
  EXPECT_EQ(inner[place(7, 7, 7)], inner_solid);
  const Array<std::uint8_t> part = inner_phases(all, labels, {all.image, 4, 5});
  EXPECT_EQ(part[4 * 9 + 4], inner_pore);
}

}  // namespace
}  // namespace karst::plane_noise_test
