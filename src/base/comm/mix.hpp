// SPDX-License-Identifier: BSD-3-Clause
// Fingerprints of distributed data: sums of hashes of its parts, so that neither their order nor their owners matter.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "base/comm/comm.hpp"
#include "base/math/triple.hpp"

namespace karst {

/// One step of a hash: the finaliser of SplitMix64 (Steele, Lea & Flood, OOPSLA 2014).
constexpr std::uint64_t mix(std::uint64_t hash, std::uint64_t more) {
  std::uint64_t x = hash + 0x9e3779b97f4a7c15U + more;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}
inline std::uint64_t mix(std::uint64_t hash, double x) { return mix(hash, std::bit_cast<std::uint64_t>(x)); }
inline std::uint64_t mix(std::uint64_t hash, float x) {
  return mix(hash, std::uint64_t{std::bit_cast<std::uint32_t>(x)});
}

inline std::uint64_t mix(std::uint64_t hash, const Index& x) {
  for (const int i : x.v) hash = mix(hash, static_cast<std::uint64_t>(i));
  return hash;
}

/// Over all ranks, modulo 2^64. Collective.
inline std::uint64_t sum_of_hashes(const Comm& comm, std::uint64_t own) {
  constexpr int low_bits = 40;  // of sums that no number of ranks makes overflow
  constexpr std::uint64_t low = (std::uint64_t{1} << low_bits) - 1;
  std::array<std::int64_t, 2> parts{static_cast<std::int64_t>(own & low), static_cast<std::int64_t>(own >> low_bits)};
  comm.sum(std::span<std::int64_t>(parts));
  return static_cast<std::uint64_t>(parts[0]) + (static_cast<std::uint64_t>(parts[1]) << low_bits);
}

}  // namespace karst
