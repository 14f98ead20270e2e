// SPDX-License-Identifier: BSD-3-Clause
// From the deck of a transport job to what TransportStepper takes.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "app/transport_job.hpp"
#include "eb/shapes/formula.hpp"
#include "fields/face_field.hpp"
#include "transport/march/transport_problem.hpp"

namespace karst {

/// What carries the components.
struct CarriedBy {
  int axis = 0;
  bool flows = false, periodic = false;
  double darcy_velocity = 0.0;  ///< along the axis [m/s]
  double factor = 1.0;          ///< of the flow of the drive
  std::shared_ptr<const Composite> composite;
  std::optional<FaceField> faces;  ///< [h0³/s]
  /// Side where it flows in and out; -1 where the domain is periodic along the axis.
  int inlet() const { return periodic ? -1 : side_of(axis, darcy_velocity < 0.0); }
  int outlet() const { return periodic ? -1 : side_of(axis, !(darcy_velocity < 0.0)); }
};

/// The flow that the run has solved, or none. Collective.
CarriedBy carried_by(const JobContext& run);

/// Length of Péclet and Damköhler numbers [m].
double number_length(const JobContext& run);

/// What leaves the fluid per area of a wall [C m/s]: flux + rate (c^order - equilibrium^order). SI units.
struct SurfaceLaw {
  double rate = 0.0, equilibrium = 0.0, order = 1.0, flux = 0.0;
  bool acts() const { return rate > 0.0 || flux != 0.0; }
};

/// Per component and number of the mineral: the most particular law of the deck, one that names the mineral before one
/// that does not. SI units. Not collective.
std::vector<std::vector<SurfaceLaw>> surface_laws(const JobContext& run);
/// Those of transport in time, of first order.
std::vector<std::vector<ScalarWall>> wall_laws(const JobContext& run);

/// In units of h0 and seconds. Not collective.
std::vector<ScalarComponent> scalar_components(const JobContext& run, const CarriedBy& flow,
                                               const std::vector<std::vector<ScalarWall>>& laws);

/// Numbers of the flow and names of the components.
TransportResult transport_numbers(const JobContext& run, const CarriedBy& flow);

/// End, output and longest step in seconds. Throws Error when there were too many steps.
/// @param largest_step  of Courant number 1 [s]
TimeOptions transport_times(TimeOptions times, double pore_time, double largest_step);

/// A sentence for each inlet table with lines closer than a step, between which a pulse may be missed. Not collective.
std::vector<std::string> table_warnings(const TransportDeck& deck, const TimeOptions& times);

/// f(x). Not collective.
double value_in(const Formula& formula, const Vec3& x);

}  // namespace karst
