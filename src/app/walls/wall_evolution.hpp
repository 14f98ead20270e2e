// SPDX-License-Identifier: BSD-3-Clause
// Walls that move (decision 062), between steady states and beside transport in time: what dissolves them at each
// instant, and what that makes of them in a step. Between steady states:
//
//   speed of a piece of wall   V = Σ_m part_m (speed_m + molar_volume_m moles_m flux),
//                              of a mineral of [chemistry] molar volume times rate of dissolution
//   motion in a step           V* dt, V* = V + dt / (2 dt_before) (V - V_before)   (Adams & Bashforth)
//   volume that dissolves      dt / 2 (A V before the motion + A V after it)       (trapezoidal rule)
//
// both of second order in time; beside transport, what it took of the walls in its steps. Pieces owe the fluid what
// dissolves; a motion pays what it moves, and what it misses or has moved too far is made up for by the next ones. So
// the volume of the fluid with what is owed follows the moles to round-off.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "app/job/exchange.hpp"
#include "app/job/moving_walls.hpp"
#include "fields/state.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// One mineral of the geometry at an instant.
struct MovingMineralLine {
  double area = 0.0;          ///< of its wall [m²]
  double volume = 0.0;        ///< of its solid, NaN where the geometry does not know it [m³]
  double rate = 0.0;          ///< at which its volume dissolves [m³/s]
  double dissolved = 0.0;     ///< volume up to now [m³]
  double carried_away = 0.0;  ///< volume of fragments that were removed up to now [m³]
};

struct EvolutionLine {
  double time = 0.0, dt = 0.0;  ///< dt: of the step that led here [s]
  double porosity = 0.0, connected_porosity = 0.0;
  double specific_surface = 0.0;            ///< [1/m]
  Vec3 permeability;                        ///< diagonal of the tensor, NaN where it is not asked for [m²]
  double dissolved = 0.0;                   ///< volume up to now, all minerals [m³]
  double moved = 0.0;                       ///< by which the fluid has grown at the walls [m³]
  double owed = 0.0;                        ///< dissolved - moved: what walls are still to move by [m³]
  double carried_away = 0.0;                ///< as solid up to now (walls.fragments) [m³]
  double largest_speed = 0.0;               ///< of a piece [m/s]
  std::int64_t fragments = 0;               ///< solids that reach no side of the domain, at least as large as a cell
  double fragment_volume = 0.0;             ///< of these [m³]
  double pore_volumes = 0.0;                ///< that have flowed in up to now; NaN without flow
  double pore_rate = 0.0;                   ///< the same per time, between steady states [1/s]
  std::vector<MovingMineralLine> minerals;  ///< by number
};

/// What moves a mineral's walls: a component that they take by a law, or a mineral of [chemistry] that they give off.
struct WallDriver {
  std::string name;
  double volume = 0.0;  ///< that dissolves per mole of it [m³/mol]
};

/// What a mineral's walls do; by number of the mineral. A deposit moves the walls that it lies on.
struct MineralMotion {
  std::string name;
  const MovingMineral* deck = nullptr;  ///< none: its walls stand
  bool by_chemistry = false;            ///< the driver is a mineral, else a component
  std::optional<WallDriver> driver{};   ///< none: the given speed alone
  double molar_volume = 0.0;            ///< [m³/mol]; 0: not known
  bool deposit = false;                 ///< it lies on walls of minerals of the geometry
  bool moves() const { return deck != nullptr || deposit; }
};
/// Minerals of the geometry, then deposits of [chemistry].
std::vector<MineralMotion> mineral_motions(const JobContext& run);

/// A mineral on a piece of wall that moves.
struct MovingPart {
  int level = 0;
  std::int64_t row = 0;  ///< in LevelGeometry::moments
  MineralNumber mineral{};
  double area = 0.0;                                      ///< [h0²]; of a deposit that of the piece
  double speed = 0.0;                                     ///< [h0/s]
  double left = std::numeric_limits<double>::infinity();  ///< that can still dissolve [h0³]
};

/// How the walls move in one position.
struct WallSpeeds {
  std::vector<MovingPart> parts;  ///< of this rank
  WallRows speed;                 ///< mean of the parts of a piece [h0/s]
  WallRows moving;                ///< part of a piece's area that moves
  double largest = 0.0;           ///< speed of a piece, of all ranks [h0/s]
  std::vector<double> covering;   ///< [mineral] area of walls that a deposit covers; < 0: that deposits cover [h0²]
  std::vector<double> lying;      ///< [mineral] volume of a deposit; < 0: of deposits on its walls [h0³]
};

/// By what walls take of components. Collective.
WallSpeeds wall_speeds(const JobContext& run, std::span<const MineralMotion> minerals, const Exchanges& exchanges);

/// What lasts from step to step beside the ground.
struct EvolutionState {
  double time = 0.0, dt = 0.0;    ///< of the last step; 0: there was none
  double trend = 0.0;             ///< since when `before` was [s]; 0: there is none
  WallRows before;                ///< V before that or, without a trend, of the last steps, at the pieces of now [h0/s]
  WallRows owed;                  ///< [h0³]
  std::vector<double> dissolved;  ///< by number of the mineral [h0³]
  double moved = 0.0;             ///< by which the fluid has grown but for what was carried away [h0³]
  std::vector<double> carried_away;  ///< by number of the mineral [h0³]
};
EvolutionState begin_evolution(const JobContext& run, std::size_t n_minerals);

/// Notes what dissolves in a time [s]: pieces of wall owe it. Collective.
void dissolve(const Comm& comm, const WallSpeeds& now, double dt, EvolutionState& state);

/// The same of time that passes without a step: of what ends as much as is left.
void dissolve_as_left(const Comm& comm, std::span<const MineralMotion> minerals, WallSpeeds& now, double dt,
                      EvolutionState& state);

/// How far walls move by what they owe and, each by its speed, in a time [s]. Not collective.
/// @param trend  the speed changes as it has since the step before
enum class Trend : std::uint8_t { none, linear };
WallMotion motion_of(const JobContext& run, const WallSpeeds& now, double dt, Trend trend, const EvolutionState& state);

/// Of pieces that move, for components that move them. Not collective.
WallsBehind walls_behind(const JobContext& run, std::span<const MineralMotion> minerals, const EvolutionState& state);

/// Over how long walls may move at once, where the longest is given and what it was before [s]: the first time a
/// quarter of it, as there is no trend yet, then at most twice as long as before (0: there was none).
double grown_step(double longest, double before);

/// Nothing is owed any more: what has moved is what has dissolved. Collective.
void settle(const JobContext& run, EvolutionState& state);

/// On disk and in memory: numbers of the run, and per piece of wall V of the step before [h0/s] and what it owes [h0³].
/// When walls move it goes through on_moved_walls(). Not collective.
State state_of(const JobContext& run, const EvolutionState& evolution);
/// Back. Throws the same Error on all ranks. Collective.
EvolutionState evolution_of(const JobContext& run, const State& state);

/// Moves the walls of the run. Collective.
void move_by(const JobContext& run, const WallMotion& motion);
/// The state of a process of walls on the next ground. Collective.
/// @param run       on that ground
/// @param deposits  of each, its amounts on the pieces of that ground
State on_moved_walls(const JobContext& run, const Ground& before, std::span<const WallRows> deposits,
                     const State& state);

/// The same where solids have been taken away: by what the fluid has grown, less what they still owed it, is carried
/// away, in the parts in which the minerals of the geometry have lost volume. Collective.
State on_walls_carried_away(const JobContext& run, const Ground& before, const State& state);

/// Σ over all pieces. Collective.
double sum_of(const Comm& comm, const WallRows& rows);

/// Shares what lies on the walls of the ground before among the pieces of that of the run, and adds it to the state of
/// transport there; what no wall takes counts as buried. Collective.
/// @param from      volumes of the ground before
/// @param to        and of that of now
/// @param was       state of transport on the ground before
/// @param[out] now  its state on that of the run, as state_on_other_walls() makes it
/// @return of each deposit, in the order of the deck, its amounts on the pieces now [mol/kgw h0³]; empty without any
std::vector<WallRows> move_deposits(const JobContext& run, const Ground& before, const ScalarGrid& from,
                                    const ScalarGrid& to, const State& was, State& now);

}  // namespace karst
