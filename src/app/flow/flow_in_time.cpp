// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_in_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "app/deck/session.hpp"
#include "app/flow/drive_in_time.hpp"
#include "app/flow/end_flow_job.hpp"
#include "app/flow/flow_job.hpp"
#include "app/flow/flow_past.hpp"
#include "app/flow/start_file.hpp"
#include "app/job/run_services.hpp"
#include "app/output/kept_flow.hpp"
#include "app/output/moving_picture.hpp"
#include "app/output/plot_file.hpp"
#include "app/output/slices.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/heap.hpp"
#include "base/core/text.hpp"
#include "base/file/growing_file.hpp"
#include "base/file/json.hpp"
#include "base/file/log.hpp"
#include "ins/solve/steady_approach.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "ins/upscale/end_flow.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

namespace {

const std::string past_name = "flow" + std::string(checkpoint_suffix);
constexpr const char *history_name = "history.csv", *animation_name = "animation_speed.png";
constexpr double most_states = 400.0;  ///< kept for the chart
constexpr double most_growth = 1.5;    ///< from one step to the next
constexpr double worth_growing = 1.2;  ///< new lengths of a step cost new multigrids
constexpr double part_of_most = 0.9;   ///< of the largest CFL number that a step may have

/// @param gradient  of the drive along the axis, at the end of the step [Pa/m]
FlowState state_of(const StepReport& step, double time, double gradient, int axis, const Index& cells,
                   const FlowUnits& units) {
  const double velocity = units.velocity();
  FlowState s;
  s.time = time;
  s.dt = step.dt * units.time();
  s.cfl = step.cfl;
  s.gradient = gradient;
  s.darcy_velocity = velocity * step.velocity;
  s.flow_rate = s.darcy_velocity[axis] * units.h * units.h * (double{1} * cells[0] * cells[1] * cells[2] / cells[axis]);
  s.kinetic_energy = units.fluid.density * velocity * velocity * step.kinetic_energy;
  s.power = s.gradient * s.darcy_velocity[axis];
  const double unit = units.gradient * velocity;
  s.dissipation = unit * step.energy.dissipation;
  s.growth = unit * step.energy.growth;
  s.time_scheme = unit * step.energy.time_scheme;
  s.advection = unit * step.energy.advection;
  s.pressure_coupling = s.power - unit * step.energy.work;
  s.largest_speed = velocity * step.largest_speed;
  s.divergence = step.divergence;
  s.iterations = step.iterations;
  return s;
}

/// Length of the steps of a flow with inertia: that of the CFL number which is asked for, or time.dt where that leads,
/// as long as it stays below what a step may have.
struct StepLength {
  double longest = std::numeric_limits<double>::infinity();  ///< of the steps from here on [s]
  int failures = 0;                                          ///< of steps

  /// Where the drive sets in or jumps.
  void set_in(const DriveInTime& drive) {
    if (drive.times().cfl_leads) longest = std::min(longest, drive.first_step());
  }
  /// @param outflow  largest part of its volume that a cell passes on in a second, as of the last step
  void follow(double outflow, const TimeOptions& time) {
    const double cfl = time.cfl_leads ? time.cfl : part_of_most * UnsteadySolver::most_cfl;
    const double wanted = outflow > 0.0 ? cfl / outflow : longest;
    if (wanted < longest)
      longest = wanted;
    else if (wanted > worth_growing * longest)
      longest = std::min(wanted, most_growth * longest);
    if (time.dt > 0.0) longest = std::min(longest, time.dt);
  }
  void failed(double dt) {
    longest = 0.5 * dt;
    ++failures;
  }
};

/// Leaves the flow of flow.start or flow.start_file in the solver; at rest, that which an inlet sets in motion at once.
/// Collective.
void begin_flow(const JobContext& run, StokesSolver& stokes, UnsteadySolver& solver, const DriveInTime& in_time,
                const FlowUnits& units) {
  const FlowOptions& options = run.config.flow;
  if (options.start == FlowStart::rest && options.start_file.empty()) {
    if (in_time.starts_at_once()) solver.jump(in_time.after(0.0, stokes.op()));
    return;
  }
  const StokesDrive drive = in_time.at(0.0, stokes.op());
  if (!options.start_file.empty()) {
    read_start(run, units, stokes);
    return solver.begin_near(drive);
  }
  stokes.solve(drive);
  if (options.start == FlowStart::steady) {
    SteadyOptions steady_options;
    steady_options.tolerance = options.tolerance;
    SteadySolver steady(stokes, steady_options);
    const auto nothing = [](double, const SteadyReport&) {};
    const SteadyApproach all = approach(steady, drive, 0.0, units.inertia(), nothing, "start");
    require(all.reached, "flow.start: no steady flow was found for this driving force; write \"stokes\" or \"rest\"");
  }
  solver.begin_here(drive);
}

std::vector<std::string> warnings_of(const JobContext& run, const FlowHistory& history, const StepLength& steps,
                                     double largest_velocity) {
  std::vector<std::string> found;
  const char* axis = axis_names[history.axis];
  if (steps.failures > 0)
    found.push_back(fmt::format("flow {}: {} steps failed and were repeated with half the step length: see {}", axis,
                                steps.failures, history_name));
  if (history.inertia) return found;
  // 4 / surface: hydraulic diameter / porosity
  const double surface = run.geometry.report.specific_surface / run.grid.cell_width();
  const FluidOptions& fluid = run.config.fluid;
  const double reynolds = surface > 0.0 ? fluid.density * largest_velocity * 4.0 / surface / fluid.viscosity : 0.0;
  if (reynolds > largest_creeping_reynolds)
    found.push_back(
        fmt::format("flow {}: largest Reynolds number {:.3g}: inertia matters there, which creeping flow neglects, so "
                    "the velocities are too large; use flow.model = \"navier-stokes\"",
                    axis, reynolds));
  return found;
}

/// Of no step yet.
FlowHistory history_of(const JobContext& run, const DriveInTime& drive) {
  const FlowOptions& options = run.config.flow;
  FlowHistory history;
  history.inertia = options.model == FlowModel::navier_stokes;
  history.axis = options.axes.at(0);
  history.viscosity = run.config.fluid.viscosity;
  const bool periodic = run.geometry.grid.levels[0].layout.domain().periodic[history.axis];
  history.boundaries = drive.has_inlet()       ? "inlet"
                       : !options.lids.empty() ? "lids"
                       : periodic              ? "periodic"
                                               : "pressures";
  history.forces = {options, run.config.fluid, {}};
  history.probes = run.config.output.probes;
  return history;
}

PlaneLook speed_look(const PlaneFrames& frames, double cell_width, double begin, double end) {
  double most = 0.0;
  for (const std::vector<float>& values : frames.values)
    for (const float v : values)
      if (std::isfinite(v)) most = std::max(most, double{v});
  const ScaledUnit unit = scaled_unit(most, "m/s");
  PlaneLook look;
  look.high = most > 0.0 ? most : 1.0;
  look.quantity = fmt::format("speed [{}]", unit.name);
  look.unit = unit.factor;
  look.cell_width = cell_width;
  look.caption = fmt::format("Speed in the plane in the middle of {}, {} to {}, animation",
                             axis_names[frames.plane.direction], format_si(begin, "s"), format_si(end, "s"));
  return look;
}

void add_step(FlowHistory& history, const FlowState& s) {
  ++history.steps;
  history.iterations += s.iterations;
  history.time.push_back(s.time);
  history.velocity.push_back(s.darcy_velocity[history.axis]);
  history.gradient.push_back(s.gradient);
  history.forces.add(s.forces);
}

class FlowInTime final : public Process {
 public:
  explicit FlowInTime(const JobContext& run)
      : run_(run),
        options_(run.config.flow),
        drive_(run),
        axis_(options_.axes.at(0)),
        units_(drive_.units()),
        stokes_(std::in_place, run.comm, run.geometry, drive_.sides(), solve_options()),
        joined_(std::make_shared<const JoinedCells>(run.comm, run.geometry, numbering_of(stokes_->op().composite()))),
        body_of_(body_of(options_.bodies, run.geometry.report)),
        probes_(flow_probes(run, stokes_->op())) {
    check_flow_cells(stokes_->op().counts(), "unsteady flow");
    past_.history = history_of(run, drive_);
    past_.files.histories = {history_name};
    const TimeOptions& times = drive_.times();
    const auto drive_at = [this](double t) { return drive_.at(units_.time() * t, stokes_->op()); };
    solver_.emplace(*stokes_, run.geometry, drive_at, drive_.strongest(stokes_->op()),
                    times.scheme == StepScheme::bdf2 ? TimeScheme::bdf2 : TimeScheme::sdirk2,
                    past_.history.inertia ? units_.inertia() : 0.0);
    if (!options_.bodies.empty()) solver_->keep_rate();
    n_steps_ = times.dt > 0.0 ? count_steps(times) : 0.0;
    const bool goes_on = resume();
    open_history(run, csv_, history_name, goes_on);
    if (!goes_on) {
      begin_flow(run, *stokes_, *solver_, drive_, units_);
      if (past_.history.inertia && options_.start == FlowStart::rest && options_.start_file.empty())
        steps_.set_in(drive_);
      csv_.append(history_header(past_.history));
    }
    hand_over();
    set_time(clock().time());
    setup_seconds_ = clock_.seconds();
  }

  Clock clock() const override {
    Clock clock(drive_.times());
    if (!past_.clock.empty()) clock.go_on(past_.clock);
    return clock;
  }

  double longest_step() override {
    if (past_.history.inertia) steps_.follow(solver_->outflow() / units_.time(), drive_.times());
    if (past_.history.inertia && past_.at_jump) steps_.set_in(drive_);
    return steps_.longest;
  }

  void step(double dt) override {
    try {
      if (past_.at_jump && drive_.has_inlet()) {
        solver_->jump(drive_.after(past_.history.time.back(), stokes_->op()));
        hand_over();
      }
      last_ = solver_->step(dt / units_.time());
      hand_over();
    } catch (const Error& e) {  // the same on all ranks; the flow is that of the step before
      steps_.failed(dt);
      throw StepFailed(e.what());
    }
  }

  void record(const Clock& clock) override;

  std::vector<JobComponent> fields() override { return asked_of(run_.config, components()); }
  FilesInTime* files() override { return &past_.files; }

  bool keep(const Clock& clock) override;

  void leave() override { finish_history(run_, csv_); }

  JobResult report() override;

 private:
  StokesOptions solve_options() const {
    StokesOptions options;
    options.krylov.tolerance = options_.tolerance;
    options.krylov.max_iterations = options_.max_iterations;
    return options;
  }
  bool resume();
  void hand_over();
  /// Of what was handed over [s].
  void set_time(double time) {
    if (std::optional<FluxesInTime>& to = run_.services.handover.in_time) to->time = time;
  }
  VofPlaces places();
  std::string dependencies() const;
  FlowState state(double time);
  /// Of the speed, for its moving picture. Collective.
  void draw_frame() {
    const FieldView view = view_of(run_, components());
    if (const auto place = view.find("speed"))
      past_.frames.add(middle_plane(run_.comm, view, {&*place, 1}, across(view.cells, axis_)));
  }
  /// Collective.
  void leave_animation(JobResult& result) const {
    result.files.push_back({animation_name, "animation of the speed, for a browser"});
    std::string picture;
    if (!past_.frames.values.empty()) {  // on rank 0
      const PlaneLook look = speed_look(past_.frames, units_.h, options_.animation_start, past_.history.time.back());
      result.figures["flow moving"] = moving_figure(past_.frames, look);
      picture = moving_picture(past_.frames, look.low, look.high);
    }
    if (run_.comm.any(!picture.empty())) run_.services.files.write(run_.comm, animation_name, picture);
  }
  std::vector<JobComponent> components() const {
    const double velocity = units_.velocity(), pressure = units_.pressure();
    auto flow = std::make_shared<KeptFlow>();
    flow->axis = axis_;
    for (const Quad& q : stokes_->solution())
      flow->values.push_back({static_cast<float>(velocity * q.v[0]), static_cast<float>(velocity * q.v[1]),
                              static_cast<float>(velocity * q.v[2]), static_cast<float>(pressure * q.v[3])});
    append_homes(*joined_, *flow);
    return flow_components(run_.geometry, joined_, {flow}, Drives::one);
  }

  const JobContext& run_;
  const FlowOptions& options_;
  DriveInTime drive_;
  int axis_;
  FlowUnits units_;
  WallClock clock_;
  std::optional<StokesSolver> stokes_;
  std::shared_ptr<const JoinedCells> joined_;
  std::optional<UnsteadySolver> solver_;
  double setup_seconds_ = 0.0, n_steps_ = 1.0;
  StepLength steps_;
  StepReport last_;
  FlowPast past_;
  std::vector<int> body_of_;  // mineral -> place among flow.body
  Probes probes_;
  GrowingFile csv_;  // rank 0
};

/// The fluxes of the present flow to those whom it carries.
void FlowInTime::hand_over() {
  if (!run_.services.handover.wanted || !run_.config.transport.asked()) return;
  std::optional<FluxesInTime>& to = run_.services.handover.in_time;
  if (!to) {
    const bool from_high = drive_.has_inlet() ? options_.inlets[0].side % 2 == 1 : units_.sign < 0.0;
    const auto& composite = stokes_->op().composite();
    to.emplace(FluxesInTime{axis_, from_high, 0.0, FaceField(composite), FaceField(composite)});
  }
  std::swap(to->before, to->now);
  solver_->face_fluxes(to->now);
  scale(to->now, units_.velocity() / units_.h);
}

void FlowInTime::record(const Clock& clock) {
  past_.at_jump = clock.at_break() && drive_.jumps_at(clock.time());
  set_time(clock.time());
  if (past_.at_jump) solver_->forget();
  const FlowState s = state(clock.time());
  csv_.append(history_line(past_.history, s));
  add_step(past_.history, s);
  past_.largest_velocity = std::max(past_.largest_velocity, norm(s.darcy_velocity));
  past_.largest_divergence = std::max(past_.largest_divergence, s.divergence);
  const auto kept = static_cast<double>(past_.history.states.size());
  if (clock.done() || (past_.history.inertia ? most_states * clock.part() >= kept
                                             : past_.history.steps >= std::ceil(n_steps_ / most_states * (kept + 1.0))))
    past_.history.states.push_back(s);
  const double start = options_.animation_start, frames = static_cast<double>(past_.frames.values.size());
  if (options_.animation && most_frames * (s.time - start) >= frames * (drive_.times().end - start)) draw_frame();
  run_.services.progress.tell(
      clock.part(),
      past_.history.inertia ? fmt::format("flow, step {}, CFL {:.2g}", past_.history.steps, s.cfl)
                            : fmt::format("flow, step {} of {:.0f}", past_.history.steps, n_steps_),
      fmt::format("t = {}, U = {}", format_si(s.time, "s"), format_si(s.darcy_velocity[axis_], "m/s")));
}

JobResult FlowInTime::report() {
  finish_history(run_, csv_);
  JobResult result;
  result.text = history_text(past_.history);
  const FlowState& end = past_.history.states.back();
  const std::string at = format_si(end.time, "s");
  result.headline = options_.lids.empty()
                        ? fmt::format("Darcy velocity along {} at {}: {}\n", axis_names[axis_], at,
                                      format_si(end.darcy_velocity[axis_], "m/s"))
                        : fmt::format("Largest speed at {}: {}\n", at, format_si(end.largest_speed, "m/s"));
  result.json = history_json(past_.history);
  result.solves.push_back(
      {fmt::format("{} {}", past_.history.inertia ? "navier-stokes" : "unsteady-stokes", axis_names[axis_]), "gmres",
       "graph multigrid, local permeability", static_cast<int>(past_.history.iterations), options_.tolerance,
       run_.comm.max(setup_seconds_), run_.comm.max(clock_.seconds() - setup_seconds_)});
  result.balances.push_back({"mass_relative", past_.largest_divergence});
  result.warnings = warnings_of(run_, past_.history, steps_, past_.largest_velocity);
  std::vector<JobComponent> components = this->components();
  solver_.reset();  // pictures need memory, too
  stokes_.reset();
  trim_heap();
  draw_flow_in_time(run_.comm, result.json, view_of(run_, components), result.figures);
  if (options_.animation) leave_animation(result);
  result.components = asked_of(run_.config, std::move(components));
  result.files.push_back({history_name, "history of the flow: a line per step"});
  finish_files(run_, past_.files, end.time, result);
  return result;
}

/// After the last step, at a time [s]. Collective.
FlowState FlowInTime::state(double time) {
  const MomentumRows rows = ends_drive(options_) ? solver_->momentum_rows() : MomentumRows{};
  double gradient = options_.lids.empty() ? drive_.factor(time) * units_.sign * units_.gradient : 0.0;
  if (drive_.has_inlet()) {
    const int side = options_.inlets[0].side;
    const double along_axis = is_high(side) ? -1.0 : 1.0;
    gradient = along_axis * units_.gradient / run_.grid.cells[axis_] *
               mean_pressure_on(stokes_->op(), stokes_->values(), side);
  }
  FlowState s = state_of(last_, time, gradient, axis_, run_.grid.cells, units_);
  s.probes = flow_at(probes_, run_.comm, stokes_->solution(), units_.velocity(), units_.pressure());
  const double h2 = units_.h * units_.h;
  if (has_ends(past_.history)) {
    const int in = drive_.has_inlet() ? options_.inlets[0].side : low_side(axis_);
    s.inflow = -units_.velocity() * h2 * solver_->flow_out(in);
    s.outflow = units_.velocity() * h2 * solver_->flow_out(opposite(in));
  }
  const StokesDrive drive = drive_.at(time, stokes_->op());
  const double newton = units_.pressure() * h2, volume = run_.grid.size[0] * run_.grid.size[1] * run_.grid.size[2];
  for (const FlowLid& lid : options_.lids) {
    const EndFriction f = end_friction(stokes_->op(), stokes_->values(), drive, lid.side);
    s.drags.push_back({newton * f.force, h2 * f.area});
    s.power -= units_.velocity() * newton / volume * dot(f.force, drive.of_wall[lid.side]);
  }
  if (!options_.lids.empty()) s.dissipation += s.power;
  if (options_.bodies.empty()) return s;
  for (const BodyForce& f : body_forces(stokes_->op(), stokes_->values(), drive, body_of_, rows))
    s.forces.push_back({newton * f.pressure, newton * f.friction, h2 * f.wall_area});
  return s;
}

/// What is kept depends on all that the deck says of the flow, and on the lines of its table.
std::string FlowInTime::dependencies() const {
  std::string text = run_.services.solved.dependencies("flow in time", run_.geometry, run_.grid.cell_width());
  if (options_.drive_table)
    for (std::size_t i = 0; i < options_.drive_table->time.size(); ++i)
      text += fmt::format("drive_table {} {}\n", options_.drive_table->time[i], options_.drive_table->value[i]);
  return text;
}

/// All VoFs have a row, those that a finer level covers, too.
VofPlaces FlowInTime::places() {
  VofPlaces places;
  for (const LevelGeometry& level : run_.geometry.levels) places.levels.push_back(&level.graph);
  places.row = [this](int level, int box, int vof) {
    return stokes_->op().begin(level) + run_.geometry.levels[level].graph.vof_begin(box) + vof;
  };
  return places;
}

bool FlowInTime::keep(const Clock& clock) {
  if (!run_.services.solved.keeps()) return false;
  past_.longest_step = steps_.longest;
  past_.failures = steps_.failures;
  past_.clock = clock.state();
  const auto flush = [this] { csv_.flush(); };
  if (!keep_files(run_, "flow", flush, past_.files)) return false;
  UnsteadyState state = solver_->state();
  Json numbers = Json::array();
  for (const double* x : state.numbers()) numbers.push_back(*x);
  std::vector<VofValues> values;
  for (const UnsteadyState::Part& part : state.parts)
    std::visit(
        [&]<class T>(std::span<T> v) {
          values.push_back({part.name, part.width, std::span<const T>(v)});
        },
        part.values);
  const Json result{
      {"solve", past_name}, {"steps", past_.history.steps}, {"time_s", clock.time()}, {"end_s", drive_.times().end}};
  const Json kept{{"past", past_json(past_)}, {"solver", numbers}};
  return run_.services.solved.save(past_name, dependencies(), {result, kept}, places(), values);
}

/// Goes on from what an earlier run has kept, when there is something that fits. Collective.
bool FlowInTime::resume() {
  if (!run_.services.solved.keeps()) return false;
  FlowPast past = past_;
  UnsteadyState state = solver_->empty_state();
  const auto found = run_.services.solved.load(past_name, dependencies(), [&](const VofFile& file, const Json& kept) {
    take_past(kept.at("past"), past);
    Clock(drive_.times()).go_on(past.clock);
    std::size_t i = 0;
    for (double* x : state.numbers()) *x = kept.at("solver").at(i++);
    state.make_room();
    for (const UnsteadyState::Part& part : state.parts)
      std::visit([&](auto values) { file.read(part.name, places(), part.width, values); }, part.values);
    bring_files(run_, past.files);
  });
  if (!found) return false;
  past_ = std::move(past);
  steps_.longest = past_.longest_step;
  steps_.failures = past_.failures;
  solver_->go_on(state);
  log_info("flow continues after step {}, at {}", past_.history.steps, format_si(past_.history.time.back(), "s"));
  return true;
}

}  // namespace

std::unique_ptr<Process> start_flow_in_time(const JobContext& context) {
  const Timer timer("flow");
  return std::make_unique<FlowInTime>(context);
}

std::vector<std::string> flow_in_time_mistakes(const JobContext& context) {
  const FlowOptions& options = context.config.flow;
  std::vector<std::string> found =
      ends_drive(context.config) ? end_flow_mistakes(context) : mistakes(options, context.geometry);
  const int axis = options.axes.at(0);
  if (!ends_drive(context.config) && !context.geometry.report.percolates[axis])
    found.push_back(
        fmt::format("flow.axes: no pore percolates through the sample along {0}, so nothing would flow; choose another "
                    "axis, or use finer cells",
                    axis_names[axis]));
  std::ranges::move(drive_mistakes(context), std::back_inserter(found));
  std::ranges::move(start_mistakes(context), std::back_inserter(found));
  std::ranges::move(probe_mistakes(context), std::back_inserter(found));
  std::ranges::move(slice_mistakes(context), std::back_inserter(found));
  return found;
}

std::vector<std::string> look_at_flow_in_time(const JobContext& context) {
  if (context.config.output.probes.empty()) return {};
  try {
    flow_probes(context, StokesLevels(context.comm, context.geometry, DriveInTime(context).sides()));
  } catch (const Error& e) {  // on all ranks
    return {e.what()};
  }
  return {};
}

}  // namespace karst
