// SPDX-License-Identifier: BSD-3-Clause
// Steady Stokes flow that comes in at one end of the domain with a given velocity and leaves at the opposite one, where
// the pressure is 0; the other ends are as flow.sides says. It has a flow rate and a pressure drop, but no
// permeability: next to the inlet fluid goes as it is told, not as the pores let it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fields/face_field.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

/// What came out. SI units.
struct InletFlow {
  double flow_rate = 0.0;      ///< through the inlet [m³/s]
  double imbalance = 0.0;      ///< |inflow - outflow| / inflow
  Vec3 darcy_velocity;         ///< flow rate over the total cross-section, mean over all planes [m/s]
  double pressure_drop = 0.0;  ///< mean over the open area of the inlet less that of the outlet [Pa]
  double largest_speed = 0.0, tortuosity = 0.0;
  double reynolds = 0.0;    ///< as FlowColumn::reynolds
  double divergence = 0.0;  ///< largest net flux of a cell over the largest speed through a cell face
  FlowCounts counts;
  int iterations = 0;
  double relative_residual = 0.0, setup_seconds = 0.0, seconds = 0.0;
  std::vector<Quad> solution;       ///< own unknowns (CompositeNumbering): velocity [m/s], pressure [Pa]
  std::optional<FaceField> fluxes;  ///< through all faces [h0³/s]; none unless kept
};

/// The ends of the domain for options with an inlet, and a velocity of 1 on it.
FlowSides inlet_sides(const FlowOptions& options);
StokesDrive inlet_drive(const FlowOptions& options);
/// flow.inlet.profile, for StokesLevels::set_profile().
/// @param cell_width  h0 [m]
EndProfile inlet_profile(const FlowOptions& options, double cell_width);

/// What is wrong with the inlet on this geometry. Not collective, the same on every rank.
std::vector<std::string> inlet_mistakes(const FlowOptions& options, const Geometry& geometry, double cell_width);

/// Throws Error when nothing flows in or the solve fails. Collective.
/// @param progress     after each iteration, on every rank: iterations, relative residual
/// @param keep_fluxes  InletFlow::fluxes is wanted, for what the flow carries; it outlives the solve, not the geometry
InletFlow solve_inlet_flow(const Comm& comm, const Geometry& geometry, const FlowOptions& options,
                           const FluidOptions& fluid, const FlowSample& sample,
                           const std::function<void(int, double)>& progress = {}, bool keep_fluxes = false);

}  // namespace karst
