// SPDX-License-Identifier: BSD-3-Clause
// Noise of an image of two phases, measured apart from any model of it.
//
//   σ_L = 1.4826 median |v(x - L) - 2 v(x) + v(x + L)| / √6
//
// over voxels of one phase, away from the wall, along x and along y. Second differences leave out whatever varies
// linearly over 2 L voxels (cupping, drift, halos in part), the median leaves out few odd voxels (Rousseeuw & Croux,
// J. Am. Stat. Assoc. 88 (1993) 1273). Noise of neighbours is alike after reconstruction and smoothing, which makes σ_1
// and σ_2 too small, so the largest L of 1, 2, 3 is taken for which there are enough places.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {

/// Of voxels: inner_pore and inner_solid away from the wall, near_wall elsewhere and outside of the sample.
enum InnerPhase : std::uint8_t { inner_pore = 0, inner_solid = 1, near_wall = 2 };

/// Voxels of the planes `part` whose 26 neighbours in the window have the same phase (pore_label, or a solid label),
/// or are outside of the sample. Not collective.
Array<std::uint8_t> inner_phases(const ImageWindow& window, std::span<const std::uint8_t> labels,
                                 const ImageWindow& part);

class PlaneNoise {
 public:
  /// @param largest  second differences beyond it count as it [values]
  explicit PlaneNoise(double largest) : unit_(largest / bins), count_(2 * lags * bins, 0) {}
  /// Counts the planes of a window. Threaded; not collective.
  /// @param phases  InnerPhase
  void add(const ImageWindow& planes, std::span<const float> values, std::span<const std::uint8_t> phases);
  /// Collective.
  void sum(const Comm& comm) { comm.sum(std::span(count_)); }
  /// σ of inner_pore or inner_solid, or of both by their numbers; NaN where too few places are known. [values]
  double of(InnerPhase phase) const;
  double of_both() const;

 private:
  static constexpr std::size_t lags = 3, bins = 1024;

  struct Measured {
    double sigma, places;
  };
  Measured measured(InnerPhase phase) const;
  static std::size_t start(std::size_t phase, std::size_t lag) { return (phase * lags + lag) * bins; }

  double unit_;                      ///< width of a bin [values]
  std::vector<std::int64_t> count_;  ///< [phase][L - 1][bin]
};

}  // namespace karst
