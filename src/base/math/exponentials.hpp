// SPDX-License-Identifier: BSD-3-Clause
// exp and ln of many numbers at once.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>

namespace karst {

/// x -> e^x of each number, vectorised, to 2 units in the last place. Numbers beyond ±700 are replaced by ±700. With k
/// the integer nearest to x / ln 2 and r = x - k ln 2, e^x = 2^k Σ r^n / n! up to n = 13.
inline void exponentials(std::span<double> x) {
  constexpr double per_ln2 = 1.4426950408889634, ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  constexpr double to_whole = 0x1.8p52;  // numbers added to it lose their fraction
  constexpr double inverse_factorials[] = {1.0 / 6227020800.0,
                                           1.0 / 479001600.0,
                                           1.0 / 39916800.0,
                                           1.0 / 3628800.0,
                                           1.0 / 362880.0,
                                           1.0 / 40320.0,
                                           1.0 / 5040.0,
                                           1.0 / 720.0,
                                           1.0 / 120.0,
                                           1.0 / 24.0,
                                           1.0 / 6.0,
                                           0.5,
                                           1.0,
                                           1.0};
  for (double& value : x) {
    const double at = std::min(std::max(value, -700.0), 700.0);
    const double shifted = at * per_ln2 + to_whole, k = shifted - to_whole;
    const double r = (at - k * ln2_high) - k * ln2_low;
    double sum = inverse_factorials[0];
    for (int n = 1; n < 14; ++n) sum = sum * r + inverse_factorials[n];
    // The last bits of `shifted` are k; as the exponent they multiply by 2^k.
    const std::int64_t exponent = (std::bit_cast<std::int64_t>(shifted) + 1023) << 52;
    value = sum * std::bit_cast<double>(exponent);
  }
}

/// x -> ln x of positive normal numbers, in the same way; to 2 units in the last place, near x = 1 to 1e-16. With
/// x = 2^k m, m in [1/√2, √2), and s = (m - 1) / (m + 1), ln x = k ln 2 + 2 Σ s^(2n+1) / (2n+1) up to n = 10.
inline void logarithms(std::span<double> x) {
  constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  constexpr double odd[] = {2.0 / 21.0, 2.0 / 19.0, 2.0 / 17.0, 2.0 / 15.0, 2.0 / 13.0,
                            2.0 / 11.0, 2.0 / 9.0,  2.0 / 7.0,  2.0 / 5.0,  2.0 / 3.0};
  constexpr std::int64_t root_half = 0x3fe6a09e667f3bcd, mantissa = 0x000fffffffffffff, one = 1;
  for (double& value : x) {
    const auto bits = std::bit_cast<std::int64_t>(value) - root_half;
    const std::int64_t k = bits >> 52;
    const double m = std::bit_cast<double>((bits & mantissa) + root_half);
    const double s = (m - 1.0) / (m + 1.0), s2 = s * s;
    double sum = odd[0];
    for (int n = 1; n < 10; ++n) sum = sum * s2 + odd[n];
    // An integer as a double, from its bits: older processors have no vectorised conversion.
    const double whole = std::bit_cast<double>(k + (one << 51) + std::bit_cast<std::int64_t>(0x1.0p52)) - 0x1.8p52;
    value = whole * ln2_high + (2.0 * s + (s * (s2 * sum) + whole * ln2_low));
  }
}

}  // namespace karst
