// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/segment/threshold_trust.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/core/text.hpp"

namespace karst {
namespace {

constexpr double least_distance = 3;  // of peak and threshold [noise]
constexpr std::size_t most_listed = 6;

std::string listed(const std::vector<double>& peaks) {
  std::vector<std::string> texts;
  for (const double p : peaks)
    if (texts.size() < most_listed) texts.push_back(fmt::format("{:.4g}", p));
  if (peaks.size() > most_listed) texts.emplace_back("...");
  return join(texts);
}

/// Peaks below the threshold.
std::ptrdiff_t below(const ThresholdEvidence& e) {
  return std::count_if(e.peaks.begin(), e.peaks.end(), [&](double p) { return p < e.threshold; });
}

}  // namespace

std::string distrust(const ThresholdEvidence& e) {
  const std::ptrdiff_t low = below(e), high = std::ssize(e.peaks) - low;
  if (low == 0 || high == 0)
    return fmt::format(
        "the threshold is unreliable: the histogram has {} {}, {} the threshold of {:.5g}, and no valley there; "
        "porosity and permeability depend on this choice",
        e.peaks.size() == 1 ? "one peak only, at" : "peaks at", listed(e.peaks), low == 0 ? "above" : "below",
        e.threshold);
  for (const bool pore : {true, false}) {
    const double peak = pore ? e.pore_peak : e.solid_peak, noise = pore ? e.pore_noise : e.solid_noise;
    const double distance = std::abs(peak - e.threshold) / noise;
    if (distance < least_distance)
      return fmt::format(
          "the threshold is unreliable: the gray values of pore and solid overlap. The peak of the {} at {:.4g} is "
          "only {:.1f} times the noise ({:.3g}, after smoothing) away from the threshold of {:.5g}; a filter "
          "(`denoise`) separates them, but "
          "porosity and permeability then depend on its choice",
          pore ? "pore" : "solid", peak, distance, noise, e.threshold);
  }
  return "";
}

std::string several_phases(const ThresholdEvidence& e) {
  const std::ptrdiff_t low = below(e), high = std::ssize(e.peaks) - low;
  if (low <= 1 && high <= 1) return "";
  return fmt::format(
      "the histogram has {} peaks ({}), so there are more than two phases, or halos, or surroundings of the sample; "
      "the threshold of {:.5g} has {} of them below and {} above: check that it separates the right ones, or give "
      "`threshold` or `segment = multi-otsu`",
      e.peaks.size(), listed(e.peaks), e.threshold, low, high);
}

}  // namespace karst
