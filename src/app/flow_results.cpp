// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "app/flow_job.hpp"
#include "app/inertia_results.hpp"
#include "app/vof_values.hpp"
#include "base/format.hpp"
#include "geometry_import/report_text.hpp"
#include "geometry_import/svg_chart.hpp"

namespace karst {

namespace {

using Json = nlohmann::ordered_json;
using Column = const FlowColumn&;

constexpr std::array<const char*, 3> axes{"x", "y", "z"};
constexpr std::array<const char*, 3> colours{"#1f77b4", "#d1731b", "#2a8c4a"};
constexpr std::array<const char*, 3> dashes{"", "7 3", "2 3"};

const char* name_of(Column c) { return axes[static_cast<std::size_t>(c.axis)]; }

/// Rows e, columns d; null in the columns of axes that were not asked for.
Json tensor_json(const FlowColumns& columns, double factor) {
  const Matrix3 k = tensor(columns);
  Json rows = Json::array();
  for (const Vec3& row : k) {
    Json entries = Json::array();
    for (const double entry : row.v) entries.push_back(std::isnan(entry) ? Json(nullptr) : Json(factor * entry));
    rows.push_back(entries);
  }
  return rows;
}

Json vector_json(const Vec3& v) { return {v[0], v[1], v[2]}; }

double largest_reynolds(const FlowColumns& columns) {
  double largest = 0.0;
  for (Column c : columns) largest = std::max(largest, c.reynolds);
  return largest;
}

/// Estimated error of the permeability along the axis.
std::string error_text(Column c) {
  return std::isfinite(c.estimated_error) ? fmt::format("{:.2g} %", 100.0 * c.estimated_error / c.permeability[c.axis])
                                          : "unknown";
}

/// "x 1.25 · y 1.30": one text per axis.
template <class F>
std::string listed(const FlowColumns& columns, F&& text) {
  std::string all;
  for (Column c : columns) all += fmt::format("{}{}\u00a0{}", all.empty() ? "" : " · ", name_of(c), text(c));
  return all;
}

std::string histogram_card(const FlowColumns& columns) {
  Chart chart;
  chart.description = "Distribution of the speed in the pores";
  chart.x = {"log10 of speed / mean speed", SpeedHistogram::low, SpeedHistogram::high};
  double top = 0.0;
  for (Column c : columns) {
    ChartSeries line{.name = fmt::format("drive along {}", name_of(c)),
                     .colour = colours[static_cast<std::size_t>(c.axis)],
                     .dash = dashes[static_cast<std::size_t>(c.axis)]};
    constexpr double width = (SpeedHistogram::high - SpeedHistogram::low) / SpeedHistogram::bins;
    for (int b = 0; b < SpeedHistogram::bins; ++b) {
      line.x.push_back(SpeedHistogram::low + (b + 0.5) * width);
      line.y.push_back(100.0 * c.histogram.share[static_cast<std::size_t>(b)]);
      top = std::max(top, line.y.back());
    }
    chart.series.push_back(line);
  }
  chart.y = {"share of the pore volume [%]", 0.0, axis_end(top)};
  return card("Speed in the pores", "<div style=\"max-width:620px\">" + svg(chart) + "</div>\n",
              "Stagnant corners are on the left, the channels that carry the flow on the right.");
}

/// Of the two planes through the axis, across the narrower direction.
int across(const Index& cells, int axis) {
  const int a = (axis + 2) % 3, b = (axis + 1) % 3;
  return cells[b] < cells[a] ? b : a;
}

/// What to know of the tensor.
std::string tensor_note(const FlowColumns& columns) {
  if (columns.size() < 3) return {};
  const auto main = principal(columns);
  if (!main)
    return fmt::format(
        "Largest difference of entries across the diagonal: {:.2g} of the largest entry; the tensor of a sample with "
        "sides need not be symmetric.",
        asymmetry(columns));
  std::string text = "Main directions:";
  for (std::size_t i = 0; i < 3; ++i)
    text += fmt::format(" {:.5g} m² along ({:.2f}, {:.2f}, {:.2f}){}", main->value.v[i], main->axis[i][0],
                        main->axis[i][1], main->axis[i][2], i < 2 ? "," : ".");
  return text + fmt::format(
                    " Each entry off the diagonal is the mean of two solves, which differ by up to {:.2g} of the "
                    "largest entry: an error of the grid.",
                    asymmetry(columns));
}

}  // namespace

std::string darcy_text(double permeability) {
  const double value = permeability / darcy;
  if (std::abs(value) >= 0.1 || value == 0.0) return fmt::format("{:.4g} D", value);
  return fmt::format("{:.4g} mD", 1e3 * value);
}

std::string flow_json(const FlowColumns& columns, const FlowGrid& grid, bool with_error) {
  Json json;
  json["permeability_m2"] = tensor_json(columns, 1.0);
  json["permeability_darcy"] = tensor_json(columns, 1.0 / darcy);
  if (const auto main = principal(columns)) {
    json["principal_permeability_m2"] = vector_json(main->value);
    json["principal_axes"] = {vector_json(main->axis[0]), vector_json(main->axis[1]), vector_json(main->axis[2])};
    json["permeability_asymmetry"] = asymmetry(columns);
  }
  json["darcy_velocity_m_s"] = Json::array();
  for (Column c : columns) json["darcy_velocity_m_s"].push_back(vector_json(c.darcy_velocity));
  json["reynolds"] = largest_reynolds(columns);
  json["flow"] = Json::array();
  for (Column c : columns) {
    Json one;
    one["axis"] = name_of(c);
    one["boundaries"] = c.periodic ? "periodic" : "pressures";
    if (grid.reservoir > 0) {
      const Index all = grid.with_reservoirs(c.axis);
      one["reservoir_cells"] = grid.reservoir;
      one["sample_cells"] = {grid.sample[0], grid.sample[1], grid.sample[2]};
      one["grid_cells"] = {all[0], all[1], all[2]};
    }
    if (with_error)
      one["permeability_error_m2"] = std::isfinite(c.estimated_error) ? Json(c.estimated_error) : Json(nullptr);
    one["pressure_gradient_Pa_m"] = c.gradient;
    one["darcy_velocity_m_s"] = vector_json(c.darcy_velocity);
    one["flow_rate_m3_s"] = c.flow_rate;
    one["largest_speed_m_s"] = c.largest_speed;
    one["reynolds"] = c.reynolds;
    one["tortuosity"] = c.tortuosity;
    if (std::isfinite(c.pressure_drag))
      one["drag_over_drive"] = {{"pressure", c.pressure_drag}, {"friction", c.viscous_drag}, {"sides", c.side_drag}};
    if (!c.inertia.empty()) one["inertia"] = Json::parse(inertia_json(c));
    one["speed_histogram"] = {{"log10_speed_over_mean", {SpeedHistogram::low, SpeedHistogram::high}},
                              {"share", c.histogram.share}};
    json["flow"].push_back(one);
  }
  return json.dump();
}

std::string flow_text(const FlowColumns& columns, const FlowGrid& grid, bool with_error) {
  const Matrix3 k = tensor(columns);
  std::string text = "Permeability, per cross-section of the whole sample\n";
  const auto row = [&](const std::string& name, auto&& value) {
    text += fmt::format("  {:<34}", name);
    for (Column c : columns) text += fmt::format("{:>14}", value(c));
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  };
  row("drive along", [](Column c) { return std::string(name_of(c)); });
  if (grid.reservoir > 0) {
    const auto cells = [](const Index& n) { return fmt::format("{}x{}x{}", n[0], n[1], n[2]); };
    row("cells of the sample", [&](Column) { return cells(grid.sample); });
    row("  with reservoirs", [&](Column c) { return cells(grid.with_reservoirs(c.axis)); });
  }
  row("permeability [m2]", [](Column c) { return fmt::format("{:.6g}", c.permeability[c.axis]); });
  row("  the same", [](Column c) { return darcy_text(c.permeability[c.axis]); });
  if (with_error) row("  estimated error", error_text);
  for (int e = 0; e < 3; ++e)
    row(fmt::format("  of the flow along {} [m2]", axes[static_cast<std::size_t>(e)]), [&](Column c) {
      return e == c.axis ? std::string() : fmt::format("{:.3g}", k[static_cast<std::size_t>(e)][c.axis]);
    });
  row("pressure gradient [Pa/m]", [](Column c) { return fmt::format("{:.4g}", c.gradient); });
  row("Darcy velocity [m/s]", [](Column c) { return fmt::format("{:.4g}", c.darcy_velocity[c.axis]); });
  row("flow rate [m3/s]", [](Column c) { return fmt::format("{:.4g}", c.flow_rate); });
  row("largest speed [m/s]", [](Column c) { return fmt::format("{:.4g}", c.largest_speed); });
  row("Reynolds number", [](Column c) { return fmt::format("{:.3g}", c.reynolds); });
  row("tortuosity of the flow", [](Column c) { return fmt::format("{:.4g}", c.tortuosity); });
  const auto share = [](double part) {
    return std::isfinite(part) ? fmt::format("{:.1f} %", 100.0 * part) : std::string("-");
  };
  row("drag over drive: pressure", [&](Column c) { return share(c.pressure_drag); });
  row("  friction on the wall", [&](Column c) { return share(c.viscous_drag); });
  if (std::ranges::any_of(columns, [](Column c) { return c.side_drag != 0.0; }))
    row("  friction on the sides", [&](Column c) { return share(c.side_drag); });
  return text + inertia_text(columns);
}

std::string flow_pictures(const JobContext& run, const FlowColumns& columns) {
  const CompositeNumbering numbering(run.comm, run.geometry);
  std::string figures;
  for (Column c : columns) {
    const int direction = across(run.grid.cells, c.axis);
    PlaneValues plane = middle_plane(run.comm, run.geometry, numbering, c.speed, direction);
    if (run.comm.rank() != 0) continue;
    std::vector<double> moving;
    for (const double u : plane.values)
      if (u > 0.0) moving.push_back(u);
    std::ranges::sort(moving);
    const double bright = moving.empty() ? 1.0 : moving[moving.size() - 1 - moving.size() / 200];
    const double mean = norm(c.darcy_velocity);
    for (double& u : plane.values) u /= mean;
    figures += plane_figure(
        plane, 0.0, std::stod(fmt::format("{:.2g}", bright / mean)),
        fmt::format("drive along {}, plane across {}", name_of(c), axes[static_cast<std::size_t>(direction)]));
  }
  return figures;
}

PagePart flow_page(const JobContext& run, const FlowColumns& columns, const std::string& pictures) {
  PagePart page;
  page.tiles = {
      {"Permeability", listed(columns, [](Column c) { return darcy_text(c.permeability[c.axis]); }),
       listed(columns, [](Column c) { return fmt::format("{:.4g} m²", c.permeability[c.axis]); }) +
           (run.config.flow.estimate_error ? "; estimated error " + listed(columns, error_text) : std::string())},
      {"Darcy velocity", listed(columns, [](Column c) { return format_si(c.darcy_velocity[c.axis], "m/s"); }),
       "flow rate over the whole cross-section"},
      {"Reynolds number", fmt::format("{:.2g}", largest_reynolds(columns)),
       "with the hydraulic diameter of the pores; below 1 inertia does not matter"},
      {"Tortuosity of the flow", listed(columns, [](Column c) { return number_text(c.tortuosity, 3); }),
       "mean speed over mean velocity"}};
  const Matrix3 k = tensor(columns);
  std::vector<std::vector<std::string>> entries{{"flow along"}}, solves{{""}};
  for (Column c : columns) entries[0].push_back(fmt::format("drive along {}", name_of(c)));
  solves[0].insert(solves[0].end(), entries[0].begin() + 1, entries[0].end());
  for (int e = 0; e < 3; ++e) {
    entries.push_back({axes[static_cast<std::size_t>(e)]});
    for (Column c : columns) entries.back().push_back(fmt::format("{:.5g}", k[static_cast<std::size_t>(e)][c.axis]));
  }
  const auto row = [&](const char* name, auto&& value) {
    solves.push_back({name});
    for (Column c : columns) solves.back().push_back(value(c));
  };
  row("boundaries", [](Column c) { return std::string(c.periodic ? "periodic" : "pressures on both ends"); });
  row("pressure gradient [Pa/m]", [](Column c) { return fmt::format("{:.4g}", c.gradient); });
  row("flow rate [m³/s]", [](Column c) { return fmt::format("{:.4g}", c.flow_rate); });
  row("largest speed", [](Column c) { return format_si(c.largest_speed, "m/s"); });
  row("iterations", [](Column c) { return fmt::format("{}", c.iterations); });
  row("relative residual", [](Column c) { return fmt::format("{:.1e}", c.relative_residual); });
  row("net flux of a cell, relative", [](Column c) { return fmt::format("{:.1e}", c.divergence); });
  page.cards = {card("Permeability [m²]", html_table(entries), tensor_note(columns)),
                card("Speed over Darcy velocity",
                     fmt::format("<div class=\"slices\" style=\"grid-template-columns:repeat({},1fr)\">{}</div>\n",
                                 columns.size(), pictures),
                     "Middle planes; gray is solid, or a pore that was removed."),
                histogram_card(columns), card("Flow", html_table(solves))};
  std::ranges::move(inertia_cards(columns), std::back_inserter(page.cards));
  return page;
}

}  // namespace karst
