// SPDX-License-Identifier: BSD-3-Clause
// Job `flow`: permeability and velocity of steady Stokes flow.
#include "app/flow_job.hpp"
#include "app/inertia_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "app/plot_file.hpp"
#include "app/solve_progress.hpp"
#include "app/vof_values.hpp"
#include "base/atomic_file.hpp"
#include "base/timer.hpp"

namespace karst {

namespace {

/// Above it inertia bends the flow: permeability falls by some percent at 1 (J. Bear, Dynamics of Fluids in Porous
/// Media, Elsevier 1972, section 5.3: Darcy's law holds up to 1 to 10).
constexpr double largest_creeping_reynolds = 1.0;
constexpr double largest_divergence = 1e-4;
constexpr const char* preconditioner = "graph multigrid, local permeability";

FlowSample sample_of(const Geometry& geometry, double h) {
  return {h, geometry.report.connected_porosity, geometry.report.specific_surface / h};
}

/// @param where  added to the name
SolveReport solve_report(const FlowColumn& column, const std::string& where) {
  SolveReport solve;
  solve.name = flow_solve_name(column.axis) + where;
  solve.method = "gmres";
  solve.preconditioner = preconditioner;
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
    if (c.inertia.empty() && c.reynolds > largest_creeping_reynolds)
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
                    const std::shared_ptr<const FlowColumns>& columns, std::size_t i, bool several, PlotField field,
                    std::vector<JobComponent>& components) {
  const std::string of_drive = several ? fmt::format("drive_{}_", "xyz"[(*columns)[i].axis]) : std::string();
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

/// @param several  the deck asks for several axes
std::vector<JobComponent> components_of(const JobContext& run, const std::shared_ptr<const FlowColumns>& columns,
                                        bool several) {
  std::vector<JobComponent> components;
  const auto numbering = std::make_shared<const CompositeNumbering>(run.comm, run.geometry);
  for (const PlotField field : run.config.output.plot)
    if (field == PlotField::velocity || field == PlotField::pressure)
      for (std::size_t i = 0; i < columns->size(); ++i)
        add_components(run, numbering, columns, i, several, field, components);
  return components;
}

FlowWatch watch_of(SolveProgress& progress, const std::string& where) {
  FlowWatch watch;
  watch.iteration = [&progress, where](const std::string& solve, int n, double residual, double permeability) {
    progress.iteration(solve + where, n, residual, fmt::format("permeability {}", darcy_text(permeability)));
  };
  watch.slow_flow = [&progress, where](const FlowColumn& column) { progress.solved(solve_report(column, where)); };
  watch.solved = [slow = watch.slow_flow](const FlowColumn& column) {
    if (column.inertia.empty()) slow(column);
  };
  watch.point = [&progress](const std::string& solve, const InertiaPoint& p) {
    SolveReport row;
    row.name = solve;
    row.method = "newton, gmres";
    row.preconditioner = preconditioner;
    row.iterations = p.iterations;
    row.true_residual = p.relative_residual;
    row.seconds = p.seconds;
    progress.solved(row);
  };
  return watch;
}

/// All axes at once, or one after the other where each has reservoirs of its own.
std::vector<FlowOptions> parts_of(const FlowOptions& options) {
  if (options.reservoir == 0) return {options};
  std::vector<FlowOptions> parts;
  for (const int axis : options.axes) {
    parts.push_back(options);
    parts.back().axes = {axis};
  }
  return parts;
}

/// The grid of an axis with its reservoirs.
struct Extended {
  Extended(const JobContext& run, int wider, const FlowOptions& part)
      : source(with_reservoirs(run.again(wider), part.axes[0], part.reservoir)),
        geometry(build_geometry(run.comm, source.grid, *source.level_set, run.config.geometry.keep)) {}
  Source source;
  Geometry geometry;
};

/// The axes that percolate there, on cells twice as wide.
FlowColumns on_wide_cells(const JobContext& run, SolveProgress& progress) {
  const Timer timer("error estimate");
  FlowOptions options = run.config.flow;
  options.estimate_error = false;
  options.model = FlowModel::stokes;
  options.reservoir /= 2;
  const FlowWatch watch = watch_of(progress, ", wide cells");
  FlowColumns columns;
  const auto solve = [&](const Geometry& geometry, double h, FlowOptions part) {
    std::erase_if(part.axes, [&](int axis) { return !geometry.report.percolates[static_cast<std::size_t>(axis)]; });
    if (part.axes.empty()) return;
    FlowColumns solved = permeability(run.comm, geometry, part, run.config.fluid, sample_of(run.geometry, h), watch);
    std::ranges::move(solved, std::back_inserter(columns));
  };
  for (const FlowOptions& part : parts_of(options)) {
    if (part.reservoir > 0) {
      const Extended grid(run, 2, part);
      solve(grid.geometry, grid.source.grid.cell_width(), part);
    } else {
      const Source source = run.again(2);
      solve(build_geometry(run.comm, source.grid, *source.level_set, run.config.geometry.keep),
            source.grid.cell_width(), part);
    }
  }
  return columns;
}

bool asks_for(const Config& config, PlotField field) { return std::ranges::count(config.output.plot, field) > 0; }

/// What all solves gave.
struct Solved {
  std::shared_ptr<FlowColumns> columns = std::make_shared<FlowColumns>();
  std::string pictures;
  std::vector<JobComponent> components;
  std::vector<JobFile> files;
};

/// With reservoirs every axis has its grid, its geometry and its plotfile, which go before the next axis comes.
void solve_with_reservoirs(const JobContext& run, const FlowWatch& watch, const FlowSample& sample, Solved& all) {
  for (const FlowOptions& part : parts_of(run.config.flow)) {
    const Timer timer("with reservoirs");
    const Extended grid(run, 1, part);
    const JobContext here{run.comm, run.config, grid.source.grid, grid.geometry, {}, {}};
    const auto columns =
        std::make_shared<FlowColumns>(permeability(run.comm, grid.geometry, part, run.config.fluid, sample, watch));
    all.pictures += flow_pictures(here, *columns);
    const std::vector<JobComponent> components = components_of(here, columns, run.config.flow.axes.size() > 1);
    FlowColumn& column = columns->front();
    if (!components.empty()) {
      const char axis = "xyz"[column.axis];
      all.files.push_back({fmt::format("plot_{}.vtkhdf", axis),
                           fmt::format("the flow along {} with its reservoirs, for ParaView, yt and VisIt", axis)});
      write_plot(here, grid.source, run.file(all.files.back().name), components);
    }
    column.solution = {};
    column.speed = {};
    all.columns->push_back(std::move(column));
  }
}

Solved solve(const JobContext& run, SolveProgress& progress) {
  const FlowSample sample = sample_of(run.geometry, run.grid.cell_width());
  FlowWatch watch = watch_of(progress, "");
  watch.keep_solution = asks_for(run.config, PlotField::velocity) || asks_for(run.config, PlotField::pressure);
  Solved all;
  if (run.config.flow.reservoir > 0) {
    solve_with_reservoirs(run, watch, sample, all);
  } else {
    *all.columns = permeability(run.comm, run.geometry, run.config.flow, run.config.fluid, sample, watch);
    all.pictures = flow_pictures(run, *all.columns);
    all.components = components_of(run, all.columns, all.columns->size() > 1);
  }
  return all;
}

JobResult run(const JobContext& context) {
  const FlowOptions& options = context.config.flow;
  SolveProgress progress(context.comm, options.tolerance);
  const Solved all = solve(context, progress);
  if (options.estimate_error) estimate_error(on_wide_cells(context, progress), *all.columns);
  const FlowGrid grid{context.grid.cells, options.reservoir};
  JobResult result;
  result.text = flow_text(*all.columns, grid, options.estimate_error);
  result.json = flow_json(*all.columns, grid, options.estimate_error);
  result.solves = progress.rows();
  double mass = 0.0;
  for (const FlowColumn& c : *all.columns) mass = std::max(mass, c.divergence);
  result.balances.push_back({"mass_relative", mass});
  result.warnings = warnings_of(*all.columns);
  std::ranges::move(inertia_warnings(*all.columns), std::back_inserter(result.warnings));
  result.components = all.components;
  result.files = all.files;
  if (options.model == FlowModel::steady) {
    write_file(context.comm, context.file("inertia.csv"), inertia_csv(*all.columns));
    result.files.push_back({"inertia.csv", "apparent permeability against Reynolds number"});
  }
  result.page = flow_page(context, *all.columns, all.pictures);
  return result;
}

/// The larger of the reservoirs of all axes.
std::int64_t more_cells(const JobContext& context) {
  const Index& n = context.grid.cells;
  std::int64_t most = 0;
  for (const int axis : context.config.flow.axes)
    most = std::max(most, 2 * context.config.flow.reservoir * (std::int64_t{n[0]} * n[1] * n[2] / n[axis]));
  return most;
}

}  // namespace

Job flow_job() {
  return {"flow", "[flow] with model = \"stokes\" or \"steady\" and a drive: permeability and velocity",
          [](const Config& config) { return config.flow.model != FlowModel::none; },
          [](const JobContext& context) { return mistakes(context.config.flow, context.geometry); }, run, more_cells,
          // of it with inertia: 40 more vectors of GMRES, the flow and its fluxes, a step and its start
          [](const Config& config) { return config.flow.model == FlowModel::steady ? 1250.0 : 750.0; }};
}

}  // namespace karst
