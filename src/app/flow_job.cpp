// SPDX-License-Identifier: BSD-3-Clause
// Job `flow`: permeability and velocity of steady Stokes flow.
#include "app/flow_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/solve_progress.hpp"
#include "app/vof_values.hpp"
#include "base/timer.hpp"

namespace karst {

namespace {

/// Above it inertia bends the flow: permeability falls by some percent at 1 (J. Bear, Dynamics of Fluids in Porous
/// Media, Elsevier 1972, section 5.3: Darcy's law holds up to 1 to 10).
constexpr double largest_creeping_reynolds = 1.0;
constexpr double largest_divergence = 1e-4;

FlowSample sample_of(const Geometry& geometry, double h) {
  return {h, geometry.report.connected_porosity, geometry.report.specific_surface / h};
}

/// @param where  added to the name
SolveReport solve_report(const FlowColumn& column, const std::string& where) {
  SolveReport solve;
  solve.name = flow_solve_name(column.axis) + where;
  solve.method = "gmres";
  solve.preconditioner = "graph multigrid, local permeability";
  solve.iterations = column.iterations;
  solve.true_residual = column.relative_residual;
  solve.seconds = column.seconds;
  solve.setup_seconds = column.setup_seconds;
  return solve;
}

std::vector<std::string> warnings_of(const FlowColumns& columns) {
  std::vector<std::string> all;
  for (const FlowColumn& c : columns) {
    const char axis = "xyz"[c.axis];
    if (c.reynolds > largest_creeping_reynolds)
      all.push_back(
          fmt::format("flow {}: Reynolds number {:.3g}: with this drive inertia matters, which Stokes flow leaves out; "
                      "the velocity "
                      "and flow rate are too large (the permeability is that of slow flow, and right)",
                      axis, c.reynolds));
    if (std::isnan(c.estimated_error))
      all.push_back(
          fmt::format("flow {}: no error estimate: on cells twice as wide no pore leads through the sample, so the "
                      "throats are too narrow for these cells; finer cells are needed to trust the permeability",
                      axis));
    if (c.divergence > largest_divergence)
      all.push_back(fmt::format("flow {}: cells keep their volume only to {:.1e}; a smaller flow.tolerance helps", axis,
                                c.divergence));
  }
  return all;
}

/// Components of one quantity of one solve.
void add_components(const JobContext& run, const std::shared_ptr<const CompositeNumbering>& numbering,
                    const std::shared_ptr<const FlowColumns>& columns, std::size_t i, PlotField field,
                    std::vector<JobComponent>& components) {
  const std::string of_drive =
      columns->size() > 1 ? fmt::format("drive_{}_", "xyz"[(*columns)[i].axis]) : std::string();
  const auto add = [&](const std::string& name, std::size_t component) {
    components.push_back({field, of_drive + name,
                          [&geometry = run.geometry, numbering, columns, i, component](int level, std::int64_t box,
                                                                                       std::span<float> cells) {
                            fill_cells(geometry, *numbering, level, box, cells,
                                       [&](std::size_t v) { return (*columns)[i].solution[v].v[component]; });
                          }});
  };
  if (field == PlotField::pressure)
    add("pressure", 3);
  else
    for (std::size_t d = 0; d < 3; ++d) add(fmt::format("velocity_{}", "xyz"[d]), d);
}

std::vector<JobComponent> components_of(const JobContext& run, const std::shared_ptr<const FlowColumns>& columns) {
  std::vector<JobComponent> components;
  const auto numbering = std::make_shared<const CompositeNumbering>(run.comm, run.geometry);
  for (const PlotField field : run.config.output.plot)
    if (field == PlotField::velocity || field == PlotField::pressure)
      for (std::size_t i = 0; i < columns->size(); ++i) add_components(run, numbering, columns, i, field, components);
  return components;
}

FlowWatch watch_of(SolveProgress& progress, const std::string& where) {
  FlowWatch watch;
  watch.iteration = [&progress, where](const std::string& solve, int n, double residual, double permeability) {
    progress.iteration(solve + where, n, residual, fmt::format("permeability {}", darcy_text(permeability)));
  };
  watch.solved = [&progress, where](const FlowColumn& column) { progress.solved(solve_report(column, where)); };
  return watch;
}

/// The axes that percolate there, on cells twice as wide.
FlowColumns on_wide_cells(const JobContext& run, SolveProgress& progress) {
  const Timer timer("error estimate");
  const Source source = run.coarser();
  const Geometry geometry = build_geometry(run.comm, source.grid, *source.level_set, run.config.geometry.keep);
  FlowOptions options = run.config.flow;
  options.estimate_error = false;
  std::erase_if(options.axes, [&](int axis) { return !geometry.report.percolates[static_cast<std::size_t>(axis)]; });
  if (options.axes.empty()) return {};
  return permeability(run.comm, geometry, options, run.config.fluid, sample_of(geometry, source.grid.cell_width()),
                      watch_of(progress, ", wide cells"));
}

JobResult run(const JobContext& context) {
  const FlowOptions& options = context.config.flow;
  SolveProgress progress(context.comm, options.tolerance);
  FlowWatch watch = watch_of(progress, "");
  watch.keep_solution = std::ranges::any_of(context.config.output.plot, [](PlotField field) {
    return field == PlotField::velocity || field == PlotField::pressure;
  });
  FlowColumns solved = permeability(context.comm, context.geometry, options, context.config.fluid,
                                    sample_of(context.geometry, context.grid.cell_width()), watch);
  if (options.estimate_error) estimate_error(on_wide_cells(context, progress), solved);
  const auto columns = std::make_shared<const FlowColumns>(std::move(solved));
  JobResult result;
  result.text = flow_text(*columns, options.estimate_error);
  result.json = flow_json(*columns, options.estimate_error);
  result.solves = progress.rows();
  double mass = 0.0;
  for (const FlowColumn& c : *columns) mass = std::max(mass, c.divergence);
  result.balances.push_back({"mass_relative", mass});
  result.warnings = warnings_of(*columns);
  result.components = components_of(context, columns);
  result.page = flow_page(context, *columns);
  return result;
}

}  // namespace

Job flow_job() {
  return {"flow",
          "[flow] with model = \"stokes\" and a drive: permeability and velocity",
          [](const Config& config) { return config.flow.model != FlowModel::none; },
          [](const JobContext& context) { return mistakes(context.config.flow, context.geometry); },
          run,
          750.0};
}

}  // namespace karst
