// SPDX-License-Identifier: BSD-3-Clause
#include "transport/breakthrough.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace karst::breakthrough_test {
namespace {

/// A signal with the means of f over n equal steps up to `end`.
template <class F>
SignalMoments signal(double start, double end, int n, F&& f) {
  SignalMoments s(start);
  for (int i = 1; i <= n; ++i) s.add(end * i / n, f(end * (i - 0.5) / n));
  return s;
}

// One well stirred vessel after a front: 1 - exp(-t/T). Mean T, variance T².
TEST(Breakthrough, FrontThroughAStirredVessel) {
  const double mean = 3.0, end = 90.0;
  const auto in = signal(0.2, end, 20000, [](double) { return 1.2; });
  const auto out = signal(0.2, end, 20000, [&](double t) { return 0.2 + 1.0 - std::exp(-t / mean); });
  const auto b = breakthrough(in, out);
  ASSERT_TRUE(b);
  EXPECT_FALSE(b->pulse);
  EXPECT_NEAR(b->recovered, 1.0, 1e-9);
  EXPECT_NEAR(b->mean_time, mean, 1e-4);
  EXPECT_NEAR(b->variance, mean * mean, 1e-3);
}

// A vessel cut off at four times its mean: more than half of what the variance misses is told of.
TEST(Breakthrough, WhatACurveThatIsCutOffMisses) {
  const double mean = 3.0, end = 4.0 * mean;
  const auto in = signal(0.0, end, 20000, [](double) { return 1.0; });
  const auto out = signal(0.0, end, 20000, [&](double t) { return 1.0 - std::exp(-t / mean); });
  const auto b = breakthrough(in, out);
  ASSERT_TRUE(b);
  const double really = mean * mean / b->variance - 1.0;
  EXPECT_NEAR(really, 0.437, 1e-3);
  EXPECT_NEAR(missing_variance(*b, end), 0.249, 1e-3);  // as if all of the rest left then
  EXPECT_LT(missing_variance({false, 1.0, mean, 9.0}, end), 1e-12);
}

// A pulse of length w, delayed and spread by n stirred vessels, or not at all: the inlet's own moments are taken away.
TEST(Breakthrough, PulseThatIsDelayedAndSpread) {
  const double w = 2.0, delay = 5.0, end = 40.0;
  const auto in = signal(0.0, end, 8000, [&](double t) { return t < w ? 3.0 : 0.0; });
  const auto late = signal(0.0, end, 8000, [&](double t) { return t > delay && t < delay + w ? 3.0 : 0.0; });
  const auto b = breakthrough(in, late);
  ASSERT_TRUE(b && b->pulse);
  EXPECT_NEAR(b->mean_time, delay, 1e-9);
  EXPECT_NEAR(b->variance, 0.0, 1e-9);
  EXPECT_NEAR(b->recovered, 1.0, 1e-12);
  const auto spread = signal(0.0, end, 8000, [&](double t) { return t > delay && t < delay + 2 * w ? 1.5 : 0.0; });
  EXPECT_NEAR(breakthrough(in, spread)->variance, w * w / 4.0, 1e-9);  // (2w)²/12 - w²/12
}

TEST(Breakthrough, WhatHasNotComeOutHasNoMoments) {
  const auto in = signal(0.0, 1.0, 100, [](double) { return 1.0; });
  EXPECT_FALSE(breakthrough(in, signal(0.0, 1.0, 100, [](double) { return 0.5; })));
  EXPECT_FALSE(breakthrough(SignalMoments(), SignalMoments()));
}

// Levenspiel, chapter 13: 2 δ - 2 δ² for little dispersion, 1 for a stirred vessel.
TEST(Breakthrough, DispersionOfAClosedVessel) {
  for (const double d : {1e-3, 0.02, 0.12, 1.0, 7.0}) {
    const double variance = 2.0 * d - 2.0 * d * d * (1.0 - std::exp(-1.0 / d));
    EXPECT_NEAR(closed_vessel_dispersion(variance).value(), d, 1e-8 * d);
  }
  EXPECT_NEAR(closed_vessel_dispersion(0.211).value(), 0.120, 1e-3);  // example 13.1: σ²θ = 0.211, δ = 0.120
  EXPECT_FALSE(closed_vessel_dispersion(0.0));
  EXPECT_FALSE(closed_vessel_dispersion(1.0));
}

}  // namespace
}  // namespace karst::breakthrough_test
