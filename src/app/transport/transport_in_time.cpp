// SPDX-License-Identifier: BSD-3-Clause
// Transport in time as a job under way: what steps (transport_system.hpp), what is recorded (transport_record.hpp,
// recorder.hpp), and the results that are made of both at the end.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "app/deck/clock.hpp"
#include "app/deck/session.hpp"
#include "app/job/run_services.hpp"
#include "app/output/field_view.hpp"
#include "app/output/plot_file.hpp"
#include "app/output/recorder.hpp"
#include "app/output/vof_values.hpp"
#include "app/transport/steady_transport_job.hpp"
#include "app/transport/transport_record.hpp"
#include "app/transport/transport_system.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/text.hpp"
#include "base/math/no_number.hpp"
#include "transport/diffusion/implicit_diffusion.hpp"

namespace karst {

namespace {

constexpr const char* csv_name = "transport.csv";
constexpr double most_pictures = 6.0;  ///< of output times

/// The system, its steps in time, and what is recorded of them.
class TransportInTime final : public Process {
 public:
  explicit TransportInTime(const JobContext& run);
  void begin() override;
  State state() override;
  void go_on(const State& state) override;
  std::string dependencies() const override { return dependencies_of(system_); }
  Recorder* recorder() override { return &recorder_; }
  Clock clock() const override { return Clock(times_); }
  double longest_step() override;
  void step(double dt) override;
  void accept() override { recorder_.release(); }
  void skip(double time) override;
  void go_back() override;
  void record(const Clock& clock) override;
  void at_output(const Clock& clock) override;
  std::vector<JobComponent> fields() override;
  bool flag(const Refinement& rule, AskedBoxes* boxes) override { return flag_boxes(system_, rule, boxes); }
  void add_work(std::vector<BoxWork>& kinds) const override;
  double irregular_cost() const override { return 8.0; }
  JobResult report() override;

 private:
  void begin_times();
  void set_up();
  void carried_steps(double dt);
  void leave_settling(double dt);
  void keep_values_before();
  void record_step(double part, bool last);
  void draw_plumes();
  void leave_animations(JobResult& result);

  WallClock wall_clock_;
  TransportSystem system_;
  TimeOptions times_;
  TransportRecord record_;
  RecordBefore record_before_;
  Recorder recorder_;
  double setup_seconds_ = 0.0;
  // For leave_settling():
  std::vector<Array<double>> before_;         ///< own values after the step before
  std::vector<double> most_, most_before_{};  ///< [component] largest Σ V |c| up to now, and before the last step
};

/// At the end, with the sums in the results: what walls took in the last step, and the mean in its middle. Collective.
WallsInStep walls_at_end(const TransportSystem& system, TransportResult& result) {
  WallsInStep walls = walls_in_step(system);
  for (std::size_t i = 0; i < walls.maps.size(); ++i) {
    const ComponentLine& end = result.states.back().components[i];
    const auto& of_step = system.report.components;  // none where the ground has just changed
    const double mean = i < of_step.size() ? end.mean - 0.5 * of_step[i].stored / system.fluid_volume : end.mean;
    result.components[i].wall = sum_walls(system.run, walls.places, walls.maps[i], walls.laws[i], end.wall, mean);
  }
  return walls;
}

/// How the step from these values has changed them: Σ V |c - before| over the most that Σ V |c| has been, the largest
/// of all components. Collective.
/// @param[in,out] most  of each component
double change_since(const TransportSystem& system, std::span<const Array<double>> before, std::vector<double>& most) {
  const ScalarGrid& grid = system.stepper->grid();
  std::vector<double> sums;
  for (std::size_t i = 0; i < before.size(); ++i) {
    const std::span<const double> now = system.own_values(i);
    sums.push_back(
        parallel_sum(grid.n_own, [&](std::int64_t v) { return grid.volume[v] * std::abs(now[v] - before[i][v]); }));
    sums.push_back(parallel_sum(grid.n_own, [&](std::int64_t v) { return grid.volume[v] * std::abs(now[v]); }));
  }
  system.run.comm.sum(std::span(sums));
  most.resize(before.size(), 0.0);
  double largest = 0.0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    most[i] = std::max(most[i], sums[2 * i + 1]);
    if (sums[2 * i] > 0.0) largest = std::max(largest, most[i] > 0.0 ? sums[2 * i] / most[i] : 1.0);
  }
  return largest;
}

/// That a change takes through the domain: with the flow, or by diffusion from end to end, the slowest mode of which
/// decays in L² / (π² D) [s].
double settling_time(const TransportSystem& system) {
  if (system.numbers.pore_time > 0.0) return system.numbers.pore_time;
  const GridOptions& grid = system.run.grid;
  const double length = system.h * std::max({grid.cells[0], grid.cells[1], grid.cells[2]});
  double diffusivity = 0.0;
  for (const ScalarComponent& c : system.stepper->components()) diffusivity = std::max(diffusivity, c.diffusivity);
  return length * length / (std::numbers::pi * std::numbers::pi * diffusivity * system.h * system.h);
}

/// In which the flow empties a volume, those that are left to implicit steps aside. Chemistry follows its transport in
/// short steps only.
double step_by_flow(const TransportSystem& system) {
  return system.chemistry ? system.stepper->largest_step() : system.stepper->step_of_most();
}

/// Of all components, over the square of the width of the finest cells [1/s].
double largest_diffusivity(const TransportSystem& system) {
  double largest = 0.0;
  for (const ScalarComponent& c : system.stepper->components()) largest = std::max(largest, c.diffusivity);
  return std::ldexp(largest, 2 * (system.run.grid.levels - 1));
}

/// Where steps of a flow that is slow against diffusion would fail, also the shortest that are tried; they grow up to
/// the longest one, which would be known late.
void require_few_sweeps_of(const TransportSystem& system, const TimeOptions& times) {
  constexpr double shortest = 1.0 / 8.0, least_faces = 4.0, grown = 4.0;  // halved three times; of a cell of fluid
  if (times.end < grown * times.dt) return;
  const double dt = shortest * times.dt, exchange = least_faces * largest_diffusivity(system) * dt;
  require_few_sweeps(exchange / (1.0 + exchange), dt);
}

/// The first steps are short where the beginning does not fit what is given on the ends, or diffuses farther than a
/// cell in a long step: it need not fit the walls, or be smooth. Not in a flow in time, which is another one where a
/// run goes on, and its steps have to be the same. Collective.
void begin_short(const TransportSystem& system, TimeOptions& times) {
  std::erase(times.jumps, 0.0);
  if (system.flow.in_time) return;
  if (begins_with_jump(system, times.end) || largest_diffusivity(system) * times.dt > 1.0)
    times.jumps.insert(times.jumps.begin(), 0.0);
}

TimeOptions times_of(const TransportSystem& system) {
  const JobContext& run = system.run;
  const TransportDeck& deck = run.config.transport;
  const bool in_time = system.flow.in_time;
  TimeOptions times =
      in_time ? run.config.time : transport_times(run.config.time, system.numbers.pore_time, step_by_flow(system));
  if (!in_time) require_few_sweeps_of(system, times);
  mistakes_in_time(deck, times.end).finish();
  times.breaks = breaks_of(deck, times.end);
  times.jumps = jumps_of(deck, times.end);
  begin_short(system, times);
  return times;
}

std::vector<Recorder::History> histories_of(const TransportSystem& system) {
  std::vector<Recorder::History> all{{csv_name, transport_header(system.numbers)},
                                     {profiles_csv, profile_header(system)}};
  if (system.chemistry) all.push_back({ReactiveRun::csv_name, system.chemistry->csv_header()});
  return all;
}

/// Hands what flows out, and the state, to the chemistry.
void see_outlet(const TransportLine& line, TransportSystem& system) {
  std::vector<double> outlet;
  for (const ComponentLine& c : line.components) outlet.push_back(c.outlet);
  system.chemistry->see(line.time, line.pore_volumes, outlet, system.state);
}

PlumeScale scale_of(const TransportSystem& system, std::size_t component) {
  const ScalarRange& range = system.state.range[component];
  return {range.least, range.largest, system.numbers.components[component].unit};
}

/// For walls that move.
void leave_pore_volumes(const TransportLine& line, const TransportSystem& system) {
  system.run.services.exchanges.pore_volumes = system.numbers.flows ? line.pore_volumes : no_number;
}

/// Of the state at the beginning.
TransportRecord record_of(TransportSystem& system) {
  const TransportLine start = line_of(system);
  leave_pore_volumes(start, system);
  if (system.chemistry) {
    see_outlet(start, system);
    system.chemistry->remember();
  }
  for (std::size_t i = 0; i < start.components.size(); ++i) {
    const ComponentLine& c = start.components[i];
    ComponentResult& numbers = system.numbers.components[i];
    const bool uniform = c.largest - c.least <= 1e-12 * std::max(std::abs(c.least), std::abs(c.largest));
    const bool one_inlet = !system.run.config.transport.components[i].inlet_of_place;
    numbers.moments_wanted = numbers.conservative && system.has_signals() && uniform && one_inlet;
  }
  return begin_record(start);
}

TransportInTime::TransportInTime(const JobContext& run)
    : system_(run), recorder_(run, "transport", histories_of(system_)) {}

/// With the flow and the first state.
void TransportInTime::begin_times() {
  times_ = times_of(system_);
  record_ = record_of(system_);
}

/// With the times of the run.
void TransportInTime::set_up() {
  if (!system_.flow.in_time) {
    recorder_.expect(system_.run.grid.follows() ? 0.0 : count_steps(times_));  // they go with its cells
    system_.flow.faces.reset();
  }
  keep_values_before();
  setup_seconds_ = wall_clock_.seconds();
}

void TransportInTime::begin() {
  take_flow(*system_.flow.faces, system_);
  begin_times();
  set_up();
  recorder_.append(profiles_csv, profile_lines(system_));
}

State TransportInTime::state() {
  State state = state_of(system_);
  state.numbers["record"] = record_json(record_);
  state.numbers["times"] = {times_.end, times_.dt, times_.output};
  state.numbers["most"] = most_;
  return state;
}

void TransportInTime::go_on(const State& state) {
  take_flow_of(state, system_);
  begin_times();
  fail_together(system_.run.comm, [&] {
    take_record(state.numbers.at("record"), record_);
    const auto times = state.numbers.at("times").get<std::array<double, 3>>();
    times_.end = times[0];
    times_.dt = times[1];
    times_.output = times[2];
    most_ = state.numbers.at("most").get<std::vector<double>>();
  });
  begin_short(system_, times_);
  take_state(state, system_);
  set_up();
}

std::vector<JobComponent> TransportInTime::fields() {
  const Config& config = system_.run.config;
  const bool chemistry = std::ranges::count(config.output.plot, PlotField::chemistry) > 0;
  return asked_of(config, fields_of(system_, chemistry ? Chemistry::included : Chemistry::left_out));
}

/// The limiter's passes go with fronts, and are many where reactions begin; then chemistry.
void TransportInTime::add_work(std::vector<BoxWork>& kinds) const {
  const LimiterWork& limiter = system_.stepper->limiter_work();
  const std::vector<double> looks(limiter.looks.begin(), limiter.looks.end());
  const CompositeNumbering& numbering = *system_.run.ground->numbering();
  kinds.push_back({sums_of_boxes(numbering, system_.run.geometry(), looks), limiter.seconds});
  if (system_.chemistry) system_.chemistry->add_work(numbering, kinds);
}

/// The grid may be another one than that of the first step. In a flow in time any: it makes steps of its own within
/// those of the flow.
double TransportInTime::longest_step() {
  if (system_.flow.in_time) return Process::longest_step();
  return system_.keeps_flow() ? std::min(times_.dt, longest_by_flow(times_, step_by_flow(system_))) : times_.dt;
}

void TransportInTime::step(double dt) try {
  const Timer timer("transport");
  most_before_ = most_;
  keep_state(system_);
  record_before_ = {record_, record_.states.size()};
  recorder_.hold();
  if (system_.run.walls) take_walls_behind(system_.run.services.exchanges.walls_behind, dt, system_);
  if (system_.flow.in_time)
    carried_steps(dt);
  else
    advance(system_, dt);
  if (Exchanges& all = system_.run.services.exchanges; all.is_taken(ExchangeName::wall_rates))
    leave_wall_rates(system_, all);
  leave_settling(dt);
} catch (const Error& e) {  // the same on all ranks
  throw StepFailed(e.what());
}

/// For walls that move, where what is given at the ends stays as it is until the next step that has to be met.
void TransportInTime::leave_settling(double dt) {
  const JobContext& run = system_.run;
  Settling& settling = run.services.exchanges.settling;
  settling = {};
  if (before_.empty()) return;
  const double change = change_since(system_, before_, most_) / dt;
  if (is_constant(run.config.transport, system_.state.time, times_.end))
    settling = {change, settling_time(system_),
                system_.chemistry ? system_.chemistry->longest_skip() : std::numeric_limits<double>::infinity()};
  keep_values_before();
}

void TransportInTime::keep_values_before() {
  const JobContext& run = system_.run;
  if (!run.walls || run.config.walls.standstill == 0.0) return;
  const std::size_t n_own = system_.stepper->grid().n_own;
  while (before_.size() < system_.state.values.size()) before_.emplace_back(n_own, Purpose::fields);
  for (std::size_t i = 0; i < before_.size(); ++i) std::ranges::copy(system_.own_values(i), before_[i].begin());
}

void TransportInTime::skip(double time) {
  if (system_.chemistry) system_.chemistry->skip(time);
}

void TransportInTime::go_back() {
  give_state_back(system_);
  keep_values_before();
  most_ = most_before_;
  static_cast<StepStatistics&>(record_) = record_before_.now;
  record_.states.resize(record_before_.n_states);
  recorder_.drop();
}

/// As many steps as the Courant number asks for in one of the flow, each with the fluxes in its middle; the last one is
/// still to be recorded.
void TransportInTime::carried_steps(double dt) {
  constexpr double middle = 0.5, most_steps = 1e6, round_off = 1e-9;
  const auto take = [&](double part) {
    blend(*system_.run.services.exchanges.flow.in_time, part, *system_.flow.faces);
    take_flow(*system_.flow.faces, system_);
  };
  take(middle);
  const double largest = step_by_flow(system_);
  const double longest = std::min(times_.cfl, most_courant) * largest, begin = system_.state.time;
  require(dt <= most_steps * longest,
          "transport: the flow exchanges {:.3g} times the volume of a cell in a step of {:.3g} s; use shorter steps "
          "(time.dt)",
          dt / largest, dt);
  for (double done = 0.0, part = 0.0; done < dt; done += part) {
    const double rest = dt - done;
    const double steps =
        std::max(1.0, std::ceil(rest / longest_at(times_, begin + done, std::min(longest, dt)) - round_off));
    part = rest / steps;
    if (part < dt) take((done + middle * part) / dt);
    advance(system_, part);
    system_.carried += system_.ends.in * part;
    system_.passed += system_.ends.through * part;
    if (steps == 1.0) return;
    record_step(system_.state.time / times_.end, false);
  }
}

void TransportInTime::record(const Clock& clock) {
  system_.state.time = clock.time();  // a sum of steps misses the times that values jump at
  record_step(clock.part(), clock.done());
  const double drawn = static_cast<double>(record_.output_times.size());
  if (!clock.done() && times_.output <= 0.0 && clock.part() * n_stills >= drawn + 1.0) draw_plumes();
}

/// The last step into histories, charts and pictures.
void TransportInTime::record_step(double part, bool last) {
  const TransportReport& report = system_.report;
  const double h = system_.h;
  const TransportLine line = line_of(system_);
  leave_pore_volumes(line, system_);
  recorder_.append(csv_name, transport_line(system_.numbers, line));
  if (system_.chemistry) {
    if (last) system_.chemistry->count_passed();
    see_outlet(line, system_);
    recorder_.append(ReactiveRun::csv_name, system_.chemistry->csv_line());
  }
  add_step(line, report.low_iterations + report.high_iterations,
           system_.has_signals() ? system_.ends.in * h * h * h : 0.0, record_);
  if (recorder_.take_step(line.time, part, last)) {
    record_.states.push_back(line);
    if (system_.chemistry) system_.chemistry->remember();
  }
  if (system_.run.config.transport.animation && recorder_.frame_due(part)) {
    std::vector<std::string> names;
    for (const ComponentResult& c : system_.numbers.components) names.push_back(concentration_name(c.name));
    recorder_.add_frame(view_of(system_.run, fields_of(system_, Chemistry::left_out)), names, system_.flow.axis);
    recorder_.skip_frames(part);
  }
  const ComponentLine& first = line.components[0];
  const std::string& name = system_.numbers.components[0].name;
  std::string note = fmt::format("t = {}", format_si(line.time, "s"));
  if (line.pore_volumes > 0.0) note += fmt::format(", {:.3g} pore volumes", line.pore_volumes);
  note += std::isfinite(first.outlet) ? fmt::format(", {} at the outlet {:.3g}", name, first.outlet)
                                      : fmt::format(", mean of {} {:.3g}", name, first.mean);
  recorder_.tell(part, note, "",
                 fmt::format("{} + {} iterations, {} faces limited", report.low_iterations, report.high_iterations,
                             report.limited_faces + report.limited_diffusion));
}

void TransportInTime::at_output(const Clock& clock) {
  recorder_.append(profiles_csv, profile_lines(system_));
  const double n_outputs = times_.output > 0.0 ? std::ceil(times_.end / times_.output) - 1.0 : 0.0;
  const auto drawn = static_cast<double>(record_.output_times.size());
  if (clock.outputs() >= n_outputs / most_pictures * (drawn + 1.0)) draw_plumes();
}

void TransportInTime::draw_plumes() {
  const double time = system_.state.time;
  const int axis = system_.flow.axis;
  record_.output_times.push_back(time);
  const FieldView view = view_of(system_.run, fields_of(system_, Chemistry::included));
  if (system_.chemistry) system_.chemistry->take_picture(view, axis, time);
  for (std::size_t i = 0; i < system_.numbers.components.size(); ++i) {
    const std::string& name = system_.numbers.components[i].name;
    const std::string picture =
        plume_picture(system_.run.comm, view, name, axis, scale_of(system_, i), format_si(time, "s"));
    if (!picture.empty()) record_.figures[fmt::format("transport {} {}", name, record_.output_times.size())] = picture;
  }
}

/// At the end.
TransportResult transport_result(const TransportSystem& system, const TransportRecord& record, int steps) {
  TransportResult r = system.numbers;
  r.steps = steps;
  r.dt = record.longest_step;
  r.iterations = record.iterations;
  r.implicit_volumes = system.report.implicit_volumes;
  r.continuity_before = system.continuity.before;
  r.continuity_after = system.continuity.after;
  r.states = record.states;
  r.output_times = record.output_times;
  if (r.in_time) {
    const double section = r.pore_volume / (r.porosity * r.length), h = system.h;
    r.flow_rate = system.flow.darcy_velocity * system.passed * h * h * h / system.state.time;
    r.darcy_velocity = r.flow_rate / section;
  } else {
    r.backflow = system.ends.backflow;
  }
  for (std::size_t i = 0; i < r.components.size(); ++i) {
    ComponentResult& c = r.components[i];
    const ComponentRecord& found = record.components[i];
    c.low = system.state.range[i].least;
    c.high = system.state.range[i].largest;
    c.least = found.least;
    c.largest = found.largest;
    c.imbalance = found.imbalance;
    const bool given_below = record.states.front().components[i].least < 0.0 || found.at_inlet.last() < 0.0;
    c.taken_below_zero = system.stepper->components()[i].source < 0.0 && c.least < 0.0 && !given_below;
    if (c.moments_wanted) c.response = breakthrough(found.at_inlet, found.at_outlet);
    c.inlet = system.has_signals() ? found.at_inlet.last() : no_number;
  }
  return r;
}

/// The end in seconds is that of the first flow, and walls that move change it.
std::vector<std::string> volume_warnings(const TransportSystem& system) {
  constexpr double same = 0.01;
  const double asked = system.run.config.time.end_pore_volumes, came = pore_volumes(system);
  if (!system.run.walls || !(asked > 0.0) || std::abs(came - asked) <= same * asked) return {};
  return {fmt::format(
      "transport: {:.4g} pore volumes have flowed in instead of time.end_pore_volumes = {:.4g}: the run ends "
      "when the flow of the beginning would have brought these, and the walls that move have changed it",
      came, asked)};
}

/// Values fixed on an end are taken where steps begin and end: by how much, in the mean over the run, the middle of
/// both is off the mean over a step, where it is by more than in a smooth beginning or end; relative to what is given.
double unseen_part(const ScalarComponent& component, double step, double end) {
  constexpr double much = 0.2;  // a parabola that begins in a step is off by a sixth
  constexpr double most_looks = 1e4;
  double worst = 0.0;
  for (const ScalarSide& side : component.sides) {
    if (side.kind != ScalarSide::Kind::fixed || !side.value || !side.mean) continue;
    const double looks = std::clamp(std::ceil(end / step), 1.0, most_looks);
    double unseen = 0.0, given = 0.0;
    for (double k = 0.0; k < looks; ++k) {
      const double first = just_after(k * step, step), last = just_before_end(k * step, step);
      const double from = side.value({}, first), to = side.value({}, last), mean = side.mean(first, last);
      const double off = std::abs(mean - 0.5 * (from + to));
      given += std::abs(mean);
      if (off > much * std::max({std::abs(from), std::abs(to), std::abs(mean)})) unseen += off;
    }
    if (given > 0.0) worst = std::max(worst, unseen / given);
  }
  return worst;
}

/// Collective.
Messages places_at_start(const TransportSystem& system, const TransportLine& start) {
  std::vector<ValueSpan> initial;
  for (const ComponentLine& c : start.components) initial.push_back({c.least, c.largest});
  return place_warnings(system.run, initial, system.stepper->grid().boundary, system.flow.inlet());
}

std::vector<std::string> end_warnings(const TransportSystem& system, double longest_step) {
  constexpr double much = 0.02;
  std::vector<std::string> all;
  for (const ScalarComponent& c : system.stepper->components()) {
    const double unseen = longest_step > 0.0 ? unseen_part(c, longest_step, system.state.time) : 0.0;
    if (unseen > much)
      all.push_back(
          fmt::format("transport, {}: the value given on an end changes within steps of {}, which take it where they "
                      "begin and end: {:.3g} % of it are missed; give a shorter time.dt{}",
                      c.name, format_si(longest_step, "s"), 100.0 * unseen,
                      system.flow.flows ? ", or inlet_kind = \"flux\", whose inflow is exact" : ""));
  }
  return all;
}

void add_chemistry_results(const ReactiveRun& chemistry, JobResult& result) {
  result.json.update(chemistry.json());
  result.text += chemistry.text();
  result.headline = chemistry.headline() + result.headline;
  std::ranges::move(chemistry.balances(), std::back_inserter(result.balances));
  result.warnings.add(chemistry.warnings());
  result.files.push_back({ReactiveRun::csv_name, "pH, minerals, elements and charge at every step"});
}

void TransportInTime::leave_animations(JobResult& result) {
  if (!system_.run.config.transport.animation) return;
  result.files.push_back({"animation_*.png", "animation of the plumes, for a browser"});
  for (std::size_t i = 0; i < system_.numbers.components.size(); ++i) {
    const std::string& name = system_.numbers.components[i].name;
    const PlumeScale scale = scale_of(system_, i);
    const PlaneLook look = plume_look(system_.h, scale, fmt::format("0 to {}, animation", format_si(times_.end, "s")));
    recorder_.leave_animation(i, look, fmt::format("animation_{}.png", name),
                              is_uniform(scale) ? "" : fmt::format("transport {} moving", name), result.figures);
  }
}

JobResult TransportInTime::report() {
  const JobContext& run = system_.run;
  system_.before = {};  // fields and pictures need memory, too
  if (system_.chemistry) system_.chemistry->forget_steps();
  recorder_.append(profiles_csv, profile_lines(system_));
  recorder_.close();
  TransportResult numbers = transport_result(system_, record_, recorder_.recorded().steps);
  WallsInStep walls = walls_at_end(system_, numbers);
  JobResult result;
  result.figures = std::move(record_.figures);
  result.text = transport_text(numbers);
  result.headline = transport_headline(numbers);
  result.json = transport_json(numbers);
  result.solves.push_back({"transport", "flux-corrected, gcr", "diagonal", static_cast<int>(numbers.iterations),
                           run.config.transport.tolerance, run.comm.max(setup_seconds_),
                           run.comm.max(wall_clock_.seconds() - setup_seconds_)});
  for (const ComponentResult& c : numbers.components)
    result.balances.push_back({fmt::format("transport_{}_relative", c.name), c.imbalance});
  result.warnings = transport_warnings(numbers);
  std::vector<JobComponent> all = fields_of(system_, Chemistry::included);
  const FieldView view = view_of(run, all);
  if (system_.chemistry) {
    system_.chemistry->take_picture(view, system_.flow.axis, system_.state.time);
    system_.chemistry->draw(result.figures);
    add_chemistry_results(*system_.chemistry, result);
  }
  result.warnings.add(absent_walls(run));
  result.warnings.add(table_warnings(run.config.transport, times_.end));
  if (!numbers.in_time) result.warnings.add(break_warnings(times_));
  result.warnings.add(volume_warnings(system_));
  result.warnings.add(places_at_start(system_, record_.states.front()));
  result.warnings.add(end_warnings(system_, record_.longest_step));
  draw_transport(run.comm, result.json, view, result.figures);
  leave_animations(result);
  result.components = asked_of(run.config, std::move(all));
  result.files.push_back({csv_name, "history of the transport: breakthrough, means, balances"});
  result.files.push_back({profiles_csv, "mean concentrations along the axis at output times"});
  leave_wall(run, walls.places, walls.laws, std::move(walls.maps), result);
  if (numbers.in_time)
    result.time = system_.state.time;  // its plotfiles are those of the flow
  else
    finish_files(run, recorder_.files(), system_.state.time, result);
  return result;
}

}  // namespace

std::unique_ptr<Process> start_transport_in_time(const JobContext& run) {
  return std::make_unique<TransportInTime>(run);
}

}  // namespace karst
