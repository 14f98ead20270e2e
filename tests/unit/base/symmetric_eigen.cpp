// SPDX-License-Identifier: BSD-3-Clause
#include "base/math/symmetric_eigen.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace karst::symmetric_eigen_test {
namespace {

// [[2, 1, 0], [1, 2, 0], [0, 0, -5]]: eigenvalues 3, 1, -5, vectors (1, 1, 0) / √2, (1, -1, 0) / √2, z.
TEST(SymmetricEigen, KnownMatrix) {
  const SymmetricEigen e = symmetric_eigen({Vec3{2, 1, 0}, Vec3{1, 2, 0}, Vec3{0, 0, -5}});
  for (int d = 0; d < 3; ++d) {
    const Vec3& v = e.vector[d];
    if (e.value[d] > 2.0) {
      EXPECT_NEAR(e.value[d], 3.0, 1e-14);
      EXPECT_NEAR(std::abs(v[0] + v[1]), std::sqrt(2.0), 1e-14);
    } else if (e.value[d] > 0.0) {
      EXPECT_NEAR(e.value[d], 1.0, 1e-14);
      EXPECT_NEAR(std::abs(v[0] - v[1]), std::sqrt(2.0), 1e-14);
    } else {
      EXPECT_NEAR(e.value[d], -5.0, 1e-14);
      EXPECT_NEAR(std::abs(v[2]), 1.0, 1e-14);
    }
  }
}

// m v = λ v, and the vectors are orthonormal, whatever the scale.
TEST(SymmetricEigen, VectorsBelongToValues) {
  for (const double scale : {1e-24, 1.0, 1e12}) {
    const Matrix3 m{scale * Vec3{3, -0.7, 0.2}, scale * Vec3{-0.7, 1, 1.9}, scale * Vec3{0.2, 1.9, 2}};
    const SymmetricEigen e = symmetric_eigen(m);
    for (int i = 0; i < 3; ++i) {
      const Vec3& v = e.vector[i];
      for (int j = 0; j < 3; ++j) {
        EXPECT_NEAR(dot(m[j], v), e.value[i] * v[j], 1e-13 * scale);
        EXPECT_NEAR(dot(v, e.vector[j]), i == j ? 1.0 : 0.0, 1e-14);
      }
    }
  }
}

}  // namespace
}  // namespace karst::symmetric_eigen_test
