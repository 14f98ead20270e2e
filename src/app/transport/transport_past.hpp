// SPDX-License-Identifier: BSD-3-Clause
// What a march of transport has of its past beside the values: with both, a run that was interrupted goes on.
#pragma once

#include <vector>

#include "app/job/files_in_time.hpp"
#include "app/output/moving_picture.hpp"
#include "app/transport/transport_job.hpp"
#include "transport/breakthrough.hpp"
#include "transport/march/limiter.hpp"

namespace karst {

/// History, extremes, moments and pictures up to a step.
struct TransportPast {
  TimeOptions times;                               ///< end, output and dt that the steps are made by
  double time = 0.0;                               ///< [s]
  double carried = 0.0;                            ///< that a flow in time has brought in [h0³]
  TransportResult result;                          ///< steps, states, extremes, times of pictures
  std::vector<ScalarRange> range;                  ///< TransportState::range
  std::vector<SignalMoments> at_inlet, at_outlet;  ///< per component
  FilesInTime files;
  double outputs_drawn = 0.0;
  std::vector<PlaneFrames> frames;  ///< per component, when they are wanted; on rank 0
  Figures figures;                  ///< on rank 0
  Json chemistry;                   ///< ReactiveRun::past(); null: nothing reacts
};

/// As a JSON object, every bit of every number.
Json past_json(const TransportPast& past);
/// @param[in,out] past  of a run that begins; what does not change in time stays. Throws Error: other components.
void take_past(const Json& json, TransportPast& past);

}  // namespace karst
