// SPDX-License-Identifier: BSD-3-Clause
#include "app/inertia_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "geometry_import/svg_chart.hpp"

namespace karst {
namespace {

using Json = nlohmann::ordered_json;
using Column = const FlowColumn&;

constexpr std::array<const char*, 3> colours{"#1f77b4", "#d1731b", "#2a8c4a"};
/// Where the loss of permeability by inertia was wrong by a tenth in packings of spheres (decision 012).
constexpr double largest_cell_reynolds = 10.0;
/// A law that deviates by more from its points is none for them.
constexpr double largest_deviation = 0.02;

char name_of(Column c) { return "xyz"[c.axis]; }
double slow(Column c) { return c.permeability[c.axis]; }

Chart chart_of(const FlowColumns& columns) {
  Chart chart;
  chart.description = "Apparent permeability over that of slow flow against the Reynolds number";
  double low = 1e300, high = -1e300, least = 1.0;
  for (Column c : columns) {
    ChartSeries points{.name = fmt::format("drive along {}", name_of(c)),
                       .colour = colours[static_cast<std::size_t>(c.axis)]};
    ChartSeries law{.name = fmt::format("Forchheimer, {}", name_of(c)),
                    .colour = colours[static_cast<std::size_t>(c.axis)],
                    .dash = "2 3"};
    for (const InertiaPoint& p : c.inertia) {
      points.x.push_back(std::log10(p.reynolds));
      points.y.push_back(p.permeability / slow(c));
      low = std::min(low, points.x.back()), high = std::max(high, points.x.back());
      least = std::min(least, points.y.back());
    }
    chart.series.push_back(points);
    if (!c.forchheimer) continue;
    law.x = points.x;
    for (const InertiaPoint& p : c.inertia) {
      const double inertial = c.forchheimer->beta * p.forchheimer / std::sqrt(slow(c));  // β ρ U / μ
      law.y.push_back(1.0 / ((1.0 / c.forchheimer->permeability + inertial) * slow(c)));
    }
    chart.series.push_back(law);
  }
  chart.x = {"log10 of the Reynolds number", std::floor(low), std::max(std::ceil(high), std::floor(low) + 1.0)};
  chart.y = {"apparent permeability / permeability", std::max(std::floor(10.0 * least - 0.5) / 10.0, 0.0), 1.05};
  return chart;
}

std::string fit_text(const ForchheimerFit& fit) {
  return fmt::format("G = μ/k U + β ρ U²: k {:.5g} m², β {:.4g} 1/m, deviation {:.2g} %", fit.permeability, fit.beta,
                     100.0 * fit.deviation);
}

std::string table_of(Column c) {
  std::vector<std::vector<std::string>> rows{{"Reynolds number", "with √k", "gradient [Pa/m]", "Darcy velocity [m/s]",
                                              "k [m²]", "k / slow flow", "cell Reynolds number", "Newton steps",
                                              "iterations"}};
  for (const InertiaPoint& p : c.inertia)
    rows.push_back({fmt::format("{:.4g}", p.reynolds), fmt::format("{:.3g}", p.forchheimer),
                    fmt::format("{:.4g}", p.gradient), fmt::format("{:.4g}", p.darcy_velocity[c.axis]),
                    fmt::format("{:.5g}", p.permeability), fmt::format("{:.4f}", p.permeability / slow(c)),
                    fmt::format("{:.2g}", p.cell_reynolds), fmt::format("{}", p.newton_steps),
                    fmt::format("{}", p.iterations)});
  return html_table(rows);
}

}  // namespace

std::string inertia_json(const FlowColumn& column) {
  Json json;
  json["points"] = Json::array();
  for (const InertiaPoint& p : column.inertia) {
    const Vec3& u = p.darcy_velocity;
    json["points"].push_back({{"step", p.step},
                              {"pressure_gradient_Pa_m", p.gradient},
                              {"darcy_velocity_m_s", {u[0], u[1], u[2]}},
                              {"permeability_m2", p.permeability},
                              {"reynolds", p.reynolds},
                              {"forchheimer_number", p.forchheimer},
                              {"cell_reynolds", p.cell_reynolds},
                              {"largest_speed_m_s", p.largest_speed},
                              {"tortuosity", p.tortuosity},
                              {"newton_steps", p.newton_steps},
                              {"iterations", p.iterations},
                              {"relative_residual", p.relative_residual}});
  }
  json["forchheimer"] = nullptr;
  if (column.forchheimer)
    json["forchheimer"] = {{"permeability_m2", column.forchheimer->permeability},
                           {"beta_per_m", column.forchheimer->beta},
                           {"deviation", column.forchheimer->deviation}};
  return json.dump();
}

std::string inertia_text(const FlowColumns& columns) {
  std::string text;
  for (Column c : columns) {
    if (c.inertia.empty()) continue;
    text +=
        fmt::format("\nWith inertia, drive along {}\n  {:>10}{:>13}{:>13}{:>13}{:>10}{:>10}{:>8}{:>12}\n", name_of(c),
                    "Reynolds", "with sqrt k", "Pa/m", "k [m2]", "k / slow", "cell Re", "Newton", "iterations");
    for (const InertiaPoint& p : c.inertia)
      text += fmt::format("  {:>10.4g}{:>13.3g}{:>13.4g}{:>13.5g}{:>10.4f}{:>10.2g}{:>8}{:>12}\n", p.reynolds,
                          p.forchheimer, p.gradient, p.permeability, p.permeability / slow(c), p.cell_reynolds,
                          p.newton_steps, p.iterations);
    if (c.forchheimer)
      text += fmt::format("  Forchheimer: k {:.5g} m2, beta {:.4g} 1/m, deviation {:.2g} %\n",
                          c.forchheimer->permeability, c.forchheimer->beta, 100.0 * c.forchheimer->deviation);
  }
  return text;
}

std::string inertia_csv(const FlowColumns& columns) {
  std::string text =
      "axis,step,pressure_gradient_Pa_m,darcy_velocity_m_s,permeability_m2,permeability_over_slow,reynolds,"
      "forchheimer_number,cell_reynolds,largest_speed_m_s,tortuosity,newton_steps,iterations,relative_residual\n";
  for (Column c : columns)
    for (const InertiaPoint& p : c.inertia)
      text +=
          fmt::format("{},{:.10g},{:.10g},{:.10g},{:.10g},{:.10g},{:.10g},{:.10g},{:.6g},{:.10g},{:.8g},{},{},{:.3g}\n",
                      name_of(c), p.step, p.gradient, p.darcy_velocity[c.axis], p.permeability,
                      p.permeability / slow(c), p.reynolds, p.forchheimer, p.cell_reynolds, p.largest_speed,
                      p.tortuosity, p.newton_steps, p.iterations, p.relative_residual);
  return text;
}

std::vector<std::string> inertia_cards(const FlowColumns& columns) {
  std::vector<std::string> cards;
  if (std::ranges::any_of(columns, [](Column c) { return c.inertia.size() > 1; }))
    cards.push_back(
        card("Apparent permeability", "<div style=\"max-width:620px\">" + svg(chart_of(columns)) + "</div>\n",
             "Reynolds number with the hydraulic diameter of the pores. Weak inertia lowers the permeability "
             "with the square of it; Forchheimer's law begins above."));
  for (Column c : columns)
    if (!c.inertia.empty())
      cards.push_back(card(fmt::format("Flow with inertia, drive along {}", name_of(c)), table_of(c),
                           c.forchheimer ? "Forchheimer: " + fit_text(*c.forchheimer)
                                         : std::string("Three or more of flow.steps give Forchheimer's law.")));
  return cards;
}

std::vector<std::string> inertia_warnings(const FlowColumns& columns) {
  std::vector<std::string> all;
  for (Column c : columns) {
    if (c.inertia.empty()) continue;
    const InertiaPoint& last = c.inertia.back();
    if (last.cell_reynolds > largest_cell_reynolds)
      all.push_back(
          fmt::format("flow {}: cell Reynolds number {:.3g} at the last step: the cells are too wide for this flow, "
                      "and what inertia "
                      "costs may be wrong by a tenth and more; finer cells help (up to {:.0f} it is trusted)",
                      name_of(c), last.cell_reynolds, largest_cell_reynolds));
    if (c.forchheimer && c.forchheimer->deviation > largest_deviation)
      all.push_back(
          fmt::format("flow {}: Forchheimer's law deviates by {:.2g} % from the points: they reach into weak inertia, "
                      "where it does "
                      "not hold; fit those of larger Reynolds numbers alone (inertia.csv), or choose larger flow.steps",
                      name_of(c), 100.0 * c.forchheimer->deviation));
  }
  return all;
}

}  // namespace karst
