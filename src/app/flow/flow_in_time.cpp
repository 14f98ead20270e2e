// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/flow_in_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/deck/session.hpp"
#include "app/flow/drive_in_time.hpp"
#include "app/flow/flow_job.hpp"
#include "app/flow/flow_quantities.hpp"
#include "app/job/rule_fields.hpp"
#include "app/job/run_services.hpp"
#include "app/job/solve_progress.hpp"
#include "app/output/plot_file.hpp"
#include "app/output/recorder.hpp"
#include "app/output/slices.hpp"
#include "app/output/vof_values.hpp"
#include "base/comm/fail_together.hpp"
#include "base/comm/timer.hpp"
#include "base/core/error.hpp"
#include "base/core/format.hpp"
#include "base/core/heap.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "ins/upscale/end_flow.hpp"
#include "transport/regrid/flagged_boxes.hpp"

namespace karst {

namespace {

constexpr const char *history_name = "history.csv", *animation_name = "animation_speed.png";
const std::vector<std::string> animated{"speed"};
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

/// Where the drive sets in or jumps.
void set_in(const DriveInTime& drive, StepLength& steps) {
  if (drive.times().cfl_leads) steps.longest = std::min(steps.longest, drive.first_step());
}

/// The length of the CFL number which is asked for, or time.dt where that leads, as long as it stays below what a step
/// may have.
/// @param outflow  largest part of its volume that a cell passes on in a second, as of the last step
void follow(double outflow, const TimeOptions& time, StepLength& steps) {
  const double cfl = time.cfl_leads ? time.cfl : part_of_most * UnsteadySolver::most_cfl;
  const double wanted = outflow > 0.0 ? cfl / outflow : steps.longest;
  if (wanted < steps.longest)
    steps.longest = wanted;
  else if (wanted > worth_growing * steps.longest)
    steps.longest = std::min(wanted, most_growth * steps.longest);
  if (time.dt > 0.0) steps.longest = std::min(steps.longest, time.dt);
}

/// Of no step yet.
FlowHistory history_of(const JobContext& run, const DriveInTime& drive) {
  const FlowOptions& options = run.config.flow;
  FlowHistory history;
  history.inertia = options.model == FlowModel::navier_stokes;
  history.axis = options.axes.at(0);
  history.reservoir = run.sample ? run.sample->before[history.axis] : 0;
  history.viscosity = run.config.fluid.viscosity;
  const bool periodic = run.geometry().grid.levels[0].layout.domain().periodic[history.axis];
  history.boundaries = drive.has_inlet()       ? "inlet"
                       : !options.lids.empty() ? "lids"
                       : periodic              ? "periodic"
                                               : "pressures";
  history.forces = {options, run.config.fluid, {}};
  constexpr const char* v = "velocity_m_s";
  history.probes = {
      run.config.output.probes,
      {{"velocity_x_m_s", v, "x"}, {"velocity_y_m_s", v, "y"}, {"velocity_z_m_s", v, "z"}, {"pressure_Pa", "", "p"}},
      true};
  return history;
}

/// The flow, what steps it, and what is recorded of it.
class FlowInTime final : public Process {
 public:
  explicit FlowInTime(const JobContext& run);
  void begin() override;
  State state() override;
  void go_on(const State& state) override;
  std::string dependencies() const override;
  Recorder* recorder() override { return &recorder_; }
  Clock clock() const override { return Clock(drive_.times()); }
  double longest_step() override;
  void step(double dt) override;
  void accept() override;
  void go_back() override;
  void record(const Clock& clock) override;
  std::vector<JobComponent> fields() override { return asked_of(run_.config, components()); }
  bool flag(const Refinement& rule, AskedBoxes* boxes) override;
  JobResult report() override;

 private:
  void hand_over();
  /// Of what was handed over [s].
  void set_time(double time) {
    if (std::optional<FluxesInTime>& to = run_.services.exchanges.flow.in_time) to->time = time;
  }
  FlowState flow_now(double time);
  double pore_volumes_of(const FlowState& s) const;
  std::vector<JobComponent> components() const;

  const JobContext& run_;
  const FlowOptions& options_;
  DriveInTime drive_;
  int axis_;
  FlowUnits units_;
  WallClock wall_clock_;
  std::optional<StokesSolver> stokes_;
  std::optional<UnsteadySolver> solver_;
  std::shared_ptr<ScalarGrid> volumes_;  ///< from the first flag() on
  std::vector<int> body_of_;             ///< mineral -> place among flow.body
  Probes probes_;
  StepReport last_;
  bool jumped_ = false, handed_over_ = false;  ///< in the step under way
  FlowInTimeRecord record_;
  Recorder recorder_;
  double setup_seconds_ = 0.0;
};

StokesOptions solve_options(const FlowOptions& options) {
  StokesOptions solve;
  solve.krylov.tolerance = options.tolerance;
  solve.krylov.max_iterations = options.max_iterations;
  return solve;
}

FlowInTime::FlowInTime(const JobContext& run)
    : run_(run),
      options_(run.config.flow),
      drive_(run),
      axis_(options_.axes.at(0)),
      units_(drive_.units()),
      stokes_(std::in_place, run.ground->composite(), drive_.sides(), solve_options(options_)),
      body_of_(body_of(options_.bodies, run.geometry().report)),
      probes_(flow_probes(run, stokes_->op())),
      record_{.history = history_of(run, drive_)},
      recorder_(run, "flow", {{history_name, history_header(record_.history)}}) {
  check_flow_cells(stokes_->op().counts(), "unsteady flow", std::ranges::any_of(stokes_->op().sides(), gives_velocity));
  const TimeOptions& times = drive_.times();
  const bool inertia = record_.history.inertia;
  const auto drive_at = [this](double t) { return drive_.at(units_.time() * t, stokes_->op()); };
  solver_.emplace(*stokes_, run.geometry(), drive_at, drive_.strongest(stokes_->op()),
                  times.scheme == StepScheme::bdf2 ? TimeScheme::bdf2 : TimeScheme::sdirk2,
                  inertia ? units_.inertia() : 0.0);
  if (!options_.bodies.empty()) solver_->keep_rate();
  if (inertia)
    recorder_.expect(0.0, 0);
  else
    recorder_.expect(count_steps(times));
  setup_seconds_ = wall_clock_.seconds();
}

void FlowInTime::begin() {
  begin_flow(run_, drive_, *stokes_, *solver_);
  if (record_.history.inertia && options_.start == FlowStart::rest && options_.start_file.empty())
    set_in(drive_, record_.steps);
  hand_over();
  set_time(0.0);
  setup_seconds_ = wall_clock_.seconds();
}

State FlowInTime::state() {
  State state = solver_->state();
  state.numbers["record"] = record_json(record_);
  return state;
}

void FlowInTime::go_on(const State& state) {
  fail_together(run_.comm, [&] { take_record(state.numbers.at("record"), record_); });
  solver_->go_on(state);
  hand_over();
  set_time(recorder_.recorded().time);
  setup_seconds_ = wall_clock_.seconds();
}

double FlowInTime::longest_step() {
  if (!record_.history.inertia) return record_.steps.longest;
  follow(solver_->outflow() / units_.time(), drive_.times(), record_.steps);
  if (record_.at_jump) set_in(drive_, record_.steps);
  return record_.steps.longest;
}

void FlowInTime::step(double dt) try {
  handed_over_ = false;
  if (record_.at_jump && drive_.has_inlet() && !jumped_) {  // whatever the length of the step
    solver_->jump(drive_.after(recorder_.recorded().time, stokes_->op()));
    hand_over();
    jumped_ = true;
  }
  solver_->try_step(dt / units_.time());
  hand_over();
  handed_over_ = true;
} catch (const Error& e) {  // the same on all ranks
  record_.steps.longest = 0.5 * dt;
  ++record_.steps.failures;
  throw StepFailed(e.what());
}

void FlowInTime::accept() {
  last_ = solver_->accept();
  jumped_ = false;
}

/// What its own failures have found of the lengths of steps stays.
void FlowInTime::go_back() {
  solver_->go_back();
  std::optional<FluxesInTime>& to = run_.services.exchanges.flow.in_time;
  if (std::exchange(handed_over_, false) && to) std::swap(to->before, to->now);  // a step writes over `before`
}

/// The fluxes of the present flow to those whom it carries.
void FlowInTime::hand_over() {
  if (!run_.services.exchanges.is_taken(ExchangeName::flow)) return;
  std::optional<FluxesInTime>& to = run_.services.exchanges.flow.in_time;
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
  record_.at_jump = clock.at_break() && drive_.jumps_at(clock.time());
  set_time(clock.time());
  if (record_.at_jump) solver_->forget();
  FlowState s = flow_now(clock.time());
  s.pore_volumes = record_.pore_volumes += pore_volumes_of(s);
  recorder_.append(history_name, history_line(record_.history, s));
  add_step(s, record_);
  if (recorder_.take_step(s.time, clock.part(), clock.done())) record_.history.states.push_back(s);
  const double start = options_.animation_start;
  if (options_.animation ? recorder_.frame_due(s.time - start, drive_.times().end - start)
                         : recorder_.still_due(clock.part()))
    recorder_.add_frame(view_of(run_, components()), animated, axis_);
  recorder_.tell(clock.part(),
                 fmt::format("t = {}, U = {}", format_si(s.time, "s"), format_si(s.darcy_velocity[axis_], "m/s")),
                 record_.history.inertia ? fmt::format(", CFL {:.2g}", s.cfl) : "");
}

std::vector<JobComponent> FlowInTime::components() const {
  const auto flow =
      std::make_shared<KeptFlow>(kept_flow(axis_, stokes_->solution(), units_.velocity(), units_.pressure()));
  append_homes(*run_.ground->joined(), *flow);
  return flow_components(run_.ground, {flow}, Drives::one);
}

/// Formulas are those of the transport where there is one.
bool FlowInTime::flag(const Refinement& rule, AskedBoxes* boxes) {
  using Where = Refinement::Where;
  const bool mine = rule.where == Where::speed || rule.where == Where::vorticity ||
                    (rule.where == Where::formula && !run_.config.transport.asked());
  if (!mine) return false;
  if (!volumes_) volumes_ = scalar_grid_of(run_.ground->composite(), {});
  const auto velocities = [&] {
    Velocities u;
    for (std::size_t d = 0; d < 3; ++d)
      for (std::int32_t v = 0; v < volumes_->n_own; ++v)
        u[d].push_back(units_.velocity() * stokes_->solution()[v].v[d]);
    return u;
  };
  const RuleFields fields{*volumes_, recorder_.recorded().time, velocities};
  return flag_boxes(*volumes_, rule, indicator_of(run_, rule, fields), boxes);
}

JobResult FlowInTime::report() {
  recorder_.close();
  const FlowHistory& history = record_.history;
  JobResult result;
  result.text = history_text(history);
  const FlowState& end = history.states.back();
  const std::string at = format_si(end.time, "s");
  result.headline = options_.lids.empty()
                        ? fmt::format("Darcy velocity along {} at {}: {}\n", axis_names[axis_], at,
                                      format_si(end.darcy_velocity[axis_], "m/s"))
                        : fmt::format("Largest speed at {}: {}\n", at, format_si(end.largest_speed, "m/s"));
  result.json = history_json(history);
  result.solves.push_back(
      {fmt::format("{} {}", history.inertia ? "navier-stokes" : "unsteady-stokes", axis_names[axis_]), "gmres",
       flow_preconditioner, static_cast<int>(history.iterations), options_.tolerance, run_.comm.max(setup_seconds_),
       run_.comm.max(wall_clock_.seconds() - setup_seconds_)});
  result.balances.push_back({"mass_relative", record_.largest_divergence});
  result.warnings = history_warnings(run_, history, record_.steps.failures, record_.largest_velocity);
  std::vector<JobComponent> components = this->components();
  solver_.reset();  // pictures need memory, too
  stokes_.reset();
  trim_heap();
  draw_flow(run_.comm, result.json, view_of(run_, components), result.figures);
  if (options_.animation) {
    result.files.push_back({animation_name, "animation of the speed, for a browser"});
    for (const PlaneFrames& frames : recorder_.recorded().frames)
      recorder_.leave_animation(0, speed_look(frames, units_.h, options_.animation_start, end.time), animation_name,
                                "flow moving", result.figures);
  } else if (run_.comm.rank() == 0) {
    for (const PlaneFrames& frames : recorder_.recorded().frames) {
      const auto stills = still_figures(frames, speed_look(frames, units_.h, 0.0, end.time));
      for (std::size_t i = 0; i < stills.size(); ++i) result.figures[fmt::format("flow still {}", i + 1)] = stills[i];
    }
  }
  result.components = asked_of(run_.config, std::move(components));
  result.files.push_back({history_name, "history of the flow: a line per step"});
  finish_files(run_, recorder_.files(), end.time, result);
  return result;
}

/// Of the step that leads to a state, by the trapezoidal rule.
double FlowInTime::pore_volumes_of(const FlowState& s) const {
  const double now = s.darcy_velocity[axis_];
  const double before = record_.history.velocity.empty() ? now : record_.history.velocity.back();
  return s.dt * 0.5 * (before + now) / (run_.sample_grid().size[axis_] * run_.sample_report().connected_porosity);
}

/// After the last step, at a time [s]. Collective.
FlowState FlowInTime::flow_now(double time) {
  const MomentumRows rows = ends_drive(options_) ? solver_->momentum_rows() : MomentumRows{};
  double gradient = options_.lids.empty() ? drive_.factor(time) * units_.sign * units_.gradient : 0.0;
  if (drive_.has_inlet()) {
    const int side = options_.inlets[0].side;
    const double along_axis = is_high(side) ? -1.0 : 1.0;
    gradient = along_axis * units_.gradient / run_.grid.cells[axis_] *
               mean_pressure_on(stokes_->op(), stokes_->values(), side);
  }
  FlowState s = state_of(last_, time, gradient, axis_, run_.grid.cells, units_);
  s.probes = probes_.values(run_.comm, record_.history.probes.fields.size(), [&](std::int32_t unknown, std::size_t c) {
    return (c < 3 ? units_.velocity() : units_.pressure()) * stokes_->solution()[unknown].v[c];
  });
  const double h2 = units_.h * units_.h;
  if (has_ends(record_.history)) {
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
  std::string text = run_.services.solved.dependencies("flow in time", run_.geometry(), run_.grid.cell_width());
  if (options_.drive_table)
    for (std::size_t i = 0; i < options_.drive_table->time.size(); ++i)
      text += fmt::format("drive_table {} {}\n", options_.drive_table->time[i], options_.drive_table->value[i]);
  return text;
}

}  // namespace

std::unique_ptr<Process> start_flow_in_time(const JobContext& context) {
  const Timer timer("flow");
  return std::make_unique<FlowInTime>(context);
}

std::vector<std::string> flow_in_time_mistakes(const JobContext& context) {
  const FlowOptions& options = context.config.flow;
  Messages found = ends_drive(context.config) ? end_flow_mistakes(context) : mistakes(options, context.geometry());
  const int axis = options.axes.at(0);
  if (!ends_drive(context.config) && !context.geometry().report.percolates[axis])
    found.add(
        "flow.axes: no pore percolates through the sample along {0}, so nothing would flow; choose another axis, or "
        "use finer cells",
        axis_names[axis]);
  found.add(drive_mistakes(context));
  found.add(start_mistakes(context));
  found.add(probe_mistakes(context));
  found.add(slice_mistakes(context));
  return found;
}

std::vector<std::string> look_at_flow_in_time(const JobContext& context) {
  if (context.config.output.probes.empty()) return {};
  try {
    flow_probes(context, StokesLevels(context.ground->composite(), DriveInTime(context).sides()));
  } catch (const Error& e) {  // on all ranks
    return {e.what()};
  }
  return {};
}

namespace {

/// Without what its quantities may stand in: lids, whose friction is not kept.
FlowState state_of(const FlowHistory& history, const Json& json) {
  FlowState s;
  each_quantity(history, s, FromRecord{json});
  return s;
}

/// Numbers and lists that stand for themselves.
void each_of_run(auto& r, auto&& f) {
  f(Quantity{"iterations"}, r.history.iterations);
  f(Quantity{"time"}, r.history.time);
  f(Quantity{"velocity"}, r.history.velocity);
  f(Quantity{"gradient"}, r.history.gradient);
  f(Quantity{"forces"}, r.history.forces.totals);
  f(Quantity{"longest_step"}, r.steps.longest);
  f(Quantity{"failures"}, r.steps.failures);
  f(Quantity{"at_jump"}, r.at_jump);
  f(Quantity{"largest_velocity"}, r.largest_velocity);
  f(Quantity{"pore_volumes"}, r.pore_volumes);
  f(Quantity{"largest_divergence"}, r.largest_divergence);
}

}  // namespace

void add_step(const FlowState& state, FlowInTimeRecord& record) {
  FlowHistory& h = record.history;
  h.iterations += state.iterations;
  h.time.push_back(state.time);
  h.velocity.push_back(state.darcy_velocity[h.axis]);
  h.gradient.push_back(state.gradient);
  h.forces.add(state.forces);
  record.largest_velocity = std::max(record.largest_velocity, norm(state.darcy_velocity));
  record.largest_divergence = std::max(record.largest_divergence, state.divergence);
}

Json record_json(const FlowInTimeRecord& record) {
  Json json{{"states", Json::array()}};
  each_of_run(record, ToJson{json, shown::record});
  for (const FlowState& s : record.history.states)
    each_quantity(record.history, s, ToJson{json["states"].push_back({}), shown::record});
  return json;
}

void take_record(const Json& json, FlowInTimeRecord& record) {
  FlowHistory& h = record.history;
  const std::size_t n_bodies = h.forces.options.bodies.size();
  require(json.at("forces").size() == n_bodies, "{} bodies instead of {}", json.at("forces").size(), n_bodies);
  each_of_run(record, FromRecord{json});
  if (std::isnan(record.steps.longest)) record.steps = {.failures = record.steps.failures};  // JSON has no infinity
  h.states.clear();
  for (const Json& s : json.at("states")) {
    const FlowState& state = h.states.emplace_back(state_of(h, s));
    require(state.probes.size() == h.probes.size(), "{} values at probes instead of {}", state.probes.size(),
            h.probes.size());
    require(state.forces.size() == n_bodies, "forces on {} bodies instead of {}", state.forces.size(), n_bodies);
  }
}

}  // namespace karst
