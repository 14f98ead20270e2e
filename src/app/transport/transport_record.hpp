// SPDX-License-Identifier: BSD-3-Clause
// What transport in time records of its steps, beside what its Recorder holds.
#pragma once

#include <vector>

#include "app/transport/transport_job.hpp"
#include "transport/breakthrough.hpp"

namespace karst {

/// Statistics of a component over the steps up to now.
struct ComponentRecord {
  double least = 0.0, largest = 0.0;  ///< values that were met
  double imbalance = 0.0;             ///< largest of a step
  SignalMoments at_inlet{}, at_outlet{};
};

/// Of all steps up to now.
struct StepStatistics {
  double longest_step = 0.0;  ///< [s]
  std::int64_t iterations = 0;
  std::vector<ComponentRecord> components;
};

/// What a checkpoint holds of them.
struct TransportRecord : StepStatistics {
  std::vector<TransportLine> states;  ///< for charts: some hundred at most, the first and the last among them
  std::vector<double> output_times;   ///< of which there are pictures [s]
  Figures figures;                    ///< on rank 0
};

/// @param start  the state at the beginning
TransportRecord begin_record(const TransportLine& start);
/// The statistics of one more step.
/// @param inflow  of the fluid, where it comes in at an inlet and always alike [m³/s]; 0: no moments
void add_step(const TransportLine& line, int iterations, double inflow, TransportRecord& record);

/// It before a step; its lists grow between steps alone, but for the states.
struct RecordBefore {
  StepStatistics now;
  std::size_t n_states = 0;
};

/// As a JSON object, every bit of every number.
Json record_json(const TransportRecord& record);
/// @param[in,out] record  of a run that begins. Throws Error: other components or probes.
void take_record(const Json& json, TransportRecord& record);

}  // namespace karst
