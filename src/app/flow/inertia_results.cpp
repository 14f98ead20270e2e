// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/flow/flow_quantities.hpp"
#include "app/output/page_values.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "page/svg_chart.hpp"

namespace karst {
namespace {

using Column = const FlowColumn&;

/// Of the flow between two samples. A packing of spheres at Re 9 has 1.2, 1.0 and 0.4 behind 8, 16 and 32 cells of free
/// fluid, and the same apparent permeability to 0.06 %.
constexpr double largest_unevenness = 3.0;
/// A law that deviates by more from its points is none for them.
constexpr double largest_deviation = 0.02;

const char* letter_of(Column c) { return axis_names[c.axis]; }
double creeping(Column c) { return c.permeability[c.axis]; }

/// An axis of summary.json with its sweep.
struct Sweep {
  const Json& flow;
  double slow;  ///< permeability of Stokes flow along the axis [m²]
  std::string name() const { return axis_name(flow); }
  int axis() const { return axis_of(flow); }
  const Json& points() const { return flow.at("inertia").at("points"); }
  const Json& law() const { return flow.at("inertia").at("forchheimer"); }
};

std::vector<Sweep> sweeps_of(const Json& summary) {
  std::vector<Sweep> sweeps;
  for (const Json& flow : summary.at("flow")) {
    if (!flow.contains("inertia")) continue;
    Sweep sweep{flow, 0.0};
    sweep.slow = summary.at("permeability_m2").at(sweep.axis()).at(sweep.axis()).get<double>();
    sweeps.push_back(sweep);
  }
  return sweeps;
}

Chart chart_of(const std::vector<Sweep>& sweeps) {
  Chart chart;
  chart.description = "Apparent permeability over that of Stokes flow against the Reynolds number";
  double low = 1e300, high = -1e300, least = 1.0;
  for (const Sweep& sweep : sweeps) {
    ChartSeries points{.name = "driven along " + sweep.name(), .colour = chart_colours[sweep.axis()]};
    ChartSeries law{.name = "Forchheimer's law, " + sweep.name(), .colour = chart_colours[sweep.axis()], .dash = "2 3"};
    for (const Json& p : sweep.points()) {
      points.x.push_back(std::log10(number(p, "reynolds")));
      points.y.push_back(number(p, "permeability_m2") / sweep.slow);
      low = std::min(low, points.x.back()), high = std::max(high, points.x.back());
      least = std::min(least, points.y.back());
    }
    chart.series.push_back(points);
    if (sweep.law().is_null()) continue;
    law.x = points.x;
    for (const Json& p : sweep.points()) {  // β ρ U / μ
      const double inertial =
          number(sweep.law(), "beta_per_m") * number(p, "forchheimer_number") / std::sqrt(sweep.slow);
      law.y.push_back(1.0 / ((1.0 / number(sweep.law(), "permeability_m2") + inertial) * sweep.slow));
    }
    chart.series.push_back(law);
  }
  chart.x = {"Reynolds number [-]", std::floor(low), std::max(std::ceil(high), std::floor(low) + 1.0), true};
  chart.y = {"apparent permeability / permeability of Stokes flow [-]",
             std::max(std::floor(10.0 * least - 0.5) / 10.0, 0.0), 1.05};
  return chart;
}

std::string fit_text(const Json& fit) {
  return fmt::format(
      "Forchheimer's law G = μ/k U + β ρ U² with k = {:.4g} m², β = {:.4g} 1/m; the points deviate by {:.2g} %.",
      number(fit, "permeability_m2"), number(fit, "beta_per_m"), 100.0 * number(fit, "deviation"));
}

std::string table_of(const Sweep& sweep) {
  std::vector<std::vector<std::string>> rows{{"Re [-]", "Re<sub>k</sub> [-]", "pressure gradient [Pa/m]",
                                              "Darcy velocity [m/s]", "apparent k [m²]", "over k of Stokes flow [-]",
                                              "cell Re [-]", "Newton steps", "iterations"}};
  for (const Json& p : sweep.points()) {
    const double k = number(p, "permeability_m2");
    rows.push_back(
        {fmt::format("{:.4g}", number(p, "reynolds")), fmt::format("{:.3g}", number(p, "forchheimer_number")),
         fmt::format("{:.4g}", number(p, "pressure_gradient_Pa_m")),
         fmt::format("{:.4g}", p.at("darcy_velocity_m_s").at(sweep.axis()).get<double>()), fmt::format("{:.4g}", k),
         fmt::format("{:.4f}", k / sweep.slow), fmt::format("{:.2g}", number(p, "cell_reynolds")),
         fmt::format("{}", p.at("newton_steps").get<int>()), fmt::format("{}", p.at("iterations").get<int>())});
  }
  return html_table(rows);
}

}  // namespace

Json inertia_json(const FlowColumn& column) {
  Json json{{"points", Json::array()}, {"forchheimer", nullptr}};
  for (const InertiaPoint& p : column.inertia) {
    Json& point = json["points"].push_back(Json::object());
    each_quantity(p, column.axis, creeping(column), ToJson{point, shown::json});
    if (!column.periodic && p.grid_gradient != p.gradient)
      point.update({{"grid_gradient_Pa_m", p.grid_gradient}, {"flow_unevenness", p.unevenness}});
  }
  if (column.forchheimer) each_quantity(*column.forchheimer, ToJson{json["forchheimer"], shown::json});
  return json;
}

std::string inertia_text(const FlowColumns& columns) {
  std::string text;
  for (Column c : columns) {
    if (c.inertia.empty()) continue;
    text += fmt::format("\nWith inertia, driven along {}\n  {:>10}{:>13}{:>13}{:>13}{:>10}{:>10}{:>8}{:>12}\n",
                        letter_of(c), "Reynolds", "with sqrt k", "Pa/m", "k [m2]", "k / slow", "cell Re", "Newton",
                        "iterations");
    for (const InertiaPoint& p : c.inertia)
      text += fmt::format("  {:>10.4g}{:>13.3g}{:>13.4g}{:>13.5g}{:>10.4f}{:>10.2g}{:>8}{:>12}\n", p.reynolds,
                          p.forchheimer, p.gradient, p.permeability, p.permeability / creeping(c), p.cell_reynolds,
                          p.newton_steps, p.iterations);
    for (const InertiaPoint& p : c.inertia)
      if (p.drives_between > 0)
        text += fmt::format(
            "  Reynolds number {:.4g}: with {} steps in between, because Newton's method did not converge directly\n",
            p.reynolds, p.drives_between == 1 ? "a drive" : fmt::format("{} drives", p.drives_between));
    if (c.forchheimer)
      text += fmt::format("  Forchheimer: k {:.5g} m2, beta {:.4g} 1/m, deviation {:.2g} %\n",
                          c.forchheimer->permeability, c.forchheimer->beta, 100.0 * c.forchheimer->deviation);
  }
  return text;
}

std::string inertia_csv(const FlowColumns& columns) {
  std::string text = csv_head("axis", InertiaPoint(), 0, 1.0);
  for (Column c : columns)
    for (const InertiaPoint& p : c.inertia) text += csv_line(letter_of(c), p, c.axis, creeping(c));
  return text;
}

std::vector<PageTile> inertia_tiles(const Json& summary) {
  std::string values, deviations;
  for (const Sweep& sweep : sweeps_of(summary)) {
    if (sweep.law().is_null()) continue;
    values += each_html(fmt::format("{}\u00a0{:.3g}", sweep.name(), number(sweep.law(), "beta_per_m")));
    deviations +=
        each_html(fmt::format("{}\u00a0{:.2g}\u00a0%", sweep.name(), 100.0 * number(sweep.law(), "deviation")));
  }
  if (values.empty()) return {};
  return {{"Forchheimer's coefficient β", with_unit(values, "1/m"),
           "G = μ/k U + β ρ U²; its points deviate by " + deviations}};
}

std::string inertia_chart(const Json& summary) {
  const std::vector<Sweep> sweeps = sweeps_of(summary);
  if (std::ranges::none_of(sweeps, [](const Sweep& s) { return s.points().size() > 1; })) return {};
  return card("Apparent permeability", svg(chart_of(sweeps)),
              "Reynolds number with the hydraulic diameter of the pores. Weak inertia lowers the permeability with its "
              "square; Forchheimer's law applies above.");
}

std::vector<std::string> inertia_cards(const Json& summary) {
  std::vector<std::string> cards;
  for (const Sweep& sweep : sweeps_of(summary))
    cards.push_back(
        card("Flow with inertia, driven along " + sweep.name(), table_of(sweep),
             (sweep.law().is_null() ? std::string("Three or more of flow.steps give Forchheimer's law.")
                                    : fit_text(sweep.law())) +
                 " Re: Reynolds number with the hydraulic diameter of the pores and the velocity in them; "
                 "Re<sub>k</sub>: with √k "
                 "and the Darcy velocity; cell Re: with the cell width and the largest speed, trusted up to 10."));
  return cards;
}

std::vector<std::string> inertia_warnings(const FlowColumns& columns) {
  Messages all;
  for (Column c : columns) {
    if (c.inertia.empty()) continue;
    const InertiaPoint& last = c.inertia.back();
    if (last.cell_reynolds > largest_cell_reynolds)
      all.add(
          "flow {}: cell Reynolds number {:.3g} at the last step: the cells are too wide for this flow, and the "
          "inertial losses may have errors of 10 % or more; use finer cells (reliable up to {:.0f})",
          letter_of(c), last.cell_reynolds, largest_cell_reynolds);
    if (last.unevenness > largest_unevenness)
      all.add(
          "flow {}: the outflow of the sample is not mixed before it leaves the reservoir (mean square of the velocity "
          "in the free fluid {:.2g} times that of a uniform flow): the apparent permeability is that of closely spaced "
          "samples; use a larger flow.reservoir",
          letter_of(c), 1.0 + last.unevenness);
    if (c.forchheimer && c.forchheimer->deviation > largest_deviation)
      all.add(
          "flow {}: Forchheimer's law deviates from the points by {:.2g} %: some are in the range of weak inertia, "
          "where it does not apply; fit only those of larger Reynolds numbers (inertia.csv), or choose larger "
          "flow.steps",
          letter_of(c), 100.0 * c.forchheimer->deviation);
  }
  return all;
}

}  // namespace karst
