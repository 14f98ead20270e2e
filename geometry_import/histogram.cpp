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

/// Values of class [first, last) between low and high [bins], bins at the ends in part: number and sum of positions.
struct Inside {
  double number = 0, sum = 0;
};
Inside values_between(const Histogram& h, std::size_t first, std::size_t last, double low, double high) {
  Inside in;
  for (std::size_t b = first; b < last; ++b) {
    const double from = std::max(low, static_cast<double>(b)), to = std::min(high, static_cast<double>(b + 1));
    if (from >= to) continue;
    const double number = static_cast<double>(h.count[b]) * (to - from);
    in.number += number;
    in.sum += number * 0.5 * (from + to);
  }
  return in;
}

/// Peak of the class [first, last): the shortest run of bins with 30 % of its values, about 0.8 standard deviations of
/// a normal peak long, is moved (mean shift) to where the mean of the values within 1.25 times its length lies in its
/// middle. [gray values]
double peak(const Histogram& h, std::size_t first, std::size_t last) {
  constexpr double share = 0.3;
  double all = 0, held = 0, length = static_cast<double>(last - first), middle = 0;
  for (std::size_t b = first; b < last; ++b) all += static_cast<double>(h.count[b]);
  std::size_t low = first;
  for (std::size_t high = first; high < last; ++high) {
    held += static_cast<double>(h.count[high]);
    while (held - static_cast<double>(h.count[low]) >= share * all) held -= static_cast<double>(h.count[low++]);
    const double now = static_cast<double>(high - low + 1) - (held - share * all) / held;
    if (held < share * all || (now >= length && middle > 0)) continue;
    length = now;
    middle = 0.5 * static_cast<double>(high + low + 1);
  }
  const double reach = std::max(1.0, 1.25 * length);
  for (int step = 0; step < 100; ++step) {
    const Inside in = values_between(h, first, last, middle - reach, middle + reach);
    const double next = in.sum / in.number;
    if (std::abs(next - middle) < 1e-6) break;
    middle = next;
  }
  return h.low + middle * h.width();
}

}  // namespace

double halfway_threshold(const Histogram& h) {
  const auto split = static_cast<std::size_t>(std::round((otsu_threshold(h) - h.low) / h.width()));
  return 0.5 * (peak(h, 0, split) + peak(h, split, h.count.size()));
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
