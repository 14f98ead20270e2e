// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/clock.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "app/deck/config.hpp"
#include "base/core/error.hpp"
#include "support/errors.hpp"

namespace karst::clock_test {
namespace {

struct Seen {
  std::vector<double> outputs;
  double end = 0.0, longest = 0.0;
  int steps = 0;
};
Seen go(const TimeOptions& options) {
  Seen seen;
  for (Clock clock(options); !clock.done();) {
    seen.longest = std::max(seen.longest, clock.dt());
    clock.advance();
    seen.end = clock.time();
    seen.steps = clock.steps();
    if (clock.output_due()) seen.outputs.push_back(clock.time());
  }
  return seen;
}

// Output times and the end are met to the last bit, steps are never longer than asked for, and counted before.
TEST(Clock, LandsOnOutputTimesAndOnTheEnd) {
  for (const double end : {1.0, 0.7, 3.1})
    for (const double dt : {0.03, 0.1, 0.25, 0.7})
      for (const double output : {0.0, 0.1, 0.3, 0.35}) {
        const Seen seen = go({end, dt, output, StepScheme::bdf2});
        EXPECT_EQ(seen.end, end);
        EXPECT_LE(seen.longest, dt * (1.0 + 1e-8));
        EXPECT_EQ(seen.steps, count_steps({end, dt, output, StepScheme::bdf2})) << end << " " << dt << " " << output;
        const double n = output > 0.0 ? std::ceil(end / output - 1e-9) - 1.0 : 0.0;
        ASSERT_EQ(static_cast<double>(seen.outputs.size()), n);
        for (std::size_t i = 0; i < seen.outputs.size(); ++i)
          EXPECT_EQ(seen.outputs[i], output * (static_cast<double>(i) + 1.0));
      }
}

// So are breaks; those that fall on an output time, on the end or behind it make no step of their own.
TEST(Clock, LandsOnBreaks) {
  TimeOptions options{1.0, 0.25, 0.5, StepScheme::bdf2};
  options.breaks = {0.1, 0.1 + 1e-17, 0.5, 0.7, 1.0, 2.0};
  std::vector<double> times;
  for (Clock clock(options); !clock.done();) {
    clock.advance();
    times.push_back(clock.time());
    EXPECT_EQ(clock.at_break(), times.size() != 2 && times.size() < 5) << clock.time();
  }
  ASSERT_EQ(times.size(), 6U);  // 0.1, 0.3, 0.5, 0.7, 0.85, 1
  EXPECT_EQ(times[0], 0.1);
  EXPECT_EQ(times[2], 0.5);
  EXPECT_EQ(times[3], 0.7);
  EXPECT_EQ(times.back(), 1.0);
  EXPECT_EQ(count_steps(options), 6.0);
  EXPECT_EQ(go(options).outputs, std::vector<double>{0.5});
}

// After a jump steps begin short and grow by about half, up to the longest one; they are counted, and a run that goes
// on makes the same.
TEST(Clock, StepsAreShortAfterAJump) {
  TimeOptions options{1.0, 0.05, 0.45, StepScheme::bdf2};
  options.breaks = {0.3, 0.6};
  options.jumps = {0.0, 0.6};
  double before = 0.05 / 16.0 / 1.6;
  for (Clock clock(options); !clock.done();) {
    if (clock.time() == 0.6) before = 0.05 / 16.0 / 1.6;
    EXPECT_LE(clock.dt(), std::min(0.05, 1.6 * before) * (1.0 + 1e-8)) << clock.time();
    before = std::max(before, clock.dt());
    Clock later(options);
    while (later.steps() < clock.steps()) later.advance();
    EXPECT_EQ(later.dt(), clock.dt());
    clock.limit(9.0);
    EXPECT_EQ(later.dt(), clock.dt());
    clock.advance();
  }
  EXPECT_EQ(go(options).outputs, (std::vector<double>{0.45, 0.9}));
  EXPECT_EQ(go(options).steps, count_steps(options));
  EXPECT_LE(count_steps(options), 20 + 2 * 8);
}

// Steps that are limited on the way, shorter and longer again, still land on outputs, breaks and the end, and are equal
// from each limit to the next of these times.
TEST(Clock, LimitsKeepTheTimesThatAreMet) {
  TimeOptions options{1.0, 0.25, 0.5, StepScheme::bdf2};
  options.breaks = {0.3};
  std::vector<double> times, lengths;
  std::vector<double> outputs;
  Clock clock(options);
  for (const double limit : {0.07, 0.07, 9.0, 9.0, 0.02, 0.02, 9.0, 9.0, 9.0, 9.0}) {
    if (clock.done()) break;
    clock.limit(limit);
    EXPECT_LE(clock.dt(), std::min(limit, options.dt) * (1.0 + 1e-8));
    lengths.push_back(clock.dt());
    clock.advance();
    times.push_back(clock.time());
    if (clock.output_due()) outputs.push_back(clock.time());
  }
  EXPECT_TRUE(clock.done());
  EXPECT_EQ(clock.steps(), 8);  // 0.06, 0.12, 0.3, 0.5, 0.52, 0.54, 0.77, 1
  ASSERT_EQ(times.size(), 8U);
  EXPECT_DOUBLE_EQ(times[0], 0.06);
  EXPECT_EQ(lengths[0], lengths[1]);
  EXPECT_EQ(times[2], 0.3);
  EXPECT_EQ(times[3], 0.5);
  EXPECT_DOUBLE_EQ(times[6], 0.77);
  EXPECT_EQ(times.back(), 1.0);
  EXPECT_EQ(outputs, std::vector<double>{0.5});
}

// Without a longest step the limit alone tells.
TEST(Clock, TheLimitMayBeTheOnlyOne) {
  Clock clock(TimeOptions{1.0, 0.0, 0.0, StepScheme::bdf2});
  clock.limit(0.3);
  EXPECT_DOUBLE_EQ(clock.dt(), 0.25);
  clock.advance();
  clock.limit(std::numeric_limits<double>::infinity());
  EXPECT_DOUBLE_EQ(clock.dt(), 0.75);
  clock.advance();
  EXPECT_TRUE(clock.done());
  EXPECT_EQ(clock.time(), 1.0);
}

TEST(Clock, JumpsOfAFormula) {
  EXPECT_EQ(jumps_of("a", "(t < 0.25)*t + (t >= 0.5)", 1.0), (std::vector<double>{0.25, 0.5}));
  EXPECT_EQ(jumps_of("a", "sin(t)", 1.0), std::vector<double>{});
  EXPECT_EQ(jumps_of("a", "cos(2*_pi*t/0.06) > 0", 12.0).size(), 400) << "each once";
  EXPECT_TRUE(test::has(test::error_of([] { jumps_of("a", "sin(1e9*t) < 0", 1.0); }), "jumps more than 10000 times"));
}

TEST(Clock, WhatHasNoTimeTakesOneStep) {
  Clock clock;
  EXPECT_FALSE(clock.done());
  clock.advance();
  EXPECT_TRUE(clock.done());
  EXPECT_FALSE(clock.output_due());
}

std::string mistakes_of(const std::string& flow, const std::string& time) {
  return test::error_of([&] {
    Reader in = Reader::from_text(
        "[[geometry.solid]]\nshape = \"sphere\"\ncenter = [0, 0, 0]\nradius = 1\n[grid]\n"
        "cells = [8, 8, 8]\nsize = [8, 8, 8]\nperiodic = [true, true, true]\n[flow]\n"
        "drive = \"pressure-gradient\"\n" +
        flow + "\n" + time);
    read_config(in);
    in.finish();
  });
}

// A run that goes on makes the steps of one that was not stopped, bit for bit.
TEST(Clock, GoesOnAfterAnyStep) {
  TimeOptions options;
  options.end = 1.0;
  options.dt = 0.03;
  options.output = 0.25;
  options.breaks = {0.1, 0.7};
  Clock whole(options);
  for (; !whole.done(); whole.advance()) {
    Clock later(options);
    while (later.steps() < whole.steps()) later.advance();
    EXPECT_EQ(later.time(), whole.time());
    EXPECT_EQ(later.dt(), whole.dt());
    EXPECT_EQ(later.outputs(), whole.outputs());
  }
  const auto limit_of = [](const Clock& clock) { return 0.011 + 0.02 * clock.part(); };
  for (Clock first(options); !first.done(); first.advance()) {
    first.limit(limit_of(first));
    Clock goes_on(first), later(options);
    later.go_on(first.state());
    for (; !goes_on.done(); goes_on.advance(), later.advance()) {
      goes_on.limit(limit_of(goes_on));
      later.limit(limit_of(later));
      ASSERT_EQ(later.state(), goes_on.state());
    }
    EXPECT_TRUE(later.done());
  }
  EXPECT_THROW(Clock(options).go_on({1.0, 2.0}), Error);
  Clock end(options);
  while (!end.done()) end.advance();
  EXPECT_EQ(end.steps(), whole.steps());
}

TEST(Clock, MistakesOfADeckAreToldTogether) {
  const std::string unsteady = "model = \"unsteady-stokes\"\naxes = [\"x\"]";
  EXPECT_EQ(mistakes_of(unsteady, "[time]\nend = 1\ndt = 0.1"), "");
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  std::string text = mistakes_of(unsteady, "[time]\nend = 1\ndt = 0\noutput = 0");
  EXPECT_TRUE(has(text, "time.dt") && has(text, "time.output")) << text;
  text = mistakes_of(unsteady, "[time]\nend = 1\ndt = 2");
  EXPECT_TRUE(has(text, "time.dt") && has(text, "longer than the run")) << text;
  text = mistakes_of(unsteady, "");
  EXPECT_TRUE(has(text, "time.end") && has(text, "missing")) << text;
  text = mistakes_of("model = \"unsteady-stokes\"\ndrive_factor = \"sin(x)\"\nreservoir = 4\naxes = [\"x\", \"y\"]",
                     "[time]\nend = 1\ndt = 0.1");
  EXPECT_TRUE(has(text, "flow.drive_factor") && has(text, "x is unknown") && has(text, "t in seconds")) << text;
  EXPECT_TRUE(has(text, "flow.reservoir") && has(text, "flow.axes")) << text;
  const std::string inertia = "model = \"navier-stokes\"\naxes = [\"x\"]";
  EXPECT_EQ(mistakes_of(inertia, "[time]\nend = 1"), "");
  EXPECT_EQ(mistakes_of(inertia, "[time]\nend = 1\ndt = 0.1\ncfl = 0.3"), "");
  text = mistakes_of(unsteady + "\nstart = \"stokes\"", "[time]\nend = 1\ndt = 0.1\ncfl = 0.3");
  EXPECT_TRUE(has(text, "time.cfl") && has(text, "creeping flow has no advection term")) << text;
  EXPECT_TRUE(has(text, "flow.start") && has(text, "without effect")) << text;
  text = mistakes_of(inertia + "\nsteps = [1]", "[time]\ndt = 0.1");
  EXPECT_TRUE(has(text, "flow.steps") && has(text, "time.end: missing")) << text;
  text = mistakes_of("model = \"stokes\"\ndrive_factor = \"t\"", "[time]\nend = 1");
  EXPECT_TRUE(has(text, "time.end") && has(text, "flow.drive_factor") && has(text, "without effect")) << text;
}

}  // namespace
}  // namespace karst::clock_test
