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
/// What a flow with inertia begins from: the other two are those of the drive at time 0.
enum class FlowStart : std::uint8_t { rest, stokes, steady };
inline bool is_in_time(FlowModel model) {
  return model == FlowModel::unsteady_stokes || model == FlowModel::navier_stokes;
}
enum class FlowDrive : std::uint8_t { none, pressure_gradient, pressure_drop, velocity, flow_rate };
enum class FlowWalls : std::uint8_t { symmetry, no_slip, periodic };

/// An end where the velocity is given; on the opposite one the pressure is 0.
struct FlowInlet {
  int side = 0;           ///< as in FlowSides
  double velocity = 0.0;  ///< along the normal, into the domain [m/s]
  /// Factor on it: "uniform", "parabolic" or a formula of x, y, z [m], in time of t [s], too.
  std::string profile = "uniform";
};

/// A no-slip end that slides along itself.
struct FlowLid {
  int side = 0;   ///< as in FlowSides
  Vec3 velocity;  ///< [m/s]; 0 along the normal
};

/// A part of the solid whose forces are wanted: the walls of a mineral.
struct FlowBody {
  std::string name;
  std::string mineral;             ///< empty: all walls
  double speed = 0.0, area = 0.0;  ///< of coefficients [m/s, m²]; 0: end_speed(), no coefficients
};

struct FlowOptions {
  FlowModel model = FlowModel::none;
  FlowDrive drive = FlowDrive::none;
  std::vector<int> axes{0, 1, 2};  ///< directions of the drive, increasing: one solve each
  double pressure_drop = 1.0;      ///< between the two ends [Pa]
  Vec3 gradient{1.0, 1.0, 1.0};    ///< minus the mean pressure gradient [Pa/m]; the entry of the axis counts
  double velocity = 0.0;           ///< Darcy velocity along the axis [m/s]
  double flow_rate = 0.0;          ///< along the axis [m³/s]
  std::vector<FlowInlet> inlets;   ///< in place of a drive: one, or none
  std::vector<FlowLid> lids;       ///< in place of a drive and of inlets: ends, each once
  std::vector<FlowBody> bodies;    ///< with an inlet or lids
  FlowWalls sides = FlowWalls::symmetry;
  bool sides_given = false;
  int reservoir = 0;        ///< cells of free fluid before and behind the sample along the axis
  double tolerance = 1e-8;  ///< |b - K x| <= tolerance |b|
  int max_iterations = 300;
  std::vector<double> steps{1.0};  ///< model steady: factors on the drive, increasing
  int newton_steps = 30;           ///< model steady: for one drive at most
  /// Of the permeability, by solves on wider cells where such fit; given: it is a mistake when they do not.
  bool estimate_error = true, estimate_given = false;
  FlowStart start = FlowStart::rest;     ///< model navier_stokes
  std::string start_file;                ///< in place of it, models in time: path of a plotfile; empty: none
  std::string drive_factor = "1";        ///< models in time: on the drive or the inlet, a formula of t [s]
  std::optional<TimeTable> drive_table;  ///< in place of the formula
  bool animation = false;                ///< models in time: a moving picture of the speed ...
  double animation_start = 0.0;          ///< ... from this time on [s]
  bool uncertainty = false;              ///< also solves with the wall of the image as far off as it may plausibly be
};

/// The velocity of an end, an inlet or lids, moves the fluid.
inline bool ends_drive(const FlowOptions& options) { return !options.inlets.empty() || !options.lids.empty(); }

/// Declares and reads [flow]; notes as mistakes: no drive, two drives or a value that belongs to another one, an axis
/// that does not exist or stands twice, an inlet beside a drive, keys without a model.
void read(Reader& in, FlowOptions& options);

}  // namespace karst
