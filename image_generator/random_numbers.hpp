// SPDX-License-Identifier: BSD-3-Clause
// Random numbers by counting: number n of a stream is a hash of (seed, stream, n), the same on every machine and in
// any order.
#pragma once

#include <cstdint>

namespace karst {

class RandomNumbers {
 public:
  RandomNumbers(std::uint64_t seed, std::uint64_t stream) : key_(mix(seed) ^ mix(~stream)) {}
  std::uint64_t bits(std::uint64_t n) const { return mix(key_ + 0x9e3779b97f4a7c15ULL * (n + 1)); }
  /// In [0, 1).
  double uniform(std::uint64_t n) const { return static_cast<double>(bits(n) >> 11) * 0x1p-53; }
  /// Mean 0, variance 1: the sum of twelve uniform numbers of 16 bits less 6 (no logarithm, so the same everywhere; no
  /// value beyond 6).
  double normal(std::uint64_t n) const {
    std::uint64_t sum = 0;
    for (std::uint64_t part = 0; part < 3; ++part) {
      const std::uint64_t b = bits(3 * n + part);
      sum += (b & 0xffff) + (b >> 16 & 0xffff) + (b >> 32 & 0xffff) + (b >> 48);
    }
    return (static_cast<double>(sum) + 6.0) / 65536.0 - 6.0;
  }

 private:
  /// Finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
  static std::uint64_t mix(std::uint64_t z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  std::uint64_t key_;
};

}  // namespace karst
