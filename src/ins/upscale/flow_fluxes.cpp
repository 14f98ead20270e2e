// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/flow_fluxes.hpp"

#include <cmath>

#include "base/comm/parallel.hpp"
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

FaceField flow_fluxes(const std::shared_ptr<const Composite>& grid, const FlowOptions& options, double viscosity,
                      double cell_width, const FlowColumn& column, double velocity) {
  const Timer timer("fluxes of the flow");
  const Domain& domain = domain_of(grid->geometry());
  const double h = cell_width, along = column.darcy_velocity[column.axis];
  require(column.connected && along != 0.0, "{}: nothing flows along {}, so there is no advection",
          flow_solve_name(column.axis), axis_names[column.axis]);
  // What the solution is in units of; with inertia the drive in the solver has the sign of the gradient.
  const bool inertia = !column.inertia.empty();
  const double gradient =
      inertia ? std::abs(column.inertia.back().grid_gradient) : column.grid_gradient.value_or(column.gradient);
  StokesDrive drive = unit_drive(domain, column.axis);
  if (inertia && column.gradient < 0.0) drive = -1.0 * drive;
  StokesLevels op(grid, flow_sides(domain, options, column.axis));
  require(std::ssize(column.solution) == op.numbering().n_own(),
          "{}: its solution was not kept, or belongs to another grid", flow_solve_name(column.axis));
  // Without a wall the flow is uniform and nothing drives it: its own velocity is the unit.
  const double speed = column.unbounded ? along : gradient * h * h / viscosity,
               pressure = column.unbounded ? 1.0 : gradient * h;
  if (column.unbounded) drive = {};
  FlowValues values(op);
  load(op, column.solution, speed, pressure, values);
  Array<Quad> left(op.n_vofs(), Purpose::solver);
  op.apply(values, left.span(), drive);
  FaceField fluxes(op.composite());
  op.face_fluxes(values, drive.force, fluxes);
  scale(fluxes, velocity * speed / along);
  return fluxes;
}

}  // namespace karst
