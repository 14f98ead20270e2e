// SPDX-License-Identifier: BSD-3-Clause
#include "chemistry/dense_solve.hpp"

#include <cmath>
#include <utility>

namespace karst {

bool eliminate(std::vector<double>& matrix, std::vector<double>& right) {
  const std::size_t n = right.size();
  for (std::size_t k = 0; k < n; ++k) {
    std::size_t pivot = k;
    for (std::size_t r = k + 1; r < n; ++r)
      if (std::abs(matrix[r * n + k]) > std::abs(matrix[pivot * n + k])) pivot = r;
    if (!(std::abs(matrix[pivot * n + k]) > 0.0)) return false;
    if (pivot != k) {
      for (std::size_t c = k; c < n; ++c) std::swap(matrix[k * n + c], matrix[pivot * n + c]);
      std::swap(right[k], right[pivot]);
    }
    for (std::size_t r = k + 1; r < n; ++r) {
      const double factor = matrix[r * n + k] / matrix[k * n + k];
      if (factor == 0.0) continue;
      for (std::size_t c = k + 1; c < n; ++c) matrix[r * n + c] -= factor * matrix[k * n + c];
      right[r] -= factor * right[k];
    }
  }
  for (std::size_t k = n; k-- > 0;) {
    for (std::size_t c = k + 1; c < n; ++c) right[k] -= matrix[k * n + c] * right[c];
    right[k] /= matrix[k * n + k];
  }
  return true;
}

}  // namespace karst
