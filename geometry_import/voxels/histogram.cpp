// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/histogram.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "base/math/no_number.hpp"

namespace karst {

Histogram histogram_for(double smallest, double largest, GrayValues values) {
  constexpr std::size_t most = 65536;
  Histogram h;
  if (values == GrayValues::integers && largest - smallest < most) {
    h.low = smallest - 0.5;
    h.high = largest + 0.5;
    h.count.assign(static_cast<std::size_t>(largest - smallest) + 1, 0);
  } else {
    h.low = smallest;
    h.high = largest;
    h.count.assign(most, 0);
  }
  return h;
}

std::int64_t Histogram::filled() const {
  return std::count_if(count.begin(), count.end(), [](std::int64_t n) { return n > 0; });
}

void Histogram::add(std::span<const float> values) {
  const double scale = 1 / width();
  const auto last = static_cast<double>(count.size() - 1);
  const std::size_t parts = std::min<std::size_t>(n_threads(), 1 + values.size() / (4 * count.size()));
  std::vector<std::vector<std::int64_t>> counts(parts);
  parallel_for(static_cast<std::int64_t>(parts), [&](std::int64_t p) {
    std::vector<std::int64_t>& mine = counts[p];
    mine.assign(count.size(), 0);
    const std::size_t begin = values.size() * p / parts;
    const std::size_t end = values.size() * (p + 1) / parts;
    for (const float v : values.subspan(begin, end - begin))
      ++mine[static_cast<std::size_t>(std::clamp((double{v} - low) * scale, 0.0, last))];
  });
  for (const auto& mine : counts)
    for (std::size_t b = 0; b < count.size(); ++b) count[b] += mine[b];
}

double Histogram::below(double limit) const {
  const double position = std::clamp((limit - low) / width(), 0.0, static_cast<double>(count.size()));
  const auto whole = static_cast<std::size_t>(position);
  std::int64_t sum = 0;
  for (std::size_t b = 0; b < whole; ++b) sum += count[b];
  const double part = whole < count.size() ? static_cast<double>(count[whole]) : 0.0;
  return static_cast<double>(sum) + part * (position - static_cast<double>(whole));
}

double Histogram::quantile(double share) const {
  const auto wanted = share * static_cast<double>(std::accumulate(count.begin(), count.end(), std::int64_t{0}));
  double below = 0;
  for (std::size_t b = 0; b < count.size(); ++b) {
    const auto here = static_cast<double>(count[b]);
    if (here > 0 && below + here >= wanted) return low + (static_cast<double>(b) + (wanted - below) / here) * width();
    below += here;
  }
  return high;
}

Histogram Histogram::reduced(std::size_t most) const {
  const std::size_t group = (count.size() + most - 1) / most, bins = (count.size() + group - 1) / group;
  Histogram r{low, low + static_cast<double>(bins * group) * width(), std::vector<std::int64_t>(bins, 0)};
  for (std::size_t b = 0; b < count.size(); ++b) r.count[b / group] += count[b];
  return r;
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

std::vector<double> class_peaks(const Histogram& h, std::span<const double> limits) {
  std::vector<double> peaks;
  std::size_t first = 0;
  const auto add_class = [&](std::size_t last) {
    const bool empty =
        std::all_of(h.count.begin() + static_cast<std::ptrdiff_t>(first),
                    h.count.begin() + static_cast<std::ptrdiff_t>(last), [](std::int64_t n) { return n == 0; });
    peaks.push_back(empty ? no_number : peak(h, first, last));
    first = last;
  };
  for (const double limit : limits) {
    const double bin = std::round((limit - h.low) / h.width());
    add_class(
        static_cast<std::size_t>(std::clamp(bin, static_cast<double>(first), static_cast<double>(h.count.size()))));
  }
  add_class(h.count.size());
  return peaks;
}

namespace {

/// Number of values within one standard deviation of a Gaussian, about, at places `step` apart.
std::vector<double> density(const Histogram& h, double width, double step) {
  const auto places = static_cast<std::int64_t>((h.high - h.low) / step) + 1;
  std::vector<double> count(places);
  for (std::int64_t n = 0; n < places; ++n)
    count[n] =
        h.below(h.low + (static_cast<double>(n) + 0.5) * step) - h.below(h.low + (static_cast<double>(n) - 0.5) * step);
  const auto reach = static_cast<std::int64_t>(std::ceil(4 * width / step));
  std::vector<double> smooth(count.size(), 0.0);
  for (std::int64_t n = 0; n < places; ++n)
    for (std::int64_t k = std::max<std::int64_t>(n - reach, 0); k <= std::min(n + reach, places - 1); ++k)
      smooth[n] += count[k] * std::exp(-0.5 * std::pow(static_cast<double>(k - n) * step / width, 2));
  return smooth;
}

/// Least density on the way from a place to a higher one in one direction; nothing when there is none.
std::optional<double> valley(const std::vector<double>& density, std::int64_t from, std::int64_t direction) {
  const double here = density[from];
  double least = here;
  for (std::int64_t n = from + direction; n >= 0 && n < std::ssize(density); n += direction) {
    const double there = density[n];
    if (there > here) return least;
    least = std::min(least, there);
  }
  return {};
}

}  // namespace

std::vector<double> histogram_peaks(const Histogram& h, double width) {
  constexpr double least_height = 0.002, least_rise = 1.5, counting = 5, most_places = 20000;
  const double step = std::max(width / 3, (h.high - h.low) / most_places);
  const std::vector<double> d = density(h, std::max(width, step), step);
  const double highest = *std::ranges::max_element(d);
  std::vector<double> peaks;
  double left = -1;  // of the run of equal densities before
  for (std::int64_t n = 0; n < std::ssize(d); ++n) {
    const double here = d[n];
    const double right = n + 1 < std::ssize(d) ? d[n + 1] : -1;
    if (here == right) continue;
    const bool top = here > left && here > right;
    left = here;
    if (!top || here < least_height * highest) continue;
    const std::optional<double> low = valley(d, n, -1), high = valley(d, n, 1);
    const double parted = std::max(low.value_or(0), high.value_or(0));
    if (here < least_rise * parted || here - parted < counting * std::sqrt(here)) continue;
    peaks.push_back(h.low + static_cast<double>(n) * step);
  }
  return peaks;
}

std::vector<double> halfway_limits(const Histogram& h, std::span<const double> limits) {
  const std::vector<double> peaks = class_peaks(h, limits);
  std::vector<double> halfway(limits.begin(), limits.end());
  for (std::size_t c = 0; c < halfway.size(); ++c)
    if (const double middle = 0.5 * (peaks[c] + peaks[c + 1]); std::isfinite(middle)) halfway[c] = middle;
  return halfway;
}

double halfway_threshold(const Histogram& h) {
  const double otsu = otsu_threshold(h);
  return halfway_limits(h, {&otsu, 1})[0];
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

namespace {

/// Σ over classes of (sum of values)² / number is what Otsu's method maximises; positions in bins.
class ClassScores {
 public:
  explicit ClassScores(const Histogram& h) : number_(h.count.size() + 1, 0), sum_(h.count.size() + 1, 0) {
    for (std::size_t b = 0; b < h.count.size(); ++b) {
      number_[b + 1] = number_[b] + static_cast<double>(h.count[b]);
      sum_[b + 1] = sum_[b] + static_cast<double>(h.count[b]) * (static_cast<double>(b) + 0.5);
    }
  }
  std::size_t bins() const { return number_.size() - 1; }
  /// Of bins [first, last); nothing for an empty class.
  double operator()(std::size_t first, std::size_t last) const {
    const double number = number_[last] - number_[first], sum = sum_[last] - sum_[first];
    return number > 0 ? sum * sum / number : 0;
  }

 private:
  std::vector<double> number_, sum_;
};

/// First bins of classes 2, 3, ... with the largest total score.
std::vector<std::size_t> best_splits(const ClassScores& score, std::size_t classes) {
  const std::size_t n = score.bins();
  std::vector<double> best(n + 1);  // of the classes so far over bins [0, b)
  for (std::size_t b = 0; b <= n; ++b) best[b] = score(0, b);
  std::vector<std::vector<std::size_t>> from(classes, std::vector<std::size_t>(n + 1, 0));
  for (std::size_t c = 1; c < classes; ++c) {
    std::vector<double> next(n + 1, -1);
    for (std::size_t b = c + 1; b <= n; ++b)
      for (std::size_t a = c; a < b; ++a)
        if (const double s = best[a] + score(a, b); s > next[b]) {
          next[b] = s;
          from[c][b] = a;
        }
    best = next;
  }
  std::vector<std::size_t> splits(classes - 1);
  for (std::size_t c = classes - 1, b = n; c > 0; --c) splits[c - 1] = b = from[c][b];
  return splits;
}

/// Moves each split to the best place at most `reach` bins away, in turn, until all stay.
void refine_splits(const ClassScores& score, std::size_t reach, std::vector<std::size_t>& splits) {
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t c = 0; c < splits.size(); ++c) {
      const std::size_t low = c == 0 ? 0 : splits[c - 1], high = c + 1 < splits.size() ? splits[c + 1] : score.bins();
      const auto total = [&](std::size_t b) { return score(low, b) + score(b, high); };
      std::size_t best = splits[c];
      for (std::size_t b = std::max(low + 1, best - std::min(best, reach)); b < std::min(high, splits[c] + reach); ++b)
        if (total(b) > total(best)) best = b;
      moved = moved || best != splits[c];
      splits[c] = best;
    }
  }
}

}  // namespace

std::vector<double> multi_otsu(const Histogram& h, int classes) {
  constexpr std::size_t most_bins = 1024;
  require(classes >= 2 && classes <= 5, "classes = {} given; allowed are 2 to 5", classes);
  require(h.filled() >= classes, "{} classes given, but the image has only {} different gray values", classes,
          h.filled());
  const Histogram few = h.reduced(most_bins);
  const std::size_t group = (h.count.size() + few.count.size() - 1) / few.count.size();
  std::vector<std::size_t> splits = best_splits(ClassScores(few), classes);
  if (group > 1) {
    for (std::size_t& b : splits) b *= group;
    refine_splits(ClassScores(h), 2 * group, splits);
  }
  std::vector<double> limits;
  for (const std::size_t b : splits) {
    std::size_t first = b, last = b;  // no values between
    while (first > 0 && h.count[first - 1] == 0) --first;
    while (last < h.count.size() && h.count[last] == 0) ++last;
    limits.push_back(h.low + 0.5 * static_cast<double>(first + last) * h.width());
  }
  return limits;
}

}  // namespace karst
