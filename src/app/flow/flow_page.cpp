// SPDX-License-Identifier: BSD-3-Clause
// The flow on the page, from summary.json.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/flow/flow_job.hpp"
#include "app/output/page_values.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "base/math/no_number.hpp"
#include "page/page_text.hpp"
#include "page/svg_chart.hpp"

namespace karst {

namespace {

/// False: no pore leads along the axis or no wall holds the fluid, and what belongs to a flow is null or missing.
bool axis_is_solved(const Json& flow) { return flow.value("percolates", true) && !flow.value("unbounded", false); }

/// Row e, column d of the tensor; NaN where it is not known.
double entry(const Json& summary, std::size_t e, std::size_t d) {
  const Json& value = summary.at("permeability_m2").at(e).at(d);
  return value.is_null() ? no_number : value.get<double>();
}
double along(const Json& summary, const Json& flow) {
  if (flow.value("unbounded", false)) return std::numeric_limits<double>::infinity();
  const auto axis = axis_of(flow);
  return entry(summary, axis, axis);
}

std::string unbroken(const std::string& text) {
  std::string all;
  for (const char c : text) all += c == ' ' ? "\u00a0" : std::string(1, c);
  return all;
}

/// "x 1.25 y 1.30": one text per axis, none broken into lines.
template <class F>
std::string each_axis(const Json& summary, F&& text) {
  std::string all;
  for (const Json& flow : summary.at("flow")) all += each_html(unbroken(axis_name(flow) + ' ' + text(flow)));
  return all;
}

std::string estimated_error(const Json& summary, const Json& flow, const char* unit = " %") {
  if (!axis_is_solved(flow)) return "–";
  const Json& error = flow.at("permeability_error_m2");
  return error.is_null() ? "unknown"
                         : fmt::format("{:.2g}{}", 100.0 * error.get<double>() / along(summary, flow), unit);
}

bool has_error(const Json& summary) { return summary.at("flow").at(0).contains("permeability_error_m2"); }

/// The permeability of cells of no width [m²]; NaN where it is not known, and in results that older versions left.
double extrapolated(const Json& flow) {
  const Json value = flow.value("permeability_extrapolated_m2", Json());
  return value.is_null() ? no_number : value.get<double>();
}

/// "–" for NaN.
std::string permeability_text(double value) { return std::isnan(value) ? "–" : fmt::format("{:.4g}", value); }

/// Of the permeability with the wall moved to one side.
std::string moved_text(const Json& flow, std::size_t side) {
  const Json& k = flow.at("permeability_range_m2").at(side);
  return k.is_null() ? "unknown" : fmt::format("{:.4g}", k.get<double>());
}

bool has_inertia(const Json& summary) {
  return std::ranges::any_of(summary.at("flow"), [](const Json& flow) { return flow.contains("inertia"); });
}

std::vector<PageTile> tiles(const Json& summary) {
  const std::string last = has_inertia(summary) ? "; with inertia, last step" : "";
  std::vector<PageTile> all{
      {has_inertia(summary) ? "Permeability of Stokes flow" : "Permeability",
       each_axis(summary, [&](const Json& f) { return darcy_text(along(summary, f)); }),
       each_axis(summary,
                 [&](const Json& f) {
                   const double k = along(summary, f);
                   return std::isnan(k) ? "–" : fmt::format("{:.4g} m²", k);
                 }) +
           (has_error(summary) ? "<br/>estimated error of the discretisation: " +
                                     each_axis(summary, [&](const Json& f) { return estimated_error(summary, f); })
                               : std::string())}};
  if (std::ranges::any_of(summary.at("flow"), [](const Json& f) { return !std::isnan(extrapolated(f)); }))
    all.push_back({"Permeability extrapolated to zero cell width",
                   each_axis(summary,
                             [](const Json& f) {
                               const double k = extrapolated(f);
                               return std::isnan(k) ? "–" : darcy_text(k);
                             }),
                   each_axis(summary, [](const Json& f) {
                     const double k = extrapolated(f);
                     return permeability_text(k) + (std::isnan(k) ? "" : " m²");
                   })});
  if (summary.contains("porosity")) all.push_back(porosity_tile(summary));
  for (PageTile& tile : inertia_tiles(summary)) all.push_back(std::move(tile));
  all.push_back(
      {"Reynolds number", number_text(number(summary, "reynolds"), 2),
       "ρ U d / (φ μ) with the Darcy velocity U, the porosity φ and the hydraulic diameter d of the pores; far below "
       "1 inertia does not matter" +
           last});
  all.push_back({"Darcy velocity",
                 each_axis(summary,
                           [](const Json& f) {
                             const Json& speed = f.at("darcy_velocity_m_s").at(axis_of(f));
                             return speed.is_null() ? std::string("–") : format_si(speed.get<double>(), "m/s");
                           }),
                 "flow rate over the whole cross-section" + last});
  all.push_back({"Tortuosity of the flow",
                 each_axis(summary,
                           [](const Json& f) -> std::string {
                             return axis_is_solved(f) ? number_text(number(f, "tortuosity"), 3) : "–";
                           }),
                 "mean speed over mean velocity along the driving force" + last});
  return all;
}

/// What to know of the tensor.
std::string tensor_note(const Json& summary) {
  std::string order =
      "Row i, column j: Darcy velocity along i for a pressure drop along j, times viscosity over pressure gradient. ";
  if (summary.contains("permeability_error_of"))
    order += "Estimated error: " + escape_html(summary.at("permeability_error_of").get<std::string>()) + ". ";
  if (!summary.contains("permeability_asymmetry")) return order;
  const double asymmetry = number(summary, "permeability_asymmetry");
  if (!summary.contains("principal_permeability_m2"))
    return order + fmt::format(
                       "Largest difference of entries across the diagonal: {:.2g} % of the largest entry; the tensor "
                       "of a sample that is not periodic need not be symmetric.",
                       100.0 * asymmetry);
  std::string text = order + "Principal axes:";
  for (std::size_t i = 0; i < 3; ++i) {
    const Json& axis = summary.at("principal_axes").at(i);
    text += fmt::format(" {:.4g} m² along ({:.2f}, {:.2f}, {:.2f}){}",
                        summary.at("principal_permeability_m2").at(i).get<double>(), axis.at(0).get<double>(),
                        axis.at(1).get<double>(), axis.at(2).get<double>(), i < 2 ? "," : ".");
  }
  return text + fmt::format(
                    " Each entry off the diagonal is the mean of two solves, which differ by up to {:.2g} % of the "
                    "largest entry, a discretisation error.",
                    100.0 * asymmetry);
}

std::string histogram_card(const Json& summary) {
  Chart chart;
  chart.description = "Distribution of the speed in the pores";
  double top = 0.0;
  for (const Json& flow : summary.at("flow")) {
    if (!axis_is_solved(flow)) continue;
    const Json& histogram = flow.at("speed_histogram");
    const auto ends = histogram.at("log10_speed_over_mean").get<std::array<double, 2>>();
    const auto share = histogram.at("share").get<std::vector<double>>();
    chart.x = {"speed / mean speed [-]", ends[0], ends[1], true};
    const auto axis = axis_of(flow);
    ChartSeries line{.name = fmt::format("driven along {}", axis_name(flow)),
                     .colour = chart_colours[axis],
                     .dash = axis_dashes[axis]};
    const double width = (ends[1] - ends[0]) / static_cast<double>(share.size());
    for (std::size_t b = 0; b < share.size(); ++b) {
      line.x.push_back(ends[0] + (static_cast<double>(b) + 0.5) * width);
      line.y.push_back(100.0 * share[b]);
      top = std::max(top, line.y.back());
    }
    chart.series.push_back(line);
  }
  chart.y = {"fraction of the pore volume [%]", 0.0, axis_end(top)};
  return card("Speed in the pores", svg(chart),
              "Left: stagnant corners (the first bin contains all lower values); right: the main flow channels.");
}

/// The pictures of all axes, a row each.
void add_pictures(const Json& summary, const Figures& figures, std::vector<std::string>& cards) {
  PictureRow pictures(figures);
  for (const Json& flow : summary.at("flow"))
    for (const char* kind : {"view", "slice"}) pictures.add(fmt::format("flow {} {}", axis_name(flow), kind));
  pictures.add_card("Flow field", "Gray in the slices: solid, or a removed pore.", cards, 2);
  if (cards.empty())
    cards.push_back(card("Flow field", "<p>No rendering: the run directory contains no velocity (output.plot).</p>\n"));
}

/// A table with a column per axis.
class AxisTable : public ColumnTable {
 public:
  AxisTable(const Json& summary, const std::string& corner) : ColumnTable(corner) {
    for (const Json& flow : summary.at("flow")) add_column("driven along " + axis_name(flow), flow);
  }
  /// Of what only a drive has that moves something.
  template <class F>
  void row_of_flow(const std::string& name, F&& value) {
    row(name, [&](const Json& flow) { return axis_is_solved(flow) ? std::string(value(flow)) : "–"; });
  }
  void row_of_flow(const std::string& name, const char* key, const char* digits) {
    row_of_flow(name, [&](const Json& flow) { return fmt::format(fmt::runtime(digits), number(flow, key)); });
  }
};

std::string tensor_card(const Json& summary) {
  AxisTable table(summary, "Darcy velocity along");
  for (int e = 0; e < 3; ++e)
    table.row(axis_names[e], [&](const Json& f) {
      const int axis = axis_of(f);
      return permeability_text(e == axis ? along(summary, f) : entry(summary, e, axis));
    });
  if (has_error(summary)) {
    table.row("estimated error of the discretisation, along the driving force [%]",
              [&](const Json& f) { return estimated_error(summary, f, ""); });
    table.row("extrapolated to zero cell width [m²]", [](const Json& f) { return permeability_text(extrapolated(f)); });
  }
  for (std::size_t side = 0; side < 2 && summary.contains("wall_shift_voxels"); ++side)
    table.row(fmt::format("with the wall moved by {}{:.3g} voxel [m²]", side == 0 ? "−" : "+",
                          number(summary, "wall_shift_voxels")),
              [side](const Json& f) { return moved_text(f, side); });
  return card(has_inertia(summary) ? "Permeability of Stokes flow [m²]" : "Permeability [m²]", table.html(),
              tensor_note(summary));
}

/// Who holds against the drive. Empty where momentum passes the ends.
std::string drag_card(const Json& summary) {
  double largest = 0.0;
  bool sides = false;
  const auto known = [](const Json& f) { return f.contains("drag_over_drive"); };
  const auto share = [](const Json& f, const char* part) { return 100.0 * number(f.at("drag_over_drive"), part); };
  const auto sum = [&](const Json& f) { return share(f, "pressure") + share(f, "friction") + share(f, "sides"); };
  for (const Json& f : summary.at("flow")) {
    if (!axis_is_solved(f)) continue;
    if (!known(f)) return {};
    largest = std::max(largest, std::abs(sum(f) - 100.0));
    sides = sides || share(f, "sides") != 0.0;
  }
  AxisTable table(summary, "fraction of the driving force [%]");
  const auto text = [](double percent) { return fmt::format("{:.1f}", percent); };
  table.row_of_flow("pressure on the wall", [&](const Json& f) { return text(share(f, "pressure")); });
  table.row_of_flow("friction on the wall", [&](const Json& f) { return text(share(f, "friction")); });
  if (sides)
    table.row_of_flow("friction on no-slip lateral faces", [&](const Json& f) { return text(share(f, "sides")); });
  table.row_of_flow("sum", [&](const Json& f) { return text(sum(f)); });
  return card(
      "Drag on the walls", table.html(),
      fmt::format(
          "In steady flow the drag on the walls balances the driving force: the volume of the fluid times the pressure "
          "gradient. Here the sum deviates from 100 % by up to {:.1f} %, because forces on walls are first order in "
          "the cell width; no force is lost, and the permeability, which is not computed from them, is more accurate "
          "(see its estimated error). The pressure is that without its linear drop along the sample.",
          largest));
}

std::string solves_card(const Json& summary) {
  AxisTable table(summary, "");
  const auto solve = [&](const Json& flow) -> const Json& {
    for (const Json& s : summary.at("solves"))
      if (s.at("name") == flow_solve_name(axis_of(flow))) return s;
    return summary.at("solves").at(0);
  };
  table.row_of_flow("ends", [](const Json& f) { return html_of(f.at("boundaries")); });
  if (summary.at("flow").at(0).contains("reservoir_cells"))
    table.row_of_flow("reservoir cells on each side [cells]",
                      [](const Json& f) { return fmt::format("{}", f.value("reservoir_cells", 0)); });
  table.row_of_flow("pressure gradient [Pa/m]", "pressure_gradient_Pa_m", "{:.4g}");
  table.row_of_flow("flow rate [m³/s]", "flow_rate_m3_s", "{:.4g}");
  table.row_of_flow("largest speed [m/s]", "largest_speed_m_s", "{:.3g}");
  const std::string slow = has_inertia(summary) ? " of Stokes flow" : "";
  table.row_of_flow("iterations" + slow,
                    [&](const Json& f) { return fmt::format("{}", solve(f).at("iterations").get<int>()); });
  table.row_of_flow("relative residual" + slow + " [-]",
                    [&](const Json& f) { return fmt::format("{:.1e}", number(solve(f), "relative_residual")); });
  table.row_of_flow("open area closed, next to no-flow cells [%]", [](const Json& f) -> std::string {
    if (!f.contains("repairs")) return "–";
    return fmt::format("{:.2g}", 100.0 * number(f.at("repairs"), "closed_area_share"));
  });
  table.row_of_flow("net flux of a cell, relative [-]", "mass_relative", "{:.1e}");
  return card("Flow and solves", table.html());
}

}  // namespace

PagePart flow_page(const Json& summary, const Figures& figures) {
  PagePart page;
  page.tiles = tiles(summary);
  const bool any = std::ranges::any_of(summary.at("flow"), axis_is_solved);
  add_pictures(summary, figures, page.cards);
  page.cards.push_back(pairs_html({tensor_card(summary), any ? histogram_card(summary) : "", inertia_chart(summary),
                                   drag_card(summary), solves_card(summary), grids_card(summary)}));
  std::ranges::move(inertia_cards(summary), std::back_inserter(page.cards));
  return page;
}

}  // namespace karst
