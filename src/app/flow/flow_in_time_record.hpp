// SPDX-License-Identifier: BSD-3-Clause
// What a flow in time has found on its way, beside what its Recorder holds and its values.
#pragma once

#include <limits>

#include "app/flow/flow_in_time.hpp"

namespace karst {

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
};

/// One more step.
void add_step(const FlowState& state, FlowInTimeRecord& record);

/// As a JSON object, every bit of every number.
Json record_json(const FlowInTimeRecord& record);
/// @param[in,out] record  of a run that begins; what does not change in time stays. Throws Error: other bodies.
void take_record(const Json& json, FlowInTimeRecord& record);

}  // namespace karst
