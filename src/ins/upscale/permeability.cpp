// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/permeability.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <optional>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/heap.hpp"
#include "base/core/text.hpp"
#include "base/core/wall_clock.hpp"
#include "base/math/no_number.hpp"
#include "grid/vof_loops.hpp"
#include "ins/upscale/flow_fluxes.hpp"
#include "ins/upscale/sample_flow.hpp"
#include "ins/upscale/unbounded_flow.hpp"
#include "ins/upscale/wall_drag.hpp"

namespace karst {

namespace {

/// Vectors of GMRES with inertia: each Newton step is one cycle (decision 012).
constexpr int steady_restart = 40;

bool is_periodic(const Domain& domain, int axis) { return domain.periodic[axis]; }

}  // namespace

FlowSides flow_sides(const Domain& domain, const FlowOptions& options, int axis) {
  FlowSides sides;
  for (int side = 0; side < 6; ++side) {
    const bool end = direction_of(side) == axis && !is_periodic(domain, axis);
    sides[side] = end                                   ? FlowSide::pressure
                  : options.sides == FlowWalls::no_slip ? FlowSide::no_slip
                                                        : FlowSide::symmetry;
  }
  return sides;
}

StokesDrive unit_drive(const Domain& domain, int axis) {
  StokesDrive drive;
  if (is_periodic(domain, axis))
    drive.force[axis] = 1.0;
  else
    drive.at_end[low_side(axis)] = domain.cells[axis];
  return drive;
}

void check_flow_cells(const FlowCounts& counts, const std::string& name, bool given) {
  require(counts.flow_cells > 0,
          "{}: no cell centre is in the fluid ({} fluid fragments without one): the pores are thinner than a cell, and "
          "nothing can flow; use finer cells",
          name, counts.orphans);
  require(given || counts.walls > 0,
          "{}: no grid line between {} cell centres meets a wall or a no-slip lateral face, so there is no friction "
          "and the velocity is unbounded; there is no solid, or it is smaller than a cell: use finer cells, or "
          "flow.sides = \"no-slip\"",
          name, counts.flow_cells);
}

namespace {

/// The cells between the reservoirs.
SampleCells sample_cells(const FlowOptions& options, const Domain& domain, int axis) {
  return {axis, options.reservoir, domain.cells[axis] - options.reservoir};
}

Domain without_reservoirs(const FlowOptions& options, Domain domain) {
  if (options.reservoir == 0) return domain;
  assert(options.axes.size() == 1);
  domain.cells[options.axes[0]] -= 2 * options.reservoir;
  domain.periodic[options.axes[0]] = false;
  return domain;
}

bool drives_by_flow(const FlowOptions& options) {
  return options.drive == FlowDrive::velocity || options.drive == FlowDrive::flow_rate;
}

/// G_d [Pa/m] that the deck asks for.
/// @param permeability  along the axis [m²]
/// @param length        of the sample [cells]
double gradient_for(const FlowOptions& options, const Domain& domain, int axis, double permeability, double viscosity,
                    double h, int length) {
  const double per_velocity = viscosity / permeability;
  switch (options.drive) {
    case FlowDrive::pressure_drop:
      return options.pressure_drop / (h * length);
    case FlowDrive::pressure_gradient:
      return options.gradient[axis];
    case FlowDrive::velocity:
      return options.velocity * per_velocity;
    case FlowDrive::flow_rate: {
      const double area = h * h * static_cast<double>(domain.box().count()) / domain.cells[axis];
      return options.flow_rate / area * per_velocity;
    }
    case FlowDrive::none:
      break;
  }
  return 0.0;
}

/// Leaves out the reservoirs: the velocity of the sample and its tortuosity, per gradient of the sample.
/// Returns that gradient over that of the drive. Collective.
double keep_sample(StokesSolver& solver, const SampleCells& sample, const StokesDrive& drive, StokesReport& report) {
  const SampleFlow flow = sample_flow(solver, sample, drive, report.velocity);
  const double fall = sample_drop(solver, sample, drive).drop / (sample.high - sample.low);
  report.velocity = (1.0 / fall) * flow.velocity;
  report.largest_speed /= fall;
  report.tortuosity = flow.tortuosity;
  return fall;
}

/// d / φ of the Reynolds number: 4 / S.
double pore_length(const FlowSample& sample) {
  return sample.specific_surface > 0.0 ? 4.0 / sample.specific_surface : 0.0;
}

/// Throws Error unless the fluid flows the way it is driven, faster than what round-off and an unfinished solve move
/// it. The same on every rank.
/// @param report  of a pressure drop of 1 per cell: velocities in units of h² G / μ
void require_flow(const StokesReport& report, const FlowOptions& options, const Domain& domain, int axis, double h) {
  constexpr double finished = 0.1;    // of the tolerance: slits of a hundredth of a cell are faster
  constexpr double round_off = 1e-9;  // of the largest speed
  const double k = report.velocity[axis], fastest = report.largest_speed;
  if (k > round_off * fastest && fastest > finished * options.tolerance) return;
  const Index& n = domain.cells;
  throw Error(fmt::format(
      "{}: the computed permeability along {} is {:.3g} m², {} (largest speed {:.2g} of h² G / μ, G the pressure "
      "gradient): the percolating pores are too narrow for {} x {} x {} cells of {:.3g} m. Use more cells "
      "(grid.cells), or remove {} from flow.axes",
      flow_solve_name(axis), axis_names[axis], h * h * k, k > 0.0 ? "no more than round-off" : "which is impossible",
      fastest, n[0], n[1], n[2], h, axis_names[axis]));
}

/// From units of h0, of the viscosity and of a gradient of 1 per h0 to what the deck asks for, in SI units.
void to_si(const FlowOptions& options, const FluidOptions& fluid, const FlowSample& sample, const Domain& domain,
           const StokesReport& report, FlowColumn& column) {
  const double h = sample.cell_width;
  const int axis = column.axis;
  column.permeability = h * h * report.velocity;
  column.gradient = gradient_for(options, domain, axis, column.permeability[axis], fluid.viscosity, h,
                                 domain.cells[axis] - 2 * options.reservoir);
  const double speed = column.gradient * h * h / fluid.viscosity;  // of a velocity of 1
  column.darcy_velocity = speed * report.velocity;
  column.flow_rate =
      column.darcy_velocity[axis] * h * h * static_cast<double>(domain.box().count()) / domain.cells[axis];
  column.largest_speed = std::abs(speed) * report.largest_speed;
  column.reynolds = reynolds_number(sample, fluid, norm(column.darcy_velocity));
  column.tortuosity = report.tortuosity;
  column.divergence = report.divergence;
  column.iterations = report.krylov.iterations;
  column.relative_residual = report.krylov.relative_residual;
}

/// Stokes flow along the axis of the column.
/// Returns the gradient of the sample over that of the drive.
double solve_slow_flow(StokesSolver& solver, const FlowOptions& options, const FluidOptions& fluid,
                       const FlowSample& sample, const Domain& domain, FlowColumn& column) {
  const WallClock clock;
  const int axis = column.axis;
  const StokesDrive drive = unit_drive(domain, axis);
  StokesReport report = solver.solve(drive, flow_solve_name(axis));
  column.seconds = clock.seconds();
  const double h = sample.cell_width, permeability_of_all = h * h * report.velocity[axis];
  double fall = 1.0;  // of the pressure per cell
  if (options.reservoir > 0) fall = keep_sample(solver, sample_cells(options, domain, axis), drive, report);
  require_flow(report, options, domain, axis, h);
  to_si(options, fluid, sample, domain, report, column);
  // What flows through the sample flows through the reservoirs: a given flow needs no pressure of the sample, and is,
  // bit by bit, that of the same cells written as one domain.
  if (options.reservoir > 0)
    column.grid_gradient = drives_by_flow(options)
                               ? gradient_for(options, domain, axis, permeability_of_all, fluid.viscosity, h, 0)
                               : column.gradient / fall;
  return fall;
}

/// The sweep of flow.steps from the Stokes flow in the solver; the column shows the last flow then.
/// @param start  where it begins
/// Returns the gradient that the solution is in units of.
double add_inertia(StokesSolver& solver, const FlowOptions& options, const FluidOptions& fluid,
                   const FlowSample& sample, const Domain& domain, const PausedSweep& start, const FlowWatch& watch,
                   FlowColumn& column) {
  InertiaSweep sweep;
  sweep.axis = column.axis;
  sweep.drive = unit_drive(domain, column.axis);
  sweep.sample = sample_cells(options, domain, column.axis);
  sweep.fall = start.fall;
  sweep.from = start.state;
  sweep.cell_width = sample.cell_width;
  sweep.viscosity = fluid.viscosity;
  sweep.density = fluid.density;
  sweep.permeability = column.permeability[column.axis];
  sweep.pore_length = pore_length(sample);
  sweep.gradient = column.gradient;
  sweep.by_velocity = drives_by_flow(options);
  sweep.steps = options.steps;
  sweep.solver.tolerance = options.tolerance;
  sweep.solver.max_steps = options.newton_steps;
  sweep.name = steady_solve_name(column.axis);
  InertiaWatch points;
  points.iteration = watch.iteration;
  if (watch.point)
    points.solved = [&](const InertiaPoint& p, std::size_t i) {
      watch.point(point_name(sweep.name, sweep.steps.size(), i), p);
    };
  if (watch.pause)
    points.state = [&](const SweepState& s) { watch.pause({start.slow, start.fall, s}, solver.solution()); };
  column.inertia = solve_with_inertia(solver, sweep, points);
  column.forchheimer = fit_forchheimer(column.inertia, fluid.density, fluid.viscosity);
  const InertiaPoint& last = column.inertia.back();
  column.flow_rate *= last.darcy_velocity[column.axis] / column.darcy_velocity[column.axis];
  column.gradient = last.gradient;
  column.darcy_velocity = last.darcy_velocity;
  column.largest_speed = last.largest_speed;
  column.reynolds = last.reynolds;
  column.tortuosity = last.tortuosity;
  column.divergence = std::max(column.divergence, last.divergence);
  return std::abs(last.grid_gradient);
}

/// Between open ends a flow with inertia may carry momentum in or out: its drag is not that of the drive.
void add_drag(StokesSolver& solver, const FlowOptions& options, const Domain& domain, FlowColumn& column) {
  const int axis = column.axis;
  if (!column.inertia.empty() && !is_periodic(domain, axis)) {
    column.pressure_drag = column.viscous_drag = column.side_drag = no_number;
    return;
  }
  StokesDrive drive = unit_drive(domain, axis);
  if (!column.inertia.empty() && column.gradient < 0.0) drive.force = -drive.force;
  const WallDrag drag = wall_drag(solver.op(), solver.values(), drive, sample_cells(options, domain, axis));
  column.pressure_drag = drag.pressure[axis] / drag.drive[axis];
  column.viscous_drag = drag.viscous[axis] / drag.drive[axis];
  column.side_drag = drag.sides[axis] / drag.drive[axis];
}

/// f(own unknown, cell) on the one level that goes with reservoirs.
template <class F>
void for_each_unknown(StokesSolver& solver, F&& f) {
  const LevelGraph& graph = solver.op().level(0).geometry().graph;
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph box = graph.box(b);
    for_each_vof(box, [&](int vof, int cell) { f(graph.vof_begin(b) + vof, box.cells.cell(cell)); });
  }
}

/// Speeds in the sample, 0 in its reservoirs.
std::vector<double> speed_in(StokesSolver& solver, const SampleCells& sample, const std::vector<double>& speed) {
  std::vector<double> inside = speed;
  for_each_unknown(solver, [&](std::size_t v, const Index& cell) {
    if (!sample.holds(cell)) inside[v] = 0.0;
  });
  return inside;
}

/// With reservoirs the drive is a force, and the pressure that goes with it repeats: adds the mean fall, so that the
/// pressure is on average 0 on the high end of the grid, and n f on its low end. Collective.
/// @param pressure  [Pa]: of a pressure of 1; its sign is that of the force
void let_pressure_fall(const Comm& comm, StokesSolver& solver, double pressure, FlowColumn& column) {
  const Domain& domain = solver.op().level(0).geometry().graph.layout().domain();
  const int n = domain.cells[column.axis];
  double ends = 0.0;
  for_each_unknown(solver, [&](std::size_t v, const Index& cell) {
    const int at = cell[column.axis];
    if (at == 0 || at == n - 1) ends += column.solution[v].v[3];
  });
  const double mean = comm.sum(ends) * n / (2.0 * static_cast<double>(domain.box().count()));
  for_each_unknown(solver, [&](std::size_t v, const Index& cell) {
    column.solution[v].v[3] += pressure * (n - cell[column.axis] - 0.5) - mean;
  });
}

/// @param speed, pressure  [m/s], [Pa]: of a velocity and of a pressure of 1
void keep_fields(StokesSolver& solver, double speed, double pressure, bool all, FlowColumn& column) {
  const std::span<const Quad> solution = solver.solution();
  const std::int64_t n = std::ssize(solution);
  column.speed.resize(solution.size());
  if (all) column.solution.resize(solution.size());
  parallel_for(n, [&](std::int64_t v) {
    const Quad& q = solution[v];
    column.speed[v] = std::abs(speed) * norm(Vec3{q.v[0], q.v[1], q.v[2]});
    if (all) column.solution[v] = {speed * q.v[0], speed * q.v[1], speed * q.v[2], pressure * q.v[3]};
  });
  if (!all) return;
  const StokesLevels& op = solver.op();
  for (int l = 0; l < op.n_levels(); ++l)
    for (int b = 0; b < op.level(l).geometry().graph.n_local(); ++b)
      for (const std::uint16_t v : op.level(l).rows().still_in(b))
        column.solution[op.numbering().number(l, b, v)].v[3] = no_number;
}

/// By volume: cells of finer levels count less.
SpeedHistogram histogram_of(const Comm& comm, const StokesLevels& op, std::span<const double> speed) {
  struct Moving {
    double sum = 0.0, volume = 0.0;
  };
  const auto of_level = [&](int l) {
    return speed.subspan(op.numbering().level_begin(l),
                         op.numbering().level_begin(l + 1) - op.numbering().level_begin(l));
  };
  std::array<double, 2> all{};
  for (int l = 0; l < op.n_levels(); ++l) {
    const std::span<const double> here = of_level(l);
    const Moving own = parallel_reduce(
        std::ssize(here), Moving{},
        [&](std::int64_t i) {
          const double u = here[i];
          return Moving{u, u > 0.0 ? 1.0 : 0.0};
        },
        [](const Moving& a, const Moving& b) {
          return Moving{a.sum + b.sum, a.volume + b.volume};
        });
    const double volume = std::pow(StokesLevels::width(l), 3);
    all[0] += volume * own.sum;
    all[1] += volume * own.volume;
  }
  comm.sum(std::span(all));
  SpeedHistogram histogram;
  if (all[0] == 0.0) return histogram;
  const double mean = all[0] / all[1];
  constexpr double width = (SpeedHistogram::high - SpeedHistogram::low) / SpeedHistogram::bins;
  for (int l = 0; l < op.n_levels(); ++l)
    for (const double u : of_level(l)) {
      if (u <= 0.0) continue;
      const auto bin = static_cast<int>(std::floor((std::log10(u / mean) - SpeedHistogram::low) / width));
      histogram.share[std::clamp(bin, 0, SpeedHistogram::bins - 1)] += std::pow(StokesLevels::width(l), 3);
    }
  comm.sum(std::span(histogram.share));
  for (double& share : histogram.share) share /= all[1];
  return histogram;
}

}  // namespace

std::string flow_solve_name(int axis) { return fmt::format("stokes {}", axis_names[axis]); }
std::string steady_solve_name(int axis) { return fmt::format("steady {}", axis_names[axis]); }

namespace {

/// @param domain  without reservoirs that are joined
std::vector<std::string> mistakes(const FlowOptions& options, const Geometry& geometry, const Domain& domain) {
  std::vector<std::string> found;
  bool any_side = false;
  const bool of_sample = !is_in_time(options.model) && !ends_drive(options);  // a permeability
  if (geometry.levels.size() > 1 && options.reservoir > 0 && of_sample)
    found.emplace_back(
        "flow.reservoir: the permeability of a sample between reservoirs is not supported on refined grids; remove "
        "[[grid.refine]] or flow.reservoir");
  for (const int axis : options.axes) {
    const char* name = axis_names[axis];
    const bool periodic = is_periodic(domain, axis);
    if (periodic && options.drive == FlowDrive::pressure_drop)
      found.push_back(fmt::format(
          "flow.drive: \"pressure-drop\", but the domain is periodic along {0} and has no inlet and outlet there; use "
          "drive = \"pressure-gradient\", set grid.periodic to false along {0}, or remove {0} from flow.axes",
          name));
    if (!periodic && options.drive == FlowDrive::pressure_gradient)
      found.push_back(fmt::format(
          "flow.drive: \"pressure-gradient\" needs a periodic direction, and the domain is not periodic along {0}; use "
          "drive = \"pressure-drop\", set grid.periodic to true along {0}, or remove {0} from flow.axes",
          name));
    if (periodic && options.reservoir > 0)
      found.push_back(
          fmt::format("flow.reservoir: the domain is periodic along {0} and has no inlet and outlet there; remove it, "
                      "set grid.periodic to false along {0}, or remove {0} from flow.axes",
                      name));
    for (int d = 0; d < 3; ++d) {
      if (d == axis || is_periodic(domain, d)) continue;
      any_side = true;
      if (options.sides == FlowWalls::periodic)
        found.push_back(
            fmt::format("flow.sides: \"periodic\", but the domain is not periodic along {}, which is transverse to the "
                        "flow along {}; set grid.periodic there, or use \"symmetry\" or \"no-slip\"",
                        axis_names[d], name));
    }
  }
  if (options.sides_given && !any_side && options.sides != FlowWalls::periodic)
    found.emplace_back(
        "flow.sides: without effect, because the domain is periodic in all directions transverse to the flow; remove "
        "it, or change grid.periodic");
  return found;
}

FlowColumn column_along(const FlowOptions& options, const Domain& domain, int axis) {
  FlowColumn column;
  column.axis = axis;
  column.periodic = is_periodic(domain, axis) && options.reservoir == 0;
  return column;
}

/// G_d [Pa/m] where the deck gives it; NaN where it follows from a wanted flow.
double driven_gradient(const FlowOptions& options, const Domain& domain, int axis, double h) {
  if (options.drive == FlowDrive::pressure_drop)
    return options.pressure_drop / (h * (domain.cells[axis] - 2 * options.reservoir));
  return options.drive == FlowDrive::pressure_gradient ? options.gradient[axis] : no_number;
}

/// Of an axis without anything that holds the fluid: a given velocity is that of all of it, at no pressure gradient; a
/// given gradient has no steady flow.
FlowColumn unbounded(const Ground& ground, const FlowOptions& options, const FlowSample& sample, int axis,
                     bool keep_solution) {
  const Domain& domain = domain_of(ground.geometry());
  FlowColumn column = column_along(options, domain, axis);
  column.unbounded = true;
  column.permeability[axis] = std::numeric_limits<double>::infinity();
  column.estimated_error = column.pressure_drag = column.viscous_drag = column.side_drag = no_number;
  const double area =
      sample.cell_width * sample.cell_width * static_cast<double>(domain.box().count()) / domain.cells[axis];
  const bool given = drives_by_flow(options);
  const double speed = options.drive == FlowDrive::velocity    ? options.velocity
                       : options.drive == FlowDrive::flow_rate ? options.flow_rate / area
                                                               : no_number;
  column.gradient = given ? 0.0 : driven_gradient(options, domain, axis, sample.cell_width);
  column.darcy_velocity[axis] = speed;
  column.flow_rate = speed * area;
  column.largest_speed = std::abs(speed);
  column.tortuosity = given ? 1.0 : no_number;
  column.reynolds = no_number;  // pores without a width have none
  if (!given || !keep_solution) return column;
  const std::int64_t n = ground.numbering()->n_own();
  column.solution.assign(n, Quad{});
  column.speed.assign(n, std::abs(speed));
  for (Quad& q : column.solution) q.v[axis] = speed;
  return column;
}

/// What cells that lose so much let through is the residual of a solve and no flow.
void check_volume(const FlowColumn& column) {
  constexpr double most = 0.1;
  require(column.divergence <= most,
          "{}: mass is conserved only to {:.2g} of the largest flux between two cells (allowed: {}), so the "
          "permeability would be dominated by the residual of the solve; the pores are too narrow for these cells: "
          "smaller cells (grid.cells) help, or a smaller flow.tolerance",
          flow_solve_name(column.axis), column.divergence, most);
}

/// Of an axis along which no pore leads.
FlowColumn unconnected(const FlowOptions& options, const Domain& domain, int axis, double h, bool unresolved) {
  FlowColumn column = column_along(options, domain, axis);
  column.connected = false;
  column.unresolved = unresolved;
  if (unresolved) {
    column.permeability = column.darcy_velocity = Vec3::all(no_number);
    column.flow_rate = column.largest_speed = column.reynolds = column.estimated_error = no_number;
  }
  column.gradient = driven_gradient(options, domain, axis, h);
  column.tortuosity = column.pressure_drag = column.viscous_drag = column.side_drag = no_number;
  return column;
}

}  // namespace

std::vector<std::string> mistakes(const FlowOptions& options, const Geometry& geometry) {
  return mistakes(options, geometry, domain_of(geometry));
}

double reynolds_number(const FlowSample& sample, const FluidOptions& fluid, double darcy_velocity) {
  return fluid.density * darcy_velocity * pore_length(sample) / fluid.viscosity;
}

PermeabilitySolver::PermeabilitySolver(std::shared_ptr<const Ground> ground, const FlowOptions& options,
                                       const FluidOptions& fluid, const FlowSample& sample, const FlowWatch& watch)
    : ground_(std::move(ground)),
      geometry_(ground_->geometry()),
      options_(options),
      fluid_(fluid),
      sample_(sample),
      watch_(watch) {
  const Domain& domain = domain_of(geometry_);
  const std::vector<std::string> wrong = mistakes(options, geometry_, without_reservoirs(options, domain));
  require(wrong.empty(), "{}", join(wrong, "\n"));
  const double h = sample.cell_width;
  solve_options_.krylov.tolerance = options.tolerance;
  solve_options_.krylov.max_iterations = options.max_iterations;
  // What makes the permeability so far; the reservoirs are taken to cost nothing.
  const double running = h * h * (1.0 - 2.0 * options.reservoir / domain.cells[options.axes[0]]);
  if (watch.iteration)
    solve_options_.progress = [this, running](const StokesProgress& p) {
      watch_.iteration(flow_solve_name(axis_), p.iteration, p.relative_residual, running * p.velocity[axis_]);
    };
  solve_options_.krylov.restart = options.model == FlowModel::steady ? steady_restart : FlowBasis::short_basis;
}

bool PermeabilitySolver::solves(int axis) const {
  return geometry_.report.percolates[axis] && !is_unbounded(options_, geometry_, axis);
}

StokesSolver& PermeabilitySolver::with(const FlowSides& sides, double& setup_seconds) {
  if (solver_ && solver_->op().sides() == sides) return *solver_;
  const WallClock clock;
  const Timer timer("set-up");
  solver_.reset();  // the one before goes first
  solver_.emplace(ground_->composite(), sides, solve_options_);
  trim_heap();
  setup_seconds = clock.seconds();
  return *solver_;
}

FlowColumn PermeabilitySolver::solve(int axis) {
  const Domain& domain = domain_of(geometry_);
  const double h = sample_.cell_width;
  if (!geometry_.report.percolates[axis])
    return unconnected(options_, domain, axis, h, geometry_.report.unresolved(axis));
  if (!solves(axis)) return unbounded(*ground_, options_, sample_, axis, watch_.keep_solution);
  axis_ = axis;
  FlowColumn column = column_along(options_, domain, axis);
  StokesSolver& solver = with(flow_sides(domain, options_, axis), column.setup_seconds);
  column.counts = solver.op().counts();
  check_flow_cells(column.counts, flow_solve_name(axis));
  column.closed_level_faces = solver.op().face_counts().closed;
  std::optional<PausedSweep> paused;
  if (watch_.resume && options_.model == FlowModel::steady) paused = watch_.resume(axis, solver.all_values());
  const double fall = paused ? paused->fall : solve_slow_flow(solver, options_, fluid_, sample_, domain, column);
  if (!paused) check_volume(column);
  if (paused) {
    column = paused->slow;
    solver.preconditioner().set_slow();
  }
  double scale = column.grid_gradient.value_or(column.gradient);  // what the solution is in units of
  if (options_.model == FlowModel::steady) {
    if (watch_.slow_flow && !paused) watch_.slow_flow(column);
    if (watch_.pause && !paused) watch_.pause({column, fall, {}}, solver.solution());
    if (!paused) paused = {column, fall, {}};
    scale = add_inertia(solver, options_, fluid_, sample_, domain, *paused, watch_, column);
  }
  solver.give_room_back();  // the fields need memory, too
  trim_heap();
  add_drag(solver, options_, domain, column);
  if (watch_.find_friction) column.friction = octant_friction(solver.op(), solver.values());
  if (options_.reservoir > 0) column.grid_gradient = scale;
  keep_fields(solver, scale * h * h / fluid_.viscosity, scale * h, watch_.keep_solution, column);
  std::vector<double> inside;
  if (options_.reservoir > 0) {
    inside = speed_in(solver, sample_cells(options_, domain, axis), column.speed);
    if (watch_.keep_solution && is_periodic(domain, axis))
      let_pressure_fall(ground_->comm(), solver, std::copysign(scale * h, column.gradient), column);
  }
  if (watch_.keep_solution && watch_.keep_fluxes)
    column.fluxes = std::make_shared<FaceField>(fluxes_in_units(solver.op(), fluid_.viscosity, h, column));
  column.histogram = histogram_of(ground_->comm(), solver.op(), options_.reservoir > 0 ? inside : column.speed);
  return column;
}

std::vector<FlowColumn> permeability(const std::shared_ptr<const Ground>& ground, const FlowOptions& options,
                                     const FluidOptions& fluid, const FlowSample& sample, const FlowWatch& watch) {
  const Timer timer("flow");
  PermeabilitySolver solver(ground, options, fluid, sample, watch);
  std::vector<FlowColumn> columns;
  for (const int axis : options.axes) columns.push_back(solver.solve(axis));
  return columns;
}

double drag_imbalance(const FlowColumn& c) { return std::abs(c.pressure_drag + c.viscous_drag + c.side_drag - 1.0); }

}  // namespace karst
