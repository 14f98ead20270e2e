// SPDX-License-Identifier: BSD-3-Clause
// From the deck of a transport job to what TransportStepper takes.
#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "app/job/exchange.hpp"
#include "app/transport/initial_values.hpp"
#include "app/transport/transport_job.hpp"
#include "fields/face_field.hpp"
#include "transport/steady/steady_transport.hpp"
#include "transport/volumes/transport_problem.hpp"

namespace karst {

/// What carries the components.
struct CarriedBy {
  int axis = 0;
  bool flows = false, periodic = false;
  bool in_time = false;         ///< FlowExchange::in_time; `faces` are those at the beginning
  double darcy_velocity = 0.0;  ///< along the axis; in time: of size 1, with the sign of the drive [m/s]
  double factor = 1.0;          ///< of the flow of the drive
  bool continuous = true;       ///< Σ of `faces` is 0; false: SteadyFluxes::solved
  std::shared_ptr<const Composite> composite;
  std::optional<FaceField> faces;  ///< [h0³/s]
  /// Side where it flows in and out; -1 where the domain is periodic along the axis.
  int inlet() const { return periodic ? -1 : side_of(axis, darcy_velocity < 0.0); }
  int outlet() const { return periodic ? -1 : side_of(axis, !(darcy_velocity < 0.0)); }
};

/// The flow that the run has solved, that it goes through time with, or none. Collective.
CarriedBy carried_by(const JobContext& run);

/// Fluxes between those at the beginning and at the end of the last step of a flow in time: part 0 to 1. Not
/// collective.
void blend(const FluxesInTime& flow, double part, FaceField& to);

/// That of the deck, of the grains, or of the domain where there is no solid.
NumberLength number_length(const JobContext& run);

/// What leaves the fluid per area of a wall [C m/s]: flux + rate (c^order - equilibrium^order). SI units.
struct SurfaceLaw {
  double rate = 0.0, equilibrium = 0.0, order = 1.0, flux = 0.0;
  bool acts() const { return rate > 0.0 || flux != 0.0; }
  /// With its slope. For orders below 1 straight between 0 and `least`, where the slope would not be finite.
  WallRate at(double c, double least = std::numeric_limits<double>::min()) const;
};

/// Per component and number of the mineral: the most particular law of the deck, one that names the mineral before one
/// that does not. SI units. Not collective.
std::vector<std::vector<SurfaceLaw>> surface_laws(const JobContext& run);
/// Those of transport in time, of first order.
std::vector<std::vector<ScalarWall>> wall_laws(const JobContext& run);

/// In units of h0 and seconds. Not collective.
/// @param initial  of each: what may flow back in at an outlet without a concentration
std::vector<ScalarComponent> scalar_components(const JobContext& run, const CarriedBy& flow,
                                               const std::vector<std::vector<ScalarWall>>& laws,
                                               const std::vector<std::shared_ptr<InitialValues>>& initial);

/// What is wrong with inlets and outlets up to a time: values that are not finite or leave the bounds that the deck
/// asks for. Not collective.
Messages mistakes_in_time(const TransportDeck& deck, double end);
/// Of one value; empty where nothing is wrong.
std::string out_of_bounds(const ComponentDeck& component, double value, double t);

/// Numbers of the flow and names of the components.
TransportResult transport_numbers(const JobContext& run, const CarriedBy& flow);

/// End, output and longest step in seconds. Throws Error when there were too many steps.
/// @param largest_step  of Courant number 1 [s]
TimeOptions transport_times(TimeOptions times, double pore_time, double largest_step);

/// Largest Courant number of a step, whatever time.cfl asks: where every volume passes on all that it has, what
/// alternates from one to the next is not damped, however much diffuses.
inline constexpr double most_courant = 0.9;
/// Longest step in a steady flow [s].
inline double longest_by_flow(const TimeOptions& times, double largest_step) {
  return std::min(times.cfl, most_courant) * largest_step;
}

/// Says so where breaks double the number of steps, or more. Not collective.
std::vector<std::string> break_warnings(const TimeOptions& times);
/// Says so where a mineral that [[transport.wall]] or [[chemistry.mineral]] names has no wall; where walls move it may
/// come to the surface later. Not collective.
std::vector<std::string> absent_walls(const JobContext& run);
/// Says so where an inlet table does not cover the run, which ends at `end` [s]. Not collective.
std::vector<std::string> table_warnings(const TransportDeck& deck, double end);

}  // namespace karst
