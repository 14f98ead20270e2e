// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>

#include "app/flow_handover.hpp"
#include "app/plot_file.hpp"
#include "app/reactive_run.hpp"
#include "app/run_progress.hpp"
#include "app/session.hpp"
#include "app/solve_store.hpp"
#include "app/steady_transport_job.hpp"
#include "app/transport_past.hpp"
#include "app/transport_setup.hpp"
#include "app/vof_values.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/timer.hpp"
#include "transport/march/transport_stepper.hpp"
#include "transport/scalar_means.hpp"

namespace karst {

namespace {

constexpr const char* csv_name = "transport.csv";
constexpr const char* profile_name = "profiles.csv";
const std::string past_name = "transport" + std::string(so_far);
constexpr double most_states = 400.0;  ///< kept for the chart
constexpr double most_pictures = 6.0;  ///< of output times
constexpr double lines_in_log = 20.0;

class TransportInTime final : public Process {
 public:
  explicit TransportInTime(const JobContext& run);

  Clock clock() const override {
    Clock clock(past_.times);
    clock.advance_to(past_.result.steps);
    return clock;
  }
  void step(double dt) override;
  void record(const Clock& clock) override;
  void at_output(const Clock& clock) override;
  std::vector<JobComponent> fields() override { return asked(components(plots_chemistry())); }
  FilesInTime* files() override { return &past_.files; }
  void keep(const Clock& clock) override;
  void leave() override;
  JobResult report() override;

 private:
  void open_files(bool go_on);
  std::string dependencies() const;
  bool resume();
  VofPlaces places() const { return places_of(run_.geometry, joined_->numbering()); }
  void set_initial(const std::vector<std::shared_ptr<InitialValues>>& initial);
  void start_signals();
  FlowContinuity take_flow(FaceField& faces);
  void carried_steps(double dt);
  void one_step(double dt);
  void take_line(double part, bool last);
  double pore_volumes(double time) const;
  ComponentLine line_of(std::size_t i, double dt) const;
  TransportLine line_at(double time, double dt) const;
  void follow(const TransportLine& line, double part, bool last);
  void write_profiles(double time);
  bool draws(int number) const;
  void draw_plumes(double time, const std::vector<JobComponent>& fields);
  void draw_frame();
  void leave_animations(JobResult& result);
  std::vector<JobComponent> components(bool chemistry) const;
  bool plots_chemistry() const { return std::ranges::count(run_.config.output.plot, PlotField::chemistry) > 0; }
  std::vector<JobComponent> asked(std::vector<JobComponent> components) const;
  std::span<const double> own_values(std::size_t i) const;
  WallMap map_of_wall(std::size_t i) const;
  void finish();
  void add_chemistry_results(JobResult& result);

  const JobContext& run_;
  const TransportDeck& deck_;
  double h_;
  WallClock wall_clock_;
  CarriedBy flow_;
  std::vector<std::vector<ScalarWall>> laws_;  ///< per component and mineral [SI]
  std::optional<TransportStepper> stepper_;
  std::optional<ReactiveRun> chemistry_;
  std::vector<FlowThroughEnd> ends_;
  double rate_in_ = 0.0;           ///< through all ends into the domain [h0³/s]
  bool leaves_by_outlet_ = false;  ///< all that flows out
  double fluid_volume_ = 0.0;      ///< [h0³]
  int outlet_ = -1;                ///< side; -1: the domain is periodic along the axis
  TransportState state_;
  TransportReport report_;
  double n_steps_ = 1.0, setup_seconds_ = 0.0;
  std::shared_ptr<const JoinedCells> joined_;
  TransportPast past_;
  int frames_drawn_ = 0;                               ///< number of the frame to come
  std::vector<WallPlace> places_;                      ///< at the end, with
  std::vector<std::vector<SurfaceLaw>> surface_laws_;  ///< per component and mineral, and
  std::vector<WallMap> maps_;                          ///< per component
  double next_log_ = 0.0;
  std::ofstream csv_, profiles_;  // rank 0
};

TransportInTime::TransportInTime(const JobContext& run)
    : run_(run),
      deck_(run.config.transport),
      h_(run.grid.cell_width()),
      flow_(carried_by(run)),
      laws_(wall_laws(run)),
      joined_(std::make_shared<const JoinedCells>(run.comm, run.geometry, numbering_of(flow_.composite))) {
  TransportOptions options;
  options.tolerance = deck_.tolerance;
  const auto initial = initial_values(run, flow_.outlet());
  stepper_.emplace(flow_.composite, scalar_components(run, flow_, laws_, initial), options);
  outlet_ = flow_.outlet();
  past_.result = transport_numbers(run, flow_);
  const FlowContinuity continuity = take_flow(*flow_.faces);
  if (!flow_.in_time) flow_.faces.reset();
  past_.result.continuity_before = continuity.before;
  past_.result.continuity_after = continuity.after;
  for (std::size_t v = 0; v < static_cast<std::size_t>(stepper_->grid().n_own); ++v)
    fluid_volume_ += stepper_->grid().volume[v];
  fluid_volume_ = run.comm.sum(fluid_volume_);
  past_.times = flow_.in_time ? run.config.time
                              : transport_times(run.config.time, past_.result.pore_time, stepper_->largest_step());
  const std::vector<std::string> wrong = mistakes_in_time(deck_, past_.times.end);
  require(wrong.empty(), "{}", join(wrong, "\n"));
  past_.times.breaks = breaks_of(deck_, past_.times.end);
  if (!flow_.in_time) n_steps_ = count_steps(past_.times);
  set_initial(initial);
  if (run.config.reactive != nullptr) {
    chemistry_.emplace(run, *stepper_).start(state_);
    for (std::size_t i = run.config.reactive->first; i < past_.result.components.size(); ++i)
      past_.result.components[i].conservative = false;
  }
  start_signals();
  past_.files.histories = {csv_name, profile_name};
  if (chemistry_) past_.files.histories.emplace_back(ReactiveRun::csv_name);
  const bool goes_on = resume();
  require(goes_on || !flow_.in_time || run.handover->in_time->time == 0.0,
          "transport: the flow goes on from {:g} s, and there is no state of what it carries at that time; --overwrite "
          "begins at 0",
          run.handover->in_time->time);
  open_files(goes_on);
  setup_seconds_ = wall_clock_.seconds();
}

/// @param go_on  what an earlier run wrote is there
void TransportInTime::open_files(bool go_on) {
  if (run_.comm.rank() == 0 && run_.file) {
    const auto mode = go_on ? std::ios::app : std::ios::trunc;
    csv_.open(run_.file(csv_name), std::ios::out | mode);
    profiles_.open(run_.file(profile_name), std::ios::out | mode);
  }
  if (chemistry_) chemistry_->open(go_on);
  if (go_on) return;
  csv_ << transport_header(deck_.names()) << std::flush;
  profiles_ << "time_s,pore_volumes,position_m";
  for (const std::string& name : deck_.names()) profiles_ << ',' << name;
  profiles_ << '\n';
  write_profiles(0.0);
}

/// Throws Error on all ranks where values are not finite or leave their bounds.
void TransportInTime::set_initial(const std::vector<std::shared_ptr<InitialValues>>& initial) {
  state_ = stepper_->make_state();
  const ScalarGrid& grid = stepper_->grid();
  std::vector<double> values(static_cast<std::size_t>(grid.n_own));
  for (std::size_t i = 0; i < deck_.components.size(); ++i) {
    initial[i]->fill(run_.comm, grid, values);
    require_initial(run_, i, values);
    stepper_->set_values(state_, i, values);
  }
}

void TransportInTime::start_signals() {
  const TransportLine start = line_at(0.0, 0.0);
  past_.result.states.push_back(start);
  if (chemistry_) {
    chemistry_->see(start);
    chemistry_->remember();
  }
  for (std::size_t i = 0; i < deck_.components.size(); ++i) {
    const ComponentLine& c = start.components[i];
    past_.result.components[i].low = c.least;
    past_.result.components[i].high = c.largest;
    past_.result.components[i].least = c.least;
    past_.result.components[i].largest = c.largest;
    past_.result.components[i].moments_wanted =
        flow_.flows && !flow_.in_time && outlet_ >= 0 &&
        c.largest - c.least <= 1e-12 * std::max(std::abs(c.least), std::abs(c.largest));
    past_.at_inlet.emplace_back(c.mean);
    past_.at_outlet.emplace_back(c.mean);
  }
}

/// The flow from now on, and how much of it comes in.
FlowContinuity TransportInTime::take_flow(FaceField& faces) {
  const FlowContinuity continuity = stepper_->set_flow(faces);
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
  const FluxesInTime& flow = *run_.handover->in_time;
  constexpr double middle = 0.5, most_steps = 1e6;
  const auto take = [&](double part) {
    blend(flow, part, *flow_.faces);
    const FlowContinuity continuity = take_flow(*flow_.faces);
    past_.result.continuity_before = std::max(past_.result.continuity_before, continuity.before);
    past_.result.continuity_after = std::max(past_.result.continuity_after, continuity.after);
  };
  take(middle);
  const double steps = std::ceil(dt / (past_.times.cfl * stepper_->largest_step()));
  require(steps <= most_steps,
          "transport: the flow passes on the volume of a cell {:.3g} times in a step of {:.3g} s; give shorter steps "
          "(time.dt)",
          steps * past_.times.cfl, dt);
  const int n = std::max(1, static_cast<int>(steps));
  for (int k = 0; k < n; ++k) {
    if (n > 1) take((k + middle) / n);
    one_step(dt / n);
    past_.carried += rate_in_ * dt / n;
    if (k + 1 < n) take_line(state_.time / past_.times.end, false);
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
    for (std::size_t v = 0; v < static_cast<std::size_t>(grid.n_own); ++v) {
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
  for (std::size_t i = 0; i < deck_.components.size(); ++i) line.components.push_back(line_of(i, dt));
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
  csv_ << transport_line(line) << std::flush;
  if (chemistry_) {
    chemistry_->see(line);
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
  if (run_.progress != nullptr) run_.progress->tell(part, step, note);
  if (part >= next_log_) {
    log_detail("{}: {}; {} + {} iterations, {} faces limited", step, note, report_.low_iterations,
               report_.high_iterations, report_.limited_faces + report_.limited_diffusion);
    next_log_ = part + 1.0 / lines_in_log;
  }
}

void TransportInTime::write_profiles(double time) {
  const int n = run_.grid.cells[flow_.axis];
  std::vector<std::vector<double>> means;
  for (const auto& values : state_.values) means.push_back(layer_means(stepper_->grid(), values.span(), flow_.axis, n));
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(n); ++layer) {
    profiles_ << fmt::format("{:.10g},{:.10g},{:.10g}", time, pore_volumes(time),
                             (static_cast<double>(layer) + 0.5) * h_);
    for (const std::vector<double>& mean : means)
      profiles_ << (std::isfinite(mean[layer]) ? fmt::format(",{:.10g}", mean[layer]) : ",");
    profiles_ << '\n';
  }
  profiles_ << std::flush;
}

/// Whether there are pictures at this output time.
bool TransportInTime::draws(int number) const {
  const double n_outputs = past_.times.output > 0.0 ? std::ceil(past_.times.end / past_.times.output) - 1.0 : 0.0;
  return number >= n_outputs / most_pictures * (past_.outputs_drawn + 1.0);
}

void TransportInTime::draw_plumes(double time, const std::vector<JobComponent>& fields) {
  ++past_.outputs_drawn;
  past_.result.output_times.push_back(time);
  const FieldView view = view_of(run_, fields);
  if (chemistry_) chemistry_->take_picture(view, flow_.axis, time);
  for (const ComponentResult& c : past_.result.components) {
    const std::string picture = plume_picture(run_.comm, view, c.name, flow_.axis, c.low, c.high, format_si(time, "s"));
    if (!picture.empty())
      past_.figures[fmt::format("transport {} {}", c.name, past_.result.output_times.size())] = picture;
  }
}

/// Of all components, for their moving pictures.
void TransportInTime::draw_frame() {
  const FieldView view = view_of(run_, components(false));
  past_.frames.resize(past_.result.components.size());
  for (std::size_t i = 0; i < past_.frames.size(); ++i)
    if (const auto place = view.find(concentration_name(past_.result.components[i].name)))
      past_.frames[i].add(middle_plane(run_.comm, view, {&*place, 1}, across(view.cells, flow_.axis)));
}

/// On rank 0 files and figures of what has moved.
void TransportInTime::leave_animations(JobResult& result) {
  if (!deck_.animation || !run_.file) return;
  result.files.push_back({"animation_*.png", "the plumes, moving; for a browser"});
  if (run_.comm.rank() != 0) return;
  for (std::size_t i = 0; i < past_.frames.size(); ++i) {
    const ComponentResult& c = past_.result.components[i];
    const PlaneLook look = plume_look(view_of(run_, {}).cell_width, c.low, c.high,
                                      fmt::format("0 to {}, moving", format_si(past_.times.end, "s")));
    past_.figures[fmt::format("transport {} moving", c.name)] = moving_figure(past_.frames[i], look);
    std::ofstream file(run_.file(fmt::format("animation_{}.png", c.name)), std::ios::binary);
    file << moving_picture(past_.frames[i], look.low, look.high);
  }
}

void TransportInTime::at_output(const Clock& clock) {
  write_profiles(clock.time());
  if (draws(clock.outputs())) draw_plumes(clock.time(), components(true));
}

std::string TransportInTime::dependencies() const {
  std::string all = run_.solved->dependencies("transport", run_.geometry, h_);
  if (chemistry_) all += fmt::format("database {:016x}\n", run_.config.reactive->database);
  return all;
}

void TransportInTime::keep(const Clock&) {
  if (run_.solved == nullptr || !run_.file) return;
  past_.range = state_.range;
  past_.time = state_.time;
  csv_.flush();
  profiles_.flush();
  try {
    keep_files(run_, past_.files);
  } catch (const Error& e) {
    return log_info("transport: its state is not kept for --resume: {}", e.what());
  }
  std::vector<VofValues> fields;
  for (std::size_t i = 0; i < state_.values.size(); ++i)
    fields.push_back({concentration_name(deck_.components[i].name), 1, own_values(i)});
  std::vector<ReactiveRun::Rows> rows;
  if (chemistry_) {
    past_.chemistry = chemistry_->past();
    rows = chemistry_->rows();
  }
  for (const ReactiveRun::Rows& r : rows) fields.push_back({r.name, r.width, std::span<const double>(r.values)});
  const Json result{
      {"solve", past_name}, {"steps", past_.result.steps}, {"time_s", state_.time}, {"end_s", past_.times.end}};
  run_.solved->save(past_name, dependencies(), {result.dump(), past_json(past_)}, places(), fields);
}

/// Goes on from what an earlier run has kept, when there is something that fits.
bool TransportInTime::resume() {
  if (run_.solved == nullptr || !run_.file) return false;
  std::vector<std::vector<double>> values(state_.values.size(), std::vector<double>(own_values(0).size()));
  TransportPast past = past_;
  ReactiveRun::Memory reactions;
  const auto found = run_.solved->load(past_name, dependencies(), [&](const VofFile& file) {
    take_past(Json::parse(file.text()).at("state").dump(), past);
    require(!flow_.in_time || past.time == run_.handover->in_time->time,
            "it is of the time {:g} s, and the flow goes on from {:g} s", past.time, run_.handover->in_time->time);
    for (std::size_t i = 0; i < values.size(); ++i)
      file.read(concentration_name(deck_.components[i].name), places(), 1, std::span(values[i]));
    if (chemistry_) reactions = chemistry_->read(past.chemistry, file, places());
    bring_files(run_, past.files);
  });
  if (!found) return false;
  past_ = std::move(past);
  for (std::size_t i = 0; i < values.size(); ++i) stepper_->set_values(state_, i, values[i]);
  state_.range = past_.range;
  if (chemistry_) chemistry_->go_on(std::move(reactions), state_);
  if (!flow_.in_time) n_steps_ = count_steps(past_.times);
  state_.time = past_.time;
  frames_drawn_ = static_cast<int>(state_.time / past_.times.end * most_frames) + 1;
  log_info("transport goes on after step {}, at {}", past_.result.steps, format_si(state_.time, "s"));
  return true;
}

void TransportInTime::leave() {
  csv_.close();
  profiles_.close();
  if (chemistry_) chemistry_->close();
}

/// @param chemistry  with its fields, which take a speciation per cell
std::vector<JobComponent> TransportInTime::components(bool chemistry) const {
  std::vector<JobComponent> all;
  for (std::size_t i = 0; i < state_.values.size(); ++i)
    all.push_back(concentration_field(run_, joined_, deck_.components[i].name, own_values(i)));
  if (chemistry_ && chemistry) std::ranges::move(chemistry_->fields(state_, joined_), std::back_inserter(all));
  return all;
}

std::vector<JobComponent> TransportInTime::asked(std::vector<JobComponent> components) const {
  std::erase_if(components,
                [&](const JobComponent& c) { return std::ranges::count(run_.config.output.plot, c.field) == 0; });
  return components;
}

std::span<const double> TransportInTime::own_values(std::size_t i) const {
  return state_.values[i].span().first(stepper_->grid().n_own);
}

/// Of the last step.
WallMap TransportInTime::map_of_wall(std::size_t i) const {
  const std::span<const double> amounts = stepper_->wall_amounts(i);
  std::vector<double> flux(places_.size(), 0.0);
  for (std::size_t n = 0; n < places_.size() && !amounts.empty(); ++n)
    flux[n] = h_ * amounts[places_[n].unknown] / (report_.step * places_[n].area);
  return wall_map(run_, places_, deck_.components[i], surface_laws_[i], flux, own_values(i));
}

void TransportInTime::finish() {
  csv_.close();
  if (flow_.in_time) {
    TransportResult& r = past_.result;
    r.darcy_velocity = flow_.darcy_velocity * pore_volumes(state_.time) * r.porosity * r.length / state_.time;
    r.flow_rate = r.darcy_velocity * r.pore_volume / (r.porosity * r.length);
  }
  places_ = wall_places(run_.geometry, *numbering_of(flow_.composite));
  surface_laws_ = surface_laws(run_);
  write_profiles(past_.result.states.back().time);
  profiles_.close();
  for (std::size_t i = 0; i < past_.result.components.size(); ++i) {
    ComponentResult& c = past_.result.components[i];
    if (c.moments_wanted) c.response = breakthrough(past_.at_inlet[i], past_.at_outlet[i]);
    c.inlet = flow_.flows && !flow_.in_time && outlet_ >= 0 ? past_.at_inlet[i].last()
                                                            : std::numeric_limits<double>::quiet_NaN();
    const ComponentLine& end = past_.result.states.back().components[i];
    maps_.push_back(map_of_wall(i));
    c.wall = sum_walls(run_, places_, maps_.back(), surface_laws_[i], end.wall, end.mean);
  }
}

void TransportInTime::add_chemistry_results(JobResult& result) {
  chemistry_->close();
  Json json = Json::parse(result.json);
  json.update(Json::parse(chemistry_->json()));
  result.json = json.dump();
  result.text += chemistry_->text();
  result.headline = chemistry_->headline() + result.headline;
  std::ranges::move(chemistry_->balances(), std::back_inserter(result.balances));
  std::ranges::move(chemistry_->warnings(), std::back_inserter(result.warnings));
  result.files.push_back({ReactiveRun::csv_name, "pH, minerals, elements and charge step by step"});
}

JobResult TransportInTime::report() {
  finish();
  JobResult result;
  result.text = transport_text(past_.result);
  result.headline = transport_headline(past_.result);
  result.json = transport_json(past_.result);
  result.solves.push_back({"transport", "flux-corrected, gcr", "diagonal", static_cast<int>(past_.result.iterations),
                           deck_.tolerance, run_.comm.max(setup_seconds_),
                           run_.comm.max(wall_clock_.seconds() - setup_seconds_)});
  for (const ComponentResult& c : past_.result.components)
    result.balances.push_back({fmt::format("transport_{}_relative", c.name), c.imbalance});
  result.warnings = transport_warnings(past_.result);
  std::vector<JobComponent> all = components(true);
  const FieldView view = view_of(run_, all);
  if (chemistry_) {
    chemistry_->take_picture(view, flow_.axis, state_.time);
    chemistry_->draw(past_.figures);
    add_chemistry_results(result);
  }
  if (!flow_.in_time) std::ranges::move(break_warnings(past_.times), std::back_inserter(result.warnings));
  draw_transport(run_.comm, Json::parse(result.json), view, past_.figures);
  leave_animations(result);
  result.figures = std::move(past_.figures);
  result.components = asked(std::move(all));
  result.files.push_back({csv_name, "the transport step by step: breakthrough, means, balances"});
  result.files.push_back({profile_name, "mean concentrations along the axis at output times"});
  leave_wall(run_, places_, surface_laws_, std::move(maps_), result);
  if (flow_.in_time)
    result.time = state_.time;  // its plotfiles are those of the flow
  else
    finish_files(run_, past_.files, state_.time, result);
  return result;
}

}  // namespace

Job transport_job() {
  return {"transport",
          "[[transport.component]] and [time]: transport of dissolved components in time, breakthrough; with "
          "transport.mode "
          "= \"steady\": their steady state",
          [](const Config& config) { return config.transport.asked(); },
          transport_mistakes,
          [](const JobContext& context) -> std::unique_ptr<Process> {
            if (context.config.transport.steady()) return one_step(context, steady_transport);
            return std::make_unique<TransportInTime>(context);
          },
          draw_transport,
          transport_page,
          plan_transport,
          transport_setup_work,
          transport_pace,
          {.setup = 4e-6, .iteration = 0.4e-6},
          false,
          [](const Config& config) {
            return static_cast<int>(std::ranges::count(config.output.plot, PlotField::concentration)) *
                       static_cast<int>(config.transport.components.size()) +
                   static_cast<int>(std::ranges::count(config.output.plot, PlotField::chemistry)) *
                       static_cast<int>(1 + 2 * config.chemistry.minerals.size() + config.chemistry.species.size());
          },
          true,
          [](const Config& config) { return config.transport.asked() && is_in_time(config.flow.model); }};
}

}  // namespace karst
