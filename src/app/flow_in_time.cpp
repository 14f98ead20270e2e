// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow_in_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "app/kept_flow.hpp"
#include "app/plot_file.hpp"
#include "app/run_progress.hpp"
#include "app/session.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/timer.hpp"
#include "eb/shapes/formula.hpp"
#include "ins/solve/steady_approach.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

namespace {

constexpr const char* history_name = "history.csv";
constexpr double most_states = 400.0;              ///< kept for the chart
constexpr double most_growth = 1.5;                ///< from one step to the next
constexpr double worth_growing = 1.2;              ///< new lengths of a step cost new multigrids
constexpr double part_of_most = 0.9;               ///< of the largest CFL number that a step may have
constexpr double largest_creeping_reynolds = 1.0;  ///< as for steady flow (flow_job.cpp)

double value_at(const Formula& formula, double time) {
  const Vec3 at{time, 0.0, 0.0};
  double value = 0.0;
  Vec3 slope;
  formula.evaluate({&at, 1}, {&value, 1}, {&slope, 1});
  return value;
}

/// The factor on the drive in the step that ends at this time: where it jumps then, the one before the jump.
double factor_at(const Formula& formula, double time, const TimeOptions& times) {
  return value_at(formula, std::max(0.0, time - 1e-12 * times.end));
}

/// [time], with steps that end where the drive jumps.
TimeOptions times_of(const Config& config) {
  TimeOptions times = config.time;
  times.breaks = jumps_of("flow.drive_factor", config.flow.drive_factor, times.end);
  return times;
}

/// Largest |drive_factor| at the ends of all steps. Throws Error where one is not finite.
double strongest(const std::string& drive_factor, TimeOptions time) {
  if (time.dt <= 0.0) time.dt = 1e-3 * time.end;
  const Formula factor(drive_factor, "t");
  double most = 0.0;
  for (Clock clock(time); !clock.done();) {
    clock.advance();
    const double f = factor_at(factor, clock.time(), time);
    require(std::isfinite(f),
            "flow.drive_factor: \"{}\" is {} at t = {:g} s; it must be finite at the end of every step", drive_factor,
            f, clock.time());
    most = std::max(most, std::abs(f));
  }
  return most;
}

const Domain& domain_of(const JobContext& run) { return run.geometry.grid.levels[0].layout.domain(); }

/// Pressure drop per length for a factor of 1 [Pa/m].
double gradient_of(const FlowOptions& options, const GridOptions& grid) {
  const int axis = options.axes.at(0);
  return options.drive == FlowDrive::pressure_drop ? options.pressure_drop / grid.size[axis] : options.gradient[axis];
}

/// Values of a run in the units of stokes_solver.hpp and unsteady_solver.hpp.
struct Units {
  double h = 0.0;         ///< width of a cell [m]
  double gradient = 0.0;  ///< size of the drive for a factor of 1 [Pa/m]
  double sign = 1.0;      ///< of the drive
  FluidOptions fluid;

  double velocity() const { return gradient * h * h / fluid.viscosity; }               ///< [m/s]
  double pressure() const { return gradient * h; }                                     ///< [Pa]
  double time() const { return h * h * fluid.density / fluid.viscosity; }              ///< h0² / ν [s]
  double inertia() const { return fluid.density * velocity() * h / fluid.viscosity; }  ///< ρ F h0³ / μ²
};

Units units_of(const JobContext& run) {
  const double gradient = gradient_of(run.config.flow, run.grid);
  return {run.grid.cell_width(), std::abs(gradient), gradient < 0.0 ? -1.0 : 1.0, run.config.fluid};
}

/// @param gradient  of the drive at the end of the step [Pa/m]
FlowState state_of(const StepReport& step, double time, double gradient, int axis, const Index& cells,
                   const Units& units) {
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
  s.dissipation = units.gradient * velocity * step.dissipation;
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

  /// Where the drive sets in or jumps: with an acceleration F / ρ a cell at rest passes on dt (F / ρ) dt / h of its
  /// volume.
  void set_in(const TimeOptions& time, const Units& units) {
    if (time.cfl_leads)
      longest = std::min(longest, 0.5 * std::sqrt(time.cfl * units.fluid.density * units.h / units.gradient));
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

/// Leaves the flow of flow.start in the solver. Collective.
void begin_flow(StokesSolver& stokes, UnsteadySolver& solver, const FlowOptions& options, const StokesDrive& drive,
                double factor, const Units& units) {
  if (options.start == FlowStart::rest) return;
  require(factor != 0.0, "flow.start: nothing drives the flow at time 0, as flow.drive_factor is 0; write \"rest\"");
  stokes.solve(drive);
  if (options.start == FlowStart::steady) {
    SteadyOptions steady_options;
    steady_options.tolerance = options.tolerance;
    SteadySolver steady(stokes, steady_options);
    const auto nothing = [](double, const SteadyReport&) {};
    const SteadyApproach all = approach(steady, drive, 0.0, units.inertia(), nothing, "start");
    require(all.reached, "flow.start: no steady flow of this drive was found; write \"stokes\" or \"rest\"");
  }
  solver.begin_here(drive);
}

std::vector<std::string> warnings_of(const JobContext& run, const FlowHistory& history, const StepLength& steps,
                                     double largest_velocity) {
  std::vector<std::string> found;
  const char axis = "xyz"[history.axis];
  if (steps.failures > 0)
    found.push_back(fmt::format("flow {}: {} steps failed and were made again with half of their length: see {}", axis,
                                steps.failures, history_name));
  if (history.inertia) return found;
  // 4 / surface: hydraulic diameter / porosity
  const double surface = run.geometry.report.specific_surface / run.grid.cell_width();
  const FluidOptions& fluid = run.config.fluid;
  const double reynolds = surface > 0.0 ? fluid.density * largest_velocity * 4.0 / surface / fluid.viscosity : 0.0;
  if (reynolds > largest_creeping_reynolds)
    found.push_back(fmt::format(
        "flow {}: Reynolds number {:.3g} at its fastest: inertia carries the fluid along then, which creeping flow "
        "leaves out; the velocities are too large; flow.model = \"navier-stokes\" has it on periodic samples",
        axis, reynolds));
  return found;
}

void add_step(FlowHistory& history, const FlowState& s) {
  ++history.steps;
  history.iterations += s.iterations;
  history.time.push_back(s.time);
  history.velocity.push_back(s.darcy_velocity[history.axis]);
  history.gradient.push_back(s.gradient);
}

class FlowInTime final : public Process {
 public:
  explicit FlowInTime(const JobContext& run)
      : run_(run),
        options_(run.config.flow),
        times_(times_of(run.config)),
        axis_(options_.axes.at(0)),
        units_(units_of(run)),
        factor_(options_.drive_factor, "t"),
        drive_(units_.sign * unit_drive(domain_of(run), axis_)),
        stokes_(run.comm, run.geometry, flow_sides(domain_of(run), options_, axis_), solve_options()),
        joined_(std::make_shared<const JoinedCells>(run.comm, run.geometry, numbering_of(stokes_.op().composite()))) {
    check_flow_cells(stokes_.op().counts(), "unsteady flow");
    const auto drive_at = [this](double t) { return factor_at(factor_, units_.time() * t, times_) * drive_; };
    history_.inertia = options_.model == FlowModel::navier_stokes;
    history_.axis = axis_;
    history_.viscosity = run.config.fluid.viscosity;
    history_.periodic = domain_of(run).periodic[axis_];
    solver_.emplace(stokes_, run.geometry, drive_at, strongest(options_.drive_factor, times_) * drive_,
                    times_.scheme == StepScheme::bdf2 ? TimeScheme::bdf2 : TimeScheme::sdirk2,
                    history_.inertia ? units_.inertia() : 0.0);
    begin_flow(stokes_, *solver_, options_, drive_at(0.0), value_at(factor_, 0.0), units_);
    if (history_.inertia && options_.start == FlowStart::rest) steps_.set_in(times_, units_);
    n_steps_ = times_.dt > 0.0 ? count_steps(times_) : 0.0;
    if (run.comm.rank() == 0 && run.file) csv_.open(run.file(history_name));
    csv_ << history_header() << std::flush;
    setup_seconds_ = clock_.seconds();
  }

  Clock clock() const override { return Clock(times_); }

  double longest_step() override {
    if (history_.inertia) steps_.follow(solver_->outflow() / units_.time(), times_);
    if (history_.inertia && at_jump_) steps_.set_in(times_, units_);
    return steps_.longest;
  }

  void step(double dt) override {
    try {
      last_ = solver_->step(dt / units_.time());
    } catch (const Error& e) {  // the same on all ranks; the flow is that of the step before
      steps_.failed(dt);
      throw StepFailed(e.what());
    }
  }

  void record(const Clock& clock) override {
    at_jump_ = clock.at_break();
    if (at_jump_) solver_->forget();
    const double gradient = factor_at(factor_, clock.time(), times_) * units_.sign * units_.gradient;
    const FlowState s = state_of(last_, clock.time(), gradient, axis_, run_.grid.cells, units_);
    csv_ << history_line(s) << std::flush;
    add_step(history_, s);
    largest_velocity_ = std::max(largest_velocity_, norm(s.darcy_velocity));
    largest_divergence_ = std::max(largest_divergence_, s.divergence);
    const auto kept = static_cast<double>(history_.states.size());
    if (clock.done() || (history_.inertia ? most_states * clock.part() >= kept
                                          : history_.steps >= std::ceil(n_steps_ / most_states * (kept + 1.0))))
      history_.states.push_back(s);
    if (run_.progress != nullptr)
      run_.progress->tell(
          clock.part(),
          history_.inertia ? fmt::format("flow, step {}, CFL {:.2g}", history_.steps, s.cfl)
                           : fmt::format("flow, step {} of {:.0f}", history_.steps, n_steps_),
          fmt::format("t = {}, U = {}", format_si(s.time, "s"), format_si(s.darcy_velocity[axis_], "m/s")));
  }

  void write_output(int number) override {
    if (!run_.plot) return;
    outputs_.push_back(fmt::format("output_{:04}.vtkhdf", number));
    run_.plot(outputs_.back(), asked(components()));
  }

  void leave() override {
    csv_.close();
    if (!run_.plot || run_.left == nullptr) return;
    run_.plot("plot.vtkhdf", asked(components()));
    run_.left->push_back(history_name);
    run_.left->push_back("plot.vtkhdf");
    run_.left->insert(run_.left->end(), outputs_.begin(), outputs_.end());
  }

  JobResult report() override {
    csv_.close();
    JobResult result;
    result.text = history_text(history_);
    const FlowState& end = history_.states.back();
    result.headline = fmt::format("Darcy velocity along {} at {}: {}\n", "xyz"[axis_], format_si(end.time, "s"),
                                  format_si(end.darcy_velocity[axis_], "m/s"));
    result.json = history_json(history_);
    result.solves.push_back({fmt::format("{} {}", history_.inertia ? "navier-stokes" : "unsteady-stokes", "xyz"[axis_]),
                             "gmres", "graph multigrid, local permeability", static_cast<int>(history_.iterations),
                             options_.tolerance, run_.comm.max(setup_seconds_),
                             run_.comm.max(clock_.seconds() - setup_seconds_)});
    result.balances.push_back({"mass_relative", largest_divergence_});
    result.warnings = warnings_of(run_, history_, steps_, largest_velocity_);
    std::vector<JobComponent> components = this->components();
    draw_flow_in_time(run_.comm, nlohmann::ordered_json::parse(result.json), view_of(run_, components), result.figures);
    result.components = asked(std::move(components));
    result.files.push_back({history_name, "the flow step by step: a line per step"});
    if (!outputs_.empty()) result.files.push_back({"output_*.vtkhdf", "the fields at the output times of [time]"});
    return result;
  }

 private:
  StokesOptions solve_options() const {
    StokesOptions options;
    options.krylov.tolerance = options_.tolerance;
    options.krylov.max_iterations = options_.max_iterations;
    return options;
  }
  std::vector<JobComponent> components() const {
    const double velocity = units_.velocity(), pressure = units_.pressure();
    auto flow = std::make_shared<KeptFlow>();
    flow->axis = axis_;
    for (const Quad& q : stokes_.solution())
      flow->values.push_back({static_cast<float>(velocity * q.v[0]), static_cast<float>(velocity * q.v[1]),
                              static_cast<float>(velocity * q.v[2]), static_cast<float>(pressure * q.v[3])});
    append_homes(*joined_, *flow);
    return flow_components(run_.geometry, joined_, {flow}, false);
  }
  std::vector<JobComponent> asked(std::vector<JobComponent> components) const {
    std::erase_if(components,
                  [&](const JobComponent& c) { return std::ranges::count(run_.config.output.plot, c.field) == 0; });
    return components;
  }

  const JobContext& run_;
  const FlowOptions& options_;
  TimeOptions times_;
  int axis_;
  Units units_;
  Formula factor_;
  StokesDrive drive_;
  WallClock clock_;
  StokesSolver stokes_;
  std::shared_ptr<const JoinedCells> joined_;
  std::optional<UnsteadySolver> solver_;
  double setup_seconds_ = 0.0, n_steps_ = 1.0;
  StepLength steps_;
  bool at_jump_ = false;  // of the drive, at the end of the last step
  StepReport last_;
  FlowHistory history_;
  double largest_velocity_ = 0.0, largest_divergence_ = 0.0;
  std::vector<std::string> outputs_;
  std::ofstream csv_;  // rank 0
};

}  // namespace

std::unique_ptr<Process> start_flow_in_time(const JobContext& context) {
  const Timer timer("flow");
  return std::make_unique<FlowInTime>(context);
}

std::vector<std::string> flow_in_time_mistakes(const JobContext& context) {
  const FlowOptions& options = context.config.flow;
  std::vector<std::string> found = mistakes(options, context.geometry);
  const int axis = options.axes.at(0);
  if (!context.geometry.report.percolates[axis])
    found.push_back(
        fmt::format("flow.axes: no pore leads through the sample along {0}, so nothing would flow; name "
                    "another axis, or use finer cells",
                    "xyz"[axis]));
  if (options.model == FlowModel::navier_stokes && context.config.time.dt <= 0.0 && options.drive_factor != "1")
    found.emplace_back(
        "time.dt: missing; where flow.drive_factor changes the drive in time, the longest step must be given");
  try {
    if (strongest(options.drive_factor, times_of(context.config)) == 0.0)
      found.push_back(fmt::format("flow.drive_factor: \"{}\" is 0 at the end of all steps: nothing would flow",
                                  options.drive_factor));
  } catch (const Error& e) {
    found.emplace_back(e.what());
  }
  return found;
}

}  // namespace karst
