// SPDX-License-Identifier: BSD-3-Clause
// Job `flow`: permeability and velocity of steady Stokes flow.
#include "app/flow_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "app/solve_progress.hpp"
#include "app/vof_values.hpp"

namespace karst {

namespace {

/// Above it inertia bends the flow: permeability falls by some percent at 1 (J. Bear, Dynamics of Fluids in Porous
/// Media, Elsevier 1972, section 5.3: Darcy's law holds up to 1 to 10).
constexpr double largest_creeping_reynolds = 1.0;
constexpr double largest_divergence = 1e-4;

FlowSample sample_of(const JobContext& run) {
  const GeometryReport& report = run.geometry.report;
  const double h = run.grid.cell_width();
  return {h, report.connected_porosity, report.specific_surface / h};
}

SolveReport solve_report(const FlowColumn& column) {
  SolveReport solve;
  solve.name = flow_solve_name(column.axis);
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

JobResult run(const JobContext& context) {
  const FlowOptions& options = context.config.flow;
  SolveProgress progress(context.comm, options.tolerance);
  FlowWatch watch;
  watch.keep_solution = std::ranges::any_of(context.config.output.plot, [](PlotField field) {
    return field == PlotField::velocity || field == PlotField::pressure;
  });
  watch.iteration = [&](const std::string& solve, int n, double residual, double permeability) {
    progress.iteration(solve, n, residual, fmt::format("permeability {}", darcy_text(permeability)));
  };
  watch.solved = [&](const FlowColumn& column) { progress.solved(solve_report(column)); };
  const auto columns = std::make_shared<const FlowColumns>(
      permeability(context.comm, context.geometry, options, context.config.fluid, sample_of(context), watch));
  JobResult result;
  result.text = flow_text(*columns);
  result.json = flow_json(*columns);
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
          860.0};
}

}  // namespace karst
