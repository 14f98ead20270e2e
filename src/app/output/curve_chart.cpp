// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/curve_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "page/page_parts.hpp"

namespace karst {

namespace {

constexpr double nearly = 1e-6;  // of a step: an index of 1e-16 is 0

}  // namespace

Curve curve_of(const Json& values) {
  Curve all;
  for (const Json& v : values) all.push_back(number_or_nan(v));
  return all;
}

Curve log10_of(const Curve& y, double least) {
  Curve all;
  for (const double v : y)
    all.push_back(std::isfinite(v) && (v != 0.0 || least > 0.0) ? std::log10(std::max(std::abs(v), least)) : NAN);
  return all;
}

CurveChart::CurveChart(const std::string& title, const std::string& x_label, const std::string& y_label, Curve x)
    : x_(std::move(x)) {
  chart_.description = title;
  chart_.x = {x_label, 0.0, x_.empty() || x_.back() <= 0.0 ? 1.0 : x_.back()};
  chart_.y = {y_label, INFINITY, -INFINITY};
}

CurveChart::CurveChart(const Json& transport, const Json& history, const std::string& title, const std::string& y_label)
    : CurveChart(title, transport.at("flows").get<bool>() ? "pore volumes" : "time [s]", y_label,
                 curve_of(history.at(transport.at("flows").get<bool>() ? "pore_volumes" : "time_s"))) {}

void CurveChart::fit_x(double step) {
  const auto [least, largest] = std::ranges::minmax_element(x_);
  if (least == x_.end()) return;
  chart_.x.low = step * std::floor(*least / step + nearly);
  chart_.x.high = std::max(step * std::ceil(*largest / step - nearly), chart_.x.low + step);
}

void CurveChart::logarithmic_x() {
  chart_.x.log10 = true;
  chart_.x.low = std::floor(x_.front() + nearly);
  chart_.x.high = std::max(std::ceil(x_.back() - nearly), chart_.x.low + 1.0);
}

void CurveChart::hold(double y) {
  chart_.y.low = std::min(chart_.y.low, y);
  chart_.y.high = std::max(chart_.y.high, y);
}

void CurveChart::add(const std::string& name, std::size_t colour, const Curve& y, const char* dash) {
  add(name, chart_colours[colour % chart_colours.size()], y, dash);
}

void CurveChart::add(const std::string& name, const std::string& colour, const Curve& y, const std::string& dash) {
  ChartSeries s{.name = name, .colour = colour, .dash = dash};
  if (y.size() > x_.size())
    throw JsonError(fmt::format("{}: {} values of {} at {} places", chart_.description, y.size(), name, x_.size()));
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (!std::isfinite(y[i])) continue;
    s.x.push_back(x_[i]);
    s.y.push_back(y[i]);
    hold(y[i]);
  }
  if (!s.x.empty()) chart_.series.push_back(std::move(s));
}

std::string CurveChart::html(const std::string& note, double step, double lowest, double highest) {
  if (chart_.series.empty()) return "";
  chart_.y.low = step * std::floor(std::max(chart_.y.low, lowest) / step + nearly);
  chart_.y.high = step * std::ceil(std::min(chart_.y.high, highest) / step - nearly);
  if (!(chart_.y.high > chart_.y.low)) chart_.y.high = chart_.y.low + step;
  return card(chart_.description, svg(chart_), note);
}

std::string CurveChart::html_from_zero(const std::string& note) {
  if (chart_.series.empty()) return "";
  hold(0.0);
  if (chart_.y.high == chart_.y.low) chart_.y.high = 1.0;
  chart_.y.low = chart_.y.low < 0.0 ? -axis_end(-chart_.y.low) : 0.0;
  chart_.y.high = chart_.y.high > 0.0 ? axis_end(chart_.y.high) : 0.0;
  return card(chart_.description, svg(chart_), note);
}

}  // namespace karst
