// SPDX-License-Identifier: BSD-3-Clause
// Forces of a flow in time on the bodies of the deck: columns of the history, extremes, and how often they come back.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ins/upscale/body_forces.hpp"
#include "ins/upscale/flow_options.hpp"

namespace karst {

class Json;

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

}  // namespace karst
