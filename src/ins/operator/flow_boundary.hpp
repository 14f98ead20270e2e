// SPDX-License-Identifier: BSD-3-Clause
// Boundary conditions of the flow on the domain faces. Each face has a kind, on which rows, ghosts and preconditioner
// depend, and a value, which comes with the driving force. Everything that depends on the kind is queried here: a new
// kind is a row of the table in flow_boundary.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "base/math/triple.hpp"

namespace karst {

/// Boundary condition of the flow on one domain face; unused where the domain is periodic.
///   no_slip    u = 0 on the face, or the tangential velocity of a moving wall (lid)
///   symmetry   no flow through it, no friction along it
///   pressure   prescribed pressure, zero normal derivative of the velocity
///   velocity   prescribed normal velocity: an inlet
///   outlet     as pressure; with inertia, backflow comes from rest, so that it carries no energy into the domain
enum class FlowSide : std::uint8_t { no_slip, symmetry, pressure, velocity, outlet };

/// -x +x -y +y -z +z
using FlowSides = std::array<FlowSide, 6>;

/// Driving force of the flow. The problem is linear: a required velocity or flow rate is a factor on the solution.
struct StokesDrive {
  Vec3 force;                      ///< minus the mean pressure gradient, along periodic directions
  std::array<double, 6> at_end{};  ///< value of each end: the pressure or the velocity into the domain, if given
  std::array<Vec3, 6> of_wall{};   ///< velocity of each no-slip end, along itself
};

/// Factor on the value of a domain face as a function of the position on it [cells of level 0].
using EndProfile = std::function<double(const Vec3&)>;

/// Multiplies the whole driving force.
StokesDrive operator*(double factor, StokesDrive drive);

/// Only the velocities of domain faces (inlets and walls), without forces and pressures.
StokesDrive velocities_of(const StokesDrive& drive, const FlowSides& sides);

/// In units of a level with cells of this width [h0]: velocities are unchanged, pressures and forces are scaled
/// (stokes_levels.hpp).
StokesDrive on_level(const StokesDrive& drive, const FlowSides& sides, double width);

/// Whether it is a wall: for rows and fluxes there is a wall with friction half a cell from the centre. Its ghosts are
/// not used; where it moves, its velocity is part of the driving force (StokesOperator::EndWall).
bool is_wall(FlowSide kind);
/// How the row of a cell uses the ghost behind a domain face that is not a wall.
struct EndRow {
  bool needed;       ///< cells without walls need a row there: the ghost is nearer than a neighbour
  double distance;   ///< distance from the cell centre to the position of the ghost's velocity [cells]
  bool in_gradient;  ///< its pressure counts in ∂p of the cell
  bool given_flux;   ///< the flux is prescribed, independent of nearby walls
};
const EndRow& row_at(FlowSide kind);
/// Whether its value is a pressure, or a velocity into the domain.
bool gives_pressure(FlowSide kind);
bool gives_velocity(FlowSide kind);
/// Velocity of fluid that enters through the face (advection.hpp): that of the cell behind it, the prescribed one, or
/// 0.
enum class EndInflow : std::uint8_t { as_inside, as_given, from_rest };
EndInflow inflow_at(FlowSide kind);
/// Components that the velocity multigrid sets to 0 on the face: all, or only the normal one.
bool holds_velocity(FlowSide kind);
bool holds_normal_velocity(FlowSide kind);
/// Factor of the pressure of a ghost in equations without driving force: -1 or 1 times that of its cell.
double pressure_factor(FlowSide kind);

/// Velocity and pressure of a ghost: factor * (those of its cell) + offset * (profile of the face there).
struct EndGhost {
  std::array<double, 4> factor, offset;
};
using EndGhosts = std::array<EndGhost, 6>;
/// Use of ghosts: momentum rows read them; fluxes are those of the mean of ghost and cell.
enum class GhostOf : std::uint8_t { momentum, fluxes };
/// Of all ends.
EndGhosts end_ghosts(const FlowSides& sides, GhostOf of, const StokesDrive& drive);

}  // namespace karst
