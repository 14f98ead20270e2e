// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/dispersion_estimate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/job/exchange.hpp"
#include "app/job/flow_sample.hpp"
#include "app/job/wider_cells.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

namespace {

/// Of the flow for an estimate: what is left of its residual must be small in the closure problem.
constexpr double flow_tolerance = 1e-6;

/// An entry of the diagonal of a tensor: the number of a value on all grids.
struct Entry {
  std::size_t column = 0, point = 0;
  int direction = 0;
};

std::vector<Entry> known_entries(const std::vector<TrustedColumn>& columns) {
  std::vector<Entry> all;
  for (std::size_t c = 0; c < columns.size(); ++c)
    for (std::size_t p = 0; p < columns[c].points.size(); ++p)
      for (int d = 0; d < 3; ++d)
        if (std::isfinite(columns[c].points[p].tensor[d][d])) all.push_back({c, p, d});
  return all;
}

/// What all solves on other cells share.
struct Again {
  const JobContext& run;
  const std::vector<TrustedColumn>& columns;
  const std::vector<Entry>& entries;
  double length;  ///< of the Péclet numbers [m]
  SolveProgress& progress;
};

/// Of the flow along an axis, a tensor at each Péclet number. Collective.
void add_column(const Again& again, const std::shared_ptr<const Ground>& ground, double h, std::size_t number,
                const std::vector<int>& wanted, const WiderCells& wide, std::vector<NumberedValue>& values) {
  const JobContext& run = again.run;
  const TrustedColumn& column = again.columns[number];
  FlowOptions flow_options = run.config.flow;
  flow_options.axes = {column.axis};
  flow_options.tolerance = std::max(flow_options.tolerance, flow_tolerance);
  FlowWatch watch;
  watch.keep_fluxes = watch.keep_solution = true;
  watch.iteration = [&](const std::string& solve, int n, double residual, double) {
    again.progress.iteration(solve + wide.where, n, residual);
  };
  const FlowSample sample = sample_of(run, h);
  PermeabilitySolver flow_solver(ground, flow_options, run.config.fluid, sample, watch);
  if (!flow_solver.solves(column.axis)) return;
  const FlowColumn flow = flow_solver.solve(column.axis);
  again.progress.solved(solve_report(flow_solve_name(column.axis) + wide.where, "gmres", flow_preconditioner, flow));
  DispersionOptions options = run.config.dispersion;
  options.tolerance = std::max(options.tolerance, repeated_dispersion_tolerance);
  DispersionSolver solver(ground, options, again.length / h, [&](const std::string& solve, int n, double residual) {
    again.progress.iteration(solve + wide.where, n, residual);
  });
  const DispersionFlow of{column.axis, {}, [&] {
                            return flow_fluxes(ground->composite(), flow_options, run.config.fluid.viscosity, h, flow);
                          }};
  for (std::size_t p = 0; p < column.points.size(); ++p) {
    const auto is_here = [&](int i) { return again.entries[i].column == number && again.entries[i].point == p; };
    if (std::ranges::none_of(wanted, is_here)) continue;
    const DispersionPoint point = solver.solve(of, column.points[p].peclet);
    again.progress.solved(solve_report(dispersion_solve_name(column.axis, point.peclet) + wide.where, "tgcr",
                                       "graph multigrid, sweep downstream", point));
    for (const int i : wanted)
      if (is_here(i)) values.push_back({i, point.tensor[again.entries[i].direction][again.entries[i].direction]});
  }
}

/// Collective.
std::vector<NumberedValue> values_on(const Again& again, const std::vector<int>& wanted, const WiderCells& wide,
                                     Messages& notes) {
  const JobContext& run = again.run;
  std::vector<NumberedValue> values;
  const Source source = run.again({wide.cells});
  const auto ground = std::make_shared<const Ground>(
      run.comm, build_geometry(run.comm, source.grid, *source.level_set, run.config.geometry.keep));
  if (!mistakes(run.config.dispersion, ground->geometry()).empty()) return values;  // too few cells
  try {
    for (std::size_t c = 0; c < again.columns.size(); ++c)
      if (std::ranges::any_of(wanted, [&](int i) { return again.entries[i].column == c; }))
        add_column(again, ground, source.grid.cell_width(), c, wanted, wide, values);
  } catch (const Error& e) {  // the same on all ranks; no estimate is worth the results
    notes.add("dispersion{}: {}", wide.where, e.what());
  }
  return values;
}

}  // namespace

DispersionTrust estimate_dispersion(const JobContext& run, double length, std::vector<TrustedColumn>& columns,
                                    SolveProgress& progress) {
  DispersionTrust trust{.wanted = run.config.dispersion.estimate_error};
  if (!trust.wanted) return trust;
  const Timer timer("error estimate");
  if (run.sample || run.flagged()) {
    trust.none = "the grid was refined while solving";
    return trust;
  }
  if (run.config.flow.model != FlowModel::stokes) {
    trust.none = "it is made for creeping flow alone (flow.model = \"stokes\")";
    return trust;
  }
  const std::vector<Entry> entries = known_entries(columns);
  std::vector<NumberedValue> values;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const Entry& e = entries[i];
    values.push_back({static_cast<int>(i), columns[e.column].points[e.point].tensor[e.direction][e.direction]});
  }
  const Again again{run, columns, entries, length, progress};
  const auto found = estimate_on_wider_cells(run, values, [&](const std::vector<int>& wanted, const WiderCells& wide) {
    return values_on(again, wanted, wide, trust.notes);
  });
  if (!found) {
    trust.none = no_wider_grid(run.grid.cells);
    return trust;
  }
  for (std::size_t i = 0; i < entries.size(); ++i)
    columns[entries[i].column].points[entries[i].point].trust[entries[i].direction] = (*found)[i];
  return trust;
}

}  // namespace karst
