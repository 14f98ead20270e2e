// SPDX-License-Identifier: BSD-3-Clause
#include "app/flow/drive_in_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "ins/upscale/end_flow.hpp"
#include "ins/upscale/permeability.hpp"

namespace karst {

namespace {

constexpr int samples = 256;  ///< of a profile that changes with time
/// Times the velocity of an inlet that sets in at once: the most that cells behind it carry in the first step.
constexpr double sudden_inflow = 4.0;

/// Pressure drop per length for a factor of 1 [Pa/m].
double gradient_of(const FlowOptions& options, const GridOptions& grid, const FluidOptions& fluid) {
  if (ends_drive(options)) return fluid.viscosity * end_speed(options) / (grid.cell_width() * grid.cell_width());
  const int axis = options.axes.at(0);
  return options.drive == FlowDrive::pressure_drop ? options.pressure_drop / grid.size[axis] : options.gradient[axis];
}

/// Calls f with times over a run at which a profile is looked at.
template <class F>
void for_samples(const FlowInlet& inlet, double end, F&& f) {
  if (!changes_in_time(inlet)) return f(0.0);
  for (int i = 0; i <= samples; ++i) f(end * i / samples);
}

/// What is wrong with a profile that changes with time.
void check_profile(const JobContext& run, Messages& found) {
  const FlowOptions& options = run.config.flow;
  const FlowInlet& inlet = options.inlets.at(0);
  if (!changes_in_time(inlet)) return;
  bool any = false;
  std::string bad;
  for_samples(inlet, run.config.time.end, [&](double t) {
    const double h = run.grid.cell_width();
    const ProfileOnEnd p =
        profile_on_end(inlet_profile(options, domain_of(run.geometry()), h, t), inlet.side, domain_of(run.geometry()));
    any = any || p.mean != 0.0;
    if (p.not_finite && bad.empty())
      bad = fmt::format(
          "flow.inlet: profile \"{}\" has no finite value at ({:.4g}, {:.4g}, {:.4g}) m and {:.4g} s; it must have "
          "one at all times of the run",
          inlet.profile, h * (*p.not_finite)[0], h * (*p.not_finite)[1], h * (*p.not_finite)[2], t);
  });
  if (!bad.empty())
    found.push_back(bad);
  else if (!any)
    found.add("flow.inlet: profile \"{}\" has a mean of 0 over the inlet at all times, so nothing would flow",
              inlet.profile);
}

}  // namespace

FlowUnits units_of(const JobContext& run) {
  const double gradient = gradient_of(run.config.flow, run.grid, run.config.fluid);
  return {run.grid.cell_width(), std::abs(gradient), gradient < 0.0 ? -1.0 : 1.0, run.config.fluid};
}

double DriveFactor::at(double time) const {
  if (options_->drive_table) return options_->drive_table->at(time);
  const Vec3 at{time, 0.0, 0.0};
  double value = 0.0;
  Vec3 slope;
  formula_.evaluate({&at, 1}, {&value, 1}, {&slope, 1});
  return value;
}

double DriveFactor::before(double time, double end) const { return at(std::max(0.0, time - 1e-12 * end)); }

double DriveFactor::after(double time, double end) const { return at(std::min(end, time + 1e-12 * end)); }

std::vector<double> DriveFactor::jumps(double end) const {
  if (!options_->drive_table) return jumps_of("flow.drive_factor", options_->drive_factor, end);
  const std::vector<double>& time = options_->drive_table->time;
  std::vector<double> found;
  for (std::size_t i = 1; i < time.size(); ++i)
    if (time[i] == time[i - 1] && time[i] > 0.0 && time[i] < end) found.push_back(time[i]);
  return found;
}

double DriveFactor::strongest(TimeOptions time) const {
  if (time.dt <= 0.0) time.dt = 1e-3 * time.end;
  double most = 0.0;
  for (Clock clock(time); !clock.done();) {
    clock.advance();
    const double f = before(clock.time(), time.end);
    require(std::isfinite(f),
            "flow.drive_factor: \"{}\" is {} at t = {:g} s; it must be finite at the end of every step",
            options_->drive_factor, f, clock.time());
    most = std::max(most, std::abs(f));
  }
  return most;
}

TimeOptions times_of(const Config& config) {
  TimeOptions times = config.time;
  times.breaks = DriveFactor(config.flow).jumps(times.end);
  if (config.transport.asked()) {
    std::ranges::copy(breaks_of(config.transport, times.end), std::back_inserter(times.breaks));
    std::ranges::sort(times.breaks);
  }
  return times;
}

DriveInTime::DriveInTime(const JobContext& run)
    : options_(&run.config.flow),
      times_(times_of(run.config)),
      domain_(domain_of(run.geometry())),
      units_(units_of(run)),
      factor_(*options_),
      unit_(ends_drive(*options_) ? end_drive(*options_) : units_.sign * unit_drive(domain_, options_->axes.at(0))) {
  jumps_ = factor_.jumps(times_.end);
  if (!has_inlet()) return;
  const FlowInlet& inlet = options_->inlets[0];
  profile_changes_ = changes_in_time(inlet);
  double most = -1.0;
  profile_peak_ = 0.0;
  for_samples(inlet, times_.end, [&](double t) {
    const ProfileOnEnd p = profile_on_end(inlet_profile(*options_, domain_, units_.h, t), inlet.side, domain_);
    profile_peak_ = std::max(profile_peak_, p.largest);
    if (std::abs(p.mean) <= most) return;
    most = std::abs(p.mean);
    profile_time_ = t;
  });
}

FlowSides DriveInTime::sides() const {
  return ends_drive(*options_) ? end_sides(*options_) : flow_sides(domain_, *options_, options_->axes.at(0));
}

void DriveInTime::set_profile(double time, StokesLevels& op) const {
  set_inlet(op, *options_, domain_, units_.h, time);
}

StokesDrive DriveInTime::at(double time, StokesLevels& op) const {
  if (profile_changes_) set_profile(std::max(0.0, time - 1e-12 * times_.end), op);
  return factor(time) * unit_;
}

StokesDrive DriveInTime::after(double time, StokesLevels& op) const {
  if (profile_changes_) set_profile(std::min(times_.end, time + 1e-12 * times_.end), op);
  return factor_.after(time, times_.end) * unit_;
}

bool DriveInTime::starts_at_once() const {
  constexpr double as_good_as_shut = 1e-9;
  return has_inlet() && std::abs(factor_.after(0.0, times_.end)) > as_good_as_shut * factor_.strongest(times_);
}

StokesDrive DriveInTime::strongest(StokesLevels& op) const {
  if (has_inlet()) set_profile(profile_time_, op);
  return factor_.strongest(times_) * unit_;
}

/// Of an inlet: none carries more than `sudden_inflow` times its velocity, beside a lid none more than that of the lid.
/// Else, with an acceleration F / ρ a cell at
/// rest passes on dt (F / ρ) dt / h of its volume.
double DriveInTime::first_step() const {
  if (has_inlet()) return times_.cfl * units_.h / (sudden_inflow * profile_peak_ * units_.velocity());
  if (!options_->lids.empty()) return times_.cfl * units_.h / units_.velocity();
  return 0.5 * std::sqrt(times_.cfl * units_.fluid.density * units_.h / units_.gradient);
}

std::vector<std::string> drive_mistakes(const JobContext& run) {
  const FlowOptions& options = run.config.flow;
  const TimeOptions& time = run.config.time;
  Messages found;
  const DriveFactor factor(options);
  if (options.model == FlowModel::navier_stokes && time.dt <= 0.0 && !factor.is_constant())
    found.emplace_back(
        "time.dt: missing; flow.drive_factor or flow.drive_table changes the driving force in time, so the largest "
        "step must be given");
  if (options.model == FlowModel::navier_stokes && time.dt <= 0.0 && !options.inlets.empty() &&
      changes_in_time(options.inlets[0]))
    found.emplace_back("time.dt: missing; the profile of an inlet changes in time, so the largest step must be given");
  if (options.drive_table && (options.drive_table->time.front() > 0.0 || options.drive_table->time.back() < time.end))
    found.add(
        "flow.drive_table: covers {:g} to {:g} s, but the run 0 to {:g} s; add lines up to there, or reduce time.end",
        options.drive_table->time.front(), options.drive_table->time.back(), time.end);
  if (options.animation && options.animation_start >= time.end)
    found.add("flow.animation_start: {:g} s, but the run ends at {:g} s; give an earlier time", options.animation_start,
              time.end);
  if (options.start != FlowStart::rest && options.start_file.empty() && factor.at(0.0) == 0.0)
    found.emplace_back("flow.start: the factor on the driving force is 0 at time 0; write \"rest\"");
  if (!options.inlets.empty()) check_profile(run, found);
  found.attempt([&] {
    if (factor.strongest(times_of(run.config)) != 0.0) return;
    found.add(
        "{} 0 at the end of all steps, so nothing would flow",
        options.drive_table ? "flow.drive_table:" : fmt::format("flow.drive_factor: \"{}\" is", options.drive_factor));
  });
  return found;
}

bool DriveInTime::jumps_at(double time) const {
  const double same = 1e-9 * times_.end;
  return std::ranges::any_of(jumps_, [&](double jump) { return std::abs(jump - time) <= same; });
}

}  // namespace karst
