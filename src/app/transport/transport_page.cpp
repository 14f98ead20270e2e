// SPDX-License-Identifier: BSD-3-Clause
// Transport in time on the page.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <span>

#include "app/output/curve_chart.hpp"
#include "app/output/field_view.hpp"
#include "app/output/page_values.hpp"
#include "app/reaction/reactive_run.hpp"
#include "app/transport/transport_job.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "page/page_text.hpp"

namespace karst {

namespace {

/// The unit of a component, which earlier summaries do not have.
std::string unit_of(const Json& component) { return component.value("unit", std::string(tracer_unit)); }

PlumeScale scale_of(const Json& component) {
  const auto range = component.at("data_range").get<std::array<double, 2>>();
  return {range[0], range[1], unit_of(component)};
}

/// More than by round-off, a total by more than no chart shows.
bool varies(const Json& values, const std::string& unit) {
  PlumeScale range{INFINITY, -INFINITY, unit};
  for (const Json& v : values)
    if (!v.is_null())
      range.low = std::min(range.low, v.get<double>()), range.high = std::max(range.high, v.get<double>());
  return !is_uniform(range);
}

double largest_of(const Json& values) {
  double largest = 0.0;
  for (const Json& v : values)
    if (!v.is_null()) largest = std::max(largest, std::abs(v.get<double>()));
  return largest;
}

/// Numbers of the components whose totals vary; without H, which counts H⁺ in excess over water, where that is next to
/// nothing.
std::vector<std::size_t> varying_totals(const Json& transport, const char* key) {
  constexpr double next_to_nothing = 1e-3;
  const Json &components = transport.at("components"), &all = transport.at("history").at(key);
  double most = 0.0;
  for (const Json& values : all) most = std::max(most, largest_of(values));
  std::vector<std::size_t> varying;
  for (std::size_t i = 0; i < components.size(); ++i)
    if (varies(all.at(i), unit_of(components.at(i))) &&
        (name_of(components.at(i)) != "H" || largest_of(all.at(i)) > next_to_nothing * most))
      varying.push_back(i);
  return varying;
}

/// The largest |value| of each: the largest of these over the least.
double spread_of(const Json& histories, std::span<const std::size_t> components) {
  double most = 0.0, least = INFINITY;
  for (const std::size_t i : components) {
    most = std::max(most, largest_of(histories.at(i)));
    least = std::min(least, largest_of(histories.at(i)));
  }
  return most / least;
}

/// Of an axis with totals, and with tracers beside them.
std::string total_label(const Json& transport) {
  const bool tracers =
      std::ranges::any_of(transport.at("components"), [](const Json& c) { return unit_of(c) == tracer_unit; });
  return tracers ? "total [mol/kgw], tracer [C]" : "total [mol/kgw]";
}

/// A number of the states of all components over the time. Of totals those alone that vary, next to which others could
/// not be seen, and on a logarithmic axis where they differ much.
std::string chart(const Json& transport, const char* key, const std::string& title, const std::string& note,
                  bool totals) {
  constexpr double much = 30.0, decades = 6.0;
  const Json& history = transport.at("history");
  std::vector<std::size_t> shown(transport.at("components").size());
  std::iota(shown.begin(), shown.end(), std::size_t{0});
  if (totals) shown = varying_totals(transport, key);
  const bool logarithmic = totals && spread_of(history.at(key), shown) > much;
  std::string label = totals ? total_label(transport) : "concentration";
  std::vector<Curve> curves;
  for (const std::size_t i : shown) curves.push_back(curve_of(history.at(key).at(i)));
  const auto negative = [](const Curve& y) { return std::ranges::any_of(y, [](double v) { return v < 0.0; }); };
  if (logarithmic && std::ranges::any_of(curves, negative)) label += ", absolute";
  CurveChart chart(transport, history, title, label);
  if (logarithmic) chart.logarithmic_y();
  for (std::size_t n = 0; n < shown.size(); ++n)
    chart.add(name_of(transport.at("components").at(shown[n])), shown[n],
              logarithmic ? log10_of(curves[n], 0.0) : curves[n]);
  return logarithmic ? chart.html(note, 1.0, chart.highest() - decades) : chart.html_from_zero(note);
}

std::string optional_text(const Json& object, const char* key, int digits = 4) {
  return object.is_object() && object.contains(key) ? number_or_dash(object.at(key), digits) : "–";
}

/// What is not drawn, as it is the same everywhere and at all times; empty where all is drawn.
std::string uniform_card(const Json& transport, const ReactivePage& chemistry) {
  std::vector<std::vector<std::string>> rows{{"", "everywhere"}};
  for (const Json& c : transport.at("components")) {
    if (const PlumeScale scale = scale_of(c); is_uniform(scale))
      rows.push_back({escape_html("concentration of " + name_of(c)), fmt::format("{:.6g}", scale.low)});
  }
  rows.insert(rows.end(), chemistry.uniform.begin(), chemistry.uniform.end());
  if (rows.size() == 1) return "";
  return card("Not drawn", html_table(rows), "Uniform and constant.");
}

std::string numbers_card(const Json& transport) {
  ColumnTable table;
  const Json& components = transport.at("components");
  for (const Json& c : components) table.add_column(escape_html(name_of(c)), c);
  const auto row = [&](const char* name, const char* key, int digits = 4) {
    table.row(name, [&](const Json& c) { return optional_text(c, key, digits); });
  };
  const auto part = [&](const char* name, const char* of, const char* key) {
    if (std::ranges::none_of(components, [&](const Json& c) { return c.contains(of) && !c.at(of).is_null(); })) return;
    table.row(name, [&](const Json& c) { return c.contains(of) ? optional_text(c.at(of), key) : std::string("–"); });
  };
  row("diffusivity [m²/s]", "diffusivity_m2_s");
  row("Péclet number", "peclet");
  const bool steady = is_steady(transport);
  const bool totals = std::ranges::any_of(components, [](const Json& c) { return unit_of(c) != tracer_unit; });
  if (totals) table.row("unit of concentrations", [](const Json& c) { return escape_html(unit_of(c)); });
  row(steady ? "at the outlet" : "at the outlet, at the end", "outlet", 6);
  row(steady ? "mean in the fluid" : "mean in the fluid, at the end", "mean", 6);
  table.row(steady ? "values" : "range of values", [](const Json& c) {
    const auto range = c.at("value_range").get<std::array<double, 2>>();
    return fmt::format("{:.6g} … {:.6g}", range[0], range[1]);
  });
  row(steady ? "imbalance, relative" : "largest imbalance of a step, relative", "largest_imbalance", 2);
  part("mean residence time [s]", "breakthrough", "mean_residence_time_s");
  part("  in pore volumes", "breakthrough", "mean_residence_pore_volumes");
  part("variance / mean² of the residence time", "breakthrough", "relative_variance");
  part("longitudinal dispersion D<sub>L</sub> [m²/s]", "breakthrough", "dispersion_m2_s");
  part("D<sub>L</sub> / D", "breakthrough", "dispersion_over_diffusivity");
  part("loss into the wall [C m³/s]", "wall", "loss_C_m3_s");
  part("  over that of a well-mixed fluid", "wall", "ratio_to_well_mixed");
  part("effective rate of the wall [m/s]", "wall", "effective_rate_m_s");
  part("Damköhler number k L / D", "wall", "damkohler_diffusion");
  part("Damköhler number k A / Q", "wall", "damkohler_advection");
  part("mean concentration at the wall", "wall", "concentration");
  part("Sherwood number of the wall", "wall", "sherwood");
  const int reservoir = transport.value("reservoir_cells", 0);
  const std::string note =
      reservoir > 0
          ? fmt::format(
                "Inlet, outlet, mean, values and residence times are those of the sample with its "
                "reservoirs of {} cells; pore volumes are those of the sample alone.",
                reservoir)
          : "Dispersion from the variance of residence times in a closed vessel (Levenspiel 1999, chapter 13).";
  return card("Transport: numbers", table.html(),
              fmt::format("Length L of Péclet and Damköhler numbers: {}. {}",
                          format_si(number(transport, "peclet_length_m"), "m"), note));
}

/// Of an element of [chemistry].
bool is_total(const Json& summary, const Json& component) {
  return summary.contains("chemistry") &&
         std::ranges::any_of(summary.at("chemistry").at("elements"),
                             [&](const Json& e) { return e.at("name") == name_of(component); });
}

std::vector<PageTile> tiles(const Json& summary, const Json& transport) {
  std::vector<PageTile> all;
  for (const Json& c : transport.at("components")) {
    if (all.size() >= 3) break;
    if (is_total(summary, c)) continue;
    const bool out = !c.at("outlet").is_null();
    all.push_back(
        {escape_html(name_of(c)) + (out ? " at the outlet" : ", mean"), optional_text(c, out ? "outlet" : "mean"),
         is_steady(transport) ? std::string("steady") : "after " + format_si(number(transport, "end_s"), "s")});
    if (const Json& b = c.at("breakthrough"); b.is_object() && b.contains("dispersion_m2_s"))
      all.push_back({"Dispersion D<sub>L</sub>", with_unit(optional_text(b, "dispersion_m2_s", 3), "m²/s"),
                     "along the flow, from the breakthrough of " + escape_html(name_of(c))});
    if (c.contains("wall"))
      all.push_back({"Effective rate of the wall",
                     with_unit(optional_text(c.at("wall"), "effective_rate_m_s", 3), "m/s"),
                     optional_text(c.at("wall"), "ratio_to_well_mixed", 3) + " of that of a well-mixed fluid"});
  }
  if (transport.at("flows").get<bool>())
    all.push_back({"Velocity in the pores", format_si(number(transport, "pore_velocity_m_s"), "m/s"),
                   "along " + axis_name(transport)});
  if (!summary.contains("flow")) all.push_back(porosity_tile(summary));
  return all;
}

}  // namespace

PagePart transport_page(const Json& summary, const Figures& figures) {
  PagePart page;
  if (!summary.contains("transport")) return page;
  const Json& transport = summary.at("transport");
  const ReactivePage chemistry = reactive_page(summary, figures);
  page.tiles = chemistry.tiles;
  std::ranges::move(tiles(summary, transport), std::back_inserter(page.tiles));
  std::vector<std::string> charts;
  const bool totals = summary.contains("chemistry");
  const std::string left_out = totals ? " Constant totals are omitted, and H where it is next to nothing." : "";
  if (!is_steady(transport) && transport.at("boundaries") == "ends" && transport.at("flows").get<bool>())
    charts.push_back(chart(transport, "outlet", "Breakthrough",
                           "Flux-weighted mean at the outlet. Every step is in transport.csv." + left_out, totals));
  if (!is_steady(transport))
    charts.push_back(chart(transport, "mean", "Mean in the fluid",
                           (transport.contains("reservoir_cells") ? "Over the sample with its reservoirs."
                                                                  : "Over all pores of the sample.") +
                               left_out,
                           totals));
  for (std::size_t p = 0; transport.contains("probes") && p < transport.at("probes").size(); ++p)
    charts.push_back(chart(transport, fmt::format("probe_{}", p).c_str(),
                           "Concentration at " + name_of(transport.at("probes")[p]),
                           "Every step is in transport.csv." + left_out, totals));
  charts.insert(charts.begin(), chemistry.charts.begin(), chemistry.charts.end());
  page.cards.push_back(pairs_html(charts));
  std::ranges::copy(chemistry.pictures, std::back_inserter(page.cards));
  page.cards.push_back(pairs_html(chemistry.numbers));
  for (const Json& c : transport.at("components")) {
    const std::string name = name_of(c);
    PictureRow pictures(figures);
    for (std::size_t i = 1; i <= transport.at("output_times_s").size(); ++i)
      pictures.add(fmt::format("transport {} {}", name, i));
    for (const char* which : {"end", "moving"}) pictures.add(fmt::format("transport {} {}", name, which));
    pictures.add_card("Concentration of " + name, "Planes through the middle; gray: solid, or a removed pore.",
                      page.cards);
  }
  page.cards.push_back(uniform_card(transport, chemistry));
  page.cards.push_back(numbers_card(transport));
  return page;
}

std::string plume_picture(const Comm& comm, const FieldView& view, const std::string& component, int axis,
                          const PlumeScale& scale, const std::string& caption) {
  const auto place = view.find(concentration_name(component));
  if (!place || is_uniform(scale)) return "";
  const PlaneValues plane = middle_plane_to_walls(comm, view, {&*place, 1}, across(view.cells, axis));
  if (comm.rank() != 0) return "";
  return plane_figure_to_walls(
      plane, plume_look(view.cell_width, scale,
                        fmt::format("{}, plane in the middle of {}", caption, axis_names[plane.direction])));
}

bool is_uniform(const PlumeScale& s) {
  const double least = s.unit == total_unit ? 1e-4 : 1e-9;  // totals that balance the charge differ by little
  return !(s.high - s.low > least * std::max(std::abs(s.low), std::abs(s.high)));
}

PlaneLook plume_look(double cell_width, const PlumeScale& scale, const std::string& caption) {
  return {.low = scale.low,
          .high = is_uniform(scale) ? scale.low + 1.0 : scale.high,
          .quantity = scale.unit == tracer_unit ? "concentration" : scale.unit,
          .cell_width = cell_width,
          .caption = caption};
}

void draw_transport(const Comm& comm, const Json& summary, const FieldView& view, Figures& figures) {
  if (!summary.contains("transport")) return;
  draw_reactive(comm, summary, view, figures);
  const Json& transport = summary.at("transport");
  const int axis = axis_of(transport);
  for (const Json& c : transport.at("components")) {
    const std::string name = name_of(c);
    const std::string picture =
        plume_picture(comm, view, name, axis, scale_of(c),
                      is_steady(transport) ? "steady" : format_si(number(transport, "end_s"), "s"));
    if (!picture.empty()) figures[fmt::format("transport {} end", name)] = picture;
  }
}

bool is_steady(const Json& transport) { return transport.value("mode", "in-time") == "steady"; }
}  // namespace karst
