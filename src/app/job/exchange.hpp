// SPDX-License-Identifier: BSD-3-Clause
// What jobs of a run hand to one another, by name. Each job says where it is declared which of these it gives and which
// it takes (Job::gives, Job::takes); the order of jobs, and which of them go through time together, follow from that.
// One more: a name, its row in `exchange_names`, and a member of Exchanges.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ins/upscale/flow_fluxes.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

enum class ExchangeName : std::uint8_t {
  flow,       ///< velocity through all faces
  wall_rates  ///< what walls take of components, and give off of minerals
};
inline constexpr std::array<std::string_view, 2> exchange_names{"flow", "wall rates"};
inline std::string_view name_of(ExchangeName what) { return exchange_names.at(static_cast<std::size_t>(what)); }

class GridPlaces;

/// Fluxes on the grid where a flow was solved [h0³/s], and its transport grid, which each transfer from there needs.
struct SolvedFluxes {
  FaceField faces;
  std::shared_ptr<ScalarGrid> volumes;
  /// What a transfer to the ground of the run leaves for the next one (kept_fluxes.hpp): sources of the volumes there,
  /// and the coarsest ones that cover volumes here; empty: nothing.
  struct Transferred {
    std::shared_ptr<GridPlaces> places;
    std::vector<RemoteItem> sources, coarsest;
  } transferred{};
};

/// A steady flow by its fluxes: from an inlet, or from another grid.
struct SteadyFluxes {
  int axis = 0;
  double darcy_velocity = 0.0;  ///< along the axis, negative where fluid comes in at the high end [m/s]
  FaceField faces;              ///< on the ground of the run [h0³/s]
  /// On the grid where the flow was solved, where that is another one: Σ of `faces` is 0 from cell to cell of that
  /// grid alone.
  std::optional<SolvedFluxes> solved{};
};

/// A flow in time, step by step: of the last step the fluxes at its beginning and at its end.
struct FluxesInTime {
  int axis = 0;
  bool downwards = false;  ///< the drive, where its factor is positive, goes towards the low end of the axis
  double time = 0.0;       ///< at the end of the last accepted step [s]
  FaceField before, now;   ///< [h0³/s]
};

/// Columns with their fluxes or solutions (32 bytes per fluid cell and axis), by increasing axis; flow_fluxes() makes
/// fluxes of them. Also of flows that an earlier run has solved.
struct FlowExchange {
  std::vector<FlowColumn> columns{};
  std::optional<SteadyFluxes> fluxes{};   ///< in place of columns
  std::optional<FluxesInTime> in_time{};  ///< in place of both
};

/// What one mineral of a piece of wall takes of a component, or gives off.
struct MineralFlux {
  int level = 0;
  std::int64_t row = 0;  ///< place in LevelGeometry::moments
  MineralNumber mineral{};
  double area = 0.0;  ///< of the mineral there [h0²]
  double flux = 0.0;  ///< of a component out of the fluid [C m/s]; of a mineral into it [mol/m²/s]
};

/// A deposit of [chemistry] on a piece of wall, per area of the piece.
struct DepositOnWall {
  int level = 0;
  std::int64_t row = 0;
  double flux = 0.0;    ///< that it gave off over the last step [mol/m²/s]
  double amount = 0.0;  ///< that is there now [mol/m²]
  double part = 0.0;    ///< of the area that it covers
};

/// How nearly a transport in time stands still.
struct Settling {
  double change = std::numeric_limits<double>::infinity();   ///< of a component in the last step, relative [1/s]
  double time = 0.0;                                         ///< that a change needs to go through the domain [s]
  double longest = std::numeric_limits<double>::infinity();  ///< that may pass at once, as minerals end [s]
};

/// Walls that are behind what has dissolved, or ahead of it: of pieces of this rank, after the last step.
struct WallsBehind {
  std::vector<std::int32_t> unknown;  ///< of the volume of a piece
  std::vector<double> distance;       ///< into the solid to where the wall ought to be [h0]
  std::vector<double> speed;          ///< at which it grows [h0/s]
  /// By component that moves walls: its slope at the wall, into the fluid [C/h0].
  std::map<std::string, std::vector<double>> slope;
};

struct Exchanges {
  std::vector<ExchangeName> taken{};  ///< by jobs of the run; what none takes is not left
  FlowExchange flow{};
  /// By component, of a steady state or of the last step; for a step, too: concentrations at the wall of each own
  /// unknown [C], of those without a wall their own.
  std::map<std::string, std::vector<MineralFlux>> wall_rates{};
  std::map<std::string, std::vector<double>> at_walls{};
  /// By mineral of [chemistry], over the last step: what walls give off of it.
  std::map<std::string, std::vector<MineralFlux>> dissolution{};
  std::map<std::string, std::vector<DepositOnWall>> deposits{};  ///< by mineral; by level and row

  WallsBehind walls_behind{};
  Settling settling{};
  double pore_volumes = std::numeric_limits<double>::quiet_NaN();  ///< that transport has let in; NaN: no flow

  bool is_taken(ExchangeName what) const { return std::ranges::count(taken, what) > 0; }
};

}  // namespace karst
