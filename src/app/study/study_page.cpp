// SPDX-License-Identifier: BSD-3-Clause
// study.html: a chart of each result over what varies, and the table, whose cases lead to their own pages.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/study/study.hpp"
#include "base/core/text.hpp"
#include "base/core/version.hpp"
#include "base/math/no_number.hpp"
#include "page/page_parts.hpp"
#include "page/page_text.hpp"
#include "page/svg_chart.hpp"

namespace karst {

namespace {

constexpr double one_value = 1e-6;  ///< values that differ by so little of them are one: what solvers leave
/// Largest over least value from which an axis is logarithmic: of permeabilities, which vary by their logarithm, and
/// others.
constexpr double wide_range = 30.0, wide_permeability = 2.0;

/// Values of the cases that share an x, by x.
struct Spread {
  double sum = 0.0;
  std::vector<double> values;
  void add(double y) {
    sum += y;
    values.push_back(y);
  }
};
using Curve = std::map<double, Spread>;

/// What is drawn over: the first heading of at least two different numbers; -1: none.
int abscissa(const Study& study) {
  for (std::size_t v = 0; v < study.varied.size(); ++v) {
    std::set<double> seen;
    bool numbers = study.varied[v] != place_heading;
    for (const StudyCase& c : study.cases) {
      const double x = number_of(c.values[v]);
      if (std::isfinite(x))
        seen.insert(x);
      else
        numbers = false;
    }
    if (numbers && seen.size() > 1) return static_cast<int>(v);
  }
  return -1;
}

/// What tells a curve from others: the values of a case but for x and the place of a part.
std::string curve_of(const Study& study, const StudyCase& c, int x) {
  std::vector<std::string> others;
  for (std::size_t v = 0; v < study.varied.size(); ++v)
    if (static_cast<int>(v) != x && study.varied[v] != place_heading)
      others.push_back(study.varied[v] + " " + c.values[v]);
  return join(others);
}

/// The next logarithm of 1, 2 or 5 times a power of ten, or of the inverse of one, at or above this one.
double log_end(double x) {
  constexpr double nearly = 1e-9;
  const double power = std::floor(x + nearly);
  for (const double m : {1.0, 2.0, 5.0})
    if (x <= power + std::log10(m) + nearly) return power + std::log10(m);
  return power + 1.0;
}

/// An axis of all values, and what is drawn along it: multiples of a power of 1000 that is named in the label, or
/// logarithms.
struct DrawnAxis {
  ChartAxis axis;
  double unit = 1.0;
  double of(double value) const { return axis.log10 ? std::log10(value) : value / unit; }
};
DrawnAxis axis_of(const std::string& name, const std::string& unit, const std::vector<double>& values) {
  auto [low, high] = std::ranges::minmax(values);
  if (high - low < one_value * std::max(std::abs(low), std::abs(high))) low = high = 0.5 * (low + high);
  const std::string of_unit = unit.empty() || unit == "-" ? "" : " " + unit;
  if (low > 0.0 && high > (unit == "m²" ? wide_permeability : wide_range) * low) {
    const double first = -log_end(-std::log10(low)), last = log_end(std::log10(high));
    return {{of_unit.empty() ? name : fmt::format("{} [{}]", name, unit), first, last, true}};
  }
  const double most = std::max(std::abs(low), std::abs(high));
  constexpr double thousand = 3.0;  // its logarithm
  const double power = most > 0.0 ? thousand * std::floor(std::log10(most) / thousand) : 0.0;
  constexpr double plain_from = 1e-2, plain_to = 1e4;  // numbers that read well as they are
  DrawnAxis drawn{{name, 0.0, 0.0}, most < plain_from || most >= plain_to ? std::pow(10.0, power) : 1.0};
  if (drawn.unit != 1.0)
    drawn.axis.label += fmt::format(" [{:g}{}]", drawn.unit, of_unit);
  else if (!of_unit.empty())
    drawn.axis.label += fmt::format(" [{}]", unit);
  low /= drawn.unit, high /= drawn.unit;
  const double margin = high > low ? 0.06 * (high - low) : std::max(0.1 * std::abs(high), 1e-3);
  drawn.axis.low = low >= 0.0 && low < 0.5 * high ? 0.0 : low - margin;
  drawn.axis.high = high + margin;
  drawn.axis.whole = drawn.unit == 1.0 && std::ranges::all_of(values, [](double x) { return x == std::floor(x); });
  return drawn;
}

std::string chart_card(const StudyTable& table, const std::string& column, int x) {
  std::map<std::string, Curve> curves;
  std::vector<double> xs, ys;
  int left_out = 0;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const StudyCase& c = table.study.cases[i];
    const double at = number_of(c.values[x]), y = table.rows[i].of.at(column);
    if (!std::isfinite(y)) continue;
    if (y == 0.0 && !table.rows[i].remark.empty()) {  // no sample of what the others measure
      ++left_out;
      continue;
    }
    curves[curve_of(table.study, c, x)][at].add(y);
    xs.push_back(at);
    ys.push_back(y);
  }
  if (ys.empty() || curves.size() > chart_colours.size()) return "";
  Chart chart;
  chart.description = column + " over " + table.study.varied[x];
  const ColumnWords in_words = words_of(column);
  const DrawnAxis along = axis_of(table.study.varied[x], "", xs), up = axis_of(in_words.title, in_words.unit, ys);
  chart.x = along.axis;
  chart.y = up.axis;
  bool spread = false;
  std::size_t n_curves = 0;
  for (const auto& [name, curve] : curves) {
    const std::string colour = chart_colours[n_curves++ % chart_colours.size()];
    ChartSeries mean{.name = name, .colour = colour}, range{.colour = colour, .dash = "2 2"},
        points{.colour = colour, .drawn = DrawnAs::points};
    for (const auto& [at, s] : curve) {
      mean.x.push_back(along.of(at));
      mean.y.push_back(up.of(s.sum / static_cast<double>(s.values.size())));
      const auto [least, largest] = std::ranges::minmax(s.values);
      for (const double y : {up.of(least), up.of(largest), no_number}) {  // the pen is lifted behind each
        range.x.push_back(along.of(at));
        range.y.push_back(y);
      }
      for (const double y : s.values) {
        points.x.push_back(along.of(at));
        points.y.push_back(up.of(y));
      }
      spread = spread || s.values.size() > 1;
    }
    chart.series.push_back(mean);
    if (points.x.size() > mean.x.size()) chart.series.push_back(range);
    chart.series.push_back(points);
  }
  std::string note = spread ? "A point per case; the curve is their mean, dashed from minimum to maximum." : "";
  if (left_out > 0)
    note += fmt::format("{}Without {} non-percolating case{}: 0 there.", note.empty() ? "" : " ", left_out,
                        left_out == 1 ? "" : "s");
  return card(in_words.title, svg(chart), note);
}

/// Permeabilities over the porosity, a point per case; empty without them, or where the porosity is the same in all.
std::string permeability_card(const StudyTable& table) {
  auto porosity = std::ranges::find(table.columns, "walls.last.porosity");  // of walls that move the one at the end
  if (porosity == table.columns.end())
    porosity = std::ranges::find_if(table.columns, [](const std::string& c) { return c.ends_with("porosity"); });
  if (porosity == table.columns.end()) return "";
  Chart chart;
  chart.description = "Permeability over porosity";
  std::vector<double> all_x, all_y;
  for (const std::string& column : table.columns) {
    if (!column.starts_with("permeability_m2")) continue;
    ChartSeries points{.name = words_of(column).title,
                       .colour = chart_colours[chart.series.size() % chart_colours.size()],
                       .drawn = DrawnAs::points};
    for (const StudyRow& row : table.rows) {
      const double x = row.of.at(*porosity), y = row.of.at(column);
      if (!std::isfinite(x) || !(y > 0.0) || !std::isfinite(y)) continue;
      points.x.push_back(x);
      points.y.push_back(y);
    }
    all_x.insert(all_x.end(), points.x.begin(), points.x.end());
    all_y.insert(all_y.end(), points.y.begin(), points.y.end());
    if (!points.x.empty()) chart.series.push_back(std::move(points));
  }
  if (all_x.empty() || std::ranges::max(all_x) - std::ranges::min(all_x) < one_value) return "";
  const DrawnAxis along = axis_of(words_of(*porosity).title, "", all_x), up = axis_of("Permeability", "m²", all_y);
  for (ChartSeries& points : chart.series) {
    std::ranges::transform(points.x, points.x.begin(), [&](double x) { return along.of(x); });
    std::ranges::transform(points.y, points.y.begin(), [&](double y) { return up.of(y); });
  }
  chart.x = along.axis;
  chart.y = up.axis;
  return card(chart.description, svg(chart), "A point per case; without those through which no pore leads.");
}

/// Counts in full.
std::string cell_text(double value) {
  constexpr double most = 1e6;
  return value == std::floor(value) && std::abs(value) < most ? fmt::format("{:.0f}", value) : number_text(value, 5);
}

std::string table_card(const StudyTable& table) {
  std::vector<std::vector<std::string>> rows{{"case"}};
  for (const std::string& name : headings_of(table)) rows[0].push_back(escape_html(name));
  const bool remarks = has_remarks(table);
  if (remarks) rows[0].emplace_back("remark");
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const StudyCase& c = table.study.cases[i];
    const bool done = table.rows[i].status == "completed";
    std::vector<std::string>& row = rows.emplace_back();
    row.push_back(done ? fmt::format("<a href=\"{0}/report.html\">{0}</a>", c.name)
                       : fmt::format("{} ({})", c.name, escape_html(table.rows[i].status)));
    for (const std::string& cell : cells_of(table, i, cell_text)) row.push_back(escape_html(cell));
    if (remarks) row.push_back(escape_html(table.rows[i].remark));
  }
  return card("Cases", html_table(rows), "Also in study.csv and study.json.");
}

}  // namespace

std::string study_page(const StudyTable& table) {
  const auto completed = std::ranges::count(table.rows, "completed", &StudyRow::status);
  std::vector<PageTile> tiles{{"Cases", count_text(std::ssize(table.rows)), fmt::format("{} completed", completed)}};
  std::vector<std::string> missing = table.study.notes;
  for (std::size_t i = 0; i < table.rows.size(); ++i)
    if (table.rows[i].status != "completed")
      missing.push_back(
          fmt::format("{} {}: {}", table.study.cases[i].name, table.rows[i].status, table.rows[i].reason));
  std::string body = missing.empty() ? "" : warnings_html(missing);
  body += tiles_html(tiles);
  std::vector<std::string> charts;
  if (const int x = abscissa(table.study); x >= 0)
    for (const std::string& column : table.columns) charts.push_back(chart_card(table, column, x));
  charts.push_back(permeability_card(table));
  body += pairs_html(charts) + table_card(table);
  return page_html(table.study.title.empty() ? "Study" : table.study.title, "Karst study", table.study.deck, body,
                   std::string(version_and_git_id()));
}

}  // namespace karst
