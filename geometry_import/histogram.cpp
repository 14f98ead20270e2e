// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/histogram.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

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

namespace {

/// Mean of the values in the shortest run of bins within [first, last) that holds this share of them.
double peak(const Histogram& h, std::size_t first, std::size_t last, double share) {
  double all = 0;
  for (std::size_t b = first; b < last; ++b) all += static_cast<double>(h.count[b]);
  double held = 0, best_length = static_cast<double>(h.count.size()) + 1, best = h.center(first);
  std::size_t low = first;
  for (std::size_t high = first; high < last; ++high) {
    held += static_cast<double>(h.count[high]);
    while (held - static_cast<double>(h.count[low]) >= share * all) held -= static_cast<double>(h.count[low++]);
    const double length = static_cast<double>(high - low + 1) - (held - share * all) / held;
    if (held < share * all || length >= best_length) continue;
    best_length = length;
    best = 0;
    for (std::size_t b = low; b <= high; ++b) best += static_cast<double>(h.count[b]) * h.center(b) / held;
  }
  return best;
}

}  // namespace

double halfway_threshold(const Histogram& h) {
  constexpr double share = 0.3;
  const auto split = static_cast<std::size_t>(std::round((otsu_threshold(h) - h.low) / h.width()));
  return 0.5 * (peak(h, 0, split, share) + peak(h, split, h.count.size(), share));
}

double otsu_threshold(const Histogram& h) {
  double total = 0, moment = 0;
  for (std::size_t b = 0; b < h.count.size(); ++b) {
    total += static_cast<double>(h.count[b]);
    moment += static_cast<double>(h.count[b]) * h.center(b);
  }
  double below = 0, moment_below = 0, best = -1;
  std::size_t first = 0, last = 0;  // of the equally good bin ends
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
