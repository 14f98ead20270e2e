// SPDX-License-Identifier: BSD-3-Clause
// What job `flow` will do and what it takes, before anything is built.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/flow/flow_job.hpp"
#include "base/core/text.hpp"
#include "ins/upscale/extrapolation.hpp"

namespace karst {

namespace {

// Iterations of GMRES per digit of the tolerance, measured from 64³ to 256³ cells (docs/performance.md): they grow by
// one or two from one size to the next.
constexpr double per_digit_of_stokes = 3.5;
constexpr double between_reservoirs = 1.9;  ///< times as many
/// Newton's method, per drive: fewer iterations, each with the rows of advection.
constexpr double per_digit_with_inertia = 3.6;

/// A step of unsteady flow begins with what the two before it say.
constexpr double per_digit_of_step = 1.5;
constexpr double two_earlier_flows = 265.0;  // bytes per fluid cell, measured: with volumes and what is on the heap
constexpr double carrying_fluxes = 75.0;     // with those that carry momentum
constexpr double usual_steps = 400.0;        // where the Courant number tells their length

double digits(const FlowOptions& options) { return std::max(1.0, -std::log10(options.tolerance)); }

/// The grid of the run, or one for each axis with its reservoirs.
/// @param solves  along an axis
std::vector<PlannedGrid> grids_of(const Config& config, double iterations, std::size_t solves) {
  const FlowOptions& options = config.flow;
  const std::size_t axes = options.axes.size();
  std::vector<PlannedGrid> grids;
  const bool of_run = reservoirs_of_run(config).has_value();
  if (options.reservoir == 0 || of_run) {
    grids.push_back({.name = "",
                     .iterations = static_cast<double>(axes) * iterations * (of_run ? between_reservoirs : 1.0),
                     .solves = static_cast<int>(axes * solves)});
    return grids;
  }
  for (const int axis : options.axes)
    grids.push_back({.name = fmt::format("with reservoirs along {}", axis_names[axis]),
                     .reservoir = options.reservoir,
                     .axis = axis,
                     .builds = true,
                     .iterations = between_reservoirs * iterations,
                     .solves = static_cast<int>(solves)});
  return grids;
}

}  // namespace

JobPlan plan_flow(const Config& config, const GridOptions& grid) {
  const FlowOptions& options = config.flow;
  if (is_in_time(options.model)) {
    JobPlan plan;
    const bool inertia = options.model == FlowModel::navier_stokes;
    const double solves = config.time.scheme == StepScheme::sdirk2 ? 2.0 : 1.0;
    plan.grids.emplace_back().iterations =
        per_digit_of_step * digits(options) * solves * (config.time.dt > 0.0 ? count_steps(config.time) : usual_steps);
    plan.solve = {450.0 + two_earlier_flows + (inertia ? carrying_fluxes : 0.0), 310.0, 115.0};
    plan.kept = sizeof(std::array<float, 4>);
    plan.more_work = 1.5;
    return plan;
  }
  const double creeping = per_digit_of_stokes * digits(options);
  const bool inertia = options.model == FlowModel::steady;
  const double sweep =
      inertia ? per_digit_with_inertia * digits(options) * static_cast<double>(options.steps.size()) : 0.0;
  JobPlan plan;
  plan.grids = grids_of(config, creeping + sweep, 1 + (inertia ? options.steps.size() : 0));
  const auto again = [&](const std::string& name, double width) {
    for (PlannedGrid g : grids_of(config, creeping, 1)) {
      g.name = name;
      g.width = width;
      g.reservoir = static_cast<int>(std::ceil(g.reservoir / width));
      g.builds = true;
      plan.grids.push_back(g);
    }
  };
  if (options.estimate_error)
    for (const Index& cells : wider_grids(grid.cells, config.geometry.copies)) {
      double width = 1.0;
      for (int d = 0; d < 3; ++d) width = std::max(width, static_cast<double>(grid.cells[d]) / cells[d]);
      again(fmt::format("cells {:.3g} times as wide", width), width);
    }
  if (options.uncertainty)
    for (const char* side : {"wall moved inwards", "wall moved outwards"}) again(side, 1.0);
  plan.solve = {inertia ? 650.0 : 274.0, 310.0, 115.0};
  plan.kept = sizeof(std::array<float, 4>) * static_cast<double>(options.axes.size());
  plan.more_work = inertia ? 3.0 : 1.5;
  return plan;
}

JobTrial try_flow(const std::shared_ptr<const Ground>& ground) {
  FlowOptions options;
  options.model = FlowModel::stokes;
  options.drive = FlowDrive::pressure_gradient;
  options.axes = {0};
  options.tolerance = 1e-3;
  options.estimate_error = false;
  const GeometryReport& report = ground->geometry().report;
  const FlowSample sample{1.0, report.connected_porosity, report.specific_surface};
  const FlowColumn column = permeability(ground, options, FluidOptions{}, sample).at(0);
  return {column.setup_seconds, column.seconds, column.iterations};
}

}  // namespace karst
