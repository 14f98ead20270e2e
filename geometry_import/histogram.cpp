// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/histogram.hpp"

#include <algorithm>
#include <cassert>

namespace karst {

Histogram histogram_for(double smallest, double largest, bool integers) {
  constexpr double most = 65536;
  Histogram h;
  if (integers && largest - smallest < most) {
    h.low = smallest - 0.5;
    h.high = largest + 0.5;
    h.count.assign(static_cast<std::size_t>(largest - smallest) + 1, 0);
  } else {
    h.low = smallest;
    h.high = largest;
    h.count.assign(static_cast<std::size_t>(most), 0);
  }
  return h;
}

void Histogram::add(std::span<const float> values) {
  const double scale = 1 / width();
  const auto last = static_cast<double>(count.size() - 1);
  for (const float v : values) ++count[static_cast<std::size_t>(std::clamp((double{v} - low) * scale, 0.0, last))];
}

double otsu_threshold(const Histogram& h) {
  double total = 0, moment = 0;
  for (std::size_t b = 0; b < h.count.size(); ++b) {
    total += static_cast<double>(h.count[b]);
    moment += static_cast<double>(h.count[b]) * h.center(b);
  }
  double below = 0, moment_below = 0, best = -1;
  std::size_t first = 0, last = 0;
  for (std::size_t b = 0; b + 1 < h.count.size(); ++b) {
    below += static_cast<double>(h.count[b]);
    moment_below += static_cast<double>(h.count[b]) * h.center(b);
    if (below == 0 || below == total) continue;
    const double difference = moment_below / below - (moment - moment_below) / (total - below);
    const double between = below * (total - below) * difference * difference;
    if (between > best) {
      best = between;
      first = b;
    }
    if (between == best) last = b;
  }
  assert(best >= 0);
  return h.low + 0.5 * static_cast<double>(first + last + 2) * h.width();
}

}  // namespace karst
