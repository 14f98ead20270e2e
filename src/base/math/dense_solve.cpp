// SPDX-License-Identifier: BSD-3-Clause
#include "base/math/dense_solve.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <utility>

#include "base/math/eight.hpp"

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

bool eliminate_padded(std::vector<double>& matrix, std::size_t width, std::vector<double>& right) {
  const std::size_t n = right.size();
  double* const rows = matrix.data();
  constexpr double enough = 0.1;
  for (std::size_t k = 0; k < n; ++k) {
    double* const row = rows + k * width;
    std::size_t pivot = k;
    if (!(std::abs(row[k]) > enough))
      for (std::size_t r = k + 1; r < n; ++r)
        if (std::abs(rows[r * width + k]) > std::abs(rows[pivot * width + k])) pivot = r;
    if (!(std::abs(rows[pivot * width + k]) > 0.0)) return false;
    if (pivot != k) {
      std::swap_ranges(row + k, row + width, rows + pivot * width + k);
      std::swap(right[k], right[pivot]);
    }
    const double inverse = 1.0 / row[k];
    const std::size_t first = (k + 1) / 8 * 8;
    right[k] *= inverse;
    for (std::size_t c = first; c < width; c += 8) store_eight(inverse * load_eight(row + c), row + c);
    for (std::size_t r = 0; r < n; ++r) {
      double* const other = rows + r * width;
      const double factor = other[k];
      if (r == k || factor == 0.0) continue;
      right[r] -= factor * right[k];
      for (std::size_t c = first; c < width; c += 8)
        store_eight(load_eight(other + c) - factor * load_eight(row + c), other + c);
    }
  }
  return true;
}

template bool eliminate(std::vector<double>&, std::vector<double>&);
template bool eliminate(std::vector<std::complex<double>>&, std::vector<std::complex<double>>&);

}  // namespace karst
