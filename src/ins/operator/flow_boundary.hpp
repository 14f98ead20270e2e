// SPDX-License-Identifier: BSD-3-Clause
// What the ends of the domain mean to the flow. Each end has a kind, which rows, ghosts and preconditioner are made of,
// and a value, which comes with the drive. Everything that depends on the kind is asked for here: a new kind is a row
// of the table in flow_boundary.cpp.
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "base/math/triple.hpp"

namespace karst {

/// What the flow meets at one end of the domain; not looked at where the domain is periodic.
///   no_slip    u = 0 on the end, or the velocity along itself that a moving lid has
///   symmetry   no flow through it, no friction along it
///   pressure   the pressure is given there, the velocity does not change along the normal
///   velocity   the velocity is given there, along the normal: what flows in
///   outlet     as pressure; with inertia, what flows back in comes from rest, so that it brings no energy along
enum class FlowSide : std::uint8_t { no_slip, symmetry, pressure, velocity, outlet };

/// -x +x -y +y -z +z
using FlowSides = std::array<FlowSide, 6>;

/// What makes the fluid move. The problem is linear: a wanted velocity or flow rate is a factor on the solution.
struct StokesDrive {
  Vec3 force;                      ///< minus the mean pressure gradient, along periodic directions
  std::array<double, 6> at_end{};  ///< value of each end: the pressure or the velocity into the domain, if given
  std::array<Vec3, 6> of_wall{};   ///< velocity of each no-slip end, along itself
};

/// Factor on the value of an end, by the place on it [cells of level 0].
using EndProfile = std::function<double(const Vec3&)>;

/// A factor on all of the drive.
StokesDrive operator*(double factor, StokesDrive drive);

/// The velocities of ends alone, without what pushes: of inlets and walls.
StokesDrive velocities_of(const StokesDrive& drive, const FlowSides& sides);

/// In units of a level with cells of this width [h0]: velocities stay, pressures and forces do not (stokes_levels.hpp).
StokesDrive on_level(const StokesDrive& drive, const FlowSides& sides, double width);

/// It holds the fluid: rows and fluxes meet a wall half a cell from the centre, which takes friction. Its ghosts are
/// not used; where it moves, its velocity is a part of what drives (StokesOperator::EndWall).
bool is_wall(FlowSide kind);
/// How the row of a cell meets the ghost behind an end that is no wall.
struct EndRow {
  bool needed;       ///< cells without walls need a row there: the ghost is not as far as a neighbour
  double distance;   ///< from the centre of the cell to where the ghost's velocity stands [cells]
  bool in_gradient;  ///< its pressure counts in ∂p of the cell
  bool given_flux;   ///< the flux is that of the end, whatever walls are near
};
const EndRow& row_at(FlowSide kind);
/// Its value is the pressure there, the velocity into the domain.
bool gives_pressure(FlowSide kind);
bool gives_velocity(FlowSide kind);
/// Where fluid that comes in through the end has been (advection.hpp): as fast as the cell behind the end, as fast as
/// the end says, or at rest.
enum class EndInflow : std::uint8_t { as_inside, as_given, from_rest };
EndInflow inflow_at(FlowSide kind);
/// The velocity multigrid holds at 0: all components on the end, or the normal one alone.
bool holds_velocity(FlowSide kind);
bool holds_normal_velocity(FlowSide kind);
/// Of the pressure of a ghost in equations without drive: -1 or 1 times that of its cell.
double pressure_factor(FlowSide kind);

/// Velocity and pressure of a ghost: factor * (those of its cell) + offset * (profile of the end there).
struct EndGhost {
  std::array<double, 4> factor, offset;
};
using EndGhosts = std::array<EndGhost, 6>;
/// What ghosts are for: momentum rows reach out to them, fluxes are those of the mean of ghost and cell.
enum class GhostOf : std::uint8_t { momentum, fluxes };
/// Of all ends.
EndGhosts end_ghosts(const FlowSides& sides, GhostOf of, const StokesDrive& drive);

}  // namespace karst
