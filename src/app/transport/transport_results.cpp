// SPDX-License-Identifier: BSD-3-Clause
// Results of transport in time as lines of a file, text and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/job/flow_sample.hpp"
#include "app/transport/transport_quantities.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

constexpr double largest_imbalance = 1e-9;  ///< of a step; round-off is far below
constexpr double largest_steady_imbalance = 1e-4;
constexpr double largest_overshoot = 1e-3;  ///< of a steady solution, over the range of its data
constexpr double largest_gap = 1e-12;       ///< of continuity, after what it missed was taken out
constexpr double largest_backflow = 1e-3;
constexpr double largest_film_error = 0.08;
constexpr double largest_missing = 0.02;  ///< of the variance of the residence time

Json component_json(const TransportResult& result, std::size_t i) {
  const ComponentResult& c = result.components[i];
  Json json{{"name", c.name}, {"unit", c.unit}, {"data_range", {c.low, c.high}}, {"value_range", {c.least, c.largest}}};
  each_quantity(result, c, result.states.back().components[i], ToJson{json, shown::json});
  json["breakthrough"] = nullptr;
  if (c.response) {
    json["breakthrough"] = {{"of", c.response->pulse ? "pulse" : "front"}};
    each_quantity(result, c, *c.response, ToJson{json["breakthrough"], shown::json});
  }
  if (c.wall) each_quantity(result, c, *c.wall, ToJson{json["wall"], shown::json});
  return json;
}

/// Columns of transport.csv.
void each_column(const TransportResult& result, const TransportLine& line, auto&& reader) {
  each_quantity(line, reader(""));
  for (std::size_t i = 0; i < line.components.size(); ++i)
    each_quantity(line.components[i], reader(result.components[i].name + '_'));
  result.probes.each_column(line.probes, reader(""));
}

constexpr int label_width = 44, value_width = 14;

std::string component_text(const TransportResult& result) {
  TextRows rows("component"), responses, walls;
  bool late = false;
  for (std::size_t i = 0; i < result.components.size(); ++i) {
    const ComponentResult& c = result.components[i];
    each_quantity(result, c, result.states.back().components[i], rows.column(c.name));
    const auto response = responses.column(), wall = walls.column();
    if (c.response) each_quantity(result, c, *c.response, response);
    if (c.wall) each_quantity(result, c, *c.wall, wall);
    late = late || (c.moments_wanted && !c.response);
  }
  std::string text = rows.text(label_width, value_width);
  if (late)
    text +=
        "  less than 98 % of the inflow has left the sample at the end: no moments of the breakthrough, no "
        "dispersion\n";
  return text + responses.text(label_width, value_width) + walls.text(label_width, value_width);
}

/// What belongs to the sample and what to all of the domain.
std::string reservoir_line(const TransportResult& r) {
  if (r.reservoir == 0) return "";
  return fmt::format(
      "  reservoirs of {} cells before and behind the sample: porosity and pore volume are those of the sample; "
      "inlet,\n"
      "  outlet, mean, range and times of residence those of all of the domain\n",
      r.reservoir);
}

std::string flow_lines(const TransportResult& r) {
  if (!r.flows) return "  no flow: diffusion only\n" + reservoir_line(r);
  std::string text = fmt::format("  {} velocity {:.5g} m/s, in the pores {:.5g} m/s; ",
                                 r.in_time ? "mean Darcy" : "Darcy", r.darcy_velocity, r.pore_velocity());
  text += r.in_time ? fmt::format("{:.4g} pore volumes have flowed in\n", r.states.back().pore_volumes)
                    : fmt::format("one pore volume in {}\n", format_si(r.pore_time, "s"));
  if (r.flow_factor != 1.0)
    text += fmt::format(
        "  for the requested Péclet number the velocity is scaled by {:.6g}; its Reynolds number is {:.3g}\n",
        r.flow_factor, r.reynolds);
  text += reservoir_line(r);
  text += fmt::format("  length of the Péclet number: {}{}\n", format_si(r.number_length.length, "m"),
                      r.number_length.what);
  return text;
}

}  // namespace

std::string TransportResult::unit() const {
  Messages all;
  for (const ComponentResult& c : components)
    if (std::ranges::count(all, c.unit) == 0) all.push_back(c.unit);
  return fmt::format("{}", fmt::join(all, ", "));
}

double TransportResult::peclet(const ComponentResult& c) const {
  return c.diffusivity > 0.0 ? std::abs(pore_velocity()) * number_length.length / c.diffusivity
                             : std::numeric_limits<double>::infinity();
}

std::optional<double> TransportResult::dispersion(const ComponentResult& c) const {
  if (!c.response || !c.conservative || !c.closed_ends || reservoir > 0) return {};
  const auto d = closed_vessel_dispersion(c.response->variance / (c.response->mean_time * c.response->mean_time));
  if (!d) return {};
  return *d * std::abs(pore_velocity()) * length;
}

double TransportResult::damkohler(const ComponentResult& c) const {
  const double rate = c.wall->order == 1.0 ? c.wall->rate : c.wall->rate * std::pow(c.inlet, c.wall->order - 1.0);
  return rate * number_length.length / c.diffusivity;
}

std::string transport_header(const TransportResult& result) {
  TransportLine any;
  any.components.resize(result.components.size());
  any.probes.resize(result.probes.size());
  return csv_head_of([&](auto&& reader) { each_column(result, any, reader); });
}

std::string transport_line(const TransportResult& result, const TransportLine& line) {
  return csv_line_of([&](auto&& reader) { each_column(result, line, reader); });
}

std::string transport_text(const TransportResult& result) {
  const TransportLine& end = result.states.back();
  std::string text =
      result.steady
          ? fmt::format("Steady transport along {}\n", axis_names[result.axis])
          : fmt::format("Transport along {}: {} steps of at most {} to {}{}\n", axis_names[result.axis], result.steps,
                        format_si(result.dt, "s"), format_si(end.time, "s"),
                        result.flows ? fmt::format(", {:.4g} pore volumes", end.pore_volumes) : std::string());
  text += flow_lines(result);
  return text + component_text(result);
}

std::string transport_headline(const TransportResult& result) {
  const TransportLine& end = result.states.back();
  std::string text;
  for (std::size_t i = 0; i < result.components.size(); ++i) {
    const ComponentResult& c = result.components[i];
    const double outlet = end.components[i].outlet;
    const std::string when = result.steady ? ", steady" : " after " + format_si(end.time, "s");
    text += std::isfinite(outlet) ? fmt::format("{} at the outlet{}: {:.4g}", c.name, when, outlet)
                                  : fmt::format("Mean of {}{}: {:.4g}", c.name, when, end.components[i].mean);
    if (c.unit != tracer_unit) text += ' ' + c.unit;
    if (const auto d = result.dispersion(c)) text += fmt::format("; longitudinal dispersion {:.4g} m²/s", *d);
    if (c.wall && std::isfinite(c.wall->ratio_to_well_mixed()))
      text += fmt::format("; effective rate of the wall {:.4g} m/s", c.wall->rate * c.wall->ratio_to_well_mixed());
    text += '\n';
  }
  return text;
}

Json transport_json(const TransportResult& r) {
  const TransportLine& end = r.states.back();
  Json json{{"mode", r.steady ? "steady" : "in-time"},
            {"axis", axis_names[r.axis]},
            {"flows", r.flows},
            {"boundaries", r.has_ends ? "ends" : "periodic"},
            {"steps", r.steps},
            {"longest_step_s", r.dt},
            {"end_s", end.time},
            {"end_pore_volumes", end.pore_volumes},
            {"darcy_velocity_m_s", r.darcy_velocity},
            {"pore_velocity_m_s", r.pore_velocity()},
            {"flow_factor", r.flow_factor},
            {"pore_volume_time_s", r.pore_time > 0.0 ? Json(r.pore_time) : Json(nullptr)},
            {"length_m", r.length},
            {"peclet_length_m", r.number_length.length},
            {"continuity", {{"before", r.continuity_before}, {"after", r.continuity_after}}},
            {"implicit_volumes", r.implicit_volumes},
            {"backflow", r.backflow}};
  if (r.flow_factor != 1.0) json["reynolds"] = r.reynolds;
  if (r.reservoir > 0) json["reservoir_cells"] = r.reservoir;
  json["output_times_s"] = r.output_times;
  json["components"] = Json::array();
  for (std::size_t i = 0; i < r.components.size(); ++i) json["components"].push_back(component_json(r, i));
  Json& history = json["history"];
  for (const TransportLine& line : r.states) each_quantity(line, OverTime{history});
  add_histories(r.states, r.components.size(), history,
                [](const TransportLine& l, std::size_t i, OverTime f) { each_quantity(l.components[i], f); });
  r.probes.add_to(json, r.states);
  return {{"transport", json}};
}

namespace {

/// Says so where a component diffuses so little that cells are wider than the layers it forms. Steady states show it by
/// their values.
std::string thin_layers(const TransportResult& result) {
  double least = std::numeric_limits<double>::infinity();  // diffusivity
  for (const ComponentResult& c : result.components)
    if (c.diffusivity > 0.0) least = std::min(least, c.diffusivity);
  const double number = std::abs(result.pore_velocity()) * result.cell_width / least;
  if (result.steady || !(number > largest_cell_peclet)) return {};
  return fmt::format(
      "transport: the cell Péclet number (velocity in the pores x cell width / diffusivity) is {:.3g}, above {:g}: "
      "layers "
      "in which diffusion balances the flow are thinner than cells, so spreading and rates at walls depend on the "
      "cells; "
      "use finer cells, or compare two widths",
      number, largest_cell_peclet);
}

/// That cells cause in what a wall takes, where the film that holds it back is as thin as they are: a fit to settings
/// in docs/verification.md, where it is above the true error in 19 of 20 in which it is told.
double film_error(const TransportResult& result, const ComponentResult& c) {
  constexpr double of_cell = 0.25, order = 1.5, smooth = 10.0;  // below this cell Péclet number errors are small
  if (!c.wall || !(c.diffusivity > 0.0) || !(c.wall->to_wall > 0.0)) return 0.0;
  const double films = c.wall->to_wall * result.cell_width / c.diffusivity,
               number = std::abs(result.pore_velocity()) * result.cell_width / c.diffusivity,
               held_back = 1.0 - c.wall->ratio_to_well_mixed();
  const double error = of_cell * held_back * std::pow(films, order) * number / (number + smooth);
  return error > 0.0 ? error : 0.0;
}

std::string thin_film(const TransportResult& result, const ComponentResult& c) {
  const double error = film_error(result, c);
  if (result.steady || !(error > largest_film_error)) return {};
  return fmt::format(
      "transport, {}: the film at the wall (diffusivity / rate of transfer) is {:.2g} cells thick, so loss and "
      "Sherwood number may be off by some {:.0f} %, and what is left at the outlet by more; use finer cells",
      c.name, c.diffusivity / (c.wall->to_wall * result.cell_width), 100.0 * std::min(error, 1.0));
}

Messages wall_warnings(const TransportResult& result, const ComponentResult& c) {
  Messages all;
  if (std::string film = thin_film(result, c); !film.empty()) all.push_back(std::move(film));
  if (c.taken_below_zero)
    all.add(
        "transport, {}: values down to {:.4g} are below zero, and none that the deck gives is: sources or walls "
        "(transport.wall.flux) take more than arrives; a rate takes less where there is less (right as it is where "
        "the component is no concentration)",
        c.name, c.least);
  return all;
}

}  // namespace

std::vector<std::string> transport_warnings(const TransportResult& result) {
  Messages all;
  if (result.backflow > largest_backflow)
    all.add(
        "transport: {:.2g} % of the flow enters through the outlet, with the concentration that {}; use a longer "
        "sample or reservoirs (flow.reservoir)",
        100.0 * result.backflow, result.steady ? "is there" : "was there initially");
  if (result.reynolds > largest_creeping_reynolds)
    all.add(
        "transport.peclet: the flow scaled to it has a Reynolds number of {:.3g}: inertia matters, which the creeping "
        "flow "
        "neglects; a smaller diffusivity or a larger fluid.viscosity gives the same transport at a smaller one",
        result.reynolds);
  if (result.continuity_after > largest_gap)
    all.add(
        "transport: the flow gains or loses {:.1e} of the flux through a cell; values may leave their range by as much "
        "per step; use a smaller flow.tolerance",
        result.continuity_after);
  if (std::string thin = thin_layers(result); !thin.empty()) all.push_back(std::move(thin));
  if (result.flows && !result.steady)
    for (const ComponentResult& c : result.components)
      if (c.diffusivity == 0.0)
        all.add(
            "transport, {}: without diffusivity the cells alone spread it (numerical dispersion), and less on finer "
            "ones; "
            "compare two cell widths, or give it the diffusivity of the species",
            c.name);
  for (const ComponentResult& c : result.components) {
    all.add(wall_warnings(result, c));
    if (result.steady) {
      if (c.imbalance > largest_steady_imbalance)
        all.add("transport, {}: {:.1e} of the transported amount is gained or lost; use a smaller transport.tolerance",
                c.name, c.imbalance);
      if (const double out = std::max(c.low - c.least, c.largest - c.high);
          out > largest_overshoot * (c.high - c.low) + 1e-4 * std::max(std::abs(c.low), std::abs(c.high)))
        all.add(
            "transport, {}: values from {:.4g} to {:.4g} leave the range of the data, {:g} to {:g}; the cell Péclet "
            "number is high: use finer cells",
            c.name, c.least, c.largest, c.low, c.high);
      continue;
    }
    const double room = 1e-9 * std::max(std::abs(c.low), std::abs(c.high));
    if (c.least < c.low - room || c.largest > c.high + room)
      all.add("transport, {}: values from {:g} to {:g} leave the range of the data, {:g} to {:g}", c.name, c.least,
              c.largest, c.low, c.high);
    if (c.imbalance > largest_imbalance)
      all.add("transport, {}: a step gained or lost {:.1e} of the transported amount", c.name, c.imbalance);
    if (const double missing = c.response ? missing_variance(*c.response, result.states.back().time) : 0.0;
        missing > largest_missing)
      all.add(
          "transport, {}: {:.2g} % of the inflow has not left at the end, so variance and dispersion are too small by "
          "some {:.0f} % or more; run longer (time.end)",
          c.name, 100.0 * (1.0 - c.response->recovered), 100.0 * missing);
  }
  return all;
}

}  // namespace karst
