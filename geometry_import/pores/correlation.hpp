// SPDX-License-Identifier: BSD-3-Clause
// Two-point correlation of the pore space along the axes.
//
//   ρ(r) = (S₂ - ε₁ ε₂) / √(ε₁ (1 - ε₁) ε₂ (1 - ε₂))
//
// over the pairs of voxels r apart, both in the sample: S₂ the share of those that are both pore, ε₁ and ε₂ those whose
// lower and whose higher voxel is pore. It is the correlation coefficient of the two ends of a pair, so |ρ| <= 1 and
// ρ(0) = 1; ρ -> 0 where nothing is related. In samples that are large against the pores ε₁ = ε₂ = ε and it is (S₂ -
// ε²) / (ε - ε²) (Torquato, Random Heterogeneous Materials, 2002, chapter 2); with ε of the whole sample that falls
// below -1 in small ones, where the ends of the pairs are not an even part of it. Pairs across the ends of the image do
// not count. Rows are kept as bits, a pair is a bit of w & (w >> r).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/comm/comm.hpp"
#include "geometry_import/voxels/slabs.hpp"

namespace karst {

inline constexpr int largest_lag = 128;  ///< [voxels]

struct Correlation {
  /// ρ at r = 0, 1, ... along each axis, up to half the image or largest_lag; empty without pore or without solid;
  /// 0 where all pairs have the same at one end.
  std::array<std::vector<double>, 3> rho;
  /// ∫ ρ dr up to the first zero, by trapezoids [voxels]; to the last r when there is no zero; 0 when ρ is empty.
  std::array<double, 3> length{};
};

/// Collective. Needs 1/8 byte per voxel, and of up to largest_lag planes above the slab; twice that when there are
/// voxels outside of the sample.
/// @param labels  0 pore, 255 outside of the sample
Correlation correlation(const Comm& comm, const Slabs<std::uint8_t>& labels);

}  // namespace karst
