// SPDX-License-Identifier: BSD-3-Clause
// What job `dispersion` shows: text, tables and the chart of its page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/job/flow_sample.hpp"
#include "app/output/page_values.hpp"
#include "app/transport/dispersion_job.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "page/svg_chart.hpp"

namespace karst {

namespace {

/// Péclet number of a cell above which the layers of the concentration are thinner than cells.
constexpr double largest_cell_peclet = 10.0;

double along(const DispersionColumn& c, const DispersionPoint& p) { return p.tensor[c.axis][c.axis]; }

const char* length_words(bool given) {
  return given ? "dispersion.length" : "mean grain diameter, 6 x volume of the solid / its surface";
}

Json point_json(const DispersionColumn& c, const DispersionPoint& p, const DispersionScale& scale) {
  Json json, across = Json::array();
  each_quantity(scale, c.axis, p, ToJson{json, shown::json});
  for (int d = 0; d < 3; ++d) across.push_back(d == c.axis ? Json(nullptr) : Json(p.tensor[d][d]));
  json["transverse"] = across;
  return json;
}

/// A number at each of which a line of the chart has a point; none where it is not positive.
void add_point(double peclet, const Json& value, ChartSeries& line, ChartAxis& x, ChartAxis& y) {
  if (value.is_null() || !(peclet > 0.0) || !(value.get<double>() > 0.0)) return;
  line.x.push_back(std::log10(peclet));
  line.y.push_back(std::log10(value.get<double>()));
  x.low = std::min(x.low, line.x.back()), x.high = std::max(x.high, line.x.back());
  y.low = std::min(y.low, line.y.back()), y.high = std::max(y.high, line.y.back());
}

Chart chart_of(const Json& summary) {
  Chart chart;
  chart.description = "Dispersion coefficients over the diffusivity of the fluid against the Péclet number";
  chart.x = {"Péclet number [-]", 1e300, -1e300, true};
  chart.y = {"dispersion coefficient / diffusivity of the fluid [-]", 1e300, -1e300, true};
  for (const Json& c : summary.at("columns")) {
    const std::string axis = axis_name(c);
    const auto a = axis_of(c);
    ChartSeries longitudinal{.name = "along the flow, " + axis, .colour = chart_colours[a]};
    for (const Json& p : c.at("points"))
      add_point(p.at("peclet"), p.at("longitudinal"), longitudinal, chart.x, chart.y);
    if (longitudinal.x.empty()) continue;
    chart.series.push_back(longitudinal);
    for (std::size_t d = 0; d < 3; ++d) {
      ChartSeries across{.name = fmt::format("flow {}, transverse along {}", axis, axis_names[d]),
                         .colour = chart_colours[d],
                         .dash = "5 4"};
      for (const Json& p : c.at("points"))
        add_point(p.at("peclet"), p.at("transverse").at(d), across, chart.x, chart.y);
      if (!across.x.empty()) chart.series.push_back(across);
    }
  }
  if (chart.series.empty()) return chart;
  for (ChartAxis* axis : {&chart.x, &chart.y}) {
    axis->low = std::floor(axis->low);
    axis->high = std::max(std::ceil(axis->high), axis->low + 1.0);
  }
  return chart;
}

std::string table_of(const Json& column) {
  std::vector<std::vector<std::string>> rows{
      {"Pe [-]", "mean velocity [m/s]", "D<sub>xx</sub>/D [-]", "D<sub>yy</sub>/D [-]", "D<sub>zz</sub>/D [-]",
       "D<sub>xy</sub>/D [-]", "D<sub>xz</sub>/D [-]", "D<sub>yz</sub>/D [-]", "cell Pe [-]", "iterations"}};
  for (const Json& p : column.at("points")) {
    const auto entry = [&](int i, int j) { return number_or_dash(p.at("tensor").at(i).at(j), 5); };
    rows.push_back({fmt::format("{:.4g}", number(p, "peclet")), fmt::format("{:.4g}", number(p, "velocity_m_s")),
                    entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2),
                    fmt::format("{:.2g}", number(p, "cell_peclet")), fmt::format("{}", p.at("iterations").get<int>())});
  }
  return html_table(rows);
}

}  // namespace

std::string dispersion_text(const DispersionColumns& columns, const DispersionScale& scale) {
  std::string text =
      fmt::format("Dispersion tensor over the diffusivity of the fluid, Péclet number with {:.4g} m ({})\n",
                  scale.length, length_words(scale.length_given));
  for (const DispersionColumn& c : columns) {
    text += fmt::format("  flow along {}\n    {:>10}{:>14}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}\n",
                        axis_names[c.axis], "Pe", "velocity m/s", "xx", "yy", "zz", "xy", "xz", "yz", "iterations");
    if (!c.connected) text += "    no flow: no pore percolates along it\n";
    const auto entry = [](double x) { return std::isfinite(x) ? fmt::format("{:.5g}", x) : std::string("-"); };
    for (const DispersionPoint& p : c.points) {
      const Matrix3& t = p.tensor;
      text += fmt::format("    {:>10.4g}{:>14.4g}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}{:>12}\n", p.peclet,
                          scale.velocity(p.peclet), entry(t[0][0]), entry(t[1][1]), entry(t[2][2]), entry(t[0][1]),
                          entry(t[0][2]), entry(t[1][2]), p.iterations);
    }
  }
  return text;
}

std::string dispersion_headline(const DispersionColumns& columns) {
  std::string text;
  for (const DispersionColumn& c : columns) {
    if (c.points.empty()) continue;
    const DispersionPoint& p = c.points.back();
    text += fmt::format(
        "Longitudinal dispersion, flow along {}: {:.4g} times the diffusivity at a Péclet number of {:.4g}\n",
        axis_names[c.axis], along(c, p), p.peclet);
  }
  return text;
}

Json dispersion_json(const DispersionColumns& columns, const DispersionScale& scale) {
  Json json{{"length_m", scale.length},
            {"length", length_words(scale.length_given)},
            {"diffusivity_m2_s", scale.diffusivity},
            {"columns", Json::array()}};
  for (const DispersionColumn& c : columns) {
    Json points = Json::array();
    for (const DispersionPoint& p : c.points) points.push_back(point_json(c, p, scale));
    json["columns"].push_back({{"axis", axis_names[c.axis]}, {"points", points}});
  }
  return {{"dispersion", json}};
}

std::string dispersion_csv(const DispersionColumns& columns, const DispersionScale& scale) {
  std::string text = csv_head("flow_axis", scale, 0, DispersionPoint());
  for (const DispersionColumn& c : columns)
    for (const DispersionPoint& p : c.points) text += csv_line(axis_names[c.axis], scale, c.axis, p);
  return text;
}

std::vector<std::string> dispersion_warnings(const DispersionColumns& columns, const DispersionScale& scale,
                                             bool inertia) {
  Messages all;
  for (const DispersionColumn& c : columns) {
    if (!c.connected) all.add("dispersion {0}: nothing flows along {0}, so there is no advection", axis_names[c.axis]);
    if (!inertia && !c.points.empty() && scale.reynolds(c.points.back().peclet) > largest_creeping_reynolds)
      all.add(
          "dispersion {}: at a Péclet number of {:.4g} the Reynolds number is {:.3g}: inertia matters, which the "
          "creeping "
          "flow neglects; D*/D is that of a species with a smaller diffusivity, or of a fluid with a larger viscosity",
          axis_names[c.axis], c.points.back().peclet, scale.reynolds(c.points.back().peclet));
    if (!c.points.empty() && scale.cell_peclet(c.points.back().peclet) > largest_cell_peclet)
      all.add(
          "dispersion {}: at a Péclet number of {:.4g} the cell Péclet number is {:.3g}: concentration layers behind "
          "grains are thinner than cells, and the coefficients may have errors of several percent; finer cells help",
          axis_names[c.axis], c.points.back().peclet, scale.cell_peclet(c.points.back().peclet));
  }
  return all;
}

PagePart dispersion_page(const Json& summary, const Figures&) {
  PagePart page;
  if (!summary.contains("dispersion")) return page;
  const Json& all = summary.at("dispersion");
  std::string values, range;
  for (const Json& c : all.at("columns")) {
    if (c.at("points").empty()) continue;
    const Json& last = c.at("points").back();
    values += each_html(fmt::format("{} {:.4g}", axis_name(c), number(last, "longitudinal")));
    range = fmt::format("at a Péclet number of {:.4g}", number(last, "peclet"));
  }
  if (values.empty()) return page;
  page.tiles = {{"Dispersion along the flow / diffusivity [-]", values, range}};
  const Chart chart = chart_of(all);
  std::vector<std::string> cards;
  if (!chart.series.empty())
    cards.push_back(card("Dispersion", svg(chart),
                         fmt::format("Longitudinal and transverse dispersion over the diffusivity in the free fluid. "
                                     "Péclet number: mean velocity of the fluid × length / diffusivity, length {:.4g} "
                                     "m ({}). On the left, where diffusion dominates, 1 / tortuosity.",
                                     number(all, "length_m"), html_of(all.at("length")))));
  page.cards = cards;
  for (const Json& c : all.at("columns"))
    if (!c.at("points").empty())
      page.cards.push_back(
          card("Dispersion tensor, flow along " + axis_name(c), table_of(c),
               "Of the mean over the fluid, in the frame that moves with the mean velocity. The tensor is symmetric."));
  return page;
}

}  // namespace karst
