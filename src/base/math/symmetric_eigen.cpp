// SPDX-License-Identifier: BSD-3-Clause
#include "base/math/symmetric_eigen.hpp"

#include <cmath>

namespace karst {

SymmetricEigen symmetric_eigen(Matrix3 m) {
  constexpr int most_sweeps = 20;
  constexpr double small = 1e-15;  // of what stands off the diagonal, over the diagonal
  SymmetricEigen e;
  const auto at = [&](int i, int j) -> double& { return m[i][j]; };
  for (int sweep = 0; sweep < most_sweeps; ++sweep) {
    const double off = std::abs(at(0, 1)) + std::abs(at(0, 2)) + std::abs(at(1, 2));
    if (off <= small * (std::abs(at(0, 0)) + std::abs(at(1, 1)) + std::abs(at(2, 2)))) break;
    for (int p = 0; p < 2; ++p)
      for (int q = p + 1; q < 3; ++q) {
        if (at(p, q) == 0.0) continue;
        const double theta = 0.5 * (at(q, q) - at(p, p)) / at(p, q);
        const double t = (theta >= 0.0 ? 1.0 : -1.0) / (std::abs(theta) + std::sqrt(theta * theta + 1.0));
        const double c = 1.0 / std::sqrt(t * t + 1.0), s = t * c;
        for (int k = 0; k < 3; ++k) {
          const double kp = at(k, p), kq = at(k, q);
          at(k, p) = c * kp - s * kq;
          at(k, q) = s * kp + c * kq;
        }
        for (int k = 0; k < 3; ++k) {
          const double pk = at(p, k), qk = at(q, k);
          at(p, k) = c * pk - s * qk;
          at(q, k) = s * pk + c * qk;
        }
        Vec3& a = e.vector[p];
        Vec3& b = e.vector[q];
        const Vec3 old = a;
        a = c * a - s * b;
        b = s * old + c * b;
      }
  }
  for (int d = 0; d < 3; ++d) e.value[d] = at(d, d);
  return e;
}

}  // namespace karst
