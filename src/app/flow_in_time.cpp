// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow_in_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/kept_flow.hpp"
#include "app/plot_file.hpp"
#include "app/run_progress.hpp"
#include "app/session.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/timer.hpp"
#include "eb/shapes/formula.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

namespace {

constexpr const char* history_name = "history.csv";
constexpr double most_states = 400.0;              ///< kept for the chart
constexpr double largest_creeping_reynolds = 1.0;  ///< as for steady flow (flow_job.cpp)

double value_at(const Formula& formula, double time) {
  const Vec3 at{time, 0.0, 0.0};
  double value = 0.0;
  Vec3 slope;
  formula.evaluate({&at, 1}, {&value, 1}, {&slope, 1});
  return value;
}

/// Largest |drive_factor| at the ends of all steps. Throws Error where one is not finite.
double strongest(const std::string& drive_factor, const TimeOptions& time) {
  const Formula factor(drive_factor, "t");
  double most = 0.0;
  for (Clock clock(time); !clock.done();) {
    clock.advance();
    const double f = value_at(factor, clock.time());
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

class FlowInTime final : public Process {
 public:
  explicit FlowInTime(const JobContext& run)
      : run_(run),
        options_(run.config.flow),
        axis_(options_.axes.at(0)),
        h_(run.grid.cell_width()),
        gradient_(gradient_of(options_, run.grid)),
        factor_(options_.drive_factor, "t"),
        drive_(unit_drive(domain_of(run), axis_)),
        stokes_(run.comm, run.geometry, flow_sides(domain_of(run), options_, axis_), solve_options()),
        joined_(std::make_shared<const JoinedCells>(run.comm, run.geometry, numbering_of(stokes_.op().composite()))) {
    check_flow_cells(stokes_.op().counts(), "unsteady flow");
    const double unit = time_unit();
    const auto drive_at = [this, unit](double time) { return value_at(factor_, unit * time) * drive_; };
    solver_.emplace(stokes_, run.geometry, drive_at, strongest(options_.drive_factor, run.config.time) * drive_,
                    run.config.time.scheme == StepScheme::bdf2 ? TimeScheme::bdf2 : TimeScheme::sdirk2);
    n_steps_ = count_steps(run.config.time);
    history_.axis = axis_;
    history_.periodic = domain_of(run).periodic[axis_];
    if (run.comm.rank() == 0 && run.file) csv_.open(run.file(history_name));
    csv_ << history_header() << std::flush;
    setup_seconds_ = clock_.seconds();
  }

  Clock clock() const override { return Clock(run_.config.time); }

  void step(double dt) override {
    try {
      last_ = solver_->step(dt / time_unit());
    } catch (const Error&) {  // the same on all ranks; the flow is that of the step before
      leave();
      throw;
    }
  }

  void record(const Clock& clock) override {
    const double velocity = gradient_ * h_ * h_ / run_.config.fluid.viscosity;
    FlowState s;
    s.time = clock.time();
    s.dt = last_.dt * time_unit();
    s.gradient = value_at(factor_, s.time) * gradient_;
    s.darcy_velocity = velocity * last_.velocity;
    const Index& n = run_.grid.cells;
    s.flow_rate = s.darcy_velocity[axis_] * h_ * h_ * (double{1} * n[0] * n[1] * n[2] / n[axis_]);
    s.kinetic_energy = run_.config.fluid.density * velocity * velocity * last_.kinetic_energy;
    s.power = s.gradient * s.darcy_velocity[axis_];
    s.dissipation = gradient_ * velocity * last_.dissipation;
    s.largest_speed = std::abs(velocity) * last_.largest_speed;
    s.divergence = last_.divergence;
    s.iterations = last_.iterations;
    csv_ << history_line(s) << std::flush;
    ++history_.steps;
    history_.iterations += s.iterations;
    largest_velocity_ = std::max(largest_velocity_, norm(s.darcy_velocity));
    largest_divergence_ = std::max(largest_divergence_, s.divergence);
    if (history_.steps >= std::ceil(n_steps_ / most_states * static_cast<double>(history_.states.size() + 1)) ||
        clock.done())
      history_.states.push_back(s);
    if (run_.progress != nullptr)
      run_.progress->tell(
          clock.part(), fmt::format("flow, step {} of {:.0f}", history_.steps, n_steps_),
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
    const FlowState& end = history_.states.back();
    result.text = fmt::format(
        "Unsteady Stokes flow along {}: {} steps to {}, {} iterations\n"
        "  at the end: pressure gradient {:.5g} Pa/m, Darcy velocity {:.5g} m/s, flow rate {:.5g} m³/s\n"
        "  kinetic energy {:.4g} J/m³, power of the drive {:.4g} W/m³, dissipation {:.4g} W/m³\n",
        "xyz"[axis_], history_.steps, format_si(end.time, "s"), history_.iterations, end.gradient,
        end.darcy_velocity[axis_], end.flow_rate, end.kinetic_energy, end.power, end.dissipation);
    result.headline = fmt::format("Darcy velocity along {} at {}: {}\n", "xyz"[axis_], format_si(end.time, "s"),
                                  format_si(end.darcy_velocity[axis_], "m/s"));
    result.json = history_json(history_);
    result.solves.push_back({fmt::format("unsteady-stokes {}", "xyz"[axis_]), "gmres",
                             "graph multigrid, local permeability", static_cast<int>(history_.iterations),
                             options_.tolerance, run_.comm.max(setup_seconds_),
                             run_.comm.max(clock_.seconds() - setup_seconds_)});
    result.balances.push_back({"mass_relative", largest_divergence_});
    result.warnings = warnings();
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
  /// h0² / ν [s]
  double time_unit() const { return h_ * h_ * run_.config.fluid.density / run_.config.fluid.viscosity; }

  std::vector<JobComponent> components() const {
    const double velocity = gradient_ * h_ * h_ / run_.config.fluid.viscosity, pressure = gradient_ * h_;
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

  std::vector<std::string> warnings() const {
    const double surface = run_.geometry.report.specific_surface / h_;  // 4 / it: hydraulic diameter / porosity
    const double reynolds =
        surface > 0.0 ? run_.config.fluid.density * largest_velocity_ * 4.0 / surface / run_.config.fluid.viscosity
                      : 0.0;
    if (reynolds <= largest_creeping_reynolds) return {};
    return {fmt::format(
        "flow {}: Reynolds number {:.3g} at its fastest: inertia carries the fluid along then, which creeping flow "
        "leaves out; the velocities are too large",
        "xyz"[axis_], reynolds)};
  }

  const JobContext& run_;
  const FlowOptions& options_;
  int axis_;
  double h_, gradient_;
  Formula factor_;
  StokesDrive drive_;
  WallClock clock_;
  StokesSolver stokes_;
  std::shared_ptr<const JoinedCells> joined_;
  std::optional<UnsteadySolver> solver_;
  double setup_seconds_ = 0.0, n_steps_ = 1.0;
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
  try {
    if (strongest(options.drive_factor, context.config.time) == 0.0)
      found.push_back(fmt::format("flow.drive_factor: \"{}\" is 0 at the end of all steps: nothing would flow",
                                  options.drive_factor));
  } catch (const Error& e) {
    found.emplace_back(e.what());
  }
  return found;
}

}  // namespace karst
