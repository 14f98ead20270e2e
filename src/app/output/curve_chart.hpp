// SPDX-License-Identifier: BSD-3-Clause
// Charts of curves that share one axis, with ends of the other that follow from them.
#pragma once

#include <string>
#include <vector>

#include "base/file/json.hpp"
#include "page/svg_chart.hpp"

namespace karst {

/// Least saturation index that charts and pictures tell apart.
constexpr double lowest_index = -5.0;

using Curve = std::vector<double>;

/// A list of summary.json; NaN for null.
Curve curve_of(const Json& values);

constexpr const char* dashes = "6 4";

/// log10 |y|, at least log10 of `least`; NaN of 0 where that is 0.
Curve log10_of(const Curve& y, double least);

class CurveChart {
 public:
  /// Over the time of a history of transport, in pore volumes where there is a flow.
  CurveChart(const Json& transport, const Json& history, const std::string& title, const std::string& y_label);
  /// @param x  of all curves; the axis goes from 0 to the last one
  CurveChart(const std::string& title, const std::string& x_label, const std::string& y_label, Curve x);
  /// The axis goes from the least x to the largest, to multiples of a step.
  void fit_x(double step);
  /// The numbers along x are logarithms. The axis then ends at whole decades.
  void logarithmic_x();
  void logarithmic_y() { chart_.y.log10 = true; }
  /// The y axis holds this value.
  void hold(double y);
  /// NaN is left out.
  /// @param colour  number of the curve
  /// @param dash    as ChartSeries::dash
  void add(const std::string& name, std::size_t colour, const Curve& y, const char* dash = "");
  /// @param colour  itself
  void add(const std::string& name, const std::string& colour, const Curve& y, const std::string& dash);
  double highest() const { return chart_.y.high; }
  /// A card; the y axis holds what was added between these bounds, from and to multiples of a step. Empty without
  /// curves.
  std::string html(const std::string& note, double step, double lowest = -1e300, double highest = 1e300);
  /// A card with 0 on the y axis, which ends at round numbers.
  std::string html_from_zero(const std::string& note);

 private:
  Chart chart_;
  Curve x_;
};

}  // namespace karst
