// SPDX-License-Identifier: BSD-3-Clause
// Job `flow` with model unsteady-stokes or navier-stokes: the flow step by step, its history and its fields.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/flow/periodic_state.hpp"
#include "app/job/job.hpp"
#include "app/output/moving_picture.hpp"
#include "app/output/probes.hpp"
#include "ins/upscale/body_forces.hpp"
#include "ins/upscale/flow_options.hpp"

namespace karst {

// Forces on the bodies of the deck: columns of the history, extremes, and how often they come back.

struct ForceHistory {
  FlowOptions options;  ///< with the bodies
  FluidOptions fluid;
  std::vector<std::vector<Vec3>> totals;  ///< of all steps, per body [N]

  void add(std::span<const BodyForce> forces);
};

/// Calls f(name, unit as columns of a CSV have it, value) for the force on a body, its parts by pressure and friction,
/// and the coefficients of the three where it has a reference.
void each_force(const ForceHistory& history, std::size_t body, const BodyForce& force,
                const std::function<void(const std::string& name, const char* unit, const Vec3& value)>& f);

/// A list of the bodies: forces_json() at the end, largest and smallest force over the last half of the run and, where
/// a component of it repeats itself, its frequency, mean and amplitude.
/// @param time  ends of all steps [s]
Json forces_in_time_json(const ForceHistory& history, std::span<const double> time, std::span<const BodyForce> at_end);
/// What the log says of that list.
std::string forces_in_time_text(const Json& bodies);

inline bool is_in_time(const Config& config) { return is_in_time(config.flow.model); }

/// Writes history.csv, a line per step, and output_0001.vtkhdf ... at output times. Where the run ends early the
/// history stays, and plot.vtkhdf holds the last state. Collective.
std::unique_ptr<Process> start_flow_in_time(const JobContext& context);
/// See Job.
std::vector<std::string> flow_in_time_mistakes(const JobContext& context);
/// Mistakes that only a look at the whole fluid finds: probes. The same on every rank. Collective.
std::vector<std::string> look_at_flow_in_time(const JobContext& context);
PagePart flow_in_time_page(const Json& summary, const Figures& figures);
/// How the animation of the speed is drawn.
/// @param begin, end  times of its first and last frame [s]
PlaneLook speed_look(const PlaneFrames& frames, double cell_width, double begin, double end);

/// The flow after a step [SI]. Means are over the volume of the domain, solid included.
struct FlowState {
  double time = 0.0, dt = 0.0;
  double gradient = 0.0;               ///< pressure drop per length; from an inlet that of the means over both ends,
                                       ///< between lids 0
  double inflow = 0.0, outflow = 0.0;  ///< through the ends along the axis; 0 of periodic samples
  std::vector<BodyForce> forces;       ///< on flow.body
  std::vector<double> probes;          ///< of FlowHistory::probes
  std::vector<EndFriction> drags;      ///< on flow.lid; of the last step alone where a run goes on
  Vec3 darcy_velocity;
  double flow_rate = 0.0;       ///< along the axis of the drive
  double pore_volumes = 0.0;    ///< of the sample, that have flowed along it since the start
  double kinetic_energy = 0.0;  ///< [J/m³]
  /// Of what drives; it goes into the five after it, to the tolerance of the solver (EnergyRates) [W/m³]
  double power = 0.0, dissipation = 0.0, growth = 0.0, time_scheme = 0.0, advection = 0.0;
  double pressure_coupling = 0.0;  ///< what the drive gives to fluxes of faces more than to velocities of cells [W/m³]
  double largest_speed = 0.0, divergence = 0.0;
  double cfl = 0.0;  ///< 0: creeping flow
  int iterations = 0;
};

struct FlowHistory {
  int axis = 0;
  std::string boundaries;  ///< "periodic", "pressures", "inlet" or "lids"
  bool inertia = false;
  int reservoir = 0;  ///< cells before and behind the sample; gradients are those of the domain
  std::int64_t iterations = 0;
  std::vector<FlowState> states;  ///< some hundred at most, the last one among them
  double viscosity = 0.0;         ///< [Pa s]
  /// Of all steps: end [s], Darcy velocity along the axis [m/s], pressure gradient [Pa/m].
  std::vector<double> time, velocity, gradient;
  ForceHistory forces;
  ProbeTable probes;
};

/// Fluid flows in and out through the ends along the axis.
inline bool has_ends(const FlowHistory& history) {
  return history.boundaries == "pressures" || history.boundaries == "inlet";
}
/// The first line of history.csv, and that of a state.
std::string history_header(const FlowHistory& history);
std::string history_line(const FlowHistory& history, const FlowState& state);

/// Of a flow that repeats itself, but not of one between lids; see periodic_state.hpp.
struct Oscillation {
  PeriodicState state;                ///< of the Darcy velocity along the axis
  std::complex<double> permeability;  ///< dynamic: μ Û / Ĝ of the amplitudes at its frequency [m²]; 0: a steady
                                      ///< drive, or one that also moves reservoirs
};
std::optional<Oscillation> oscillation_of(const FlowHistory& history);

/// What the log says of it.
std::string history_text(const FlowHistory& history);
/// Member flow_in_time of summary.json, and darcy_velocity_m_s at the end.
Json history_json(const FlowHistory& history);
/// @param failures  of steps
/// @param largest_velocity  Darcy velocity of any step [m/s]
std::vector<std::string> history_warnings(const JobContext& run, const FlowHistory& history, int failures,
                                          double largest_velocity);

/// Steps of a flow with inertia.
struct StepLength {
  double longest = std::numeric_limits<double>::infinity();  ///< of the steps from here on [s]
  int failures = 0;                                          ///< of steps
};

/// What a checkpoint holds of the steps up to now.
struct FlowInTimeRecord {
  FlowHistory history;
  StepLength steps{};
  bool at_jump = false;  ///< of the drive, at the end of the last step
  double largest_velocity = 0.0, largest_divergence = 0.0;
  double pore_volumes = 0.0;  ///< FlowState::pore_volumes of the last step
};

/// One more step.
void add_step(const FlowState& state, FlowInTimeRecord& record);

/// As a JSON object, every bit of every number.
Json record_json(const FlowInTimeRecord& record);
/// @param[in,out] record  of a run that begins; what does not change in time stays. Throws Error: other bodies.
void take_record(const Json& json, FlowInTimeRecord& record);

}  // namespace karst
