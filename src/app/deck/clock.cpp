// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/clock.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/core/error.hpp"
#include "eb/shapes/formula.hpp"

namespace karst {

namespace {

constexpr double longest_time = 1e30, shortest_time = 1e-30;  // [s]
constexpr double round_off = 1e-9;                            // of an interval over dt

/// Below it two times of a run are one.
double same_time(double t, double dt) { return 1e-12 * dt + 2e-15 * std::abs(t); }

constexpr double after_jump = 1.0 / 16.0;  ///< first step, over the longest
constexpr double growth = 0.5;

std::int64_t steps_in(double interval, double dt) {
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(interval / dt - round_off)));
}

void declare(Reader& in, TimeOptions& options) {
  in.number(
      "time.end", options.end, "s",
      "end time of the run, which starts at 0: flow with the fluid at rest, transport with the initial concentrations",
      shortest_time, longest_time);
  in.number("time.dt", options.dt, "s",
            "time step, shortened slightly so that steps end at output times and at the end; with time.cfl the largest "
            "step; default with time.cfl and for moving walls: no upper bound (transport in a flow, navier-stokes)",
            shortest_time, longest_time);
  in.number("time.output", options.output, "s",
            "time between intermediate plotfiles output_0001.vtkhdf ...; default: only the final state, in plot.vtkhdf",
            shortest_time, longest_time);
  in.word("time.scheme", options.scheme,
          {{"bdf2", StepScheme::bdf2, "one solve per step; in the first step those of sdirk2"},
           {"sdirk2", StepScheme::sdirk2, "two solves per step, with inertia three; a quarter of the error"}},
          "time integration scheme of the flow; both are second order and stable for any step");
  in.number("time.cfl", options.cfl, "-",
            "CFL number: fraction of its volume that a cell may exchange in a step. Transport in a flow: for cells "
            "that are at least half full, at most 0.9, the fastest of them aside, which have a tenth of what the "
            "flow moves (with [chemistry] all count); cells that a step empties are implicit, and the steps after a "
            "jump at an inlet start short. navier-stokes: sets the step, which grows by half at most; if omitted while "
            "time.dt is given, all steps have the length time.dt",
            1e-3, 1.0);
  in.number("time.end_pore_volumes", options.end_pore_volumes, "-",
            "transport in a flow, instead of time.end: injected volume over pore volume (of the sample)", 1e-12, 1e12);
  in.number("time.output_pore_volumes", options.output_pore_volumes, "-", "likewise, instead of time.output", 1e-12,
            1e12);
}

void check_end_and_output(Reader& in, const std::string& end_key, double end, const std::string& output_key,
                          double output) {
  if (end > 0.0 && output > end)
    in.mistake(output_key, "{:g} is longer than the run, which ends at {} = {:g}; omit it for the final state only",
               output, end_key, end);
}

void check_flow_in_time(Reader& in, TimeOptions& options, InTime what) {
  constexpr double most_steps = 1e8;
  const bool inertia = what == InTime::flow_with_inertia;
  in.refuse({"time.end_pore_volumes", "time.output_pore_volumes"},
            "belongs to [transport] in a steady flow; transient flow has time.end, time.dt and time.output");
  if (what == InTime::flow)
    in.refuse({"time.cfl"},
              "belongs to [transport] and flow.model = \"navier-stokes\": creeping flow has no advection term");
  options.cfl_leads = inertia && (in.given("time.cfl") || !in.given("time.dt"));
  in.need({"time.end"}, "missing: a transient run needs it");
  if (!in.given("time.dt") && !inertia) in.mistake("time.dt", "missing: a transient run needs it");
  if (options.end <= 0.0 || (options.dt <= 0.0 && !inertia)) return;
  if (options.dt > options.end)
    in.mistake("time.dt", "{:g} s is longer than the run, which ends at {:g} s", options.dt, options.end);
  else if (options.dt > 0.0 && options.end / options.dt > most_steps)
    in.mistake("time.dt", "{:.3g} steps to the end; at most {:.0e} are allowed", options.end / options.dt, most_steps);
  if (options.output > options.end)
    in.mistake("time.output", "{:g} s is longer than the run, which ends at {:g} s; omit it for the final state only",
               options.output, options.end);
}

void check_transport_in_time(Reader& in, const TimeOptions& options) {
  in.refuse({"time.scheme"}, "belongs to transient flow (flow.model = \"unsteady-stokes\"); remove it");
  const bool in_seconds = in.given("time.end"), in_volumes = in.given("time.end_pore_volumes");
  if (in_seconds && in_volumes) in.mistake("time.end_pore_volumes", "given together with time.end; remove one of them");
  if (!in_seconds && !in_volumes)
    in.mistake("time.end", "missing: transient transport needs it, or time.end_pore_volumes");
  if (in.given("time.output") && in.given("time.output_pore_volumes"))
    in.mistake("time.output_pore_volumes", "given together with time.output; remove one of them");
  check_end_and_output(in, "time.end", options.end, "time.output", options.output);
  check_end_and_output(in, "time.end_pore_volumes", options.end_pore_volumes, "time.output_pore_volumes",
                       options.output_pore_volumes);
}

void check_walls_in_time(Reader& in, const TimeOptions& options) {
  in.refuse({"time.scheme", "time.cfl", "time.end_pore_volumes", "time.output_pore_volumes"},
            "without effect: between the steps of moving walls flow and transport are steady; remove it");
  in.need({"time.end"}, "missing: walls that move need it");
  check_end_and_output(in, "time.end", options.end, "time.output", options.output);
  if (options.dt > options.end && options.end > 0.0)
    in.mistake("time.dt", "{:g} s is longer than the run, which ends at {:g} s", options.dt, options.end);
}

/// Steps between two times without a break between them. Output times fall in between.
double steps_between(double begin, double end, const TimeOptions& options) {
  const auto steps = [&](double interval) {
    return interval > same_time(end, options.dt) ? static_cast<double>(steps_in(interval, options.dt)) : 0.0;
  };
  if (options.output <= 0.0) return steps(end - begin);
  const double first = (std::floor(begin / options.output + round_off) + 1.0) * options.output;
  if (first >= end * (1.0 - round_off)) return steps(end - begin);
  const double whole = std::floor((end - first) / options.output + round_off);
  const double rest = end - first - whole * options.output;
  return steps(first - begin) + whole * static_cast<double>(steps_in(options.output, options.dt)) +
         (rest > round_off * end ? steps(rest) : 0.0);
}

constexpr std::size_t most_jumps = 10000;  ///< of one formula

/// To the last bit: halves of intervals in which it may jump. Where round-off leaves it open which of many bits it is,
/// as in sin(t) > 0, the last of them.
void find_jumps(const Formula& f, double low, double high, std::vector<double>& found) {
  constexpr double same = 1e-13;
  if (found.size() > most_jumps || f.bounds({low, 0.0, 0.0}, {high, 0.0, 0.0}).continuous) return;
  const double middle = low + 0.5 * (high - low);
  if (middle <= low || middle >= high) {
    if (!found.empty() && high - found.back() <= same * high) found.pop_back();
    return found.push_back(high);
  }
  find_jumps(f, low, middle, found);
  find_jumps(f, middle, high, found);
}

}  // namespace

void read(Reader& in, TimeOptions& options, InTime what) {
  in.changes_answers_of("time", {"flow in time", "transport", "walls"});
  declare(in, options);
  if (what == InTime::flow || what == InTime::flow_that_carries || what == InTime::flow_with_inertia)
    return check_flow_in_time(in, options, what);
  if (what == InTime::transport) return check_transport_in_time(in, options);
  if (what == InTime::walls) return check_walls_in_time(in, options);
  in.refuse({"time.end", "time.dt", "time.output", "time.scheme", "time.cfl", "time.end_pore_volumes",
             "time.output_pore_volumes"},
            what == InTime::steady_transport
                ? "without effect: a steady state has no time; remove this key, or transport.mode = \"steady\""
                : "without effect: nothing in the deck is transient; remove this key, or write flow.model = "
                  "\"unsteady-stokes\" or a [[transport.component]]");
}

double longest_at(const TimeOptions& options, double time, double longest) {
  const auto next = std::ranges::upper_bound(options.jumps, time + same_time(time, longest));
  if (next == options.jumps.begin()) return longest;
  return std::min(longest, after_jump * longest + growth * std::max(0.0, time - *std::prev(next)));
}

Clock::Clock(const TimeOptions& options) : options_(options) { plan_interval(); }

void Clock::plan_interval() {
  begin_ = time_;
  target_ = options_.end;
  to_output_ = false;
  if (const double next = options_.output * (outputs_ + 1);
      options_.output > 0.0 && next < options_.end * (1.0 - round_off)) {
    target_ = next;
    to_output_ = true;
  }
  const std::vector<double>& breaks = options_.breaks;
  const double same = same_time(begin_, options_.dt);
  while (next_break_ < breaks.size() && breaks[next_break_] <= begin_ + same)
    at_break_ = breaks[next_break_++] >= begin_ - same || at_break_;
  if (next_break_ < breaks.size() && breaks[next_break_] < target_ - same_time(target_, options_.dt)) {
    target_ = breaks[next_break_];
    to_output_ = false;
  }
  made_ = 0;
  planned_ = options_.dt > 0.0 ? steps_in(target_ - begin_, longest_at(options_, begin_, options_.dt)) : 1;
  dt_ = (target_ - begin_) / static_cast<double>(planned_);
}

void Clock::limit(double dt) {
  const double rest = target_ - time_,
               longest = options_.dt > 0.0 ? std::min(longest_at(options_, time_, options_.dt), dt) : dt;
  const std::int64_t planned = steps_in(rest, longest);
  if (finished_ || planned == planned_ - made_) return;
  begin_ = time_;
  made_ = 0;
  planned_ = planned;
  dt_ = rest / static_cast<double>(planned);
}

void Clock::advance() {
  ++steps_;
  output_due_ = at_break_ = false;
  if (++made_ < planned_) {
    time_ = begin_ + static_cast<double>(made_) * dt_;
    if (longest_at(options_, begin_, options_.dt) < options_.dt) limit(options_.dt);
    return;
  }
  end_interval();
}

void Clock::end_interval() {
  time_ = target_;
  finished_ = target_ == options_.end;
  if (finished_) return;
  if (to_output_) {
    output_due_ = true;
    ++outputs_;
  }
  plan_interval();
}

void Clock::skip(double time) {
  if (time >= rest() - same_time(target_, options_.dt)) return end_interval();
  const double longest = dt_;
  time_ += time;
  begin_ = time_;
  made_ = 0;
  planned_ = steps_in(rest(), options_.dt > 0.0 ? options_.dt : longest);
  dt_ = rest() / static_cast<double>(planned_);
}

void Clock::each_number(auto& c, const auto& f) {
  const auto all = [&](auto&... numbers) { (f(numbers), ...); };
  all(c.time_, c.begin_, c.target_, c.dt_, c.made_, c.planned_, c.steps_, c.outputs_, c.next_break_, c.to_output_,
      c.output_due_, c.at_break_, c.finished_);
}

std::vector<double> Clock::state() const {
  std::vector<double> all;
  each_number(*this, [&](auto x) { all.push_back(static_cast<double>(x)); });
  return all;
}

void Clock::go_on(const std::vector<double>& state) {
  require(state.size() == this->state().size(), "a clock of {} numbers instead of {}", state.size(),
          this->state().size());
  auto next = state.begin();
  each_number(*this, [&]<class T>(T& x) { x = static_cast<T>(*next++); });
}

void read(Reader& in, CheckpointOptions& options) {
  in.changes_answers_of("checkpoint", {});
  constexpr double longest_wait = 1e6;
  constexpr int most_steps = 1'000'000'000;
  constexpr double latest = 1e30;
  in.number("checkpoint.every_minutes", options.every_minutes, "-",
            "transient transport (also with [chemistry]) and flow: minutes between checkpoints, from which `karst run "
            "--resume` continues after the run was killed; 0: only when the run is asked to stop",
            0.0, longest_wait);
  in.integer("checkpoint.every_steps", options.every_steps, "-",
             "likewise, number of steps between checkpoints; 0: not by steps", 0, most_steps);
  in.number("checkpoint.every_time", options.every_time, "s",
            "likewise, simulated time between checkpoints; 0: not by time", 0.0, latest);
  in.integer("checkpoint.keep", options.keep, "-",
             "number of checkpoints kept on disk: if the last one is damaged, --resume uses the one before it", 1,
             most_kept);
}

double count_steps(const TimeOptions& options) {
  if (!options.jumps.empty()) {
    Clock clock(options);
    while (!clock.done()) clock.advance();
    return clock.steps();
  }
  double sum = 0.0, begin = 0.0;
  for (const double next : options.breaks) {
    if (next <= begin + same_time(begin, options.dt)) continue;
    if (next >= options.end - same_time(options.end, options.dt)) break;
    sum += steps_between(begin, next, options);
    begin = next;
  }
  return sum + steps_between(begin, options.end, options);
}

std::vector<double> jumps_of(const std::string& key, const std::string& formula, double end) {
  std::vector<double> found;
  find_jumps(Formula(formula, "t"), 0.0, end, found);
  require(found.size() <= most_jumps, "{}: \"{}\" jumps more than {} times up to {:g} s", key, formula, most_jumps,
          end);
  return found;
}

namespace {

std::vector<double> in_order(std::vector<double> times) {
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  return times;
}

}  // namespace

std::vector<double> jumps_of(const TransportDeck& deck, double end) {
  std::vector<double> jumps;
  const auto add = [&](const std::vector<double>& times) { jumps.insert(jumps.end(), times.begin(), times.end()); };
  for (std::size_t i = 0; i < deck.components.size(); ++i) {
    const ComponentDeck& c = deck.components[i];
    if (c.outlet) add(jumps_of(fmt::format("transport.component[{}].outlet", i), *c.outlet, end));
    if (c.inlet_of_place) continue;
    if (!c.inlet_table) {
      add(jumps_of(fmt::format("transport.component[{}].inlet", i), c.inlet, end));
      continue;
    }
    const std::vector<double>&time = c.inlet_table->time, &value = c.inlet_table->value;
    for (std::size_t n = 1; n < time.size(); ++n)
      if (time[n] == time[n - 1] && value[n] != value[n - 1] && time[n] > 0.0 && time[n] < end)
        jumps.push_back(time[n]);
  }
  return in_order(std::move(jumps));
}

bool is_constant(const TransportDeck& deck, double from, double to) {
  const auto formula_is = [&](const std::string& text) {
    const FormulaBounds bounds = Formula(text, "t").bounds({from, 0.0, 0.0}, {to, 0.0, 0.0});
    return bounds.value.lo == bounds.value.hi;
  };
  const auto table_is = [&](const TimeTable& table) {
    const double value = table.at(from);
    for (std::size_t n = 0; n < table.time.size(); ++n)
      if (table.time[n] > from && table.time[n] < to && table.value[n] != value) return false;
    return table.at(to) == value;
  };
  return std::ranges::all_of(deck.components, [&](const ComponentDeck& c) {
    const bool inlet = c.inlet_of_place || (c.inlet_table ? table_is(*c.inlet_table) : formula_is(c.inlet));
    return inlet && (!c.outlet || formula_is(*c.outlet));
  });
}

std::vector<double> breaks_of(const TransportDeck& deck, double end) {
  std::vector<double> breaks = jumps_of(deck, end);
  for (const ComponentDeck& c : deck.components)
    if (c.inlet_table)
      std::ranges::copy_if(c.inlet_table->time, std::back_inserter(breaks),
                           [&](double t) { return t > 0.0 && t < end; });
  return in_order(std::move(breaks));
}

}  // namespace karst
