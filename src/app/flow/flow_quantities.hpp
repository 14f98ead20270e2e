// SPDX-License-Identifier: BSD-3-Clause
// The quantities of the job `flow`: names, units and where they are shown, a row each (output/quantity.hpp).
#pragma once

#include "app/flow/flow_in_time.hpp"
#include "app/output/quantity.hpp"
#include "ins/upscale/end_flow.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

/// Of a drive of a sweep with inertia.
/// @param axis  of the drive
/// @param slow  permeability of Stokes flow along it [m²]; 0: what follows from it is not wanted
void each_quantity(Of<InertiaPoint> auto& p, int axis, double slow, auto&& f) {
  using namespace shown;
  constexpr unsigned all = csv | json | record;
  f(Quantity{"step", "", all}, p.step);
  f(Quantity{"pressure_gradient", "Pa_m", all}, p.gradient);
  f(Quantity{"darcy_velocity", "m_s", json | record}, p.darcy_velocity);
  f(Quantity{"darcy_velocity", "m_s", csv}, double{p.darcy_velocity[axis]});
  f(Quantity{"permeability", "m2", all}, p.permeability);
  f(Quantity{"permeability_over_slow", "", csv}, p.permeability / slow);
  f(Quantity{"reynolds", "", all}, p.reynolds);
  f(Quantity{"forchheimer_number", "", all}, p.forchheimer);
  f(Quantity{"cell_reynolds", "", all, "{:.6g}"}, p.cell_reynolds);
  f(Quantity{"largest_speed", "m_s", all}, p.largest_speed);
  f(Quantity{"tortuosity", "", all, "{:.8g}"}, p.tortuosity);
  f(Quantity{"newton_steps", "", all}, p.newton_steps);
  f(Quantity{"iterations", "", all}, p.iterations);
  f(Quantity{"drives_between", "", json | record}, p.drives_between);
  f(Quantity{"relative_residual", "", all, "{:.3g}"}, p.relative_residual);
  f(Quantity{"divergence"}, p.divergence);
  f(Quantity{"grid_gradient", "Pa_m"}, p.grid_gradient);
  f(Quantity{"unevenness"}, p.unevenness);
  f(Quantity{"seconds"}, p.seconds);
}

/// As records have it.
void each_quantity(Of<InertiaPoint> auto& p, auto&& f) { each_quantity(p, 0, 1.0, f); }

void each_quantity(Of<ForchheimerFit> auto& fit, auto&& f) {
  using namespace shown;
  f(Quantity{"permeability", "m2", json | record}, fit.permeability);
  f(Quantity{"beta", "per_m", json | record}, fit.beta);
  f(Quantity{"deviation", "", json | record}, fit.deviation);
}

/// Of a direction of the drive; a row of text has the entry along the axis.
void each_quantity(Of<FlowColumn> auto& c, auto&& f) {
  using namespace shown;
  constexpr unsigned all = json | record | text;
  f(Quantity{"axis"}, c.axis);
  f(Quantity{"periodic"}, c.periodic);
  f(Quantity{"permeability", "m2"}, c.permeability);
  f(Quantity{"tortuosity", "", all, "", "tortuosity of the flow"}, c.tortuosity);
  f(Quantity{"pressure_gradient", "Pa_m", all, "", "pressure gradient [Pa/m]"}, c.gradient);
  f(Quantity{"darcy_velocity", "m_s", all, "", "Darcy velocity [m/s]"}, c.darcy_velocity);
  f(Quantity{"flow_rate", "m3_s", all, "", "flow rate [m3/s]"}, c.flow_rate);
  f(Quantity{"largest_speed", "m_s", all, "", "largest speed [m/s]"}, c.largest_speed);
  f(Quantity{"reynolds", "", all, "", "Reynolds number", "{:.3g}"}, c.reynolds);
  f(Quantity{"mass_relative", "", json | record}, c.divergence);
  f(Quantity{"pressure_drag"}, c.pressure_drag);
  f(Quantity{"viscous_drag"}, c.viscous_drag);
  f(Quantity{"side_drag"}, c.side_drag);
  f(Quantity{"flow_cells"}, c.counts.flow_cells);
  f(Quantity{"rows"}, c.counts.rows);
  f(Quantity{"orphans"}, c.counts.orphans);
  f(Quantity{"walls"}, c.counts.walls);
  f(Quantity{"walls_half_way"}, c.counts.walls_half_way);
  f(Quantity{"open_area"}, c.counts.open_area);
  f(Quantity{"extra_area"}, c.counts.extra_area);
  f(Quantity{"closed_area"}, c.counts.closed_area);
  f(Quantity{"closed_level_faces"}, c.closed_level_faces);
  f(Quantity{"histogram"}, c.histogram.share);
  f(Quantity{"iterations"}, c.iterations);
  f(Quantity{"relative_residual"}, c.relative_residual);
  f(Quantity{"setup_seconds"}, c.setup_seconds);
  f(Quantity{"seconds"}, c.seconds);
  f(Quantity{"grid_gradient", "Pa_m"}, c.grid_gradient);
  f(Quantity{"inertia"}, c.inertia);
  f(Quantity{"forchheimer"}, c.forchheimer);
}

/// A sweep on its way, beside the results of its Stokes flow and points.
void each_quantity(Of<PausedSweep> auto& s, auto&& f) {
  f(Quantity{"fall"}, s.fall);
  f(Quantity{"sample_fall"}, s.state.fall);
  f(Quantity{"velocity"}, s.state.velocity);
  f(Quantity{"reached"}, s.state.reached);
  f(Quantity{"solved_reynolds"}, s.state.solved_reynolds);
}

/// As checkpoints have them.
void each_quantity(Of<BodyForce> auto& force, auto&& f) {
  f(Quantity{"pressure"}, force.pressure);
  f(Quantity{"friction"}, force.friction);
  f(Quantity{"wall_area"}, force.wall_area);
}

/// Of a step of a flow in time, in the order of history.csv.
void each_quantity(const FlowHistory& history, Of<FlowState> auto& s, auto&& f) {
  using namespace shown;
  constexpr unsigned all = csv | json | shown::history | record, lines = csv | shown::history | record;
  const unsigned ends = has_ends(history) ? csv | record : record;
  f(Quantity{"time", "s", lines}, s.time);
  f(Quantity{"dt", "s", lines}, s.dt);
  f(Quantity{"cfl", "", lines, "{:.4g}"}, s.cfl);
  f(Quantity{"pressure_gradient", "Pa_m", all}, s.gradient);
  f(Quantity{"darcy_velocity", "m_s", csv | json | record}, s.darcy_velocity);
  f(Quantity{"darcy_velocity", "m_s", shown::history}, double{s.darcy_velocity[history.axis]});
  f(Quantity{"flow_rate", "m3_s", csv | json | record}, s.flow_rate);
  f(Quantity{"pore_volumes", "", history.boundaries == "lids" ? record : csv | record}, s.pore_volumes);
  f(Quantity{"kinetic_energy", "J_m3", all}, s.kinetic_energy);
  f(Quantity{"power", "W_m3", all}, s.power);
  f(Quantity{"dissipation", "W_m3", all}, s.dissipation);
  f(Quantity{"kinetic_energy_growth", "W_m3", all}, s.growth);
  f(Quantity{"time_scheme", "W_m3", csv | json | record}, s.time_scheme);
  f(Quantity{"advection", "W_m3", all}, s.advection);
  f(Quantity{"pressure_coupling", "W_m3", all}, s.pressure_coupling);
  f(Quantity{"largest_speed", "m_s", all, "{:.6g}"}, s.largest_speed);
  f(Quantity{"divergence", "", csv | record, "{:.3g}"}, s.divergence);
  f(Quantity{"iterations", "", lines}, s.iterations);
  f(Quantity{"inflow", "m3_s", ends}, s.inflow);
  f(Quantity{"outflow", "m3_s", ends}, s.outflow);
  for (std::size_t i = 0; i < s.drags.size(); ++i)
    f(Quantity{"friction_" + side_name(history.forces.options.lids[i].side), "N", csv}, s.drags[i].force);
  for (std::size_t i = 0; i < s.forces.size(); ++i)
    each_force(history.forces, i, s.forces[i], [&](const std::string& name, const char* unit, const Vec3& value) {
      f(Quantity{name, unit, csv}, value);
    });
  f(Quantity{"forces"}, s.forces);
  f(Quantity{"probes"}, s.probes);
  history.probes.each_column(s.probes, f);
}

}  // namespace karst
