// SPDX-License-Identifier: BSD-3-Clause
// The wall moves with a given normal speed V > 0 into the solid (dissolution; the fluid grows) or V < 0 into the fluid:
//
//   ∂φ/∂t = V |∇φ|,   φ = φ0 - s,   ∂s/∂t = -V |∇φ|
//
// with V extended off the wall: at each corner that of its foot, the nearest point of the wall. In time Heun's method,
// in space upwind differences of second order. Only corners in a narrow band around the wall are followed. Those at
// its rim take s of their foot, by a quadratic polynomial; where φ0 then is no distance any more, as behind its ridges,
// they take the distance from the foot, times |∇φ| there.
//
// Sources: Osher & Sethian, J. Comput. Phys. 79 (1988) 12; Adalsteinsson & Sethian, J. Comput. Phys. 118 (1995) 269 and
// 148 (1999) 2 (band, extension of speeds).
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "eb/moving/displacement.hpp"

namespace karst {

/// Fills the normal speeds [h0 / unit of time] at points of the domain near the wall [h0]. Called from several threads.
using WallSpeed = std::function<void(std::span<const Vec3> at, double time, std::span<double> speed)>;

/// What a motion did, over all ranks.
struct WallMotionReport {
  int steps = 0;                 ///< into which the time was divided
  double largest_speed = 0.0;    ///< [h0 / unit of time]
  std::int64_t boxes = 0;        ///< in which s is stored
  std::int64_t corners = 0;      ///< of these boxes
  std::int64_t band = 0;         ///< corners of the band, in the last step
  std::int64_t redistanced = 0;  ///< corners at its rim that took a distance, in all steps
  std::int64_t no_foot = 0;      ///< corners whose foot was not found, in all steps: V is that near them
};

/// In one step the wall moves by no more than this part of the spacing of the corners.
constexpr double wall_courant_number = 0.5;

/// A wall that goes on beyond a side of the domain moves there as its part in the domain that is nearer than this
/// [corners].
constexpr double wall_reach_at_sides = 7.0;

/// Moves the wall from time to time + dt, in steps that its speed at their beginning allows. Where V = 0, s keeps its
/// bits. Throws Error if a speed is not a finite number; s then is that of the last whole step. Collective.
WallMotionReport move_wall(const Comm& comm, const LevelSet& phi0, const WallSpeed& speed, double time, double dt,
                           Displacement& displacement);

}  // namespace karst
