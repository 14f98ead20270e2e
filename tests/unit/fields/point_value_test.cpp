// SPDX-License-Identifier: BSD-3-Clause
#include "fields/point_value.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace karst::point_value_test {
namespace {

/// Of f at a place, from its values at points.
template <class F>
double value_at(const Vec3& place, const std::vector<Vec3>& points, F&& f) {
  std::vector<Vec3> around;
  for (const Vec3& p : points) around.push_back(p - place);
  const std::vector<double> weights = point_weights(around);
  double sum = 0.0;
  for (std::size_t i = 0; i < points.size(); ++i) sum += weights[i] * f(points[i]);
  return sum;
}

std::vector<Vec3> cells(int nx, int ny, int nz) {
  std::vector<Vec3> all;
  for (int k = 0; k < nz; ++k)
    for (int j = 0; j < ny; ++j)
      for (int i = 0; i < nx; ++i) all.emplace_back(i - 1.0, j - 1.0, k - 1.0);
  return all;
}

double quadratic(const Vec3& x) {
  return 2.0 - x[0] + 3.0 * x[1] * x[1] - 0.7 * x[0] * x[2] + x[1] * x[2] + 0.3 * x[2] - 1.1 * x[0] * x[0] +
         x[0] * x[1];
}

TEST(PointWeights, QuadraticFieldsAreExact) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> somewhere(-0.5, 0.5);
  for (int n = 0; n < 20; ++n) {
    std::vector<Vec3> points = cells(3, 3, 3);
    for (int without = 0; without < 10; ++without)  // as beside a wall
      points.erase(points.begin() + static_cast<std::ptrdiff_t>(random() % points.size()));
    const Vec3 place{somewhere(random), somewhere(random), somewhere(random)};
    EXPECT_NEAR(value_at(place, points, quadratic), quadratic(place), 1e-10) << n;
  }
}

// Plane flow one cell thick: z tells nothing apart; few points: as much as they tell.
TEST(PointWeights, FewerPointsFewerPolynomials) {
  const auto plane = [](const Vec3& x) { return 1.0 + x[0] * x[0] - 2.0 * x[0] * x[1] + 0.5 * x[1]; };
  EXPECT_NEAR(value_at({0.3, -0.2, -1.0}, cells(3, 3, 1), plane), plane({0.3, -0.2, 0.0}), 1e-12);
  const auto linear = [](const Vec3& x) { return 1.0 + x[0] - 2.0 * x[1] + 0.5 * x[2]; };
  const std::vector<Vec3> four{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  EXPECT_NEAR(value_at({0.3, 0.2, 0.4}, four, linear), linear({0.3, 0.2, 0.4}), 1e-12);
  EXPECT_NEAR(value_at({0.3, 0.2, 0.4}, {{0, 0, 0}}, linear), 1.0, 1e-12);
  EXPECT_TRUE(point_weights({}).empty());
}

// Order 3 for a smooth field.
TEST(PointWeights, SmoothFieldsAreOfThirdOrder) {
  const auto error = [](double h) {
    const Vec3 place{0.31, -0.22, 0.17};
    const auto f = [h](const Vec3& x) { return std::sin(1.0 + h * (x[0] + 0.7 * x[1] - 0.4 * x[2])); };
    return std::abs(value_at(place, cells(3, 3, 3), f) - f(place));
  };
  EXPECT_LT(error(0.1), 1e-4);
  EXPECT_GT(std::log2(error(0.2) / error(0.1)), 2.8);
}

}  // namespace
}  // namespace karst::point_value_test
