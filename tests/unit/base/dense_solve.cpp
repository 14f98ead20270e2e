// SPDX-License-Identifier: BSD-3-Clause
#include "base/math/dense_solve.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace karst::dense_solve_test {
namespace {

// Random systems of 1 to 20 equations, some with zeros on the diagonal: both ways give back what was put in.
TEST(DenseSolve, GivesBackTheSolution) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  for (std::size_t n = 1; n <= 20; ++n) {
    const std::size_t width = (n + 7) / 8 * 8;
    std::vector<double> matrix(n * n), padded(n * width, 0.0), x(n), right(n, 0.0);
    for (double& v : x) v = normal(random);
    for (std::size_t r = 0; r < n; ++r)
      for (std::size_t c = 0; c < n; ++c) {
        matrix[r * n + c] = padded[r * width + c] = r == c && r % 3 == 1 ? 0.0 : normal(random) + (r == c ? 3.0 : 0.0);
        right[r] += matrix[r * n + c] * x[c];
      }
    std::vector<double> same = right;
    ASSERT_TRUE(eliminate(matrix, right));
    ASSERT_TRUE(eliminate_padded(padded, width, same));
    for (std::size_t k = 0; k < n; ++k) {
      EXPECT_NEAR(right[k], x[k], 1e-11) << n;
      EXPECT_NEAR(same[k], x[k], 1e-10) << n;
    }
  }
}

TEST(DenseSolve, SingularIsTold) {
  std::vector<double> matrix{1.0, 2.0, 2.0, 4.0}, right{1.0, 1.0};
  EXPECT_FALSE(eliminate(matrix, right));
  std::vector<double> padded(16, 0.0), same{1.0, 1.0};
  padded[0] = 1.0, padded[1] = padded[8] = 2.0, padded[9] = 4.0;
  EXPECT_FALSE(eliminate_padded(padded, 8, same));
}

}  // namespace
}  // namespace karst::dense_solve_test
