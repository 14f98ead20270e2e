// SPDX-License-Identifier: BSD-3-Clause
// What job `flow` shows: its results as text, as JSON and as part of the page; of a flow with inertia its apparent
// permeability against Reynolds number, and Forchheimer's law.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/job/flow_sample.hpp"
#include "app/job/job.hpp"
#include "app/job/solve_store.hpp"
#include "app/output/field_view.hpp"
#include "ins/upscale/body_forces.hpp"
#include "ins/upscale/permeability.hpp"
#include "page/run_page.hpp"

namespace karst {

/// Beyond these a flow has a warning: Reynolds number of a cell, net flux of a cell over the
/// largest flux.
constexpr double largest_cell_reynolds = 10.0, largest_divergence = 1e-4;

/// Of the lines of an axis in charts.
inline constexpr std::array<const char*, 3> axis_dashes{"", "7 3", "2 3"};

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
JobTrial try_flow(const std::shared_ptr<const Ground>& ground);
PagePart flow_page(const Json& summary, const Figures& figures);
/// What is wrong with the deck on this geometry. Collective.
std::vector<std::string> flow_mistakes(const JobContext& context);
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

// Where the velocity of an end is given: of an inlet, or of lids.

inline bool ends_drive(const Config& config) { return ends_drive(config.flow); }

/// Member inlet_flow or lid_flow of summary.json, and reynolds. Collective.
JobResult run_end_flow(const JobContext& context);
/// The force on a body and its parts, with their names.
std::array<std::pair<const char*, Vec3>, 3> parts_of(const BodyForce& force);
/// Forces on flow.body [N] and their coefficients, as a list.
Json forces_json(std::span<const BodyForce> forces, const FlowOptions& options, const FluidOptions& fluid);
/// A card of the page with that list. Not collective.
std::string forces_card(const Json& bodies);
/// See Job.
std::vector<std::string> end_flow_mistakes(const JobContext& context);
PagePart end_flow_page(const Json& summary, const Figures& figures);

// Pictures of a velocity field for the page.

struct FlowFigure {
  int axis = 0;
  std::string prefix;  ///< of the components: prefix + "velocity_x" ...
  int reservoir = 0;   ///< cells before and behind the sample
};
/// Adds "flow x slice" and "flow x view" (for axis x ...): the speed in the middle plane, and streamlines in the pore
/// space. Nothing when the view does not hold the velocity. Collective.
void add_flow_figures(const Comm& comm, const FieldView& view, const FlowFigure& flow, Figures& figures);

/// Those of all flows of a summary, of whatever model.
void draw_flow(const Comm& comm, const Json& summary, const FieldView& view, Figures& figures);
/// Adds a card with the pictures of one axis, unless there is none.
void add_flow_card(const std::string& title, const std::string& axis, const Figures& figures,
                   std::vector<std::string>& cards);

// The results of a direction of the drive as JSON and back, every number to the last bit: for finished solves on disk.

/// Without fields. Times are those of the slowest rank. Collective.
SolveRecord record_of(const Comm& comm, const FlowColumn& column);
/// Throws Error when it is no such record. Not collective.
FlowColumn flow_column(const Json& state);

/// The same of a sweep on its way.
SolveRecord record_of(const Comm& comm, const PausedSweep& sweep);
PausedSweep paused_sweep(const Json& state);

// The permeability to a stated error (flow.error, decision 067): the flow is solved on a grid, its error estimated, the
// grid refined where the friction is, and the flow solved again.

/// @param run  solves on the ground of the context and ends with end_grid(); its result counts on the last grid
std::unique_ptr<Process> start_flow_to_error(const JobContext& context, JobResult (*run)(const JobContext&));

/// After the solves on a grid: of each column the estimated error, and which grid is next (RunServices::flow_rounds).
/// @param[in,out] columns  on the first grid with the errors from wider cells. Their friction is dropped
/// Collective.
void end_grid(const JobContext& context, FlowColumns& columns);

/// Lines for the terminal: the grids.
std::string grids_text(const JobContext& context);
/// Member `refinement` of summary.json.
Json grids_json(const JobContext& context);
/// A card with a table of the grids; empty without them.
std::string grids_card(const Json& summary);
/// That the error is not reached, and why.
std::vector<std::string> grids_warnings(const JobContext& context);

}  // namespace karst
