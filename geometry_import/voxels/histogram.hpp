// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"

namespace karst {

/// Counts of gray values in equal bins over [low, high].
struct Histogram {
  double low = 0, high = 1;
  std::vector<std::int64_t> count;

  double width() const { return (high - low) / static_cast<double>(count.size()); }
  double center(std::size_t bin) const { return low + (static_cast<double>(bin) + 0.5) * width(); }
  /// Bins that hold something.
  std::int64_t filled() const;
  /// Values below the lowest bin count in it, those above the highest one there.
  void add(std::span<const float> values);
  /// Values below a limit; those of the bin it lies in in part. [values]
  double below(double limit) const;
  /// The value that a share of the values lies below, as if the values of a bin were spread over it. [values]
  double quantile(double share) const;
  /// The same in at most `most` bins: neighbours are put together, in equal numbers.
  Histogram reduced(std::size_t most) const;
};

enum class GrayValues { integers, real };

/// Bins for values from `smallest` to `largest`: one per integer when there are at most 65536 of them, else 65536.
Histogram histogram_for(double smallest, double largest, GrayValues values);

/// Threshold that parts the values into two classes with the largest variance between their means (Otsu, IEEE Trans.
/// Syst. Man Cybern. 9 (1979) 62); in the middle where several bin ends do equally well, between two integers for
/// integers. At least two bins must be filled. [gray values]
double otsu_threshold(const Histogram& histogram);

/// The k - 1 class limits with the largest variance between the means of k classes (Otsu, as above; exact by dynamic
/// programming over bin ends, Jenks's natural breaks; with more than 1024 bins over groups of bins first, then limit by
/// limit over the bins nearby). Limits lie in the middle of empty bins around them. Throws Error unless 2 <= k <= 5 and
/// at least k bins are filled. Ascending. [gray values]
std::vector<double> multi_otsu(const Histogram& histogram, int classes);

/// Where the values of each class gather (the limits part them): the middle of the densest run of bins, by mean shift.
/// NaN for a class without values. [gray values]
std::vector<double> class_peaks(const Histogram& histogram, std::span<const double> limits);

/// Peaks of the density, counts smoothed by a Gaussian of standard deviation `width`: as high as 0.002 of the highest
/// at least, and 1.5 times the higher one of the valleys that part them from higher ones (five times the noise of
/// counting above it, too). Ascending. [gray values]
std::vector<double> histogram_peaks(const Histogram& histogram, double width);

/// Halfway between the peaks of the classes that the limits make, each limit; one beside an empty class stays.
std::vector<double> halfway_limits(const Histogram& histogram, std::span<const double> limits);

/// Gray value halfway between the peaks of the two classes that Otsu's threshold makes: where the wall is in an image
/// of two phases, however blurred. (Otsu's own threshold lies between the class means, which voxels at the wall pull
/// towards each other: 2 to 4 % of the contrast too high on packings of grains.) Needs what otsu_threshold() needs.
double halfway_threshold(const Histogram& histogram);

}  // namespace karst
