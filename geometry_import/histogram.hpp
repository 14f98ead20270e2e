// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/comm.hpp"

namespace karst {

/// Counts of gray values in equal bins over [low, high].
struct Histogram {
  double low = 0, high = 1;
  std::vector<std::int64_t> count;

  double width() const { return (high - low) / static_cast<double>(count.size()); }
  double center(std::size_t bin) const { return low + (static_cast<double>(bin) + 0.5) * width(); }
  void add(std::span<const float> values);
};

/// Bins for values from `smallest` to `largest`: one per integer when there are at most 65536 of them, else 65536.
Histogram histogram_for(double smallest, double largest, bool integers);

/// Threshold that parts the values into two classes with the largest variance between their means (Otsu, IEEE Trans.
/// Syst. Man Cybern. 9 (1979) 62); in the middle where several bin ends do equally well, between two integers for
/// integers. At least two bins must be filled. [gray values]
double otsu_threshold(const Histogram& histogram);

/// Gray value halfway between the peaks of the two classes that Otsu's threshold makes: where the wall is in an image
/// of two phases, however blurred. (Otsu's own threshold lies between the class means, which voxels at the wall pull
/// towards each other: 2 to 4 % of the contrast too high on packings of grains.) Needs what otsu_threshold() needs.
double halfway_threshold(const Histogram& histogram);

}  // namespace karst
