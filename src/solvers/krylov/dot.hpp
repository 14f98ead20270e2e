// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace karst {

/// Σ a b with eight running sums.
inline double dot_of(const double* a, const double* b, std::int64_t n) {
  constexpr std::int64_t lanes = 8;
  std::array<double, lanes> sum{};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t l = 0; l < lanes; ++l) sum[l] += a[i + l] * b[i + l];
  for (; i < n; ++i) sum[i % lanes] += a[i] * b[i];
  return ((sum[0] + sum[4]) + (sum[1] + sum[5])) + ((sum[2] + sum[6]) + (sum[3] + sum[7]));
}

}  // namespace karst
