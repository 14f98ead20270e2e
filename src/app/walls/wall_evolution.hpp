// SPDX-License-Identifier: BSD-3-Clause
// Walls that move between steady states (decision 062): what dissolves them at each instant, and what that makes of
// them in a step.
//
//   speed of a piece of wall   V = Σ_m part_m (speed_m + molar_volume_m moles_m flux)
//   motion in a step           V* dt, V* = V + dt / (2 dt_before) (V - V_before)   (Adams & Bashforth)
//   volume that dissolves      dt / 2 (A V before the motion + A V after it)       (trapezoidal rule)
//
// both of second order in time. Pieces owe the fluid what dissolves; a motion pays what it moves, and what it misses or
// has moved too far is made up for by the next ones. So the volume of the fluid with what is owed follows the moles to
// round-off.
#pragma once

#include <string>
#include <vector>

#include "app/job/job.hpp"
#include "app/job/moving_walls.hpp"

namespace karst {

/// One mineral of the geometry at an instant.
struct MovingMineralLine {
  double area = 0.0;       ///< of its wall [m²]
  double rate = 0.0;       ///< at which its volume dissolves [m³/s]
  double dissolved = 0.0;  ///< volume up to now [m³]
};

struct EvolutionLine {
  double time = 0.0, dt = 0.0;  ///< dt: of the step that led here [s]
  double porosity = 0.0, connected_porosity = 0.0;
  double specific_surface = 0.0;            ///< [1/m]
  Vec3 permeability;                        ///< diagonal of the tensor, NaN where it is not asked for [m²]
  double dissolved = 0.0;                   ///< volume up to now, all minerals [m³]
  double moved = 0.0;                       ///< by which the fluid has grown at the walls [m³]
  double owed = 0.0;                        ///< dissolved - moved: what walls are still to move by [m³]
  double largest_speed = 0.0;               ///< of a piece [m/s]
  std::vector<MovingMineralLine> minerals;  ///< by number
};

/// What a mineral's walls do; by number of the mineral.
struct MineralMotion {
  std::string name;
  const MovingMineral* deck = nullptr;  ///< none: its walls stand
};
std::vector<MineralMotion> mineral_motions(const JobContext& run);

/// A mineral on a piece of wall that moves.
struct MovingPart {
  int level = 0;
  std::int64_t row = 0;  ///< in LevelGeometry::moments
  MineralNumber mineral{};
  double area = 0.0;   ///< [h0²]
  double speed = 0.0;  ///< [h0/s]
};

/// The flow and the transport of the deck in one position of the walls, and how the walls move in it.
struct SteadyState {
  std::vector<JobResult> results;  ///< of the jobs flow and transport
  std::vector<MovingPart> parts;   ///< of this rank
  WallRows speed;                  ///< mean of the parts of a piece [h0/s]
  WallRows moving;                 ///< part of a piece's area that moves
  double largest_speed = 0.0;      ///< of a piece, of all ranks [h0/s]
};

/// Solves flow and transport on the ground of now. Throws Error. Collective.
SteadyState solve_steady_state(const JobContext& run, std::span<const MineralMotion> minerals);

/// What lasts from step to step beside the ground.
struct EvolutionState {
  double time = 0.0, dt = 0.0;    ///< of the last step; 0: there was none
  WallRows before;                ///< V of the step before, at the pieces of now [h0/s]
  WallRows owed;                  ///< [h0³]
  std::vector<double> dissolved;  ///< by number of the mineral [h0³]
  double moved = 0.0;             ///< [h0³]
};

/// Notes what dissolves in a time [s]: pieces of wall owe it. Collective.
void dissolve(const Comm& comm, const SteadyState& now, double dt, EvolutionState& state);

/// How the walls are to move in a step of this length [s]. Not collective.
WallMotion motion_of(const JobContext& run, const SteadyState& now, double dt, const EvolutionState& state);

/// Nothing is owed any more: what has moved is what has dissolved. Collective.
void settle(const JobContext& run, EvolutionState& state);

/// Moves the walls, makes the ground that follows, and brings the state to it. Collective.
void move_to_next_ground(JobContext& run, const WallMotion& motion, std::span<const MineralMotion> minerals,
                         EvolutionState& state);

/// Σ over all pieces. Collective.
double sum_of(const Comm& comm, const WallRows& rows);

}  // namespace karst
