// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/segment/edge_threshold.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/comm/parallel.hpp"

namespace karst {
namespace {

constexpr std::size_t gray_bins = 1024, steep_bins = 512;
constexpr double noise_factor = 1.95;  // 3 / 1.54: the length of three normal numbers has a median of 1.54 σ
constexpr double largest_quantile = 0.9;
constexpr double reach_share = 0.75;  // of the distance between the peaks

/// Voxels by |∇g| and g: integers, so that the sum does not depend on who counts what.
class EdgeCounts {
 public:
  EdgeCounts(double low, double high) : low_(low), range_(high - low), count_(gray_bins * steep_bins, 0) {}
  void add(double gray, double steepness) {
    ++count_[bin(steepness / range_, steep_bins) * gray_bins + bin((gray - low_) / range_, gray_bins)];
  }
  void add(const EdgeCounts& o) {
    std::transform(count_.begin(), count_.end(), o.count_.begin(), count_.begin(), std::plus<>());
  }
  std::span<std::int64_t> counts() { return count_; }
  std::span<const std::int64_t> of_steepness(std::size_t s) const {
    return std::span(count_).subspan(s * gray_bins, gray_bins);
  }
  double gray(std::size_t g) const { return low_ + (static_cast<double>(g) + 0.5) / gray_bins * range_; }
  /// First bin of |∇g| with at least `share` of the voxels in it and below.
  std::size_t quantile(double share) const {
    const auto all = static_cast<double>(std::accumulate(count_.begin(), count_.end(), std::int64_t{0}));
    double below = 0;
    for (std::size_t s = 0; s < steep_bins; ++s) {
      const auto row = of_steepness(s);
      below += static_cast<double>(std::accumulate(row.begin(), row.end(), std::int64_t{0}));
      if (below >= share * all) return s;
    }
    return steep_bins - 1;
  }

 private:
  static std::size_t bin(double share, std::size_t bins) {
    return static_cast<std::size_t>(std::clamp(share * static_cast<double>(bins), 0.0, static_cast<double>(bins) - 1));
  }
  double low_, range_;
  std::vector<std::int64_t> count_;
};

/// The voxel and its neighbours in the plane.
bool in_sample(std::span<const std::uint8_t> inside, std::int64_t at, std::int64_t dx, std::int64_t dy) {
  if (inside.empty()) return true;
  const std::array<std::int64_t, 5> all{at, at - dx, at + dx, at - dy, at + dy};
  return std::all_of(all.begin(), all.end(), [&](std::int64_t n) { return inside[n] != 0; });
}

/// Counts plane z of the window.
void count_plane(const ImageWindow& window, std::span<const float> gray, std::span<const std::uint8_t> inside, int z,
                 EdgeCounts& counts) {
  const Index& n = window.image;
  const std::array<std::int64_t, 3> step{1, window.row(), window.plane()};
  if (n[2] > 1 && (z == 0 || z + 1 == n[2])) return;
  const int y_margin = n[1] > 1, x_margin = n[0] > 1;
  for (int y = y_margin; y < n[1] - y_margin; ++y)
    for (int x = x_margin; x < n[0] - x_margin; ++x) {
      const std::int64_t in_plane = y * window.row() + x;
      if (!in_sample(inside, in_plane, x_margin * step[0], y_margin * step[1])) continue;
      const float* const here = gray.data() + window.start_of(z) + in_plane;
      double square = 0;
      for (int d = 0; d < 3; ++d) {
        if (n[d] == 1) continue;
        const double slope = 0.5 * (double{here[step[d]]} - double{here[-step[d]]});
        square += slope * slope;
      }
      counts.add(double{*here}, std::sqrt(square));
    }
}

}  // namespace

double edge_threshold(const ImageLayers& image, const Histogram& histogram) {
  const double otsu = otsu_threshold(histogram);
  const std::vector<double> peaks = class_peaks(histogram, {&otsu, 1});
  const double halfway = halfway_threshold(histogram), reach = reach_share * std::abs(peaks[1] - peaks[0]);
  EdgeCounts all(histogram.low, histogram.high);
  image.for_own([&](const ImageWindow& layer) {
    const ImageWindow window = layer.grown(1);
    const Array<float> gray = image.read(window);
    std::vector<EdgeCounts> of_thread(n_threads(), EdgeCounts(histogram.low, histogram.high));
    parallel_for(layer.planes(), [&](std::int64_t p) {
      count_plane(window, gray.span(), image.sample().inside(), layer.first + static_cast<int>(p),
                  of_thread[thread_number()]);
    });
    for (const EdgeCounts& part : of_thread) all.add(part);
  });
  image.comm().sum(all.counts());
  const auto noise = static_cast<std::size_t>(std::ceil(noise_factor * (static_cast<double>(all.quantile(0.5)) + 0.5)));
  double weight = 0, moment = 0;
  for (std::size_t s = std::min(noise, all.quantile(largest_quantile)); s < steep_bins; ++s) {
    const double power = std::pow(static_cast<double>(s) + 0.5, 4);
    const auto row = all.of_steepness(s);
    for (std::size_t g = 0; g < gray_bins; ++g) {
      if (row[g] == 0 || std::abs(all.gray(g) - halfway) >= reach) continue;
      weight += power * static_cast<double>(row[g]);
      moment += power * static_cast<double>(row[g]) * all.gray(g);
    }
  }
  return weight > 0 ? moment / weight : halfway;
}

}  // namespace karst
