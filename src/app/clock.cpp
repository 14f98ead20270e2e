// SPDX-License-Identifier: BSD-3-Clause
#include "app/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace karst {

namespace {

constexpr double longest = 1e30, shortest = 1e-30;  // [s]
constexpr double round_off = 1e-9;                  // of an interval over dt

std::int64_t steps_in(double interval, double dt) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(interval / dt - round_off)));
}

}  // namespace

void read(Reader& in, TimeOptions& options, bool in_time) {
  constexpr double most_steps = 1e8;
  in.number("time.end", options.end, "s", "the run ends here; it begins at 0 with the fluid at rest", shortest,
            longest);
  in.number("time.dt", options.dt, "s",
            "length of a step, or a little less, so that steps land on output times and on the end", shortest, longest);
  in.number("time.output", options.output, "s",
            "time between plotfiles output_0001.vtkhdf ... on the way; left out: the end alone, in plot.vtkhdf",
            shortest, longest);
  in.word("time.scheme", options.scheme,
          {{"bdf2", StepScheme::bdf2, "one solve per step (the first step takes two)"},
           {"sdirk2", StepScheme::sdirk2, "two solves per step, with a quarter of the error"}},
          "how steps are made, both of second order and stable for any length");
  if (in.documenting()) return;
  for (const char* key : {"time.end", "time.dt", "time.output", "time.scheme"})
    if (!in_time && in.given(key))
      in.mistake(key,
                 "without effect: nothing in the deck goes through time; remove this key, or write flow.model = "
                 "\"unsteady-stokes\"");
  if (!in_time) return;
  for (const char* key : {"time.end", "time.dt"})
    if (!in.given(key)) in.mistake(key, "missing: a run in time needs it");
  if (options.end <= 0.0 || options.dt <= 0.0) return;
  if (options.dt > options.end)
    in.mistake("time.dt", fmt::format("{:g} s is longer than the run, which ends at {:g} s", options.dt, options.end));
  else if (options.end / options.dt > most_steps)
    in.mistake("time.dt", fmt::format("{:.3g} steps to the end; at most {:.0e} are allowed", options.end / options.dt,
                                      most_steps));
  if (options.output > options.end)
    in.mistake("time.output",
               fmt::format("{:g} s is longer than the run, which ends at {:g} s; leave it out for the end alone",
                           options.output, options.end));
}

Clock::Clock(const TimeOptions& options) : options_(options) { plan_interval(); }

void Clock::plan_interval() {
  begin_ = time_;
  target_ = options_.end;
  if (const double next = options_.output * (outputs_ + 1);
      options_.output > 0.0 && next < options_.end * (1.0 - round_off))
    target_ = next;
  made_ = 0;
  planned_ = steps_in(target_ - begin_, options_.dt);
  dt_ = (target_ - begin_) / static_cast<double>(planned_);
}

void Clock::advance() {
  ++steps_;
  output_due_ = false;
  if (++made_ < planned_) {
    time_ = begin_ + static_cast<double>(made_) * dt_;
    return;
  }
  time_ = target_;
  finished_ = target_ == options_.end;
  if (finished_) return;
  output_due_ = true;
  ++outputs_;
  plan_interval();
}

double count_steps(const TimeOptions& options) {
  if (options.output <= 0.0) return static_cast<double>(steps_in(options.end, options.dt));
  const double whole = std::floor(options.end / options.output + round_off),
               rest = options.end - whole * options.output;
  return whole * static_cast<double>(steps_in(options.output, options.dt)) +
         (rest > round_off * options.end ? static_cast<double>(steps_in(rest, options.dt)) : 0.0);
}

}  // namespace karst
