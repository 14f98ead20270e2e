// SPDX-License-Identifier: BSD-3-Clause
#include "eb/link/least_squares.hpp"

#include <gtest/gtest.h>

#include <numeric>

#include "support/level_cases.hpp"

namespace karst::least_squares_test {
namespace {

std::vector<Vec3> scattered(int n, std::uint64_t seed) {
  test::Random random(seed);
  std::vector<Vec3> r;
  for (int i = 0; i < n; ++i) r.push_back({3 * random() - 1.5, 3 * random() - 1.5, 3 * random() - 1.5});
  return r;
}

TEST(LeastSquares, GradientOfLinearFunctionsIsExact) {
  const Vec3 g{0.3, -1.1, 2.0};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto r = scattered(5, seed);
    const GradientFit fit = fit_gradient(r, 1e-3);
    Vec3 found;
    for (std::size_t i = 0; i < r.size(); ++i) found += dot(g, r[i]) * fit.weight[i];
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(found[d], g[d], 1e-10) << "seed " << seed;
    EXPECT_EQ(fit.resolved, 3);
  }
}

TEST(LeastSquares, CentralDifferencesOnACross) {
  const std::vector<Vec3> cross{{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  const GradientFit fit = fit_gradient(cross, 1.0);
  EXPECT_NEAR(fit.quality, 2.0, 1e-14);
  EXPECT_NEAR(fit.weight[0][0], 0.5, 1e-14);
  EXPECT_NEAR(fit.weight[0][1], 0.0, 1e-14);
}

// Points in a plane: the direction across it stays 0.
TEST(LeastSquares, UnresolvedDirectionIsZero) {
  const std::vector<Vec3> plane{{1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  const GradientFit fit = fit_gradient(plane, 0.02);
  EXPECT_EQ(fit.resolved, 2);
  for (const Vec3& w : fit.weight) EXPECT_NEAR(w[2], 0.0, 1e-14);
}

TEST(LeastSquares, PolynomialsAreExact) {
  const auto quadratic = [](const Vec3& r) { return 2 + r[0] - r[1] * r[2] + 3 * r[2] * r[2] + 0.5 * r[0] * r[1]; };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto r = scattered(25, seed);
    const std::vector<double> w = fit_polynomial(r, 2);
    double value = 0.0;
    for (std::size_t i = 0; i < r.size(); ++i) value += w[i] * quadratic(r[i]);
    EXPECT_NEAR(value, 2.0, 1e-9) << "seed " << seed;
    EXPECT_NEAR(std::accumulate(w.begin(), w.end(), 0.0), 1.0, 1e-12);
  }
}

// The same for polynomials of degree 3, with all their terms.
TEST(LeastSquares, CubicIsExact) {
  const auto cubic = [](const Vec3& r) {
    const double x = r[0], y = r[1], z = r[2];
    return 2 + x - y * z + 3 * z * z + x * x * x - 2 * y * y * y + 0.5 * z * z * z + x * x * y + 3 * x * x * z -
           x * y * y + 2 * y * y * z + 0.7 * x * z * z - y * z * z + 1.5 * x * y * z;
  };
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto r = scattered(40, seed);
    const std::vector<double> w = fit_polynomial(r, 3);
    double value = 0.0;
    for (std::size_t i = 0; i < r.size(); ++i) value += w[i] * cubic(r[i]);
    EXPECT_NEAR(value, 2.0, 1e-9) << "seed " << seed;
  }
}

// Few points: what they do not determine is left out, constants stay exact.
TEST(LeastSquares, FewPointsKeepConstants) {
  for (const int n : {1, 2, 3, 5, 8}) {
    const std::vector<double> w = fit_polynomial(scattered(n, 3), 2);
    EXPECT_NEAR(std::accumulate(w.begin(), w.end(), 0.0), 1.0, 1e-10) << n;
  }
}

// A plane through four points of 1 - x²: 1/4 and 9/4 from the place, squared. Their weights are 1/(1/2) and 1/(5/2), or
// the cubes of these.
TEST(LeastSquares, ClosePointsCountMore) {
  const std::vector<Vec3> r{{-1.5, 0, 0}, {-0.5, 0, 0}, {0.5, 0, 0}, {1.5, 0, 0}};
  for (const auto& [decay, expected] :
       {std::pair{1, (2 * 0.75 - 0.4 * 1.25) / 2.4}, {3, (8 * 0.75 - 0.064 * 1.25) / 8.064}}) {
    const std::vector<double> w = fit_polynomial(r, 1, decay);
    double value = 0.0;
    for (std::size_t i = 0; i < r.size(); ++i) value += w[i] * (1.0 - r[i][0] * r[i][0]);
    EXPECT_NEAR(value, expected, 1e-12) << decay;
  }
}

}  // namespace
}  // namespace karst::least_squares_test
