// SPDX-License-Identifier: BSD-3-Clause
// How long the steps of a run in time take, one by one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/deck/config.hpp"
#include "base/comm/comm.hpp"
#include "base/core/wall_clock.hpp"

namespace karst {

class Json;

/// Of the slowest rank [s], from step `first` on.
struct StepSeconds {
  std::int64_t first = 1;
  std::vector<double> seconds;
};

/// The clock of the steps of a run.
class StepTimes {
 public:
  /// Around a step, with all that belongs to it: histories, outputs, states. Not collective.
  void begin();
  void end(std::int64_t number);
  /// Collective; the same on every rank.
  StepSeconds of_slowest_rank(const Comm& comm) const;

 private:
  WallClock clock_;
  StepSeconds here_;
};

/// Times, or other numbers, that vary.
struct TimeSpread {
  std::int64_t n = 0;
  double least = 0.0, mean = 0.0, median = 0.0, most = 0.0;
  double cov = 0.0;  ///< standard deviation of such values (n - 1) over their mean; 0 for one value
};
/// Of one value at least.
TimeSpread spread_of(std::vector<double> values);
/// Members least, mean, median, most, cov.
Json to_json(const TimeSpread& spread);

/// Some of the steps of a run.
struct StepRange {
  std::int64_t first = 0, last = 0;
};
/// Of "FIRST:LAST". Throws Error, which names the option, for another text and for a run without steps.
StepRange read_steps(std::string_view option, const std::string& text, const Config& config);

}  // namespace karst
