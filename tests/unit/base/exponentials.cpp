// SPDX-License-Identifier: BSD-3-Clause
#include "base/math/exponentials.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace karst::exponentials_test {
namespace {

constexpr double ulp = std::numeric_limits<double>::epsilon();

TEST(Exponentials, AreThoseOfTheLibrary) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> far(-699.0, 699.0), near(-0.01, 0.01);
  std::vector<double> x(41), y;
  for (int k = 0; k < 2000; ++k) {
    for (double& value : x) value = k % 2 == 0 ? far(random) : near(random);
    y = x;
    exponentials(y);
    for (std::size_t i = 0; i < x.size(); ++i) ASSERT_NEAR(y[i] / std::exp(x[i]), 1.0, 2.0 * ulp) << x[i];
  }
  std::vector<double> ends{0.0, -1e4, 1e4};
  exponentials(ends);
  EXPECT_EQ(ends[0], 1.0);
  EXPECT_NEAR(ends[1] / std::exp(-700.0), 1.0, 2.0 * ulp);
  EXPECT_NEAR(ends[2] / std::exp(700.0), 1.0, 2.0 * ulp);
}

TEST(Logarithms, AreThoseOfTheLibrary) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> far(-690.0, 690.0), digits(-16.0, -1.0);
  std::vector<double> x(41), y;
  for (int k = 0; k < 2000; ++k) {
    for (double& value : x) value = k % 2 == 0 ? std::exp(far(random)) : 1.0 + std::pow(10.0, digits(random));
    y = x;
    logarithms(y);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(y[i], std::log(x[i]), 2.0 * ulp * std::abs(std::log(x[i]))) << x[i];
  }
  std::vector<double> one{1.0};
  logarithms(one);
  EXPECT_EQ(one[0], 0.0);
}

}  // namespace
}  // namespace karst::exponentials_test
