// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/report/report_charts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "geometry_import/report/slice_pictures.hpp"
#include "page/page_text.hpp"

namespace karst {
namespace {

constexpr const char* axis_colours[3] = {"#0072b2", "#d55e00", "#007a5a"};  // Okabe & Ito
constexpr const char* aside_colour = "#8a8f98";                             // of lines that others are compared with
constexpr const char* axis_dashes[3] = {"", "7 3", "2 2.5"};
constexpr std::size_t most_bars = 60, most_gray_bins = 256;

/// The bins [first, last) that hold all but 0.05 % of the voxels at each end, and the thresholds.
std::pair<std::size_t, std::size_t> shown_bins(const ReportHistogram& h) {
  const auto& count = h.histogram.count;
  const double cut = 5e-4 * static_cast<double>(std::accumulate(count.begin(), count.end(), std::int64_t{0}));
  std::size_t first = 0, last = count.size();
  for (double sum = static_cast<double>(count[first]); first + 1 < last && sum <= cut;)
    sum += static_cast<double>(count[++first]);
  for (double sum = static_cast<double>(count[last - 1]); last > first + 1 && sum <= cut;)
    sum += static_cast<double>(count[--last - 1]);
  for (const double t : h.thresholds) {
    const double bin = (t - h.histogram.low) / h.histogram.width();
    if (!(bin >= 0 && bin <= static_cast<double>(count.size()))) continue;
    first = std::min(first, static_cast<std::size_t>(std::max(0.0, std::floor(bin) - 1)));
    last = std::clamp(static_cast<std::size_t>(std::ceil(bin) + 1), last, count.size());
  }
  return {first, last};
}

/// An end for the axis that a single towering bin does not set.
double height_of(const std::vector<double>& share) {
  std::vector<double> sorted = share;
  std::sort(sorted.rbegin(), sorted.rend());
  const double second = sorted.size() > 3 ? sorted[2] : 0;
  return second > 0 && sorted[0] > 3 * second ? 1.5 * second : sorted[0];
}

ChartAxis in_voxels(const ChartAxis& axis, const std::string& label, double voxel_in_units) {
  return {label, axis.low / voxel_in_units, axis.high / voxel_in_units};
}

}  // namespace

Chart histogram_chart(const ReportHistogram& h) {
  const Histogram& all = h.histogram;
  const auto [first, last] = shown_bins(h);
  const std::size_t group = (last - first + most_gray_bins - 1) / most_gray_bins;
  const auto total = static_cast<double>(std::accumulate(all.count.begin(), all.count.end(), std::int64_t{0}));
  std::vector<double> edges{all.low + static_cast<double>(first) * all.width()}, share;
  for (std::size_t b = first; b < last; b += group) {
    const std::size_t end = std::min(b + group, last);
    std::int64_t sum = 0;
    for (std::size_t i = b; i < end; ++i) sum += all.count[i];
    edges.push_back(all.low + static_cast<double>(end) * all.width());
    share.push_back(100 * static_cast<double>(sum) / (total * (edges.back() - edges[edges.size() - 2])));
  }
  Chart c;
  c.x = {"gray value", edges.front(), edges.back()};
  const double top = height_of(share), largest = *std::max_element(share.begin(), share.end());
  c.y = {"voxels [% per gray value]", 0, 1.06 * top};
  for (std::size_t k = 0; k < h.classes.size(); ++k) {
    const double low = k == 0 ? edges.front() : h.thresholds[k - 1];
    const double high = k < h.thresholds.size() ? h.thresholds[k] : edges.back();
    ChartSeries s{.name = "", .colour = hex(label_colour(h.labels[k])), .drawn = DrawnAs::bars};
    for (std::size_t b = 0; b < share.size(); ++b) {
      const double left = std::clamp(edges[b], low, high), right = std::clamp(edges[b + 1], low, high);
      if (right <= left) continue;
      if (s.x.empty()) s.x.push_back(left);
      s.x.push_back(right);
      s.y.push_back(share[b]);
    }
    if (s.x.empty()) continue;
    c.series.push_back(std::move(s));
    c.words.push_back({low, high, h.classes[k], "#333"});
  }
  for (const double t : h.thresholds) c.marks.push_back({t, number_text(t, 4)});
  if (h.seed_threshold) c.marks.push_back({*h.seed_threshold, "seeds " + number_text(*h.seed_threshold, 4)});
  c.description =
      fmt::format("Histogram of gray values with {}", count_text(std::ssize(h.thresholds), "threshold", "thresholds"));
  if (largest > c.y.high) c.y.label += fmt::format(", cut: highest {}", number_text(largest));
  return c;
}

Chart size_chart(const SizeDistribution& sizes, double voxel, const std::string& what, const std::string& share,
                 double bound) {
  const std::size_t group = std::max<std::size_t>(1, (sizes.share.size() + most_bars - 1) / most_bars);
  const double high = std::max(1.0, sizes.bin_width * static_cast<double>(sizes.share.size()));  // [voxels]
  const LengthUnit unit = length_unit(high * voxel);
  const double scale = voxel / unit.metres;
  ChartSeries bars{.name = share, .colour = "#8db8d8", .drawn = DrawnAs::bars, .x = {0}};
  ChartSeries line{.name = "cumulative", .colour = "#1b3a57", .x = {0}, .y = {0}, .on_right = true};
  double sum = 0, tallest = 0;
  for (std::size_t b = 0; b < sizes.share.size(); b += group) {
    const std::size_t end = std::min(b + group, sizes.share.size());
    const double part = std::accumulate(sizes.share.begin() + static_cast<std::ptrdiff_t>(b),
                                        sizes.share.begin() + static_cast<std::ptrdiff_t>(end), 0.0);
    sum += part;
    tallest = std::max(tallest, part);
    bars.x.push_back(scale * sizes.bin_width * static_cast<double>(end));
    bars.y.push_back(100 * part);
    line.x.push_back(bars.x.back());
    line.y.push_back(100 * sum);
  }
  Chart c;
  c.description =
      fmt::format("Distribution of the diameters of {}: median {}", what, length_text(sizes.median * voxel));
  c.x = {fmt::format("diameter [{}]", unit.name), 0, scale * high};
  c.top = in_voxels(c.x, "[voxels]", scale);
  c.y = {"share [%]", 0, axis_end(100 * tallest)};
  c.right = ChartAxis{"cumulative [%]", 0, 100};
  c.series = {std::move(bars), std::move(line)};
  if (sizes.median > 0) c.marks.push_back({scale * sizes.median, "median"});
  if (bound > 0 && bound < high) c.marks.push_back({scale * bound, fmt::format("{:.0f} voxels", bound)});
  return c;
}

Chart profile_chart(const ImageStatistics& statistics, double voxel) {
  std::size_t longest = 1;
  double largest = statistics.porosity;
  for (const auto& p : statistics.profile) {
    longest = std::max(longest, p.size());
    for (const double v : p) largest = std::max(largest, v);
  }
  const LengthUnit unit = length_unit(static_cast<double>(longest) * voxel);
  const double scale = voxel / unit.metres;
  Chart c;
  c.description = "Porosity of the planes across x, y and z";
  c.x = {fmt::format("position along the axis [{}]", unit.name), 0, scale * static_cast<double>(longest)};
  c.y = {"porosity [%]", 0, std::min(100.0, axis_end(105 * largest))};
  for (std::size_t d = 0; d < 3; ++d) {
    ChartSeries s{.name = axis_names[d], .colour = axis_colours[d], .dash = axis_dashes[d]};
    for (std::size_t i = 0; i < statistics.profile[d].size(); ++i) {
      s.x.push_back(scale * (static_cast<double>(i) + 0.5));
      s.y.push_back(100 * statistics.profile[d][i]);
    }
    c.series.push_back(std::move(s));
  }
  c.series.push_back({.name = "sample",
                      .colour = aside_colour,
                      .x = {c.x.low, c.x.high},
                      .y = {100 * statistics.porosity, 100 * statistics.porosity}});
  return c;
}

Chart correlation_chart(const ImageStatistics& statistics, double voxel) {
  std::size_t longest = 2;
  for (const auto& v : statistics.correlation) longest = std::max(longest, v.size());
  const double lengths = *std::max_element(statistics.correlation_length.begin(), statistics.correlation_length.end());
  const double shown = std::min(static_cast<double>(longest - 1), std::max(8.0, 10 * lengths));  // [voxels]
  const LengthUnit unit = length_unit(shown * voxel);
  const double scale = voxel / unit.metres;
  Chart c;
  c.description = "Two-point correlation of the pore space along x, y and z";
  c.x = {fmt::format("distance [{}]", unit.name), 0, scale * shown};
  c.top = in_voxels(c.x, "[voxels]", scale);
  c.y = {"correlation [-]", -0.2, 1};
  for (std::size_t d = 0; d < 3; ++d) {
    ChartSeries s{
        .name = fmt::format("{}: length {}", axis_names[d], length_text(statistics.correlation_length[d] * voxel)),
        .colour = axis_colours[d],
        .dash = axis_dashes[d]};
    for (std::size_t i = 0; i < statistics.correlation[d].size() && static_cast<double>(i) <= shown; ++i) {
      s.x.push_back(scale * static_cast<double>(i));
      s.y.push_back(statistics.correlation[d][i]);
      if (s.y.back() < 0) c.y.low = std::min(c.y.low, -axis_end(-s.y.back()));
    }
    c.series.push_back(std::move(s));
  }
  c.series.push_back({.name = "", .colour = aside_colour, .x = {c.x.low, c.x.high}, .y = {0, 0}});
  return c;
}

}  // namespace karst
