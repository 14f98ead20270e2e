// SPDX-License-Identifier: BSD-3-Clause
// Line and bar charts as inline SVG.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

namespace karst {

/// Of the curves of a chart, in their order.
constexpr std::array<const char*, 8> chart_colours{"#1f77b4", "#d1731b", "#2a8c4a", "#b03060",
                                                   "#6a51a3", "#7f6000", "#17808f", "#8c564b"};
/// Some of them, by name.
constexpr const char *chart_blue = chart_colours[0], *chart_orange = chart_colours[1], *chart_green = chart_colours[2],
                     *chart_brown = chart_colours[7];

struct ChartAxis {
  std::string label;  ///< with its unit
  double low = 0, high = 1;
  bool log10 = false;  ///< low, high and the data are the logarithms of the numbers to be shown
  bool whole = false;  ///< numbers between whole ones mean nothing
};

enum class DrawnAs { line, bars, points };

struct ChartSeries {
  std::string name{};  ///< for the legend; empty: not in it
  std::string colour{};
  DrawnAs drawn = DrawnAs::line;
  std::vector<double> x{};  ///< of points or of a line; edges of bars, one more than y
  std::vector<double> y{};
  bool on_right = false;  ///< y is along the right axis
  std::string dash{};     ///< as in stroke-dasharray; empty: none
};

/// A vertical line at x with a text beside its upper end.
struct ChartMark {
  double x;
  std::string text;
};

/// A word in the middle of [low, high], at the top.
struct ChartWord {
  double low, high;
  std::string text, colour;
};

struct Chart {
  std::string description;  ///< for those who cannot see it
  ChartAxis x, y;
  std::optional<ChartAxis> right;
  std::optional<ChartAxis> top;  ///< another unit of x
  std::vector<ChartSeries> series;
  std::vector<ChartMark> marks;
  std::vector<ChartWord> words;
  double width = 480, height = 300;  ///< [pixels]; letters are 14 high
};

/// Where the data are drawn [pixels from the upper left].
struct ChartFrame {
  double left, top, right, bottom;
  double x(const ChartAxis& axis, double value) const {
    return left + (right - left) * (value - axis.low) / (axis.high - axis.low);
  }
  double y(const ChartAxis& axis, double value) const {
    return bottom - (bottom - top) * (value - axis.low) / (axis.high - axis.low);
  }
};
ChartFrame frame_of(const Chart& chart);

/// Letters at 14 pixels, about [pixels].
double text_width(const std::string& text);

/// Multiples of 1, 2 or 5 times a power of ten in [low, high], about `wanted` of them, at least `least` apart.
std::vector<double> ticks(double low, double high, int wanted, double least = 0.0);

/// The next of 1, 1.5, 2, 3, 4, 5, 6, 8 times a power of ten that is >= value: the end of an axis. 1 for 0.
double axis_end(double value);

/// <svg>...</svg>. Names of upright axes stand level above their ends, so that none is cut off. All texts are escaped.
/// Points beyond the axes are cut off. An axis without low < high, or with ends that are not finite, gets others.
std::string svg(const Chart& chart);

}  // namespace karst
