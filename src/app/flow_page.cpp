// SPDX-License-Identifier: BSD-3-Clause
// The flow on the page, from summary.json.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/flow_job.hpp"
#include "app/inertia_results.hpp"
#include "base/format.hpp"
#include "geometry_import/report_text.hpp"
#include "geometry_import/svg_chart.hpp"

namespace karst {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<const char*, 3> axes{"x", "y", "z"};
constexpr std::array<const char*, 3> colours{"#1f77b4", "#d1731b", "#2a8c4a"};
constexpr std::array<const char*, 3> dashes{"", "7 3", "2 3"};

std::string name_of(const Json& flow) { return flow.at("axis").get<std::string>(); }
std::size_t axis_of(const Json& flow) { return std::string("xyz").find(name_of(flow)); }
double number(const Json& flow, const char* key) { return flow.at(key).get<double>(); }

/// Row e, column d of the tensor; NaN where it is not known.
double entry(const Json& summary, std::size_t e, std::size_t d) {
  const Json& value = summary.at("permeability_m2").at(e).at(d);
  return value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}
double along(const Json& summary, const Json& flow) { return entry(summary, axis_of(flow), axis_of(flow)); }

/// "x 1.25 · y 1.30": one text per axis.
template <class F>
std::string listed(const Json& summary, F&& text) {
  std::string all;
  for (const Json& flow : summary.at("flow")) {
    all += fmt::format("{}{}\u00a0", all.empty() ? "" : " · ", name_of(flow));
    for (const char letter : std::string(text(flow))) all += letter == ' ' ? "\u00a0" : std::string(1, letter);
  }
  return all;
}

std::string error_text(const Json& summary, const Json& flow) {
  const Json& error = flow.at("permeability_error_m2");
  return error.is_null() ? "unknown" : fmt::format("{:.2g} %", 100.0 * error.get<double>() / along(summary, flow));
}

bool has_error(const Json& summary) { return summary.at("flow").at(0).contains("permeability_error_m2"); }

/// The permeability of cells of no width; "–" where it is not known, and in results that older versions left.
std::string extrapolated_text(const Json& flow) {
  const Json value = flow.value("permeability_extrapolated_m2", Json());
  return value.is_null() ? "–" : fmt::format("{:.4g}", value.get<double>());
}

/// Of permeabilities with the wall moved to both sides.
std::string range_text(const Json& flow) {
  std::string text;
  for (const Json& k : flow.at("permeability_range_m2"))
    text +=
        (text.empty() ? "" : " to ") + (k.is_null() ? std::string("unknown") : fmt::format("{:.4g}", k.get<double>()));
  return text;
}

bool has_inertia(const Json& summary) {
  return std::ranges::any_of(summary.at("flow"), [](const Json& flow) { return flow.contains("inertia"); });
}

std::vector<PageTile> tiles(const Json& summary) {
  const std::string last = has_inertia(summary) ? "; with inertia, last step" : "";
  const auto value = [&](const Json& flow) { return along(summary, flow); };
  return {
      {has_inertia(summary) ? "Permeability of slow flow" : "Permeability",
       listed(summary, [&](const Json& f) { return darcy_text(value(f)); }),
       listed(summary, [&](const Json& f) { return fmt::format("{:.4g} m²", value(f)); }) +
           (has_error(summary)
                ? "; estimated error " + listed(summary, [&](const Json& f) { return error_text(summary, f); })
                : std::string())},
      {"Darcy velocity",
       listed(summary,
              [](const Json& f) { return format_si(f.at("darcy_velocity_m_s").at(axis_of(f)).get<double>(), "m/s"); }),
       "flow rate over the whole cross-section" + last},
      {"Reynolds number", fmt::format("{:.2g}", summary.at("reynolds").get<double>()),
       "with the hydraulic diameter of the pores; below 1 inertia does not matter" + last},
      {"Tortuosity of the flow", listed(summary, [](const Json& f) { return number_text(number(f, "tortuosity"), 3); }),
       "mean speed over mean velocity" + last}};
}

/// What to know of the tensor.
std::string tensor_note(const Json& summary) {
  if (!summary.contains("permeability_asymmetry")) return {};
  const double asymmetry = number(summary, "permeability_asymmetry");
  if (!summary.contains("principal_permeability_m2"))
    return fmt::format(
        "Largest difference of entries across the diagonal: {:.2g} of the largest entry; the tensor of a sample with "
        "sides need not be symmetric.",
        asymmetry);
  std::string text = "Main directions:";
  for (std::size_t i = 0; i < 3; ++i) {
    const Json& axis = summary.at("principal_axes").at(i);
    text += fmt::format(" {:.5g} m² along ({:.2f}, {:.2f}, {:.2f}){}",
                        summary.at("principal_permeability_m2").at(i).get<double>(), axis.at(0).get<double>(),
                        axis.at(1).get<double>(), axis.at(2).get<double>(), i < 2 ? "," : ".");
  }
  return text + fmt::format(
                    " Each entry off the diagonal is the mean of two solves, which differ by up to {:.2g} of the "
                    "largest entry: an error of the grid.",
                    asymmetry);
}

std::string histogram_card(const Json& summary) {
  Chart chart;
  chart.description = "Distribution of the speed in the pores";
  double top = 0.0;
  for (const Json& flow : summary.at("flow")) {
    const Json& histogram = flow.at("speed_histogram");
    const auto ends = histogram.at("log10_speed_over_mean").get<std::vector<double>>();
    const auto share = histogram.at("share").get<std::vector<double>>();
    chart.x = {"log10 of speed / mean speed", ends.at(0), ends.at(1)};
    const std::size_t axis = axis_of(flow);
    ChartSeries line{
        .name = fmt::format("drive along {}", name_of(flow)), .colour = colours[axis], .dash = dashes[axis]};
    const double width = (ends[1] - ends[0]) / static_cast<double>(share.size());
    for (std::size_t b = 0; b < share.size(); ++b) {
      line.x.push_back(ends[0] + (static_cast<double>(b) + 0.5) * width);
      line.y.push_back(100.0 * share[b]);
      top = std::max(top, line.y.back());
    }
    chart.series.push_back(line);
  }
  chart.y = {"share of the pore volume [%]", 0.0, axis_end(top)};
  return card("Speed in the pores", "<div style=\"max-width:620px\">" + svg(chart) + "</div>\n",
              "Stagnant corners are on the left (the first bin holds all below it), the channels that carry the flow "
              "on the right.");
}

/// The pictures of all axes, a row each.
std::string pictures_card(const Json& summary, const Figures& figures) {
  std::string all;
  for (const Json& flow : summary.at("flow")) {
    const auto view = figures.find(fmt::format("flow {} view", name_of(flow)));
    const auto slice = figures.find(fmt::format("flow {} slice", name_of(flow)));
    if (view != figures.end()) all += view->second;
    if (slice != figures.end()) all += slice->second;
  }
  if (all.empty()) return card("Flow field", "<p>No picture: the run directory holds no velocity (output.plot).</p>\n");
  return card(
      "Flow field",
      fmt::format("<div class=\"slices\" style=\"grid-template-columns:repeat(2,minmax(0,1fr))\">{}</div>\n", all),
      "In the slices gray is solid, or a pore that was removed.");
}

std::string solves_card(const Json& summary) {
  std::vector<std::vector<std::string>> rows{{""}};
  for (const Json& flow : summary.at("flow")) rows[0].push_back("drive along " + name_of(flow));
  const auto row = [&](const std::string& name, auto&& value) {
    rows.push_back({name});
    for (const Json& flow : summary.at("flow")) rows.back().push_back(value(flow));
  };
  const auto solve = [&](const Json& flow) -> const Json& {
    for (const Json& s : summary.at("solves"))
      if (s.at("name") == flow_solve_name(static_cast<int>(axis_of(flow)))) return s;
    return summary.at("solves").at(0);
  };
  const auto share = [](const Json& flow, const char* part) -> std::string {
    if (!flow.contains("drag_over_drive")) return "–";
    return fmt::format("{:.1f} %", 100.0 * flow.at("drag_over_drive").at(part).get<double>());
  };
  row("boundaries", [](const Json& f) -> std::string {
    const std::string text = f.at("boundaries");
    if (text == "reservoirs")
      return fmt::format("free fluid between one sample and the next, {} cells",
                         2 * f.at("reservoir_cells").get<int>());
    return text == "periodic" ? text : "pressures on both ends";
  });
  row("pressure gradient [Pa/m]",
      [](const Json& f) { return fmt::format("{:.4g}", number(f, "pressure_gradient_Pa_m")); });
  row("flow rate [m³/s]", [](const Json& f) { return fmt::format("{:.4g}", number(f, "flow_rate_m3_s")); });
  row("largest speed", [](const Json& f) { return format_si(number(f, "largest_speed_m_s"), "m/s"); });
  row("drag over drive: pressure", [&](const Json& f) { return share(f, "pressure"); });
  row("friction on the wall", [&](const Json& f) { return share(f, "friction"); });
  row("friction on no-slip sides", [&](const Json& f) { return share(f, "sides"); });
  const std::string slow = has_inertia(summary) ? " of slow flow" : "";
  row("iterations" + slow, [&](const Json& f) { return fmt::format("{}", solve(f).at("iterations").get<int>()); });
  row("relative residual" + slow,
      [&](const Json& f) { return fmt::format("{:.1e}", number(solve(f), "relative_residual")); });
  row("open area that is closed, towards pieces without flow", [](const Json& f) -> std::string {
    if (!f.contains("repairs")) return "–";
    return fmt::format("{:.2g} %", 100.0 * f.at("repairs").at("closed_area_share").get<double>());
  });
  row("net flux of a cell, relative", [](const Json& f) { return fmt::format("{:.1e}", number(f, "mass_relative")); });
  return card("Flow", html_table(rows));
}

}  // namespace

PagePart flow_page(const Json& summary, const Figures& figures) {
  PagePart page;
  if (!summary.contains("flow")) return page;
  page.tiles = tiles(summary);
  std::vector<std::vector<std::string>> entries{{"flow along"}};
  for (const Json& flow : summary.at("flow")) entries[0].push_back("drive along " + name_of(flow));
  for (std::size_t e = 0; e < 3; ++e) {
    entries.push_back({axes[e]});
    for (const Json& flow : summary.at("flow"))
      entries.back().push_back(fmt::format("{:.5g}", entry(summary, e, axis_of(flow))));
  }
  if (has_error(summary)) {
    entries.push_back({"estimated error along the drive"});
    for (const Json& flow : summary.at("flow")) entries.back().push_back(error_text(summary, flow));
    entries.push_back({"extrapolated to zero cell width"});
    for (const Json& flow : summary.at("flow")) entries.back().push_back(extrapolated_text(flow));
  }
  if (summary.contains("wall_shift_voxels")) {
    entries.push_back({fmt::format("range for a wall ± {:.3g} voxel", number(summary, "wall_shift_voxels"))});
    for (const Json& flow : summary.at("flow")) entries.back().push_back(range_text(flow));
  }
  page.cards = {card(has_inertia(summary) ? "Permeability of slow flow [m²]" : "Permeability [m²]", html_table(entries),
                     tensor_note(summary)),
                pictures_card(summary, figures), histogram_card(summary), solves_card(summary)};
  std::ranges::move(inertia_cards(summary), std::back_inserter(page.cards));
  return page;
}

void draw_flow(const Comm& comm, const Json& summary, const FieldView& view, Figures& figures) {
  if (!summary.contains("flow")) return;
  const bool several = summary.at("flow").size() > 1;
  for (const Json& flow : summary.at("flow")) {
    const std::string prefix = several ? fmt::format("drive_{}_", name_of(flow)) : std::string();
    add_flow_figures(comm, view, {static_cast<int>(axis_of(flow)), prefix, flow.value("reservoir_cells", 0)}, figures);
  }
}

}  // namespace karst
