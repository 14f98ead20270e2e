// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/transport_in_time.hpp"
#include "app/deck/transport_breaks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/job/run_services.hpp"
#include "base/comm/mix.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/file/log.hpp"

namespace karst {

namespace {

constexpr double most_states = 400.0;  ///< kept for the chart
constexpr double lines_in_log = 20.0;

/// Of values by the places of their volumes: the same on any number of ranks. Collective.
std::uint64_t fingerprint(const Comm& comm, const ScalarGrid& grid, std::span<const double> values) {
  std::uint64_t sum = 0;
  for (std::size_t v = 0; v < values.size(); ++v) {
    std::uint64_t hash = mix(std::uint64_t{0}, values[v]);
    for (int d = 0; d < 3; ++d) hash = mix(hash, grid.centroid[v][d]);
    sum += hash;
  }
  return sum_of_hashes(comm, sum);
}

}  // namespace

TransportInTime::TransportInTime(const JobContext& run)
    : run_(run),
      deck_(run.config.transport),
      h_(run.grid.cell_width()),
      flow_(carried_by(run)),
      laws_(wall_laws(run)),
      joined_(std::make_shared<const JoinedCells>(run.comm, run.geometry, numbering_of(flow_.composite))),
      probes_(mean_probes(run, *flow_.composite)) {
  TransportOptions options;
  options.tolerance = deck_.tolerance;
  const auto initial = initial_values(run, flow_.outlet());
  stepper_.emplace(flow_.composite, scalar_components(run, flow_, laws_, initial), options);
  outlet_ = flow_.outlet();
  past_.result = transport_numbers(run, flow_);
  past_.result.probes = run.config.output.probes;
  const FlowContinuity continuity = take_flow(*flow_.faces);
  past_.result.continuity_before = continuity.before;
  past_.result.continuity_after = continuity.after;
  for (std::int64_t v = 0; v < stepper_->grid().n_own; ++v) fluid_volume_ += stepper_->grid().volume[v];
  fluid_volume_ = run.comm.sum(fluid_volume_);
  past_.times = flow_.in_time ? run.config.time
                              : transport_times(run.config.time, past_.result.pore_time, stepper_->largest_step());
  const std::vector<std::string> wrong = mistakes_in_time(deck_, past_.times.end);
  require(wrong.empty(), "{}", join(wrong, "\n"));
  past_.times.breaks = breaks_of(deck_, past_.times.end);
  past_.times.jumps = jumps_of(deck_, past_.times.end);
  set_initial(initial);
  if (run.config.reactive != nullptr) {
    chemistry_.emplace(run, *stepper_).start(state_);
    for (std::size_t i = 0; i < past_.result.components.size(); ++i)
      if (is_total(i)) past_.result.components[i].conservative = false;
  }
  // A flow in time is another one where a run goes on, and its steps have to be the same.
  if (!flow_.in_time && begins_with_jump()) past_.times.jumps.insert(past_.times.jumps.begin(), 0.0);
  if (!flow_.in_time) n_steps_ = count_steps(past_.times);
  start_signals();
  past_.files.histories = {csv_name, profile_name};
  if (chemistry_) past_.files.histories.emplace_back(ReactiveRun::csv_name);
  const bool goes_on = resume();
  if (!flow_.in_time) flow_.faces.reset();
  const double carried_from = flow_.in_time ? run.services.handover.in_time->time : 0.0;
  require(goes_on || carried_from == 0.0,
          "transport: the flow continues from {:g} s, but there is no transport checkpoint for that time; --overwrite "
          "starts at 0",
          carried_from);
  open_files(goes_on);
  setup_seconds_ = wall_clock_.seconds();
}

/// @param go_on  what an earlier run wrote is there
void TransportInTime::open_files(bool go_on) {
  open_history(run_, csv_, csv_name, go_on);
  open_history(run_, profiles_, profile_name, go_on);
  if (chemistry_) chemistry_->open(go_on);
  if (go_on) return;
  csv_.append(transport_header(past_.result));
  std::string head = "time_s,pore_volumes,position_m";
  for (const std::string& name : deck_.names()) head += ',' + name;
  profiles_.append(head + '\n');
  write_profiles(0.0);
}

/// Throws Error on all ranks where values are not finite or leave their bounds.
void TransportInTime::set_initial(const std::vector<std::shared_ptr<InitialValues>>& initial) {
  state_ = stepper_->make_state();
  const ScalarGrid& grid = stepper_->grid();
  std::vector<double> values(grid.n_own);
  for (std::size_t i = 0; i < deck_.components.size(); ++i) {
    initial[i]->fill(run_.comm, grid, values);
    if (!deck_.components[i].initial_file.empty())  // of whatever number of files
      given_ +=
          fmt::format("initial values of {} {:016x}\n", deck_.components[i].name, fingerprint(run_.comm, grid, values));
    require_initial(run_, i, values);
    stepper_->set_values(state_, i, values);
  }
}

/// What is given on an inlet or a fixed end is not what is in the volume there.
bool TransportInTime::begins_with_jump() const {
  constexpr double as_good_as = 1e-3;
  const ScalarGrid& grid = stepper_->grid();
  bool jumps = false;
  for (std::size_t i = 0; i < state_.values.size(); ++i)
    for (const BoundaryFace& face : grid.boundary) {
      const ScalarSide& side = stepper_->components()[i].sides[face.side];
      if (side.kind != ScalarSide::Kind::fixed && !(stepper_->flow()[face.face] < 0.0)) continue;
      const double given = side.value ? side.value(face.at, just_after(0.0, past_.times.end)) : 0.0,
                   there = state_.values[i][face.volume];
      jumps = jumps || std::abs(given - there) > as_good_as * std::max(std::abs(given), std::abs(there));
    }
  return run_.comm.any(jumps);
}

/// Hands what flows out to the chemistry.
void TransportInTime::see_outlet(const TransportLine& line) {
  std::vector<double> outlet;
  for (const ComponentLine& c : line.components) outlet.push_back(c.outlet);
  chemistry_->see(line.time, line.pore_volumes, outlet);
}

void TransportInTime::start_signals() {
  const TransportLine start = line_at(0.0, 0.0);
  past_.result.states.push_back(start);
  if (chemistry_) {
    see_outlet(start);
    chemistry_->remember();
  }
  for (std::size_t i = 0; i < deck_.components.size(); ++i) {
    const ComponentLine& c = start.components[i];
    past_.result.components[i].low = c.least;
    past_.result.components[i].high = c.largest;
    past_.result.components[i].least = c.least;
    past_.result.components[i].largest = c.largest;
    past_.result.components[i].moments_wanted =
        past_.result.components[i].conservative && flow_.flows && !flow_.in_time && outlet_ >= 0 &&
        c.largest - c.least <= 1e-12 * std::max(std::abs(c.least), std::abs(c.largest));
    past_.at_inlet.emplace_back(c.mean);
    past_.at_outlet.emplace_back(c.mean);
  }
}

/// The flow from now on, and how much of it comes in.
/// @param potential  that made it continuous before; empty: to be solved for
FlowContinuity TransportInTime::take_flow(FaceField& faces, std::span<const double> potential) {
  const FlowContinuity continuity = stepper_->set_flow(faces, potential);
  ends_ = end_flows(stepper_->grid(), stepper_->flow());
  std::array<double, 4> sums{};  // in, out, in through the outlet, out through it
  for (const FlowThroughEnd& f : ends_) {
    sums[f.flow < 0.0 ? 0 : 1] += std::abs(f.flow);
    if (f.side == outlet_) sums[f.flow < 0.0 ? 2 : 3] += std::abs(f.flow);
  }
  run_.comm.sum(std::span(sums));
  rate_in_ = sums[0];
  leaves_by_outlet_ = sums[1] > 0.0 && sums[3] >= (1.0 - 1e-9) * sums[1];
  if (!flow_.in_time) past_.result.backflow = sums[1] > 0.0 ? sums[2] / sums[1] : 0.0;
  return continuity;
}

/// The limiter's passes go with fronts, and are many where reactions begin; then chemistry.
void TransportInTime::add_work(std::vector<BoxWork>& kinds) const {
  const LimiterWork& limiter = stepper_->limiter_work();
  const std::vector<double> looks(limiter.looks.begin(), limiter.looks.end());
  kinds.push_back({sums_of_boxes(joined_->numbering(), run_.geometry, looks), limiter.seconds});
  if (chemistry_) chemistry_->add_work(joined_->numbering(), kinds);
}

void TransportInTime::step(double dt) {
  const Timer timer("transport");
  try {
    if (flow_.in_time)
      carried_steps(dt);
    else
      one_step(dt);
  } catch (const Error& e) {  // the same on all ranks
    throw CannotGoOn(e.what());
  }
}

/// As many steps as the Courant number asks for in one of the flow, each with the fluxes in its middle; the last one is
/// still to be recorded.
void TransportInTime::carried_steps(double dt) {
  const FluxesInTime& flow = *run_.services.handover.in_time;
  constexpr double middle = 0.5, most_steps = 1e6, round_off = 1e-9;
  const auto take = [&](double part) {
    blend(flow, part, *flow_.faces);
    const FlowContinuity continuity = take_flow(*flow_.faces);
    past_.result.continuity_before = std::max(past_.result.continuity_before, continuity.before);
    past_.result.continuity_after = std::max(past_.result.continuity_after, continuity.after);
  };
  take(middle);
  const double longest = std::min(past_.times.cfl, most_courant) * stepper_->largest_step(), begin = state_.time;
  require(dt <= most_steps * longest,
          "transport: the flow exchanges {:.3g} times the volume of a cell in a step of {:.3g} s; use shorter steps "
          "(time.dt)",
          dt / stepper_->largest_step(), dt);
  for (double done = 0.0, part = 0.0; done < dt; done += part) {
    const double rest = dt - done;
    const double steps =
        std::max(1.0, std::ceil(rest / longest_at(past_.times, begin + done, std::min(longest, dt)) - round_off));
    part = rest / steps;
    if (part < dt) take((done + middle * part) / dt);
    one_step(part);
    past_.carried += rate_in_ * part;
    if (steps == 1.0) return;
    take_line(state_.time / past_.times.end, false);
  }
}

void TransportInTime::one_step(double dt) {
  for (const ComponentDeck& c : deck_.components) {
    if (!c.inlet_table) value_at(c.inlet, state_.time + dt);
    if (c.outlet) value_at(*c.outlet, state_.time + dt);
  }
  if (chemistry_)
    chemistry_->step(*stepper_, state_, dt, report_);
  else
    stepper_->advance(state_, dt, report_);
}

/// With dt = 0: of the state that is there, without amounts.
ComponentLine TransportInTime::line_of(std::size_t i, double dt) const {
  ComponentLine c;
  const double volume = h_ * h_ * h_, none = std::numeric_limits<double>::quiet_NaN();
  const ScalarGrid& grid = stepper_->grid();
  const std::span<const double> values = state_.values[i].span();
  c.outlet = outlet_ >= 0 ? outflow_mean(run_.comm, ends_, values, outlet_) : none;
  if (dt == 0.0) {
    std::array<double, 2> sums{};
    double least = std::numeric_limits<double>::infinity(), largest = -least;
    for (std::int64_t v = 0; v < grid.n_own; ++v) {
      sums[0] += grid.volume[v] * values[v];
      sums[1] += grid.volume[v];
      least = std::min(least, values[v]);
      largest = std::max(largest, values[v]);
    }
    run_.comm.sum(std::span(sums));
    c.mean = sums[0] / sums[1];
    c.least = -run_.comm.max(-least);
    c.largest = run_.comm.max(largest);
    return c;
  }
  const ComponentBalance& b = report_.components[i];
  c.mean = b.content / fluid_volume_;
  c.inflow = b.inflow * volume / dt;
  c.outflow = b.outflow * volume / dt;
  c.wall = b.wall * volume / dt;
  c.made = (b.source - b.decay) * volume / dt;
  c.least = b.least;
  c.largest = b.largest;
  c.imbalance = b.imbalance;
  // Nothing diffuses through the ends: what flowed out, over what carried it, is exact and the mean over the step.
  if (outlet_ >= 0 && leaves_by_outlet_ && past_.result.components[i].closed_ends)
    c.outlet = b.outflow / (rate_in_ * dt);
  return c;
}

/// That have flowed in.
double TransportInTime::pore_volumes(double time) const {
  if (flow_.in_time) return past_.carried * h_ * h_ * h_ / past_.result.pore_volume;
  return past_.result.pore_time > 0.0 ? time / past_.result.pore_time : 0.0;
}

TransportLine TransportInTime::line_at(double time, double dt) const {
  TransportLine line{time, dt, pore_volumes(time), {}};
  const std::size_t n = deck_.components.size();
  for (std::size_t i = 0; i < n; ++i) line.components.push_back(line_of(i, dt));
  const std::vector<double> at = probes_.bounded_values(
      run_.comm, n, [this](std::int32_t unknown, std::size_t i) { return state_.values[i][unknown]; });
  for (std::size_t k = 0; k < at.size(); ++k) line.components[k % n].probes.push_back(at[k]);
  return line;
}

/// Extremes, moments and the states for the chart.
void TransportInTime::follow(const TransportLine& line, double part, bool last) {
  ++past_.result.steps;
  past_.result.dt = std::max(past_.result.dt, line.dt);
  past_.result.implicit_volumes = report_.implicit_volumes;
  past_.result.iterations += report_.low_iterations + report_.high_iterations;
  for (std::size_t i = 0; i < line.components.size(); ++i) {
    const ComponentLine& c = line.components[i];
    ComponentResult& r = past_.result.components[i];
    r.low = state_.range[i].least;
    r.high = state_.range[i].largest;
    r.least = std::min(r.least, c.least);
    r.largest = std::max(r.largest, c.largest);
    r.imbalance = std::max(r.imbalance, c.imbalance);
    if (!flow_.flows || flow_.in_time || outlet_ < 0) continue;
    const double volume_rate = rate_in_ * h_ * h_ * h_;
    past_.at_inlet[i].add(line.time, c.inflow / volume_rate);
    past_.at_outlet[i].add(line.time, c.outlet);
  }
  const auto kept = static_cast<double>(past_.result.states.size());
  if (last ||
      (flow_.in_time ? most_states * part >= kept : past_.result.steps >= std::ceil(n_steps_ / most_states * kept))) {
    past_.result.states.push_back(line);
    if (chemistry_) chemistry_->remember();
  }
}

void TransportInTime::record(const Clock& clock) {
  state_.time = clock.time();  // a sum of steps misses the times that values jump at
  take_line(clock.part(), clock.done());
}

/// The last step into histories, chart and pictures.
void TransportInTime::take_line(double part, bool last) {
  const TransportLine line = line_at(state_.time, report_.step);
  csv_.append(transport_line(line));
  if (chemistry_) {
    see_outlet(line);
    chemistry_->record();
  }
  follow(line, part, last);
  const ComponentLine& first = line.components[0];
  std::string note = fmt::format("t = {}", format_si(line.time, "s"));
  if (line.pore_volumes > 0.0) note += fmt::format(", {:.3g} pore volumes", line.pore_volumes);
  note += std::isfinite(first.outlet) ? fmt::format(", {} at the outlet {:.3g}", deck_.components[0].name, first.outlet)
                                      : fmt::format(", mean of {} {:.3g}", deck_.components[0].name, first.mean);
  if (deck_.animation && part * most_frames >= static_cast<double>(frames_drawn_)) {
    draw_frame();
    frames_drawn_ = static_cast<int>(part * most_frames) + 1;
  }
  const std::string step =
      fmt::format("transport, step {}{}", past_.result.steps, flow_.in_time ? "" : fmt::format(" of {:.0f}", n_steps_));
  run_.services.progress.tell(part, step, note);
  if (part >= next_log_) {
    log_detail("{}: {}; {} + {} iterations, {} faces limited", step, note, report_.low_iterations,
               report_.high_iterations, report_.limited_faces + report_.limited_diffusion);
    next_log_ = part + 1.0 / lines_in_log;
  }
}

}  // namespace karst
