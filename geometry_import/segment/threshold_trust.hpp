// SPDX-License-Identifier: BSD-3-Clause
// Does a gray value part two phases at all?
#pragma once

#include <string>
#include <vector>

#include "geometry_import/voxels/histogram.hpp"

namespace karst {

/// What a histogram and the noise say about one threshold.
struct ThresholdEvidence {
  double threshold = 0;
  double pore_peak = 0, solid_peak = 0;    ///< of the classes: class_peaks() [gray values]
  double pore_noise = 0, solid_noise = 0;  ///< of the smoothed values; NaN: not known [gray values]
  std::vector<double> peaks;               ///< of the histogram: histogram_peaks(), ascending [gray values]
};

/// Why no threshold can be trusted: no peak on one of its sides, or a class whose noise reaches over it (peak and
/// threshold less than three times the noise apart: more than 0.1 % of its voxels, most of them in the middle of it,
/// are on the wrong side). Empty when it can.
std::string distrust(const ThresholdEvidence& evidence);

/// More than one peak on a side: more than two phases. Empty when there are not.
std::string several_phases(const ThresholdEvidence& evidence);

}  // namespace karst
