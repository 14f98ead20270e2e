// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/flow_handover.hpp"
#include "app/plot_file.hpp"
#include "app/reactive_run.hpp"
#include "app/run_progress.hpp"
#include "app/session.hpp"
#include "app/steady_transport_job.hpp"
#include "app/transport_setup.hpp"
#include "app/vof_values.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/timer.hpp"
#include "transport/march/transport_stepper.hpp"
#include "transport/scalar_means.hpp"

namespace karst {

namespace {

constexpr const char* csv_name = "transport.csv";
constexpr const char* profile_name = "profiles.csv";
constexpr double most_states = 400.0;  ///< kept for the chart
constexpr double most_pictures = 6.0;  ///< of output times
constexpr double lines_in_log = 20.0;

class TransportInTime final : public Process {
 public:
  explicit TransportInTime(const JobContext& run);

  Clock clock() const override { return Clock(times_); }
  void step(double dt) override;
  void record(const Clock& clock) override;
  void write_output(int number) override;
  void leave() override;
  JobResult report() override;

 private:
  void open_files();
  void set_initial(const std::vector<std::shared_ptr<InitialValues>>& initial);
  void start_signals();
  ComponentLine line_of(std::size_t i, double dt) const;
  TransportLine line_at(double time, double dt) const;
  void follow(const TransportLine& line, const Clock& clock);
  void write_profiles(double time);
  void draw_plumes(int number, double time);
  std::vector<JobComponent> components() const;
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
  std::vector<EndFlow> ends_;
  double rate_in_ = 0.0;       ///< through all ends into the domain [h0³/s]
  double fluid_volume_ = 0.0;  ///< [h0³]
  int outlet_ = -1;            ///< side; -1: the domain is periodic along the axis
  TransportState state_;
  TransportReport report_;
  TimeOptions times_;
  double n_steps_ = 1.0, setup_seconds_ = 0.0;
  std::shared_ptr<const JoinedCells> joined_;
  TransportResult result_;
  std::vector<WallPlace> places_;                      ///< at the end, with
  std::vector<std::vector<SurfaceLaw>> surface_laws_;  ///< per component and mineral, and
  std::vector<WallMap> maps_;                          ///< per component
  std::vector<SignalMoments> at_inlet_, at_outlet_;
  std::vector<std::string> outputs_;
  double outputs_drawn_ = 0.0;
  double next_log_ = 0.0;
  Figures figures_;
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
  const FlowContinuity continuity = stepper_->set_flow(*flow_.faces);
  ends_ = end_flows(stepper_->grid(), stepper_->flow());
  flow_.faces.reset();
  result_ = transport_numbers(run, flow_);
  result_.continuity_before = continuity.before;
  result_.continuity_after = continuity.after;
  outlet_ = flow_.outlet();
  std::array<double, 3> sums{};  // in, out, in through the outlet
  for (const EndFlow& f : ends_) {
    sums[f.flow < 0.0 ? 0 : 1] += std::abs(f.flow);
    if (f.flow < 0.0 && f.side == outlet_) sums[2] -= f.flow;
  }
  run.comm.sum(std::span(sums));
  for (std::size_t v = 0; v < static_cast<std::size_t>(stepper_->grid().n_own); ++v)
    fluid_volume_ += stepper_->grid().volume[v];
  fluid_volume_ = run.comm.sum(fluid_volume_);
  rate_in_ = sums[0];
  result_.backflow = sums[1] > 0.0 ? sums[2] / sums[1] : 0.0;
  times_ = transport_times(run.config.time, result_.pore_time, stepper_->largest_step());
  const std::vector<std::string> wrong = mistakes_in_time(deck_, times_.end);
  require(wrong.empty(), "{}", join(wrong, "\n"));
  times_.breaks = breaks_of(deck_, times_.end);
  n_steps_ = count_steps(times_);
  set_initial(initial);
  if (run.config.reactive != nullptr) {
    chemistry_.emplace(run, *stepper_).start(state_);
    for (std::size_t i = run.config.reactive->first; i < result_.components.size(); ++i)
      result_.components[i].conservative = false;
  }
  start_signals();
  open_files();
  setup_seconds_ = wall_clock_.seconds();
}

void TransportInTime::open_files() {
  if (run_.comm.rank() == 0 && run_.file) {
    csv_.open(run_.file(csv_name));
    profiles_.open(run_.file(profile_name));
  }
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
  result_.states.push_back(start);
  for (std::size_t i = 0; i < deck_.components.size(); ++i) {
    const ComponentLine& c = start.components[i];
    result_.components[i].low = c.least;
    result_.components[i].high = c.largest;
    result_.components[i].least = c.least;
    result_.components[i].largest = c.largest;
    result_.components[i].moments_wanted =
        flow_.flows && outlet_ >= 0 && c.largest - c.least <= 1e-12 * std::max(std::abs(c.least), std::abs(c.largest));
    at_inlet_.emplace_back(c.mean);
    at_outlet_.emplace_back(c.mean);
  }
}

void TransportInTime::step(double dt) {
  const Timer timer("transport");
  try {
    for (const ComponentDeck& c : deck_.components) {
      if (!c.inlet_table) value_at(c.inlet, state_.time + dt);
      if (c.outlet) value_at(*c.outlet, state_.time + dt);
    }
    stepper_->advance(state_, dt, report_);
    if (chemistry_) chemistry_->react(*stepper_, state_, report_);
  } catch (const Error&) {  // the same on all ranks
    leave();
    throw;
  }
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
  if (outlet_ >= 0 && flow_.flows && result_.components[i].closed_ends) c.outlet = b.outflow / (rate_in_ * dt);
  return c;
}

TransportLine TransportInTime::line_at(double time, double dt) const {
  TransportLine line{time, dt, result_.pore_time > 0.0 ? time / result_.pore_time : 0.0, {}};
  for (std::size_t i = 0; i < deck_.components.size(); ++i) line.components.push_back(line_of(i, dt));
  return line;
}

/// Extremes, moments and the states for the chart.
void TransportInTime::follow(const TransportLine& line, const Clock& clock) {
  ++result_.steps;
  result_.dt = std::max(result_.dt, line.dt);
  result_.implicit_volumes = report_.implicit_volumes;
  result_.iterations += report_.low_iterations + report_.high_iterations;
  for (std::size_t i = 0; i < line.components.size(); ++i) {
    const ComponentLine& c = line.components[i];
    ComponentResult& r = result_.components[i];
    r.low = state_.range[i].least;
    r.high = state_.range[i].largest;
    r.least = std::min(r.least, c.least);
    r.largest = std::max(r.largest, c.largest);
    r.imbalance = std::max(r.imbalance, c.imbalance);
    if (!flow_.flows || outlet_ < 0) continue;
    const double volume_rate = rate_in_ * h_ * h_ * h_;
    at_inlet_[i].add(line.time, c.inflow / volume_rate);
    at_outlet_[i].add(line.time, c.outlet);
  }
  if (result_.steps >= std::ceil(n_steps_ / most_states * static_cast<double>(result_.states.size())) || clock.done())
    result_.states.push_back(line);
}

void TransportInTime::record(const Clock& clock) {
  state_.time = clock.time();  // a sum of steps misses the times that values jump at
  const TransportLine line = line_at(clock.time(), report_.step);
  csv_ << transport_line(line) << std::flush;
  if (chemistry_) chemistry_->record(clock.time());
  follow(line, clock);
  const ComponentLine& first = line.components[0];
  std::string note = fmt::format("t = {}", format_si(line.time, "s"));
  if (line.pore_volumes > 0.0) note += fmt::format(", {:.3g} pore volumes", line.pore_volumes);
  note += std::isfinite(first.outlet) ? fmt::format(", {} at the outlet {:.3g}", deck_.components[0].name, first.outlet)
                                      : fmt::format(", mean of {} {:.3g}", deck_.components[0].name, first.mean);
  if (run_.progress != nullptr)
    run_.progress->tell(clock.part(), fmt::format("transport, step {} of {:.0f}", result_.steps, n_steps_), note);
  if (clock.part() >= next_log_) {
    log_detail("transport, step {} of {:.0f}: {}; {} + {} iterations, {} faces limited", result_.steps, n_steps_, note,
               report_.low_iterations, report_.high_iterations, report_.limited_faces + report_.limited_diffusion);
    next_log_ = clock.part() + 1.0 / lines_in_log;
  }
}

void TransportInTime::write_profiles(double time) {
  const int n = run_.grid.cells[flow_.axis];
  std::vector<std::vector<double>> means;
  for (const auto& values : state_.values) means.push_back(layer_means(stepper_->grid(), values.span(), flow_.axis, n));
  for (std::size_t layer = 0; layer < static_cast<std::size_t>(n); ++layer) {
    profiles_ << fmt::format("{:.10g},{:.10g},{:.10g}", time, result_.pore_time > 0.0 ? time / result_.pore_time : 0.0,
                             (static_cast<double>(layer) + 0.5) * h_);
    for (const std::vector<double>& mean : means)
      profiles_ << (std::isfinite(mean[layer]) ? fmt::format(",{:.10g}", mean[layer]) : ",");
    profiles_ << '\n';
  }
  profiles_ << std::flush;
}

void TransportInTime::draw_plumes(int number, double time) {
  const double n_outputs = times_.output > 0.0 ? std::ceil(times_.end / times_.output) - 1.0 : 0.0;
  if (number < n_outputs / most_pictures * (outputs_drawn_ + 1.0)) return;
  ++outputs_drawn_;
  result_.output_times.push_back(time);
  const FieldView view = view_of(run_, components());
  for (const ComponentResult& c : result_.components) {
    const std::string picture = plume_picture(run_.comm, view, c.name, flow_.axis, c.low, c.high, format_si(time, "s"));
    if (!picture.empty()) figures_[fmt::format("transport {} {}", c.name, result_.output_times.size())] = picture;
  }
}

void TransportInTime::write_output(int number) {
  write_profiles(number * times_.output);
  draw_plumes(number, number * times_.output);
  if (!run_.plot) return;
  outputs_.push_back(fmt::format("output_{:04}.vtkhdf", number));
  run_.plot(outputs_.back(), asked(components()));
}

void TransportInTime::leave() {
  csv_.close();
  profiles_.close();
  if (!run_.plot || run_.left == nullptr) return;
  run_.plot("plot.vtkhdf", asked(components()));
  for (const char* name : {csv_name, profile_name, "plot.vtkhdf"}) run_.left->emplace_back(name);
  run_.left->insert(run_.left->end(), outputs_.begin(), outputs_.end());
}

std::vector<JobComponent> TransportInTime::components() const {
  std::vector<JobComponent> all;
  for (std::size_t i = 0; i < state_.values.size(); ++i)
    all.push_back(concentration_field(run_, joined_, deck_.components[i].name, own_values(i)));
  if (chemistry_) std::ranges::move(chemistry_->fields(state_, joined_), std::back_inserter(all));
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
  places_ = wall_places(run_.geometry, *numbering_of(flow_.composite));
  surface_laws_ = surface_laws(run_);
  write_profiles(result_.states.back().time);
  profiles_.close();
  for (std::size_t i = 0; i < result_.components.size(); ++i) {
    ComponentResult& c = result_.components[i];
    if (c.moments_wanted) c.response = breakthrough(at_inlet_[i], at_outlet_[i]);
    c.inlet = flow_.flows && outlet_ >= 0 ? at_inlet_[i].last() : std::numeric_limits<double>::quiet_NaN();
    const ComponentLine& end = result_.states.back().components[i];
    maps_.push_back(map_of_wall(i));
    c.wall = sum_walls(run_, places_, maps_.back(), surface_laws_[i], end.wall, end.mean);
  }
}

void TransportInTime::add_chemistry_results(JobResult& result) {
  chemistry_->close();
  nlohmann::ordered_json json = nlohmann::ordered_json::parse(result.json);
  json.update(nlohmann::ordered_json::parse(chemistry_->json()));
  result.json = json.dump();
  result.text += chemistry_->text();
  std::ranges::move(chemistry_->balances(), std::back_inserter(result.balances));
  std::ranges::move(chemistry_->warnings(), std::back_inserter(result.warnings));
  result.files.push_back({ReactiveRun::csv_name, "minerals, elements and charge step by step"});
}

JobResult TransportInTime::report() {
  finish();
  JobResult result;
  result.text = transport_text(result_);
  result.headline = transport_headline(result_);
  result.json = transport_json(result_);
  result.solves.push_back({"transport", "flux-corrected, gcr", "diagonal", static_cast<int>(result_.iterations),
                           deck_.tolerance, run_.comm.max(setup_seconds_),
                           run_.comm.max(wall_clock_.seconds() - setup_seconds_)});
  for (const ComponentResult& c : result_.components)
    result.balances.push_back({fmt::format("transport_{}_relative", c.name), c.imbalance});
  result.warnings = transport_warnings(result_);
  if (chemistry_) add_chemistry_results(result);
  std::ranges::move(break_warnings(times_), std::back_inserter(result.warnings));
  std::vector<JobComponent> all = components();
  draw_transport(run_.comm, nlohmann::ordered_json::parse(result.json), view_of(run_, all), figures_);
  result.figures = std::move(figures_);
  result.components = asked(std::move(all));
  result.files.push_back({csv_name, "the transport step by step: breakthrough, means, balances"});
  result.files.push_back({profile_name, "mean concentrations along the axis at output times"});
  leave_wall(run_, places_, surface_laws_, std::move(maps_), result);
  if (!outputs_.empty()) result.files.push_back({"output_*.vtkhdf", "the fields at the output times of [time]"});
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
          true};
}

}  // namespace karst
