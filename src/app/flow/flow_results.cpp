// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/flow/flow_job.hpp"
#include "app/flow/flow_quantities.hpp"
#include "app/job/wider_cells.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "base/math/no_number.hpp"

namespace karst {

namespace {

using Column = const FlowColumn&;

const char* name_of(Column c) { return axis_names[c.axis]; }

/// Rows e, columns d; null for NaN.
Json matrix_json(Matrix3 matrix, double factor) {
  for (Vec3& row : matrix) row *= factor;
  return matrix;
}

/// Rows e, columns d, as those of the permeability; NaN in the columns of axes that were not asked for.
Matrix3 darcy_velocities(const FlowColumns& columns) {
  Matrix3 velocity;
  velocity.fill(Vec3::all(no_number));
  for (Column c : columns)
    for (int e = 0; e < 3; ++e) velocity[e][c.axis] = c.darcy_velocity[e];
  return velocity;
}

double largest_reynolds(const FlowColumns& columns) {
  double largest = 0.0;
  for (Column c : columns) largest = std::max(largest, c.reynolds);
  return largest;
}

/// Estimated error of the permeability along the axis.
std::string error_text(Column c) {
  if (!c.connected || c.unbounded) return "-";
  return std::isfinite(c.estimated_error) ? fmt::format("{:.2g} %", 100.0 * c.estimated_error / c.permeability[c.axis])
                                          : "unknown";
}

/// What the estimated error is an error of.
std::string error_meaning(const FlowGrid& grid, const WallRange& range) {
  const std::string text = "the change at zero cell width for ";
  if (!grid.of_image) return text + "these walls";
  return text + "the wall given by the image. It does not include the uncertainty of that wall: " +
         (range.moved > 0.0 ? "see the range with the wall moved" : "use flow.uncertainty (--uncertainty)");
}

Json range_json(const WallRange& range, std::size_t column) {
  Json ends = Json::array();
  for (const double k : range.permeability[column]) ends.push_back(Json(k));
  return ends;
}

/// A permeability; NaN where it is not known.
std::string known_text(double permeability) {
  return !std::isnan(permeability) ? fmt::format("{:.6g}", permeability) : "unknown";
}

}  // namespace

std::string darcy_text(double permeability) {
  if (std::isnan(permeability)) return "unknown";
  const double value = permeability / darcy;
  if (std::abs(value) >= 0.1 || value == 0.0) return fmt::format("{:.4g} D", value);
  return fmt::format("{:.4g} mD", 1e3 * value);
}

Json repairs_json(const FlowCounts& counts) {
  return {{"cells_without_flow", counts.orphans},
          {"closed_area_share", counts.closed_area / (counts.open_area + counts.extra_area)},
          {"walls_half_way", counts.walls_half_way}};
}

Json flow_json(const FlowColumns& columns, const FlowGrid& grid, bool with_error, const WallRange& range) {
  Json json;
  json["tensor_order"] = {"component", "drive"};
  json["permeability_m2"] = matrix_json(tensor(columns), 1.0);
  json["permeability_darcy"] = matrix_json(tensor(columns), 1.0 / darcy);
  if (const auto main = principal(columns)) {
    json["principal_permeability_m2"] = main->value;
    json["principal_axes"] = main->axis;
  }
  if (columns.size() == 3) json["permeability_asymmetry"] = asymmetry(columns);
  json["darcy_velocity_m_s"] = matrix_json(darcy_velocities(columns), 1.0);
  json["reynolds"] = largest_reynolds(columns);
  if (with_error) json["permeability_error_of"] = "the discretisation: " + error_meaning(grid, range);
  if (range.moved > 0.0) {
    json["wall_shift_voxels"] = range.moved;
    json["porosity_range"] = range.porosity;
  }
  json["flow"] = Json::array();
  for (Column c : columns) {
    Json one;
    one["axis"] = name_of(c);
    one["percolates"] = c.connected;
    if (c.unresolved) one["unresolved"] = true;
    if (c.unbounded) one["unbounded"] = true;
    one["boundaries"] = c.periodic ? "periodic" : grid.reservoir > 0 ? "reservoirs" : "pressures";
    if (grid.reservoir > 0) {
      const Index all = grid.with_reservoirs(c.axis);
      one["reservoir_cells"] = grid.reservoir;
      one["sample_cells"] = {grid.sample[0], grid.sample[1], grid.sample[2]};
      one["grid_cells"] = {all[0], all[1], all[2]};
    }
    if (with_error) {
      one["permeability_error_m2"] = c.connected ? Json(c.estimated_error) : Json(nullptr);
      one["permeability_error_basis"] =
          c.error_basis == ErrorBasis::none ? Json(nullptr) : Json(basis_text(c.error_basis));
      one["permeability_extrapolated_m2"] = c.extrapolated ? Json(*c.extrapolated) : Json(nullptr);
    }
    if (range.moved > 0.0) one["permeability_range_m2"] = range_json(range, json["flow"].size());
    each_quantity(c, ToJson{one, shown::json});
    if (std::isfinite(c.pressure_drag))
      one["drag_over_drive"] = {{"pressure", c.pressure_drag}, {"friction", c.viscous_drag}, {"sides", c.side_drag}};
    if (!c.connected || c.unbounded) {
      json["flow"].push_back(one);
      continue;
    }
    one["repairs"] = repairs_json(c.counts);
    one["repairs"]["closed_level_faces"] = c.closed_level_faces;
    if (!c.inertia.empty()) one["inertia"] = inertia_json(c);
    one["speed_histogram"] = {{"log10_speed_over_mean", {SpeedHistogram::low, SpeedHistogram::high}},
                              {"share", c.histogram.share}};
    json["flow"].push_back(one);
  }
  return json;
}

namespace {

constexpr int name_width = 34, value_width = 14;

/// A table with a column for each axis.
class Rows {
 public:
  explicit Rows(const FlowColumns& columns) : columns_(columns) {}
  /// @param value  of a column; empty: nothing stands there
  template <class F>
  void add(const std::string& name, F&& value) {
    text_ += fmt::format("  {:<{}}", name, name_width);
    for (Column c : columns_) text_ += fmt::format("{:>{}}", value(c), value_width);
    text_.erase(text_.find_last_not_of(' ') + 1);
    text_ += '\n';
  }
  /// Of what has no value where nothing flows.
  template <class F>
  void add_flow(const std::string& name, const char* form, F&& value) {
    add(name, [&](Column c) {
      return std::isfinite(value(c)) ? fmt::format(fmt::runtime(form), value(c)) : std::string("-");
    });
  }
  /// Those of the table that have a row of text.
  void add_quantities() {
    TextRows rows;
    for (Column c : columns_) each_quantity(c, rows.column(c.axis));
    text_ += rows.text(name_width, value_width);
  }
  void line(const std::string& text) { text_ += text + '\n'; }
  std::string text() const { return text_; }

 private:
  const FlowColumns& columns_;
  std::string text_;
};

/// The permeabilities and how far they may be off.
void add_permeability(const FlowColumns& columns, const FlowGrid& grid, bool with_error, const WallRange& range,
                      Rows& rows) {
  const bool inertia = std::ranges::any_of(columns, [](Column c) { return !c.inertia.empty(); });
  rows.add(inertia ? "permeability of Stokes flow [m2]" : "permeability [m2]",
           [](Column c) { return known_text(c.permeability[c.axis]); });
  rows.add("  the same", [](Column c) { return darcy_text(c.permeability[c.axis]); });
  if (with_error) {
    rows.add("  estimated error (discretisation)", error_text);
    rows.add("    computed from", [](Column c) { return basis_text(c.error_basis); });
    rows.add("  extrapolated to zero cell width",
             [](Column c) { return c.extrapolated ? fmt::format("{:.6g}", *c.extrapolated) : std::string("-"); });
  }
  for (std::size_t side = 0; side < 2 && range.moved > 0.0; ++side)
    rows.add(fmt::format("  wall moved by {}{:.3g} voxel", side == 0 ? '-' : '+', range.moved),
             [&](Column c) { return known_text(range.permeability[&c - columns.data()][side]); });
  if (with_error) rows.line(fmt::format("  (estimated error: {})", error_meaning(grid, range)));
  const Matrix3 k = tensor(columns);
  for (int e = 0; e < 3; ++e)
    if (std::ranges::any_of(columns, [e](Column c) { return c.axis != e; }))
      rows.add(fmt::format("  of the flow along {} [m2]", axis_names[e]), [&](Column c) {
        return e == c.axis ? "" : c.unresolved ? "-" : fmt::format("{:.3g}", k[e][c.axis]);
      });
}

/// The shares of the drive that the walls take, and why they do not sum to 100 %.
void add_drag(const FlowColumns& columns, Rows& rows) {
  const bool known = std::ranges::any_of(columns, [](Column c) { return std::isfinite(c.pressure_drag); });
  if (!known) return;
  const auto share = [](double part) { return 100.0 * part; };
  rows.add_flow("drag / driving force", "{:.1f} %",
                [&](Column c) { return share(c.pressure_drag + c.viscous_drag + c.side_drag); });
  rows.add_flow("  of the pressure on the wall", "{:.1f} %", [&](Column c) { return share(c.pressure_drag); });
  rows.add_flow("  of the friction on the wall", "{:.1f} %", [&](Column c) { return share(c.viscous_drag); });
  if (std::ranges::any_of(columns, [](Column c) { return c.side_drag != 0.0; }))
    rows.add_flow("  of the friction on lateral faces", "{:.1f} %", [&](Column c) { return share(c.side_drag); });
  rows.line(
      "  (100 % with sufficiently fine cells: the difference is the error of the stresses at the wall, which are less\n"
      "  accurate than the flow; a warning is given from 20 % on)");
}

}  // namespace

std::string flow_text(const FlowColumns& columns, const FlowGrid& grid, bool with_error, const WallRange& range) {
  Rows rows(columns);
  rows.line("Permeability, per cross-section of the whole sample");
  rows.add("driven along", [](Column c) { return std::string(name_of(c)); });
  add_permeability(columns, grid, with_error, range, rows);
  if (grid.reservoir > 0) {
    const auto cells = [](const Index& n) { return fmt::format("{}x{}x{}", n[0], n[1], n[2]); };
    rows.add("cells of the sample", [&](Column) { return cells(grid.sample); });
    rows.add("  with reservoirs", [&](Column c) { return cells(grid.with_reservoirs(c.axis)); });
  }
  if (std::ranges::any_of(columns, [](Column c) { return !c.inertia.empty(); }))
    rows.line("  with inertia, last of flow.steps:");
  rows.add_quantities();
  add_drag(columns, rows);
  return rows.text() + inertia_text(columns);
}

std::string flow_headline(const FlowColumns& columns, bool with_error) {
  std::string text;
  for (Column c : columns) {
    if (c.unresolved) {
      text +=
          fmt::format("Permeability along {}: not known (cells are wider than the pores that percolate)\n", name_of(c));
      continue;
    }
    text += fmt::format("Permeability along {}: {:.4g} m2, {}", name_of(c), c.permeability[c.axis],
                        darcy_text(c.permeability[c.axis]));
    if (!c.connected)
      text += " (no pore percolates along it)";
    else if (c.unbounded)
      text += " (no wall)";
    else if (with_error)
      text += fmt::format(", estimated error of the discretisation {}", error_text(c));
    text += '\n';
  }
  return text;
}

}  // namespace karst
