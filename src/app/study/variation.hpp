// SPDX-License-Identifier: BSD-3-Clause
// How much the times of runs of one deck vary: what is smaller than that has not been measured when two programs, decks
// or machines are compared.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/job/step_times.hpp"

namespace karst {

class Json;

/// A timer of the runs.
struct PhaseVariation {
  std::vector<std::string> path;  ///< names from the top
  TimeSpread runs;                ///< over the runs: time of the slowest rank or thread [s], 0 where it did not run
  double cov_of_ranks_and_threads = 0.0;  ///< mean over the runs
  double cov_of_steps = 0.0;              ///< likewise
};

/// Steps of one run.
struct StepVariation {
  TimeSpread seconds;                    ///< over the steps, of the slowest rank
  std::vector<std::int64_t> long_steps;  ///< those of more than long_step times the median
};
inline constexpr double long_step = 1.2;

struct Variation {
  int runs = 0;
  std::vector<PhaseVariation> phases;    ///< in the order of timers.json
  std::vector<StepVariation> steps;      ///< one per run; none: there are no steps
  std::vector<std::int64_t> often_long;  ///< steps that are long in more than half of the runs
};

/// @param timers  timers.json of each run
/// @param steps   that are compared
/// Throws Error where there are no such steps among those of the runs.
Variation variation_of(const std::vector<Json>& timers, const StepRange& steps);

std::string variation_json(const Variation& variation);
/// Phases that take a hundredth of the longest or more, and the steps of each run.
std::string variation_text(const Variation& variation);

}  // namespace karst
