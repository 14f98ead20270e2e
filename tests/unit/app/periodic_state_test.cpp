// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/periodic_state.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

namespace karst::periodic_state_test {
namespace {

struct History {
  std::vector<double> time, values;
};
History history(double dt, double end, const std::function<double(double)>& f) {
  History h;
  for (int i = 0; i * dt <= end; ++i) {
    h.time.push_back(dt * (i + 0.3 * std::sin(i)));  // steps of different length
    h.values.push_back(f(h.time.back()));
  }
  return h;
}
constexpr double two_pi = 2.0 * std::numbers::pi;

// 3 + 2 cos(2π 50 t - 0.4) after a start-up: frequency, mean, amplitude and phase, of second order in the steps.
TEST(PeriodicState, OfACosine) {
  double coarse = 0.0;
  for (const double dt : {4e-4, 2e-4}) {
    const History h = history(
        dt, 0.2, [](double t) { return 3.0 + 2.0 * std::cos(two_pi * 50.0 * t - 0.4) - 5.0 * std::exp(-t / 0.004); });
    const auto state = periodic_state(h.time, h.values);
    ASSERT_TRUE(state);
    EXPECT_NEAR(state->frequency(), 50.0, 0.01);
    EXPECT_NEAR(state->mean, 3.0, 1e-3);
    EXPECT_NEAR(state->amplitude, 2.0, 0.01);
    const std::complex<double> a = fourier_amplitude(*state, h.time, h.values);
    const double error = std::abs(a - std::polar(2.0, -0.4));
    EXPECT_LT(error, 100.0 * 50.0 * 50.0 * dt * dt);
    if (coarse > 0.0) {
      EXPECT_LT(error, 0.35 * coarse);
    }
    coarse = error;
  }
}

// A square pulse repeats as well.
TEST(PeriodicState, OfASquarePulse) {
  const History square = history(1e-3, 5.0, [](double t) { return t - std::floor(t) < 0.3 ? 1.0 : 0.0; });
  const auto state = periodic_state(square.time, square.values);
  ASSERT_TRUE(state);
  EXPECT_NEAR(state->frequency(), 1.0, 2e-3);
  EXPECT_NEAR(state->mean, 0.3, 2e-3);
  EXPECT_NEAR(state->amplitude, 0.5, 1e-12);
}

TEST(PeriodicState, IsNoneWhereNothingRepeats) {
  const auto none = [](const std::function<double(double)>& f, double end = 1.0) {
    const History h = history(1e-3, end, f);
    return !periodic_state(h.time, h.values).has_value();
  };
  EXPECT_TRUE(none([](double) { return 1.0; }));
  EXPECT_TRUE(none([](double t) { return 1.0 - std::exp(-t / 0.1); }));
  EXPECT_TRUE(none([](double t) { return std::exp(-t / 0.5) * std::cos(two_pi * 10.0 * t); }));  // dies away
  EXPECT_TRUE(none([](double t) { return std::cos(two_pi * 10.0 * t * t); }));                   // gets faster
  EXPECT_TRUE(none([](double t) { return 1.0 + 1e-4 * std::cos(two_pi * 10.0 * t); }));          // round-off, nearly
  EXPECT_TRUE(none([](double t) { return std::cos(two_pi * t); }, 1.6));                         // too short
  EXPECT_FALSE(none([](double t) { return std::cos(two_pi * 10.0 * t); }));
}

}  // namespace
}  // namespace karst::periodic_state_test
