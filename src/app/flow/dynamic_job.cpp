// SPDX-License-Identifier: BSD-3-Clause
// Job `dynamic_permeability`: what creeping flow answers to an oscillating drive, over the frequency.
#include "app/flow/dynamic_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>

#include "app/flow/flow_job.hpp"
#include "app/job/run_services.hpp"
#include "app/job/solve_progress.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/heap.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "base/math/no_number.hpp"

namespace karst {

namespace {

constexpr double per_decade = 10.0;  ///< frequencies
constexpr double as_steady = 0.02;   ///< ω x the mean time of relaxation: as good as steady, one degree behind
constexpr double expected_solves = 12.0;
constexpr double per_digit_of_shift =
    1.7;  ///< iterations, as measured: a solve begins with the flow of the shift before

double angular(double frequency) { return 2.0 * std::numbers::pi * frequency; }

/// From there to what the cells resolve.
std::vector<double> usual_frequencies(const DynamicResults& results) {
  double low = 0.1 * results.resolved;
  for (const DynamicColumn& c : results.columns)
    if (c.connected) low = std::min(low, as_steady / angular(c.relaxation_time));
  const double ratio = results.resolved / low;
  const int n = static_cast<int>(std::ceil(per_decade * std::log10(ratio)));
  std::vector<double> all;
  for (int i = 0; i <= n; ++i) all.push_back(low * std::pow(ratio, static_cast<double>(i) / n));
  return all;
}

/// ω at which the flow is 45° behind the drive, which it is ever more; NaN where that is above `highest`.
double corner_of(const DynamicPermeability& k, double highest) {
  const auto is_above = [&](double omega) { return -std::arg(k.at(omega)) > 0.25 * std::numbers::pi; };
  if (!is_above(highest)) return no_number;
  double low = 0.0, high = highest;
  while (high - low > 1e-6 * high) (is_above(0.5 * (low + high)) ? high : low) = 0.5 * (low + high);
  return high;
}

SolveReport report_of(int axis, int number, const ShiftSolve& s, double setup_seconds) {
  SolveReport solve =
      solve_report(fmt::format("dynamic {} {}", axis_names[axis], number), "gmres", flow_preconditioner, s);
  solve.setup_seconds = setup_seconds;
  return solve;
}

/// The solver of the ends that go with an axis.
struct Solver {
  std::optional<StokesSolver> stokes;
  double setup_seconds = 0.0;  ///< 0: made before
  std::string name;            ///< of the solve under way
};

void make(const JobContext& run, SolveProgress& progress, const FlowSides& sides, Solver& solver) {
  solver.setup_seconds = 0.0;
  if (solver.stokes && solver.stokes->op().sides() == sides) return;
  Timer timer("set-up");
  solver.stokes.reset();
  StokesOptions options;
  options.krylov.tolerance = run.config.flow.tolerance;
  options.krylov.max_iterations = run.config.flow.max_iterations;
  options.progress = [&](const StokesProgress& p) {
    progress.iteration(solver.name, p.iteration, p.relative_residual);
  };
  solver.stokes.emplace(run.ground->composite(), sides, options);
  trim_heap();
  solver.setup_seconds = timer.seconds();
}

/// @param highest  angular frequency [ν / h0²]
DynamicPermeability solve(const JobContext& run, int axis, double highest, SolveProgress& progress, Solver& solver,
                          DynamicColumn& column) {
  const Domain& domain = run.geometry().grid.levels[0].layout.domain();
  make(run, progress, flow_sides(domain, run.config.flow, axis), solver);
  check_flow_cells(solver.stokes->op().counts(), "dynamic permeability");
  const auto name = [&] { return fmt::format("dynamic {} {}", axis_names[axis], column.solves + 1); };
  solver.name = name();
  DynamicWatch watch;
  watch.solved = [&](const ShiftSolve& s) {
    const bool first = column.solves++ == 0;
    progress.solved(report_of(axis, column.solves, s, first ? solver.setup_seconds : 0.0));
    column.iterations += s.iterations;
    solver.name = name();
  };
  return dynamic_permeability(*solver.stokes, run.geometry(), unit_drive(domain, axis), axis, highest, watch);
}

JobResult run_dynamic(const JobContext& context) {
  const DynamicOptions& options = context.config.dynamic_permeability;
  SolveProgress progress(context, "dynamic permeability", context.config.flow.tolerance);
  const double h = context.grid.cell_width();
  DynamicResults all;
  all.cell_width = h;
  all.viscosity = context.config.fluid.viscosity / context.config.fluid.density;
  all.porosity = context.geometry().report.connected_porosity;
  const double time = h * h / all.viscosity;  // unit of the solver
  all.resolved = resolved_frequency / angular(time);
  const double highest = options.frequencies.empty() ? resolved_frequency : angular(options.frequencies.back() * time);
  Solver solver;
  std::vector<DynamicPermeability> answers;
  for (const int axis : options.axes) {
    DynamicColumn& c = all.columns.emplace_back();
    c.axis = axis;
    c.connected = context.geometry().report.percolates[axis];
    DynamicPermeability& k = answers.emplace_back();
    if (!c.connected) continue;
    k = solve(context, axis, highest, progress, solver, c);
    c.permeability = h * h * k.answer[0];
    c.corner = corner_of(k, resolved_frequency) / (angular(1.0) * time);
    c.relaxation_time = time * k.relaxation_time();
  }
  const std::vector<double> frequencies = options.frequencies.empty() ? usual_frequencies(all) : options.frequencies;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    DynamicColumn& c = all.columns[i];
    if (!c.connected) continue;
    c.frequency = frequencies;
    for (const double f : frequencies) {
      const double omega = angular(f * time);
      c.dynamic.push_back(h * h * answers[i].at(omega));
      c.reduction_change = std::max(c.reduction_change, answers[i].change_without_a_shift(omega));
    }
  }
  JobResult result;
  result.text = dynamic_text(all);
  result.headline = dynamic_headline(all);
  result.json = dynamic_json(all);
  result.solves = progress.rows();
  result.warnings = dynamic_warnings(all);
  context.services.files.write(context.comm, "dynamic_permeability.csv", dynamic_csv(all));
  result.files.push_back({"dynamic_permeability.csv", "permeability against the frequency of the driving force"});
  return result;
}

std::vector<std::string> dynamic_mistakes(const JobContext& context) {
  const FlowOptions& flow = context.config.flow;
  Messages found;
  if ((flow.model != FlowModel::stokes && flow.model != FlowModel::steady) || ends_drive(flow)) {
    found.emplace_back(
        "dynamic_permeability.axes: the steady flow is missing; give [flow] model = \"stokes\", flow.drive (no inlet, "
        "no lids) and the same axes");
    return found;
  }
  for (const int axis : context.config.dynamic_permeability.axes)
    if (std::ranges::count(flow.axes, axis) == 0)
      found.add("dynamic_permeability.axes: {0} is not among flow.axes; add \"{0}\" there", axis_names[axis]);
  if (flow.reservoir > 0)
    found.emplace_back(
        "flow.reservoir: dynamic_permeability is computed for the sample without reservoirs, which would oscillate "
        "with "
        "it; remove flow.reservoir or dynamic_permeability.axes");
  return found;
}

/// Bytes and iterations: docs/performance.md.
JobPlan plan_dynamic(const Config& config, const GridOptions&) {
  const double solves = expected_solves * static_cast<double>(config.dynamic_permeability.axes.size());
  JobPlan all;
  all.grids.push_back({.name = "",
                       .iterations = per_digit_of_shift * -std::log10(config.flow.tolerance) * solves,
                       .solves = static_cast<int>(solves)});
  all.solve = {450.0 + 12.0 * expected_solves, 310.0, 115.0};
  all.more_work = 1.5;
  return all;
}

}  // namespace

Job dynamic_job() {
  return {.word = job_word("dynamic_permeability"),
          .mistakes = dynamic_mistakes,
          .start = [](const JobContext& context) { return one_step(context, run_dynamic); },
          .page = dynamic_page,
          .cost = {.plan = plan_dynamic,
                   .setup_work = flow_setup_work,
                   .pace = flow_pace,
                   .usual_pace = flow_job().cost.usual_pace}};
}

}  // namespace karst
