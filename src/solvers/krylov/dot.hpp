// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>

namespace karst {

/// Σ a b per component of n times C interleaved numbers, with eight running sums each: the sum of a component is
/// bitwise the same for every C.
template <int C>
std::array<double, C> dots_of(const double* a, const double* b, std::int64_t n) {
  constexpr std::int64_t lanes = 8;
  std::array<double, lanes * C> sum{};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes)
    for (std::int64_t k = 0; k < lanes * C; ++k) sum[k] += a[i * C + k] * b[i * C + k];
  for (; i < n; ++i)
    for (std::int64_t c = 0; c < C; ++c) sum[i % lanes * C + c] += a[i * C + c] * b[i * C + c];
  std::array<double, C> dots;
  for (int c = 0; c < C; ++c) {
    const auto s = [&](int lane) { return sum[lane * C + c]; };
    dots[c] = ((s(0) + s(4)) + (s(1) + s(5))) + ((s(2) + s(6)) + (s(3) + s(7)));
  }
  return dots;
}

/// Σ a b with eight running sums.
inline double dot_of(const double* a, const double* b, std::int64_t n) { return dots_of<1>(a, b, n)[0]; }

}  // namespace karst
