// SPDX-License-Identifier: BSD-3-Clause
#include "base/dense_solve.hpp"

#include <cmath>
#include <complex>
#include <utility>

namespace karst {

template <class T>
bool eliminate(std::vector<T>& matrix, std::vector<T>& right) {
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
      const T factor = matrix[r * n + k] / matrix[k * n + k];
      if (factor == T{}) continue;
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

template bool eliminate(std::vector<double>&, std::vector<double>&);
template bool eliminate(std::vector<std::complex<double>>&, std::vector<std::complex<double>>&);

}  // namespace karst
