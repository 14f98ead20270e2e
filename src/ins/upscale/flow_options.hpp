// SPDX-License-Identifier: BSD-3-Clause
// The [fluid] and [flow] tables of the deck. SI units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/deck/deck.hpp"
#include "base/deck/time_table.hpp"

namespace karst {

struct FluidOptions {
  double viscosity = 1e-3;  ///< dynamic [Pa s]
  double density = 1000.0;  ///< [kg/m³]
};
/// Declares and reads [fluid].
void read(Reader& in, FluidOptions& options);

enum class FlowModel : std::uint8_t { none, stokes, steady, unsteady_stokes, navier_stokes };
/// Initial state of a flow with inertia; the other two are flows with the driving force at time 0.
enum class FlowStart : std::uint8_t { rest, stokes, steady };
inline bool is_in_time(FlowModel model) {
  return model == FlowModel::unsteady_stokes || model == FlowModel::navier_stokes;
}
enum class FlowDrive : std::uint8_t { none, pressure_gradient, pressure_drop, velocity, flow_rate };
enum class FlowWalls : std::uint8_t { symmetry, no_slip, periodic };

/// A domain face with a prescribed velocity; on the opposite one the pressure is 0.
struct FlowInlet {
  int side = 0;           ///< as in FlowSides
  double velocity = 0.0;  ///< along the normal, into the domain [m/s]
  /// Profile of the velocity: "uniform", "parabolic" or a formula of x, y, z [m] and, in transient flow, t [s].
  std::string profile = "uniform";
};

/// A no-slip domain face that slides along itself.
struct FlowLid {
  int side = 0;   ///< as in FlowSides
  Vec3 velocity;  ///< [m/s]; 0 along the normal
};

/// A part of the solid whose forces are reported: the walls of a mineral.
struct FlowBody {
  std::string name;
  std::string mineral;             ///< empty: all walls
  double speed = 0.0, area = 0.0;  ///< of coefficients [m/s, m²]; 0: end_speed(), no coefficients
};

struct FlowOptions {
  FlowModel model = FlowModel::none;
  FlowDrive drive = FlowDrive::none;
  std::vector<int> axes{0, 1, 2};  ///< directions of the driving force, increasing: one solve each
  double pressure_drop = 1.0;      ///< between the two ends [Pa]
  Vec3 gradient{1.0, 1.0, 1.0};    ///< minus the mean pressure gradient [Pa/m]; the entry of the axis counts
  double velocity = 0.0;           ///< Darcy velocity along the axis [m/s]
  double flow_rate = 0.0;          ///< along the axis [m³/s]
  std::vector<FlowInlet> inlets;   ///< instead of a driving force: one, or none
  std::vector<FlowLid> lids;       ///< instead of a driving force and of inlets: domain faces, each once
  std::vector<FlowBody> bodies;    ///< with an inlet or lids
  FlowWalls sides = FlowWalls::symmetry;
  bool sides_given = false;
  int reservoir = 0;        ///< cells of free fluid before and behind the sample along the axis
  double tolerance = 1e-8;  ///< |b - K x| <= tolerance |b|
  int max_iterations = 300;
  std::vector<double> steps{1.0};  ///< model steady: factors on the driving force, increasing
  int newton_steps = 30;           ///< model steady: for one drive at most
  /// Error estimate of the permeability, by solves on wider cells where these fit; if set explicitly, it is an error if
  /// they do not.
  bool estimate_error = true, estimate_given = false;
  double error = 0.0;                    ///< of the permeability, relative, to which the grid is refined; 0: it stays
  FlowStart start = FlowStart::rest;     ///< model navier_stokes
  std::string start_file;                ///< in place of it, models in time: path of a plotfile; empty: none
  std::string drive_factor = "1";        ///< models in time: on the drive or the inlet, a formula of t [s]
  std::optional<TimeTable> drive_table;  ///< in place of the formula
  bool animation = false;                ///< models in time: a moving picture of the speed ...
  double animation_start = 0.0;          ///< ... from this time on [s]
  bool uncertainty = false;              ///< also solves with the wall of the image at its plausible limits
};

/// Whether the flow is driven by the velocity of a domain face, an inlet or lids.
inline bool ends_drive(const FlowOptions& options) { return !options.inlets.empty() || !options.lids.empty(); }

/// Declares and reads [flow]. Validation errors: no driving force, two of them or a value that belongs to another one,
/// an axis that does not exist or is given twice, an inlet in addition to a driving force, keys without a model.
void read(Reader& in, FlowOptions& options);

}  // namespace karst
