// SPDX-License-Identifier: BSD-3-Clause
#include "transport/effective_diffusivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/comm/parallel.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/math/no_number.hpp"
#include "transport/steady/plane_fluxes.hpp"

namespace karst {

namespace {

/// Relative diffusivities below this times the tolerance cannot be told from 0.
constexpr double least_flux = 10.0;

struct Setting {
  const std::shared_ptr<const Composite>& grid;
  const Geometry& geometry;
  const DiffusionOptions& options;
  const DiffusionWatch& watch;
  Domain domain;

  bool periodic(int d) const { return domain.periodic[d]; }
  double volume() const { return static_cast<double>(domain.box().count()); }
};

/// @param axis  read again whenever the watcher is told
KrylovOptions krylov_options(const Setting& s, const int& axis) {
  KrylovOptions options;
  options.name = diffusion_solve_name(axis);
  options.prefix = "diffusion_";
  options.tolerance = s.options.tolerance;
  options.max_iterations = s.options.max_iterations;
  if (s.watch)
    options.watch = [&tell = s.watch, &axis](int n, double residual) { tell(diffusion_solve_name(axis), n, residual); };
  return options;
}

/// A periodic direction of one cell (a 2-D problem) carries no flux.
bool has_planes(const Setting& s, int d) { return s.periodic(d) && s.domain.cells[d] > 1; }

void finish(const Setting& s, DiffusionColumn& column) {
  const double d = column.tensor[column.axis];
  column.formation_factor = d > 0.0 ? 1.0 / d : std::numeric_limits<double>::infinity();
  // Throats that hold no cell centre let nothing flow, and do not count as connected, but species diffuse through them.
  const GeometryReport& report = s.geometry.report;
  column.unresolved = !report.percolates[column.axis];
  column.tortuosity = (column.unresolved ? report.porosity : report.connected_porosity) * column.formation_factor;
}

/// A linear fall from 1 to 0 along the axis.
void start_linear(const Setting& s, const EllipticOperator& op, int axis, std::span<double> c) {
  const std::vector<Vec3> at = op.positions();
  parallel_for(std::ssize(c), [&](std::int64_t v) { c[v] = 1.0 - at[v][axis] / s.domain.cells[axis]; });
}

DiffusionColumn column_between_ends(const Setting& s, int axis) {
  Timer setup("set-up");
  const int low = low_side(axis), high = high_side(axis);
  EllipticProblem problem;
  problem.sides[low] = [](const Vec3&) { return dirichlet(1.0); };
  problem.sides[high] = [](const Vec3&) { return dirichlet(0.0); };
  EllipticOperator op(s.grid, problem, Faces::keep);
  const std::size_t n = op.numbering().n_own();
  DiffusionColumn column;
  column.axis = axis;
  column.concentration = Array<double>(n, Purpose::fields);
  Array<double> b(n, Purpose::solver);
  const std::span<double> c = column.concentration.span();
  column.repairs = op.counts();
  start_linear(s, op, axis, c);
  op.right_side({}, b.span());
  {
    KrylovSolver krylov(op, krylov_options(s, axis));
    const double setup_seconds = setup.seconds();
    setup.stop();
    column.solve = krylov.solve(b.span(), c);
    column.solve.setup_seconds = setup_seconds;
  }

  const Timer timer("fluxes");
  PlaneFluxes planes(op);
  const EndFlux at_low = planes.out_of(low, c), at_high = planes.out_of(high, c);
  column.flux_in = -at_low.total;
  column.flux_out = at_high.total;
  const double flux = 0.5 * (column.flux_in + column.flux_out);
  Vec3 integral = flux * (at_high.at - at_low.at);
  integral[axis] = flux * s.domain.cells[axis];
  if (const bool sealed = !has_planes(s, (axis + 1) % 3) && !has_planes(s, (axis + 2) % 3); !sealed) {
    const Vec3 end = planes.through(c).end;
    for (int e = 0; e < 3; ++e)
      if (e != axis && has_planes(s, e)) integral[e] += s.domain.cells[e] * end[e];
  }
  column.tensor = s.domain.cells[axis] / s.volume() * integral;
  finish(s, column);
  return column;
}

/// What all periodic directions share.
struct PeriodicSolver {
  Timer setup{"set-up"};
  int axis;  ///< of the present solve
  EllipticOperator op;
  KrylovSolver krylov;
  PlaneFluxes planes;
  double setup_seconds;  ///< not told of yet

  PeriodicSolver(const Setting& s, int first_axis)
      : axis(first_axis),
        op(s.grid, EllipticProblem{}, Faces::keep),
        krylov(op, krylov_options(s, axis)),
        planes(op),
        setup_seconds(setup.seconds()) {
    setup.stop();
  }
};

/// Entries off the diagonal of a periodic column: nothing flows through sealed sides; others come with the column of
/// their axis, see add_off_diagonals().
Vec3 unknown_entries(const Setting& s, int axis) {
  Vec3 entries;
  for (int e = 0; e < 3; ++e)
    if (e != axis && has_planes(s, e)) entries[e] = no_number;
  return entries;
}

/// Of the values that are kept of a column, so that one of an earlier run has the same bits.
const Vec3& through_middle(PlaneFluxes& planes, DiffusionColumn& column) {
  if (!column.through_middle)
    column.through_middle = planes.through(column.concentration.span(), column.axis, -1.0).middle;
  return *column.through_middle;
}

/// D_de = D_ed of two periodic columns: the mean of what each says.
void add_off_diagonals(const Setting& s, PlaneFluxes& planes, DiffusionColumn& a, DiffusionColumn& b) {
  const int d = a.axis, e = b.axis;
  if (!a.connected || !b.connected) {
    a.tensor[e] = b.tensor[d] = 0.0;
    return;
  }
  const double scale = s.domain.cells[d] * s.domain.cells[e] / s.volume();
  a.tensor[e] = b.tensor[d] = 0.5 * scale * (through_middle(planes, a)[e] + through_middle(planes, b)[d]);
}

DiffusionColumn periodic_column(const Setting& s, PeriodicSolver& solver, int axis) {
  const std::size_t n = solver.op.numbering().n_own();
  DiffusionColumn column;
  column.axis = axis;
  column.periodic = true;
  column.concentration = Array<double>(n, Purpose::fields);
  Array<double> b(n, Purpose::solver, 0.0);
  const std::span<double> c = column.concentration.span();
  solver.planes.add_jump(axis, 1.0, b.span());
  column.repairs = solver.op.counts();
  start_linear(s, solver.op, axis, c);
  solver.axis = axis;
  column.solve = solver.krylov.solve(b.span(), c);
  column.solve.setup_seconds = std::exchange(solver.setup_seconds, 0.0);

  const Timer timer("fluxes");
  const PlaneFluxes::Through fluxes = solver.planes.through(c, axis, -1.0);
  column.flux_in = fluxes.middle[axis];
  column.flux_out = fluxes.end[axis];
  column.tensor = unknown_entries(s, axis);
  column.tensor[axis] =
      0.5 * (column.flux_in + column.flux_out) * s.domain.cells[axis] * s.domain.cells[axis] / s.volume();
  parallel_for(std::ssize(c), [&](std::int64_t i) { c[i] += 0.5; });
  column.connected = column.tensor[axis] > least_flux * s.options.tolerance;
  if (!column.connected) column.tensor[axis] = 0.0;
  finish(s, column);
  return column;
}

DiffusionColumn unconnected(const Setting& s, int axis) {
  DiffusionColumn column;
  column.axis = axis;
  column.connected = false;
  finish(s, column);
  column.unresolved = s.geometry.report.unresolved(axis);
  if (column.unresolved) column.tensor[axis] = column.formation_factor = column.tortuosity = no_number;
  return column;
}

}  // namespace

double DiffusionColumn::imbalance() const {
  const double mean = 0.5 * (flux_in + flux_out);
  return connected && mean != 0.0 ? std::abs(flux_in - flux_out) / std::abs(mean) : 0.0;
}

std::vector<std::string> mistakes(const DiffusionOptions& options, const Geometry& geometry) {
  const Domain& domain = domain_of(geometry);
  std::vector<std::string> found;
  for (const int axis : options.axes) {
    if (!domain.periodic[axis] && domain.cells[axis] < least_cells_of_planes)
      found.push_back(fmt::format("diffusion.axes: the sample is {} cells long along {}; at least {} are needed",
                                  domain.cells[axis], axis_names[axis], least_cells_of_planes));
    if (domain.periodic[axis] && domain.cells[axis] == 1)
      found.push_back(
          fmt::format("diffusion.axes: {0} is one cell thick and periodic (a 2-D problem); remove {0} from the axes",
                      axis_names[axis]));
  }
  for (std::string& mistake : narrow_periods("diffusion", domain)) found.push_back(std::move(mistake));
  return found;
}

struct DiffusionSolver::Parts {
  Setting setting;
  std::optional<PeriodicSolver> periodic;  // made when it is first wanted

  PeriodicSolver& with_periodic(int axis) {
    if (!periodic) periodic.emplace(setting, axis);
    return *periodic;
  }
};

DiffusionSolver::DiffusionSolver(const std::shared_ptr<const Composite>& grid, const DiffusionOptions& options,
                                 const DiffusionWatch& watch)
    : parts_(new Parts{{grid, grid->geometry(), options, watch, domain_of(grid->geometry())}, {}}) {
  const std::vector<std::string> wrong = mistakes(options, grid->geometry());
  require(wrong.empty(), "{}", join(wrong, "\n"));
}
DiffusionSolver::~DiffusionSolver() = default;

bool DiffusionSolver::solves(int axis) const {
  const Setting& s = parts_->setting;
  return s.periodic(axis) || s.geometry.report.percolates[axis];
}

DiffusionColumn DiffusionSolver::solve(int axis) {
  const Setting& s = parts_->setting;
  if (!solves(axis)) return unconnected(s, axis);
  DiffusionColumn column =
      s.periodic(axis) ? periodic_column(s, parts_->with_periodic(axis), axis) : column_between_ends(s, axis);
  column.solve.name = diffusion_solve_name(axis);
  return column;
}

void DiffusionSolver::complete(std::vector<DiffusionColumn>& columns) {
  const Timer timer("diffusion");
  for (DiffusionColumn& a : columns)
    for (DiffusionColumn& b : columns)
      if (a.axis < b.axis && a.periodic && b.periodic)
        add_off_diagonals(parts_->setting, parts_->with_periodic(a.axis).planes, a, b);
}

std::vector<DiffusionColumn> effective_diffusivity(const std::shared_ptr<const Composite>& grid,
                                                   const DiffusionOptions& options, const DiffusionWatch& watch) {
  const Timer timer("diffusion");
  DiffusionSolver solver(grid, options, watch);
  std::vector<DiffusionColumn> columns;
  for (const int axis : options.axes) columns.push_back(solver.solve(axis));
  solver.complete(columns);
  return columns;
}

std::string diffusion_solve_name(int axis) { return fmt::format("diffusion {}", axis_names[axis]); }

}  // namespace karst
