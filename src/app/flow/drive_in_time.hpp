// SPDX-License-Identifier: BSD-3-Clause
// What drives a flow in time: pressures or the velocity of an inlet or of lids, times a factor that a formula or a
// table gives.
#pragma once

#include <string>
#include <vector>

#include "app/deck/clock.hpp"
#include "app/job/job.hpp"
#include "eb/shapes/formula.hpp"
#include "ins/solve/stokes_solver.hpp"
#include "ins/solve/unsteady_solver.hpp"

namespace karst {

/// Values of a run in the units of stokes_solver.hpp and unsteady_solver.hpp. An end of velocity U has the drive
/// μ U / h², so that its unit of velocity is U.
struct FlowUnits {
  double h = 0.0;         ///< width of a cell [m]
  double gradient = 0.0;  ///< size of the drive for a factor of 1 [Pa/m]
  double sign = 1.0;      ///< of the drive
  FluidOptions fluid;

  double velocity() const { return gradient * h * h / fluid.viscosity; }               ///< [m/s]
  double pressure() const { return gradient * h; }                                     ///< [Pa]
  double time() const { return h * h * fluid.density / fluid.viscosity; }              ///< h0² / ν [s]
  double inertia() const { return fluid.density * velocity() * h / fluid.viscosity; }  ///< ρ F h0³ / μ²
};
FlowUnits units_of(const JobContext& run);

/// flow.drive_factor or flow.drive_table.
class DriveFactor {
 public:
  explicit DriveFactor(const FlowOptions& options) : options_(&options), formula_(options.drive_factor, "t") {}
  double at(double time) const;  ///< [s]
  /// In the step that ends at this time: where the factor jumps then, the one before the jump.
  double before(double time, double end) const;
  /// In the step that begins at this time: where the factor jumps then, the one after the jump.
  double after(double time, double end) const;
  /// Times up to the end at which it jumps, increasing. Throws Error where a formula jumps too often.
  std::vector<double> jumps(double end) const;
  /// Largest size at the ends of all steps. Throws Error where one is not finite.
  double strongest(TimeOptions time) const;
  bool is_constant() const { return !options_->drive_table && options_->drive_factor == "1"; }

 private:
  const FlowOptions* options_;
  Formula formula_;
};

/// [time], with steps that end where the drive jumps, and where what is carried comes in otherwise.
TimeOptions times_of(const Config& config);

class DriveInTime {
 public:
  explicit DriveInTime(const JobContext& run);
  const FlowUnits& units() const { return units_; }
  const TimeOptions& times() const { return times_; }
  bool has_inlet() const { return !options_->inlets.empty(); }

  FlowSides sides() const;
  /// In the step that ends at a time [s]; sets the profile of the inlet for it.
  StokesDrive at(double time, StokesLevels& op) const;
  /// In the step that begins at a time [s]; sets the profile of the inlet for it.
  StokesDrive after(double time, StokesLevels& op) const;
  double factor(double time) const { return factor_.before(time, times_.end); }
  /// An inlet that is not shut at the beginning: fluid at rest goes with it at once.
  bool starts_at_once() const;
  /// The largest of all, with its profile set.
  StokesDrive strongest(StokesLevels& op) const;
  /// Longest step from rest, and where the drive jumps [s].
  double first_step() const;
  /// The drive jumps at this end of a step [s].
  bool jumps_at(double time) const;

 private:
  void set_profile(double time, StokesLevels& op) const;

  const FlowOptions* options_;
  TimeOptions times_;
  Domain domain_;
  FlowUnits units_;
  DriveFactor factor_;
  StokesDrive unit_;
  std::vector<double> jumps_;
  bool profile_changes_ = false;
  double profile_time_ = 0.0, profile_peak_ = 1.0;  // of the strongest inflow
};

/// Of the drive and its factor; what belongs to the geometry, too.
std::vector<std::string> drive_mistakes(const JobContext& run);

// flow.start and flow.start_file: what a flow in time begins with, such as what an earlier run has left in a plotfile,
// on the same or other cells.

/// What is wrong with the file, as far as its head tells: no plotfile, no velocity in it, a domain of another size. The
/// same on every rank. Not collective.
std::vector<std::string> start_mistakes(const JobContext& run);

/// Leaves the flow of flow.start or flow.start_file in the solver; at rest, that which an inlet sets in motion at once.
/// Throws Error on all ranks. Collective.
void begin_flow(const JobContext& run, const DriveInTime& in_time, StokesSolver& stokes, UnsteadySolver& solver);

}  // namespace karst
