// SPDX-License-Identifier: BSD-3-Clause
// What a flow in time has of its past beside its values: with both, a run that was interrupted goes on.
#pragma once

#include <limits>
#include <vector>

#include "app/flow/flow_in_time.hpp"
#include "app/job/files_in_time.hpp"
#include "app/output/moving_picture.hpp"
#include "base/file/json.hpp"

namespace karst {

struct FlowPast {
  FlowHistory history;
  double longest_step = std::numeric_limits<double>::infinity();  ///< of the steps from here on [s]
  int failures = 0;                                               ///< of steps
  bool at_jump = false;                                           ///< of the drive, at the end of the last step
  double largest_velocity = 0.0, largest_divergence = 0.0;
  FilesInTime files;
  PlaneFrames frames;         ///< of the speed; values on rank 0
  std::vector<double> clock;  ///< Clock::state() of what is kept; empty: of a run from its beginning
};

/// As a JSON object, every bit of every number.
Json past_json(const FlowPast& past);
/// @param[in,out] past  of a run that begins; what does not change in time stays. Throws Error: other bodies.
void take_past(const Json& json, FlowPast& past);

}  // namespace karst
