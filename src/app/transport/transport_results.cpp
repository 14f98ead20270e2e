// SPDX-License-Identifier: BSD-3-Clause
// Results of transport in time as lines of a file, text and JSON.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/transport/transport_job.hpp"
#include "base/core/format.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

constexpr double largest_imbalance = 1e-9;  ///< of a step; round-off is far below
constexpr double largest_steady_imbalance = 1e-4;
constexpr double largest_overshoot = 1e-3;  ///< of a steady solution, over the range of its data
constexpr double largest_gap = 1e-12;       ///< of continuity, after what it missed was taken out
constexpr double largest_backflow = 1e-3;

double ratio_to_well_mixed(const WallResult& wall) {
  return wall.well_mixed != 0.0 ? wall.loss / wall.well_mixed : std::numeric_limits<double>::quiet_NaN();
}

/// k L / D; of another order n than 1 with k c^(n-1), c the concentration of the inflow.
double damkohler(const TransportResult& result, const ComponentResult& c) {
  const double rate = c.wall->order == 1.0 ? c.wall->rate : c.wall->rate * std::pow(c.inlet, c.wall->order - 1.0);
  return rate * result.number_length / c.diffusivity;
}

Json wall_json(const TransportResult& result, const ComponentResult& c) {
  const WallResult& wall = *c.wall;
  Json json{{"area_m2", wall.area},
            {"rate_m_s", wall.rate},
            {"loss_C_m3_s", wall.loss},
            {"well_mixed_loss_C_m3_s", wall.well_mixed},
            {"ratio_to_well_mixed", number_or_null(ratio_to_well_mixed(wall))},
            {"effective_rate_m_s", number_or_null(wall.rate * ratio_to_well_mixed(wall))},
            {"order", wall.order},
            {"concentration", number_or_null(wall.concentration)},
            {"damkohler_diffusion", number_or_null(damkohler(result, c))},
            {"sherwood", number_or_null(wall.to_wall * result.number_length / c.diffusivity)}};
  json["damkohler_advection"] =
      result.flow_rate != 0.0 ? Json(wall.rate * wall.area / std::abs(result.flow_rate)) : Json(nullptr);
  return json;
}

Json response_json(const TransportResult& result, const ComponentResult& c) {
  if (!c.response) return nullptr;
  const Breakthrough& b = *c.response;
  Json json{{"of", b.pulse ? "pulse" : "front"},
            {"recovered", b.recovered},
            {"mean_residence_time_s", b.mean_time},
            {"mean_residence_pore_volumes", b.mean_time / result.pore_time},
            {"variance_s2", b.variance},
            {"relative_variance", b.variance / (b.mean_time * b.mean_time)}};
  if (const auto d = result.dispersion(c)) {
    json["dispersion_m2_s"] = *d;
    json["dispersion_over_diffusivity"] = number_or_null(*d / c.diffusivity);
    json["dispersivity_m"] = *d / std::abs(result.pore_velocity());
  }
  return json;
}

Json component_json(const TransportResult& result, std::size_t i) {
  const ComponentResult& c = result.components[i];
  const ComponentLine& end = result.states.back().components[i];
  Json json{{"name", c.name},
            {"diffusivity_m2_s", c.diffusivity},
            {"peclet", result.flows ? number_or_null(result.peclet(c)) : Json(nullptr)},
            {"outlet", number_or_null(end.outlet)},
            {"mean", end.mean},
            {"inlet", number_or_null(c.inlet)},
            {"data_range", {c.low, c.high}},
            {"value_range", {c.least, c.largest}},
            {"largest_imbalance", c.imbalance},
            {"breakthrough", response_json(result, c)}};
  if (c.wall) json["wall"] = wall_json(result, c);
  return json;
}

/// Concentrations at the end, and over the time as history has the means: a list per component.
void add_probes(const TransportResult& result, Json& transport) {
  for (std::size_t p = 0; p < result.probes.size(); ++p) {
    const ProbeOptions& probe = result.probes[p];
    Json at_end = Json::array(), history = Json::array();
    for (std::size_t i = 0; i < result.components.size(); ++i) {
      at_end.push_back(result.states.back().components[i].probes[p]);
      Json values = Json::array();
      for (const TransportLine& line : result.states) values.push_back(line.components[i].probes[p]);
      history.push_back(values);
    }
    transport["probes"].push_back({{"name", probe.name},
                                   {"position_m", {probe.position[0], probe.position[1], probe.position[2]}},
                                   {"concentration", at_end}});
    transport["history"][fmt::format("probe_{}", p)] = history;
  }
}

std::string per_component(const TransportResult& result, const char* name, auto&& text) {
  std::string row = fmt::format("  {:<44}", name);
  for (std::size_t i = 0; i < result.components.size(); ++i) row += fmt::format(" {:>13}", text(i));
  return row + '\n';
}

std::string number(double value) { return std::isfinite(value) ? fmt::format("{:.5g}", value) : "-"; }

std::string response_text(const TransportResult& result) {
  std::string text;
  const auto row = [&](const char* name, auto&& value) {
    text += per_component(result, name, [&](std::size_t i) {
      const ComponentResult& c = result.components[i];
      return c.response ? number(value(c)) : std::string("-");
    });
  };
  const auto late = [](const ComponentResult& c) { return c.moments_wanted && !c.response; };
  if (std::ranges::any_of(result.components, late))
    text += "  less than 98 % of what came in has come out at the end: no moments of the breakthrough, no dispersion\n";
  if (std::ranges::none_of(result.components, [](const ComponentResult& c) { return c.response.has_value(); }))
    return text;
  row("mean residence time [s]", [](const ComponentResult& c) { return c.response->mean_time; });
  row("  in pore volumes", [&](const ComponentResult& c) { return c.response->mean_time / result.pore_time; });
  row("variance / mean² of the residence time",
      [](const ComponentResult& c) { return c.response->variance / (c.response->mean_time * c.response->mean_time); });
  row("longitudinal dispersion D_L [m2/s]", [&](const ComponentResult& c) {
    return result.dispersion(c).value_or(std::numeric_limits<double>::quiet_NaN());
  });
  row("  D_L / D", [&](const ComponentResult& c) {
    return result.dispersion(c).value_or(std::numeric_limits<double>::quiet_NaN()) / c.diffusivity;
  });
  return text;
}

std::string wall_text(const TransportResult& result) {
  std::string text;
  if (std::ranges::none_of(result.components, [](const ComponentResult& c) { return c.wall.has_value(); })) return text;
  const auto row = [&](const char* name, auto&& value) {
    text += per_component(result, name, [&](std::size_t i) {
      const ComponentResult& c = result.components[i];
      return c.wall ? number(value(c)) : std::string("-");
    });
  };
  row("loss into the wall [C m3/s]", [](const ComponentResult& c) { return c.wall->loss; });
  row("  over that of a well mixed fluid", [](const ComponentResult& c) { return ratio_to_well_mixed(*c.wall); });
  row("effective rate of the wall [m/s]",
      [](const ComponentResult& c) { return c.wall->rate * ratio_to_well_mixed(*c.wall); });
  row("Damköhler number k L / D", [&](const ComponentResult& c) { return damkohler(result, c); });
  row("mean concentration at the wall [C]", [](const ComponentResult& c) { return c.wall->concentration; });
  row("Sherwood number of the wall",
      [&](const ComponentResult& c) { return c.wall->to_wall * result.number_length / c.diffusivity; });
  return text;
}

std::string flow_lines(const TransportResult& r) {
  if (!r.flows) return "  no flow: diffusion alone\n";
  std::string text = fmt::format("  {} velocity {:.5g} m/s, in the pores {:.5g} m/s; ",
                                 r.in_time ? "mean Darcy" : "Darcy", r.darcy_velocity, r.pore_velocity());
  text += r.in_time ? fmt::format("{:.4g} pore volumes have flowed in\n", r.states.back().pore_volumes)
                    : fmt::format("the pores are filled once in {}\n", format_si(r.pore_time, "s"));
  if (r.flow_factor != 1.0)
    text += fmt::format("  for the wanted Péclet number the flow of the drive is taken {:.6g} times as fast\n",
                        r.flow_factor);
  text += fmt::format("  length of the Péclet number: {}{}\n", format_si(r.number_length, "m"),
                      r.number_length_given ? "" : ", 6 (1 - porosity) / (wall area per volume)");
  return text;
}

}  // namespace

double TransportResult::peclet(const ComponentResult& c) const {
  return c.diffusivity > 0.0 ? std::abs(pore_velocity()) * number_length / c.diffusivity
                             : std::numeric_limits<double>::infinity();
}

std::optional<double> TransportResult::dispersion(const ComponentResult& c) const {
  if (!c.response || !c.conservative || !c.closed_ends) return {};
  const auto d = closed_vessel_dispersion(c.response->variance / (c.response->mean_time * c.response->mean_time));
  if (!d) return {};
  return *d * std::abs(pore_velocity()) * length;
}

std::string transport_header(const TransportResult& result) {
  std::string line = "time_s,pore_volumes,dt_s";
  for (const ComponentResult& c : result.components)
    for (const char* what :
         {"outlet", "mean", "inflow_C_m3_s", "outflow_C_m3_s", "wall_C_m3_s", "made_C_m3_s", "min", "max", "imbalance"})
      line += fmt::format(",{}_{}", c.name, what);
  for (const ComponentResult& c : result.components)
    for (const ProbeOptions& probe : result.probes) line += fmt::format(",{}_at_{}", c.name, probe.name);
  return line + '\n';
}

std::string transport_line(const TransportLine& l) {
  std::string line = fmt::format("{:.12g},{:.10g},{:.10g}", l.time, l.pore_volumes, l.dt);
  for (const ComponentLine& c : l.components)
    line += fmt::format(",{},{:.12g},{:.12g},{:.12g},{:.12g},{:.12g},{:.10g},{:.10g},{:.2g}",
                        std::isfinite(c.outlet) ? fmt::format("{:.12g}", c.outlet) : "", c.mean, c.inflow, c.outflow,
                        c.wall, c.made, c.least, c.largest, c.imbalance);
  for (const ComponentLine& c : l.components)
    for (const double value : c.probes) line += fmt::format(",{:.10g}", value);
  return line + '\n';
}

std::string transport_text(const TransportResult& result) {
  const TransportLine& end = result.states.back();
  std::string text =
      result.steady
          ? fmt::format("Steady transport along {}\n", "xyz"[result.axis])
          : fmt::format("Transport along {}: {} steps of at most {} to {}{}\n", "xyz"[result.axis], result.steps,
                        format_si(result.dt, "s"), format_si(end.time, "s"),
                        result.flows ? fmt::format(", {:.4g} pore volumes", end.pore_volumes) : std::string());
  text += flow_lines(result);
  text += per_component(result, "component", [&](std::size_t i) { return result.components[i].name; });
  const auto row = [&](const char* name, auto&& value) {
    text += per_component(result, name, [&](std::size_t i) { return value(i); });
  };
  if (result.flows) row("Péclet number", [&](std::size_t i) { return number(result.peclet(result.components[i])); });
  if (result.has_ends)
    row(result.steady ? "at the outlet [C]" : "at the outlet, at the end [C]",
        [&](std::size_t i) { return number(end.components[i].outlet); });
  row(result.steady ? "mean in the fluid [C]" : "mean in the fluid, at the end [C]",
      [&](std::size_t i) { return number(end.components[i].mean); });
  row(result.steady ? "least value [C]" : "least value met [C]",
      [&](std::size_t i) { return number(result.components[i].least); });
  row(result.steady ? "largest value [C]" : "largest value met [C]",
      [&](std::size_t i) { return number(result.components[i].largest); });
  row(result.steady ? "imbalance, relative" : "largest imbalance of a step, relative",
      [&](std::size_t i) { return fmt::format("{:.1e}", result.components[i].imbalance); });
  return text + response_text(result) + wall_text(result);
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
    if (const auto d = result.dispersion(c)) text += fmt::format("; longitudinal dispersion {:.4g} m²/s", *d);
    if (c.wall && std::isfinite(ratio_to_well_mixed(*c.wall)))
      text += fmt::format("; effective rate of the wall {:.4g} m/s", c.wall->rate * ratio_to_well_mixed(*c.wall));
    text += '\n';
  }
  return text;
}

std::string transport_json(const TransportResult& r) {
  const TransportLine& end = r.states.back();
  Json json{{"mode", r.steady ? "steady" : "in-time"},
            {"axis", std::string(1, "xyz"[r.axis])},
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
            {"peclet_length_m", r.number_length},
            {"continuity", {{"before", r.continuity_before}, {"after", r.continuity_after}}},
            {"implicit_volumes", r.implicit_volumes},
            {"backflow", r.backflow}};
  json["output_times_s"] = r.output_times;
  json["components"] = Json::array();
  Json history{
      {"time_s", Json::array()}, {"pore_volumes", Json::array()}, {"outlet", Json::array()}, {"mean", Json::array()}};
  for (const TransportLine& line : r.states) {
    history["time_s"].push_back(line.time);
    history["pore_volumes"].push_back(line.pore_volumes);
  }
  for (std::size_t i = 0; i < r.components.size(); ++i) {
    json["components"].push_back(component_json(r, i));
    Json outlet = Json::array(), mean = Json::array();
    for (const TransportLine& line : r.states) {
      outlet.push_back(number_or_null(line.components[i].outlet));
      mean.push_back(line.components[i].mean);
    }
    history["outlet"].push_back(outlet);
    history["mean"].push_back(mean);
  }
  json["history"] = history;
  add_probes(r, json);
  return Json{{"transport", json}}.dump();
}

std::vector<std::string> transport_warnings(const TransportResult& result) {
  std::vector<std::string> all;
  if (result.backflow > largest_backflow)
    all.push_back(fmt::format(
        "transport: {:.2g} % of the flow comes in through the outlet, with what {}; a longer sample or free "
        "cells behind it help",
        100.0 * result.backflow, result.steady ? "is there" : "was there at the beginning"));
  if (result.continuity_after > largest_gap)
    all.push_back(
        fmt::format("transport: the flow still gains or loses {:.1e} of what a cell exchanges; values may leave their "
                    "range by as much per step; a smaller flow.tolerance helps",
                    result.continuity_after));
  for (const ComponentResult& c : result.components) {
    if (result.steady) {
      if (c.imbalance > largest_steady_imbalance)
        all.push_back(
            fmt::format("transport, {}: {:.1e} of what moves is gained or lost; a smaller transport.tolerance "
                        "helps",
                        c.name, c.imbalance));
      if (const double out = std::max(c.low - c.least, c.largest - c.high);
          out > largest_overshoot * (c.high - c.low) + 1e-4 * std::max(std::abs(c.low), std::abs(c.high)))
        all.push_back(
            fmt::format("transport, {}: values from {:.4g} to {:.4g} leave the range of the data, {:g} to {:g}; "
                        "the flow carries over a cell much faster than diffusion does: finer cells help",
                        c.name, c.least, c.largest, c.low, c.high));
      continue;
    }
    const double room = 1e-9 * std::max(std::abs(c.low), std::abs(c.high));
    if (c.least < c.low - room || c.largest > c.high + room)
      all.push_back(fmt::format("transport, {}: values from {:g} to {:g} leave the range of the data, {:g} to {:g}",
                                c.name, c.least, c.largest, c.low, c.high));
    if (c.imbalance > largest_imbalance)
      all.push_back(fmt::format("transport, {}: a step gained or lost {:.1e} of what moved", c.name, c.imbalance));
  }
  return all;
}

}  // namespace karst
