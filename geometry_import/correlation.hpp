// SPDX-License-Identifier: BSD-3-Clause
// Two-point correlation of the pore space along the axes.
//
//   S₂(r) = share of the pairs of voxels r apart, both in the sample, that are both pore
//   ρ(r) = (S₂(r) - ε²) / (ε - ε²),  ε = porosity of the whole sample
//
// so ρ(0) = 1 and ρ -> 0 where nothing is related (Torquato, Random Heterogeneous Materials, 2002, chapter 2). Pairs
// across the ends of the image do not count. Rows are kept as bits, a pair is a bit of w & (w >> r).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/comm.hpp"
#include "geometry_import/slabs.hpp"

namespace karst {

inline constexpr int largest_lag = 128;  ///< [voxels]

struct Correlation {
  /// ρ at r = 0, 1, ... along each axis, up to half the image or largest_lag; empty without pore or without solid.
  std::array<std::vector<double>, 3> rho;
  /// ∫ ρ dr up to the first zero, by trapezoids [voxels]; to the last r when there is no zero; 0 when ρ is empty.
  std::array<double, 3> length{};
};

/// Collective. Needs 1/8 byte per voxel, and of up to largest_lag planes above the slab; twice that when there are
/// voxels outside of the sample.
/// @param labels  0 pore, 255 outside of the sample
Correlation correlation(const Comm& comm, const Slabs<std::uint8_t>& labels);

}  // namespace karst
