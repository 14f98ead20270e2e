// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/flow_job.hpp"
#include "app/inertia_results.hpp"

namespace karst {

namespace {

using Json = nlohmann::ordered_json;
using Column = const FlowColumn&;

constexpr std::array<const char*, 3> axes{"x", "y", "z"};

const char* name_of(Column c) { return axes[static_cast<std::size_t>(c.axis)]; }

/// Rows e, columns d; null for NaN.
Json matrix_json(const Matrix3& matrix, double factor) {
  Json rows = Json::array();
  for (const Vec3& row : matrix) {
    Json entries = Json::array();
    for (const double entry : row.v) entries.push_back(std::isnan(entry) ? Json(nullptr) : Json(factor * entry));
    rows.push_back(entries);
  }
  return rows;
}

/// Rows e, columns d, as those of the permeability; NaN in the columns of axes that were not asked for.
Matrix3 darcy_velocities(const FlowColumns& columns) {
  Matrix3 velocity;
  velocity.fill(Vec3::all(std::numeric_limits<double>::quiet_NaN()));
  for (Column c : columns)
    for (int e = 0; e < 3; ++e) velocity[static_cast<std::size_t>(e)][c.axis] = c.darcy_velocity[e];
  return velocity;
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

Json range_json(const WallRange& range, std::size_t column) {
  Json ends = Json::array();
  for (const double k : range.permeability[column]) ends.push_back(std::isfinite(k) ? Json(k) : Json(nullptr));
  return ends;
}

/// "permeability" at one end of the range.
std::string end_text(double permeability) {
  return std::isfinite(permeability) ? fmt::format("{:.6g}", permeability) : "unknown";
}

}  // namespace

std::string darcy_text(double permeability) {
  const double value = permeability / darcy;
  if (std::abs(value) >= 0.1 || value == 0.0) return fmt::format("{:.4g} D", value);
  return fmt::format("{:.4g} mD", 1e3 * value);
}

std::string flow_json(const FlowColumns& columns, const FlowGrid& grid, bool with_error, const WallRange& range) {
  Json json;
  json["tensor_order"] = {"component", "drive"};
  json["permeability_m2"] = matrix_json(tensor(columns), 1.0);
  json["permeability_darcy"] = matrix_json(tensor(columns), 1.0 / darcy);
  if (const auto main = principal(columns)) {
    json["principal_permeability_m2"] = vector_json(main->value);
    json["principal_axes"] = {vector_json(main->axis[0]), vector_json(main->axis[1]), vector_json(main->axis[2])};
  }
  if (columns.size() == 3) json["permeability_asymmetry"] = asymmetry(columns);
  json["darcy_velocity_m_s"] = matrix_json(darcy_velocities(columns), 1.0);
  json["reynolds"] = largest_reynolds(columns);
  if (range.moved > 0.0) {
    json["wall_shift_voxels"] = range.moved;
    json["porosity_range"] = range.porosity;
  }
  json["flow"] = Json::array();
  for (Column c : columns) {
    Json one;
    one["axis"] = name_of(c);
    one["boundaries"] = c.periodic ? "periodic" : grid.reservoir > 0 ? "reservoirs" : "pressures";
    if (grid.reservoir > 0) {
      const Index all = grid.with_reservoirs(c.axis);
      one["reservoir_cells"] = grid.reservoir;
      one["sample_cells"] = {grid.sample[0], grid.sample[1], grid.sample[2]};
      one["grid_cells"] = {all[0], all[1], all[2]};
    }
    if (with_error) {
      one["permeability_error_m2"] = std::isfinite(c.estimated_error) ? Json(c.estimated_error) : Json(nullptr);
      one["permeability_extrapolated_m2"] = c.extrapolated ? Json(*c.extrapolated) : Json(nullptr);
    }
    if (range.moved > 0.0) one["permeability_range_m2"] = range_json(range, json["flow"].size());
    one["pressure_gradient_Pa_m"] = c.gradient;
    one["darcy_velocity_m_s"] = vector_json(c.darcy_velocity);
    one["flow_rate_m3_s"] = c.flow_rate;
    one["largest_speed_m_s"] = c.largest_speed;
    one["reynolds"] = c.reynolds;
    one["tortuosity"] = c.tortuosity;
    one["mass_relative"] = c.divergence;
    if (std::isfinite(c.pressure_drag))
      one["drag_over_drive"] = {{"pressure", c.pressure_drag}, {"friction", c.viscous_drag}, {"sides", c.side_drag}};
    one["repairs"] = {{"cells_without_flow", c.counts.orphans},
                      {"closed_area_share", c.counts.closed_area / (c.counts.open_area + c.counts.extra_area)},
                      {"walls_half_way", c.counts.walls_half_way},
                      {"closed_level_faces", c.closed_level_faces}};
    if (!c.inertia.empty()) one["inertia"] = Json::parse(inertia_json(c));
    one["speed_histogram"] = {{"log10_speed_over_mean", {SpeedHistogram::low, SpeedHistogram::high}},
                              {"share", c.histogram.share}};
    json["flow"].push_back(one);
  }
  return json.dump();
}

std::string flow_text(const FlowColumns& columns, const FlowGrid& grid, bool with_error, const WallRange& range) {
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
  const bool inertia = std::ranges::any_of(columns, [](Column c) { return !c.inertia.empty(); });
  row(inertia ? "permeability of slow flow [m2]" : "permeability [m2]",
      [](Column c) { return fmt::format("{:.6g}", c.permeability[c.axis]); });
  row("  the same", [](Column c) { return darcy_text(c.permeability[c.axis]); });
  if (with_error) {
    row("  estimated error", error_text);
    row("  extrapolated to zero cell width",
        [](Column c) { return c.extrapolated ? fmt::format("{:.6g}", *c.extrapolated) : std::string("-"); });
  }
  for (std::size_t side = 0; side < 2 && range.moved > 0.0; ++side)
    row(fmt::format("  wall moved by {}{:.3g} voxel", side == 0 ? '-' : '+', range.moved),
        [&](Column c) { return end_text(range.permeability[static_cast<std::size_t>(&c - columns.data())][side]); });
  for (int e = 0; e < 3; ++e)
    if (std::ranges::any_of(columns, [e](Column c) { return c.axis != e; }))
      row(fmt::format("  of the flow along {} [m2]", axes[static_cast<std::size_t>(e)]), [&](Column c) {
        return e == c.axis ? std::string() : fmt::format("{:.3g}", k[static_cast<std::size_t>(e)][c.axis]);
      });
  if (inertia) text += "  with inertia, last of flow.steps:\n";
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

}  // namespace karst
