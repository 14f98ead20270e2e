// SPDX-License-Identifier: BSD-3-Clause
// Morton keys: the bits of (i, j, k) interleaved, x lowest; sorting by key follows a Z-shaped curve through the
// lattice. Source: Morton, IBM technical report (1966). The key is increasing in each of i, j, k.
#pragma once

#include <cstdint>

#include "base/math/triple.hpp"

namespace karst {

inline constexpr int morton_bits = 21;                     ///< bits per direction
inline constexpr int morton_max = (1 << morton_bits) - 1;  ///< largest coordinate

namespace detail {
/// Moves bit n to bit 3 n.
constexpr std::uint64_t spread_bits(std::uint64_t x) {
  x &= 0x1fffff;
  x = (x | x << 32) & 0x001f00000000ffff;
  x = (x | x << 16) & 0x001f0000ff0000ff;
  x = (x | x << 8) & 0x100f00f00f00f00f;
  x = (x | x << 4) & 0x10c30c30c30c30c3;
  x = (x | x << 2) & 0x1249249249249249;
  return x;
}
/// Moves bit 3 n to bit n, drops the others.
constexpr std::uint64_t collect_bits(std::uint64_t x) {
  x &= 0x1249249249249249;
  x = (x | x >> 2) & 0x10c30c30c30c30c3;
  x = (x | x >> 4) & 0x100f00f00f00f00f;
  x = (x | x >> 8) & 0x001f0000ff0000ff;
  x = (x | x >> 16) & 0x001f00000000ffff;
  x = (x | x >> 32) & 0x1fffff;
  return x;
}
}  // namespace detail

/// Key of a lattice position; every coordinate in [0, morton_max].
constexpr std::uint64_t morton_encode(const Index& p) {
  return detail::spread_bits(static_cast<std::uint64_t>(p[0])) |
         detail::spread_bits(static_cast<std::uint64_t>(p[1])) << 1 |
         detail::spread_bits(static_cast<std::uint64_t>(p[2])) << 2;
}

constexpr Index morton_decode(std::uint64_t key) {
  return {static_cast<int>(detail::collect_bits(key)), static_cast<int>(detail::collect_bits(key >> 1)),
          static_cast<int>(detail::collect_bits(key >> 2))};
}

}  // namespace karst
