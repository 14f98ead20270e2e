// SPDX-License-Identifier: BSD-3-Clause
// What job `flow` shows: its results as text, as JSON and as part of the page; of a flow with inertia its apparent
// permeability against Reynolds number, and Forchheimer's law.
#pragma once

#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

/// Beyond these a flow has a warning: Reynolds number of a creeping one, that of a cell, net flux of a cell over the
/// largest flux.
constexpr double largest_creeping_reynolds = 1.0, largest_cell_reynolds = 10.0, largest_divergence = 1e-4;

using FlowColumns = std::vector<FlowColumn>;

/// Level-0 cells of the sample, and what was added to both ends of each axis.
struct FlowGrid {
  Index sample;
  int reservoir = 0;
  bool of_image = false;
  Index with_reservoirs(int axis) const {
    Index cells = sample;
    cells[axis] += 2 * reservoir;
    return cells;
  }
};

/// With the wall of the image moved by -δ and +δ: what holds if the wall lies off as far as it plausibly may.
struct WallRange {
  double moved = 0.0;  ///< δ [voxel widths]; 0: not asked for, and the rest is empty
  /// k_dd of each column [m²]; 0: nothing percolates there; NaN: not known, the solve failed.
  std::vector<std::array<double, 2>> permeability{};
  std::array<double, 2> porosity{};
};

/// What was done to the rows of cells next to walls.
Json repairs_json(const FlowCounts& counts);
/// Lines for the terminal.
/// @param with_error  errors were asked for
std::string flow_text(const FlowColumns& columns, const FlowGrid& grid, bool with_error, const WallRange& range);
/// The permeabilities with their errors, a line each: the last that a run says.
std::string flow_headline(const FlowColumns& columns, bool with_error);
/// Members of summary.json: permeability_m2, permeability_darcy and darcy_velocity_m_s, all [component e][drive along
/// d] (tensor_order), null in columns d of axes that were not asked for; reynolds (largest), flow (one object per
/// axis); with a range wall_shift_voxels, porosity_range, and permeability_range_m2 of each axis.
Json flow_json(const FlowColumns& columns, const FlowGrid& grid, bool with_error, const WallRange& range);
/// See Job.
JobPlan plan_flow(const Config& config, const GridOptions& grid);
double flow_setup_work(double fluid, double irregular);
JobPace flow_pace(const std::shared_ptr<const Ground>& ground);
PagePart flow_page(const Json& summary, const Figures& figures);
void draw_flow(const Comm& comm, const Json& summary, const FieldView& view, Figures& figures);
/// What is wrong with the deck on this geometry. Collective.
std::vector<std::string> flow_mistakes(const JobContext& context);
std::string no_wider_grid(const Index& cells);
/// Axes of the flow along which the sample has 2 or 3 cells while its walls change along them. Collective.
std::vector<int> short_axes(const JobContext& context);
std::string too_short(const std::vector<int>& axes, const Index& cells);

/// 1.23e-12 m² -> "1.25 D", 1.23e-15 m² -> "1.25 mD".
std::string darcy_text(double permeability);

/// The member "inertia" of an axis in summary.json: an object with "points" (one per step) and "forchheimer" (null
/// where it was not fitted).
Json inertia_json(const FlowColumn& column);
/// A table per axis for the terminal.
std::string inertia_text(const FlowColumns& columns);
/// The points of all axes as inertia.csv.
std::string inertia_csv(const FlowColumns& columns);
/// Forchheimer's coefficient, from summary.json; none where no law was fitted.
std::vector<PageTile> inertia_tiles(const Json& summary);
/// A card with the chart of k_app / k; empty where there are no two points.
std::string inertia_chart(const Json& summary);
/// A card with a table per axis.
std::vector<std::string> inertia_cards(const Json& summary);
std::vector<std::string> inertia_warnings(const FlowColumns& columns);

}  // namespace karst
