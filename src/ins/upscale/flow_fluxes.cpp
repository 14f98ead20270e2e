// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/flow_fluxes.hpp"

#include <cmath>
#include <optional>
#include <utility>

#include "base/comm/parallel_fill.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/text.hpp"

namespace karst {

namespace {

/// u from the own unknowns, in units of h0 when they are divided by `speed` and `pressure`.
void load(const StokesLevels& op, const std::vector<Quad>& unknowns, double speed, double pressure,
          FlowValues& values) {
  op.for_boxes([&](int l, int b, std::size_t, std::size_t n) {
    const std::span<Quad> own = values.level(l).x.own(b);
    for (std::size_t v = 0; v < n; ++v) {
      const std::int32_t u = op.numbering().number(l, b, static_cast<int>(v));
      own[v] = {};
      if (u < 0) continue;
      const Quad& q = unknowns[u];
      for (std::size_t d = 0; d < 3; ++d) own[v].v[d] = q.v[d] / speed;
      if (std::isfinite(q.v[3])) own[v].v[3] = StokesLevels::width(l) * q.v[3] / pressure;  // orphans have none
    }
  });
}

void copy(const FaceField& from, FaceField& to) {
  const auto same = [](std::span<const double> x, std::span<double> y) { parallel_copy(x, y); };
  for (int l = 0; l < to.grid().n_levels(); ++l) {
    for (int d = 0; d < 3; ++d)
      same(std::span(from.primary(l).data(d), from.primary(l).n_slots()),
           std::span(to.primary(l).data(d), to.primary(l).n_slots()));
    same(from.extra(l), to.extra(l));
    if (l > 0) same(from.coarse_fine(l - 1), to.coarse_fine(l - 1));
  }
}

}  // namespace

void scale(FaceField& fluxes, double factor) {
  const auto times = [factor](std::span<double> x) {
    parallel_for(std::ssize(x), [&](std::int64_t i) { x[i] *= factor; });
  };
  for (int l = 0; l < fluxes.grid().n_levels(); ++l) {
    Field& primary = fluxes.primary(l);
    for (int d = 0; d < 3; ++d) times(std::span(primary.data(d), primary.n_slots()));
    times(fluxes.extra(l));
    if (l > 0) times(fluxes.coarse_fine(l - 1));
  }
}

namespace {

/// Velocity that the solution of a column is in units of, and the drive in these units.
struct Unit {
  double speed, pressure;
  StokesDrive drive;
};

Unit unit_of(const Domain& domain, const FlowColumn& column, double viscosity, double h) {
  // With inertia the drive in the solver has the sign of the gradient.
  const bool inertia = !column.inertia.empty();
  const double gradient =
      inertia ? std::abs(column.inertia.back().grid_gradient) : column.grid_gradient.value_or(column.gradient);
  StokesDrive drive = unit_drive(domain, column.axis);
  if (inertia && column.gradient < 0.0) drive = -1.0 * drive;
  // Without a wall the flow is uniform and nothing drives it: its own velocity is the unit.
  if (column.unbounded) return {column.darcy_velocity[column.axis], 1.0, {}};
  return {gradient * h * h / viscosity, gradient * h, drive};
}

}  // namespace

FaceField fluxes_in_units(StokesLevels& op, double viscosity, double cell_width, const FlowColumn& column) {
  require(std::ssize(column.solution) == op.numbering().n_own(),
          "{}: its solution was not kept, or belongs to another grid", flow_solve_name(column.axis));
  const Unit unit = unit_of(domain_of(op.composite()->geometry()), column, viscosity, cell_width);
  FlowValues values(op);
  load(op, column.solution, unit.speed, unit.pressure, values);
  Array<Quad> left(op.n_vofs(), Purpose::solver);
  op.apply(values, left.span(), unit.drive);
  FaceField fluxes(op.composite());
  op.face_fluxes(values, unit.drive.force, fluxes);
  return fluxes;
}

FaceField flow_fluxes(const std::shared_ptr<const Composite>& grid, const FlowOptions& options, double viscosity,
                      double cell_width, const FlowColumn& column, double velocity) {
  const Timer timer("fluxes of the flow");
  const Domain& domain = domain_of(grid->geometry());
  const double along = column.darcy_velocity[column.axis];
  require(column.connected && along != 0.0, "{}: nothing flows along {}, so there is no advection",
          flow_solve_name(column.axis), axis_names[column.axis]);
  const double speed = unit_of(domain, column, viscosity, cell_width).speed;
  std::optional<FaceField> fluxes;
  if (column.fluxes) {
    require(column.fluxes->grid().id() == grid->id(), "{}: its fluxes are on ground {}, asked for on ground {}",
            flow_solve_name(column.axis), column.fluxes->grid().id(), grid->id());
    fluxes.emplace(grid);
    copy(*column.fluxes, *fluxes);
  } else {
    StokesLevels op(grid, flow_sides(domain, options, column.axis));
    fluxes.emplace(fluxes_in_units(op, viscosity, cell_width, column));
  }
  scale(*fluxes, velocity * speed / along);
  return std::move(*fluxes);
}

}  // namespace karst
