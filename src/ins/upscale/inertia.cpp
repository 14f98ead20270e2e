// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/inertia.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "base/core/wall_clock.hpp"
#include "ins/solve/steady_approach.hpp"

namespace karst {
namespace {

constexpr double drive_tolerance = 1e-6;  ///< of a wanted velocity, or pressure drop of the sample
constexpr int most_tries = 12;            ///< of a gradient for a wanted velocity
constexpr double least_slope = -0.6;      ///< of log k_app over log G: Forchheimer's law ends at -1/2

class Sweeper {
 public:
  Sweeper(StokesSolver& stokes, const InertiaSweep& sweep, const InertiaWatch& watch)
      : stokes_(stokes),
        sweep_(sweep),
        watch_(watch),
        sign_(sweep.gradient < 0.0 ? -1.0 : 1.0),
        drive_(sweep.drive),
        steady_(stokes, options()),
        fall_(sweep.fall),
        velocity_(sweep.fall * sweep.permeability / (sweep.cell_width * sweep.cell_width)) {
    drive_ = sign_ * drive_;
    if (!sweep.from.points.empty()) {
      go_on();
      return;
    }
    if (sign_ > 0.0) return;
    const std::span<Quad> flow = stokes.all_values();
    parallel_for(std::ssize(flow), [&](std::int64_t i) {
      for (double& c : flow[i].v) c = -c;
    });
  }

  InertiaPoint solve(std::size_t i) {
    const WallClock clock;
    name_ = point_name(sweep_.name, sweep_.steps.size(), i);
    if (i > 0) steady_.follow_at_next_step();  // a sweep that goes on here knows no other preconditioner
    const double step = sweep_.steps[i], h = sweep_.cell_width;
    InertiaPoint point;
    point.step = step;
    const double wanted = unit_inertia() * std::abs(sweep_.gradient) * step;
    const double inertia = sweep_.by_velocity ? meet(wanted * sweep_.permeability / (h * h), velocity_, point)
                                              : meet(wanted, fall_, point);
    const double grid_gradient = inertia / unit_inertia(),
                 speed = grid_gradient * h * h / sweep_.viscosity;  // of a velocity of 1
    point.grid_gradient = sign_ * grid_gradient;
    point.gradient = fall_ * point.grid_gradient;
    if (has_reservoirs()) keep_sample(point);
    point.darcy_velocity = speed * report_.flow.velocity;
    point.permeability = h * h * conductance();
    const double per_length = sweep_.density * norm(point.darcy_velocity) / sweep_.viscosity;
    point.reynolds = per_length * sweep_.pore_length;
    point.forchheimer = per_length * std::sqrt(sweep_.permeability);
    point.cell_reynolds = report_.cell_reynolds;
    point.largest_speed = speed * report_.flow.largest_speed;
    point.tortuosity = report_.flow.tortuosity;
    point.divergence = report_.flow.divergence;
    point.relative_residual = report_.flow.krylov.relative_residual;
    point.seconds = clock.seconds();
    return point;
  }

  /// After solve().
  SweepState state(std::vector<InertiaPoint> points) const {
    return {std::move(points), fall_, velocity_, reached_, solved_reynolds_};
  }

 private:
  /// The operator holds the flow then, as after solve().
  void go_on() {
    fall_ = sweep_.from.fall;
    velocity_ = sweep_.from.velocity;
    reached_ = sweep_.from.reached;
    solved_reynolds_ = sweep_.from.solved_reynolds;
    steady_.residual(drive_, reached_, stokes_.krylov().work());
  }

  /// ρ h³ / μ²: times a gradient it is what SteadySolver calls inertia.
  double unit_inertia() const {
    return sweep_.density * std::pow(sweep_.cell_width, 3) / (sweep_.viscosity * sweep_.viscosity);
  }

  SteadyOptions options() const {
    SteadyOptions all = sweep_.solver;
    all.progress = {};
    if (watch_.iteration)
      all.progress = [this](const StokesProgress& p) {
        const double k = sweep_.cell_width * sweep_.cell_width * sign_ * p.velocity[sweep_.axis] / fall_;
        watch_.iteration(name_, p.iteration, p.relative_residual, k);
      };
    return all;
  }

  /// The flow at this inertia from the one before.
  void advance(double inertia, InertiaPoint& point) {
    const auto on_flow = [&](double now, const SteadyReport& report) {
      reached_ = now;
      velocity_ = sign_ * report.flow.velocity[sweep_.axis];
      if (has_reservoirs()) {
        drop_ = sample_drop(stokes_, sweep_.sample, drive_, now);
        fall_ = sign_ * drop_.drop / (sweep_.sample.high - sweep_.sample.low);
      }
      solved_reynolds_ = reynolds(now);
    };
    const SteadyApproach way = approach(steady_, drive_, reached_, inertia, on_flow, name_);
    report_ = way.last;
    point.newton_steps += way.newton_steps;
    point.iterations += way.iterations;
    point.drives_between += way.between;
    if (!way.reached) give_up(way.inertia);
  }

  double reynolds(double inertia) const { return inertia * velocity_ / sweep_.cell_width * sweep_.pore_length; }

  /// Of the sample itself, without reservoirs.
  bool between_pressures() const {
    return std::ranges::any_of(sweep_.drive.at_end, [](double p) { return p != 0.0; });
  }

  void give_up(double inertia) const {
    std::string last;
    for (std::size_t s = report_.steps.size() > 5 ? report_.steps.size() - 5 : 0; s < report_.steps.size(); ++s)
      last += fmt::format(" {:.1e}", report_.steps[s]);
    require(false,
            "{}: no steady flow found at a pressure gradient of {:.4g} Pa/m, a Reynolds number of about {:.3g}: "
            "Newton's method stopped after {} steps (last residuals:{}; required is {:.0e}). {}{}Smaller steps in "
            "between (flow.steps), finer cells (the cell Reynolds number, estimated from the initial flow, would be "
            "{:.3g}), or more flow.newton_steps help; far above a Reynolds number of 10 there may be no steady flow",
            name_, sign_ * inertia / unit_inertia(), reynolds(inertia), report_.steps.size() - 1, last,
            sweep_.solver.tolerance,
            solved_reynolds_ > 0.0 ? fmt::format("Solved up to a Reynolds number of {:.3g}. ", solved_reynolds_)
                                   : std::string(),
            between_pressures() && !has_reservoirs()
                ? "The pressure boundaries cut the jets at inlet and outlet; with reservoirs "
                  "(flow.reservoir = 8) most samples converge to higher Reynolds numbers. "
                : "",
            report_.cell_reynolds);
  }

  /// The inertia at which inertia times `of` (velocity_ or fall_, which follow the flow) is `wanted`, with the flow
  /// there.
  double meet(double wanted, const double& of, InertiaPoint& point) {
    double inertia = wanted / of, slope = 0.0;
    for (int i = 0; i < most_tries; ++i) {
      const double before = std::log(of);
      advance(inertia, point);
      const double left = std::log(wanted / (inertia * of));
      if (std::abs(left) <= drive_tolerance) return inertia;
      if (i > 0 && last_move_ != 0.0)
        slope = std::clamp((std::log(of) - before) / last_move_, least_slope, -least_slope);
      last_move_ = left / (1.0 + slope);
      inertia *= std::exp(last_move_);
    }
    require(false, "{}: the requested {} was not reached to {:.0e} with {} gradients; a smaller flow.tolerance helps",
            name_, sweep_.by_velocity ? "velocity" : "pressure drop of the sample", drive_tolerance, most_tries);
    return inertia;
  }

  bool has_reservoirs() const { return sweep_.sample.low > 0; }
  /// k_app / h² of the last flow.
  double conductance() const { return velocity_ / fall_; }

  /// Leaves out the reservoirs.
  void keep_sample(InertiaPoint& point) {
    const SampleFlow flow = sample_flow(stokes_, sweep_.sample, drive_, report_.flow.velocity);
    report_.flow.velocity = flow.velocity;
    report_.flow.tortuosity = flow.tortuosity;
    point.unevenness = drop_.unevenness;
  }

  StokesSolver& stokes_;
  const InertiaSweep& sweep_;
  const InertiaWatch& watch_;
  double sign_;
  StokesDrive drive_;
  SteadySolver steady_;
  double fall_;           // gradient of the sample over that of the drive, of the last flow
  double velocity_;       // its mean velocity along the drive
  double reached_ = 0.0;  // its inertia; 0: Stokes flow
  SampleDrop drop_;
  double last_move_ = 0.0, solved_reynolds_ = 0.0;
  std::string name_;
  SteadyReport report_;
};

}  // namespace

std::string point_name(const std::string& sweep, std::size_t n, std::size_t point) {
  return n > 1 ? fmt::format("{} {}/{}", sweep, point + 1, n) : sweep;
}

std::vector<InertiaPoint> solve_with_inertia(StokesSolver& stokes, const InertiaSweep& sweep,
                                             const InertiaWatch& watch) {
  Sweeper sweeper(stokes, sweep, watch);
  std::vector<InertiaPoint> points = sweep.from.points;
  for (std::size_t i = points.size(); i < sweep.steps.size(); ++i) {
    points.push_back(sweeper.solve(i));
    if (watch.solved) watch.solved(points.back(), i);
    if (watch.state) watch.state(sweeper.state(points));
  }
  return points;
}

std::optional<ForchheimerFit> fit_forchheimer(const std::vector<InertiaPoint>& points, double density,
                                              double viscosity) {
  if (points.size() < 3) return {};
  // k_app (a + b x) = 1 with x = ρ U / μ, a = 1 / k_F, b = β; scaled by the last point.
  const double k = points.back().permeability,
               x = density * std::abs(points.back().gradient) * k / viscosity / viscosity;
  const auto row = [&](const InertiaPoint& p) {
    const double one = p.permeability / k;
    return std::array{one, one * density * std::abs(p.gradient) * p.permeability / (viscosity * viscosity) / x};
  };
  double aa = 0.0, ab = 0.0, bb = 0.0, a1 = 0.0, b1 = 0.0;
  for (const InertiaPoint& p : points) {
    const auto [a, b] = row(p);
    aa += a * a, ab += a * b, bb += b * b, a1 += a, b1 += b;
  }
  const double determinant = aa * bb - ab * ab;
  if (!(determinant > 1e-12 * aa * bb)) return {};
  const double a = (a1 * bb - b1 * ab) / determinant, b = (b1 * aa - a1 * ab) / determinant;
  double squares = 0.0;
  for (const InertiaPoint& p : points) {
    const auto [one, two] = row(p);
    squares += std::pow(one * a + two * b - 1.0, 2);
  }
  return ForchheimerFit{k / a, b / (k * x), std::sqrt(squares / static_cast<double>(points.size()))};
}

}  // namespace karst
