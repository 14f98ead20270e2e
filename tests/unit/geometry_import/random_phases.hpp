// SPDX-License-Identifier: BSD-3-Clause
// Random images of two phases.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "geometry_import/voxels/level_set.hpp"
#include "image_generator/random_numbers.hpp"

namespace karst {

/// Correlated random phases: smoothed white noise, the lowest `share` of it pore.
inline std::vector<std::uint8_t> random_phases(const ImageWindow& all, double correlation, double share,
                                               std::uint64_t seed) {
  const RandomNumbers random(seed, 0);
  std::vector<float> noise(all.count());
  for (std::size_t n = 0; n < noise.size(); ++n) noise[n] = static_cast<float>(random.normal(n));
  gaussian(all, correlation, noise);
  std::vector<float> sorted = noise;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(sorted.size()));
  std::nth_element(sorted.begin(), middle, sorted.end());
  std::vector<std::uint8_t> phase(noise.size());
  for (std::size_t n = 0; n < noise.size(); ++n) phase[n] = noise[n] < *middle;
  return phase;
}

}  // namespace karst
