// SPDX-License-Identifier: BSD-3-Clause
// Steady flow, creeping or with inertia, that the velocity of an end makes, in place of a drive. From an inlet: it
// comes in there with a given velocity and leaves at the opposite end, where the pressure is 0; it has a flow rate and
// a pressure drop, but no permeability: next to the inlet fluid goes as it is told, not as the pores let it. Between
// lids: no-slip ends slide along themselves and take the fluid along. The other ends are as flow.sides says.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "fields/face_field.hpp"
#include "ins/upscale/body_forces.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

/// What came out. SI units.
struct EndFlow {
  double flow_rate = 0.0;          ///< through the inlet [m³/s]
  double open_area = 0.0;          ///< of the inlet [m²]
  double imbalance = 0.0;          ///< |inflow - outflow| / inflow
  double pressure_drop = 0.0;      ///< mean over the open area of the inlet less that of the outlet [Pa]
  std::vector<EndFriction> drags;  ///< on options.lids [N], areas [m²]
  Vec3 darcy_velocity;             ///< flow rate over the total cross-section, mean over all planes [m/s]
  double largest_speed = 0.0, tortuosity = 0.0;
  /// As FlowColumn::reynolds; between lids that of the fastest one and the size of the domain along its normal.
  double reynolds = 0.0;
  double divergence = 0.0;  ///< largest net flux of a cell over the largest speed through a cell face
  FlowCounts counts;
  int iterations = 0;  ///< of the flow asked for; with inertia `slow_iterations` more of the Stokes flow before it
  int slow_iterations = 0;
  double relative_residual = 0.0, setup_seconds = 0.0, seconds = 0.0;
  int newton_steps = 0, drives_between = 0;  ///< with inertia, as in InertiaPoint
  double cell_reynolds = 0.0;                ///< ρ |u| h / μ, largest in a cell; 0 without inertia
  std::vector<BodyForce> forces;             ///< on options.bodies [N], areas [m²]
  std::vector<Quad> solution;                ///< own unknowns (CompositeNumbering): velocity [m/s], pressure [Pa]
  std::optional<FaceField> fluxes;           ///< through all faces [h0³/s]; none unless kept
};

/// "-x" ... "+z"
std::string side_name(int side);
/// That of the inlet, or of the fastest lid [m/s].
double end_speed(const FlowOptions& options);
/// The ends of the domain for options with an inlet or lids, and their velocities in units of end_speed().
FlowSides end_sides(const FlowOptions& options);
StokesDrive end_drive(const FlowOptions& options);
/// flow.inlet.profile, for StokesLevels::set_profile(). "parabolic" is 6 s (1 - s) for each direction across that is
/// not periodic, s: from side to side of the domain; its mean over all of the face is 1.
/// @param cell_width  h0 [m]
/// @param time        t of formulas [s]
EndProfile inlet_profile(const FlowOptions& options, const Domain& domain, double cell_width, double time = 0.0);
/// Sets it on the inlet. "parabolic" is divided by its mean over the open part of the face, so that the velocity of the
/// inlet is the mean over that wherever solid covers the rest.
struct InletFace {
  double area = 0.0;  ///< open [h0²]
  double mean = 0.0;  ///< of the profile, as it was set, over this area
};
/// Collective.
InletFace set_inlet(StokesLevels& op, const FlowOptions& options, const Domain& domain, double cell_width,
                    double time = 0.0);
/// The profile is a formula of t, too.
bool changes_in_time(const FlowInlet& inlet);

/// A profile at the middles of the faces of an end.
struct ProfileOnEnd {
  double mean = 0.0, largest = 0.0;  ///< of the values, 0 where it is round-off; of their sizes
  std::optional<Vec3> not_finite;    ///< a place where it is no number [cells]
};
ProfileOnEnd profile_on_end(const EndProfile& profile, int side, const Domain& domain);

/// Mean pressure over the open area of an end of a flow that was applied, in units of h0. Collective.
double mean_pressure_on(const StokesLevels& op, const FlowValues& u, int side);

/// Mineral number -> its place among the bodies of the deck, -1: none.
std::vector<int> body_of(const std::vector<FlowBody>& bodies, const GeometryReport& report);

/// Coefficients of a force, over ρ/2 speed² area; nothing for bodies without an area.
std::optional<Vec3> force_coefficients(const Vec3& force, const FlowBody& body, const FlowOptions& options,
                                       const FluidOptions& fluid);

/// Of the flow with this model, for messages and tables.
std::string end_solve_name(const FlowOptions& options, FlowModel model);

using EndProgress = std::function<void(const std::string&, int, double)>;

/// What is wrong with the inlet or the lids on this geometry. Not collective, the same on every rank.
std::vector<std::string> end_mistakes(const FlowOptions& options, const Geometry& geometry, double cell_width);

/// With options.model steady the Stokes flow is where Newton's method starts from. Throws Error when nothing flows
/// or a solve fails. Collective.
/// @param progress     after each iteration, on every rank: name of the solve, iterations, relative residual
/// @param keep_fluxes  EndFlow::fluxes is wanted, for what the flow carries; it outlives the solve
EndFlow solve_end_flow(const std::shared_ptr<const Composite>& grid, const FlowOptions& options,
                       const FluidOptions& fluid, const FlowSample& sample, const EndProgress& progress = {},
                       bool keep_fluxes = false);

}  // namespace karst
