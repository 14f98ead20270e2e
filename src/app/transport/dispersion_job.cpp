// SPDX-License-Identifier: BSD-3-Clause
// Job `dispersion`: dispersion tensor of a periodic sample over a list of Péclet numbers, with the flow of job `flow`.
#include "app/transport/dispersion_job.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/job/flow_sample.hpp"
#include "app/job/steady_solves.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "ins/upscale/unbounded_flow.hpp"
#include "solvers/krylov/truncated_gcr.hpp"

namespace karst {

namespace {

/// Nothing that a record holds depends on it.
constexpr DispersionScale any_scale{.cell_width = 1.0, .length = 1.0};

SolveRecord record_of(const Comm& comm, const DispersionPoint& p) {
  Json state;
  each_quantity(any_scale, 0, p, ToJson{state, shown::record});
  state["seconds"] = comm.max(p.seconds);
  state["setup_seconds"] = comm.max(p.setup_seconds);
  return {state, state};
}

DispersionPoint point_of(const Json& state) {
  DispersionPoint p;
  each_quantity(any_scale, 0, p, FromRecord{state});
  return p;
}

/// Of the asked axes, from what the flow job has left.
std::vector<DispersionFlow> flows_of(const JobContext& run, double length) {
  const DispersionOptions& options = run.config.dispersion;
  std::vector<DispersionFlow> flows;
  for (const int axis : options.axes) {
    DispersionFlow& flow = flows.emplace_back();
    flow.axis = axis;
    flow.peclet = options.peclet;
    const std::vector<FlowColumn>& columns = run.services.exchanges.flow.columns;
    const auto column = std::ranges::find(columns, axis, &FlowColumn::axis);
    if (column == columns.end() || !column->connected) continue;
    if (flow.peclet.empty())
      flow.peclet = {std::abs(column->darcy_velocity[axis]) / run.geometry().report.connected_porosity * length /
                     options.diffusivity};
    flow.fluxes = [&run, &flow_of = *column] {
      return flow_fluxes(run.ground->composite(), run.config.flow, run.config.fluid.viscosity, run.grid.cell_width(),
                         flow_of);
    };
  }
  return flows;
}

DispersionColumns columns_of(const JobContext& run, double length, SolveProgress& progress) {
  const DispersionOptions& options = run.config.dispersion;
  SolveKind<DispersionPoint> kind{.job = "dispersion"};
  kind.depends = run.services.solved.dependencies(kind.job, run.geometry(), run.grid.cell_width());
  kind.places = places_of(run.geometry(), *run.ground->numbering());
  kind.record = [&](const DispersionPoint& p) { return record_of(run.comm, p); };
  kind.restore = point_of;
  DispersionSolver solver(
      run.ground, options, length / run.grid.cell_width(),
      [&](const std::string& solve, int n, double residual) { progress.iteration(solve, n, residual); });
  DispersionColumns columns;
  for (const DispersionFlow& flow : flows_of(run, length)) {
    kind.rows = [&](const DispersionPoint& p) {
      return std::vector{
          solve_report(dispersion_solve_name(flow.axis, p.peclet), "tgcr", "graph multigrid, sweep downstream", p)};
    };
    std::vector<SteadySolve<DispersionPoint>> list;
    if (flow.fluxes)
      for (const double peclet : flow.peclet)
        list.push_back({dispersion_solve_name(flow.axis, peclet), [&, peclet] { return solver.solve(flow, peclet); }});
    columns.push_back({flow.axis, bool{flow.fluxes}, run_solves(run, kind, progress, list)});
  }
  return columns;
}

JobResult run_dispersion(const JobContext& context) {
  const DispersionOptions& options = context.config.dispersion;
  SolveProgress progress(context, "dispersion", options.tolerance);
  DispersionScale scale;
  scale.cell_width = context.grid.cell_width();
  scale.length_given = options.length > 0.0;
  scale.length = scale.length_given ? options.length : scale.cell_width * grain_diameter(context.geometry().report);
  scale.diffusivity = options.diffusivity;
  const FlowSample sample = sample_of(context, scale.cell_width);
  scale.reynolds_per_velocity = reynolds_number(sample, context.config.fluid, sample.porosity);
  const DispersionColumns columns = columns_of(context, scale.length, progress);
  JobResult result;
  result.text = dispersion_text(columns, scale);
  result.headline = dispersion_headline(columns);
  result.json = dispersion_json(columns, scale);
  result.solves = progress.rows();
  const Vec3& size = context.grid.size;
  const double longest = std::max({size[0], size[1], size[2]});
  result.warnings = dispersion_warnings(columns, scale, context.config.flow.model == FlowModel::steady);
  constexpr double usual = 10.0;
  if (scale.length_given && scale.length > usual * longest)
    result.warnings.add(
        "dispersion.length: {:g} m, {:.3g} times the length of the domain: is it in metres? It may be a text with its "
        "unit, such as \"0.8 mm\"",
        scale.length, scale.length / longest);
  context.services.files.write(context.comm, "dispersion.csv", dispersion_csv(columns, scale));
  result.files.push_back({"dispersion.csv", "dispersion tensor against the Péclet number"});
  return result;
}

std::vector<std::string> dispersion_mistakes(const JobContext& context) {
  const FlowOptions& flow = context.config.flow;
  Messages found = mistakes(context.config.dispersion, context.geometry());
  if (flow.model != FlowModel::stokes && flow.model != FlowModel::steady) {
    found.emplace_back(
        "dispersion.axes: the advecting flow is missing; give [flow] model = \"stokes\", drive = \"pressure-gradient\" "
        "and the same axes");
    return found;
  }
  if (flow.model == FlowModel::steady && !context.config.dispersion.peclet.empty())
    found.emplace_back(
        "dispersion.peclet: a flow with inertia cannot be scaled to another velocity; remove it for the flow of the "
        "deck, or use flow.model = \"stokes\"");
  for (const int axis : context.config.dispersion.axes)
    if (std::ranges::count(flow.axes, axis) == 0)
      found.add("dispersion.axes: {0} is not among flow.axes, so no flow along it is computed; add \"{0}\" there",
                axis_names[axis]);
  for (const int axis : context.config.dispersion.axes)
    if (std::string problem = unbounded_drive(flow, context.geometry(), axis); !problem.empty())
      found.push_back(std::move(problem));
  if (flow.reservoir > 0)
    found.emplace_back(
        "flow.reservoir: the dispersion tensor is that of a periodic sample without reservoirs; remove flow.reservoir "
        "or dispersion.axes");
  return found;
}

/// Per VoF: of the operator and multigrid, of what a solve works on, and of the directions that it keeps.
double solve_bytes(const DispersionOptions& options) {
  const double side_by_side = options.transverse ? 3.0 : 1.0;
  const bool easy = !options.peclet.empty() && std::ranges::max(options.peclet) <= 10.0;
  const double directions = easy ? 8.0 : BasicTruncatedGcr<1>::largest_memory;
  return 490.0 + side_by_side * (83.0 + 2.0 * sizeof(double) * directions);
}

/// Bytes and iterations: docs/performance.md.
JobPlan plan_dispersion(const Config& config, const GridOptions&) {
  const DispersionOptions& options = config.dispersion;
  const double n = static_cast<double>(options.axes.size()) * (options.transverse ? 3.0 : 1.0) *
                   std::max(1.0, static_cast<double>(options.peclet.size()));
  JobPlan all;
  all.grids.push_back(
      {.name = "", .iterations = n * 2.0 * -std::log10(options.tolerance), .solves = static_cast<int>(n)});
  all.solve = {solve_bytes(options), 3350.0, 0.0};
  all.kept = 4.0 * sizeof(double) * static_cast<double>(options.axes.size());
  all.more_work = 4.0;  // Péclet numbers of a cell far above 1
  return all;
}

JobPace dispersion_pace(const std::shared_ptr<const Ground>& ground) {
  DispersionOptions options;
  options.transverse = false;
  options.tolerance = 1e-4;
  ClosureOptions solve;
  solve.tolerance = 1e-4;
  Timer setup("pace");
  Closure closure(ground->composite(), solve);
  FaceField flow(ground->composite());
  closure.set_directions({0});
  closure.set_flow(flow);
  const double setup_seconds = setup.seconds();
  setup.stop();
  const Dispersion found = closure.solve(1e-9, "pace");
  const LevelReport& level = ground->geometry().report.levels[0];
  const auto fluid = static_cast<double>(level.vofs);
  return {setup_seconds / setup_work_of_closures(fluid, static_cast<double>(level.irregular)),
          found.solves.at(0).seconds / fluid / std::max(1, found.solves[0].iterations)};
}

}  // namespace

Job dispersion_job() {
  return {.word = job_word("dispersion"),
          .mistakes = dispersion_mistakes,
          .start = [](const JobContext& context) { return one_step(context, run_dispersion); },
          .page = dispersion_page,
          .cost = {.plan = plan_dispersion,
                   .setup_work = setup_work_of_closures,
                   .pace = dispersion_pace,
                   .usual_pace = {.setup = 4.5e-6, .iteration = 0.3e-6}},
          .takes = [](const Config&) { return std::vector{ExchangeName::flow}; }};
}

}  // namespace karst
