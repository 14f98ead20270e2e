// SPDX-License-Identifier: BSD-3-Clause
#include "app/job/step_times.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/file/json.hpp"

namespace karst {

namespace {

/// A whole number from 1; 0 where the text is none.
std::int64_t step_of(std::string_view text) {
  std::int64_t n = 0;
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), n);
  return problem == std::errc() && end == text.data() + text.size() && n > 0 ? n : 0;
}

}  // namespace

void StepTimes::begin() {
  begin_timed_step();
  clock_ = {};
}

void StepTimes::end(std::int64_t number) {
  const double seconds = clock_.seconds();
  end_timed_step();
  if (here_.seconds.empty()) here_.first = number;
  here_.seconds.push_back(seconds);
}

StepSeconds StepTimes::of_slowest_rank(const Comm& comm) const {
  StepSeconds slowest = here_;
  comm.max(std::span(slowest.seconds));
  return slowest;
}

TimeSpread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  TimeSpread s{std::ssize(values), values.front(), 0.0, 0.5 * (values[(n - 1) / 2] + values[n / 2]), values.back()};
  s.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(n);
  double squares = 0.0;
  for (const double x : values) squares += (x - s.mean) * (x - s.mean);
  if (n > 1 && s.mean > 0.0) s.cov = std::sqrt(squares / static_cast<double>(n - 1)) / s.mean;
  return s;
}

Json to_json(const TimeSpread& spread) {
  return {{"least", spread.least},
          {"mean", spread.mean},
          {"median", spread.median},
          {"most", spread.most},
          {"cov", spread.cov}};
}

StepRange read_steps(std::string_view option, const std::string& text, const Config& config) {
  StepRange range;
  const std::size_t colon = text.find(':');
  if (colon != std::string::npos)
    range = {step_of(std::string_view(text).substr(0, colon)), step_of(std::string_view(text).substr(colon + 1))};
  require(range.first > 0 && range.last >= range.first,
          "{} {}: expected: FIRST:LAST, two step numbers from 1, FIRST <= LAST, as in 100:110", option, text);
  require(is_in_time(config.flow.model) || (config.transport.asked() && !config.transport.steady()),
          "{} {}: this run has no time steps; remove it", option, text);
  return range;
}

}  // namespace karst
