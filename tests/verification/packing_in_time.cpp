// SPDX-License-Identifier: BSD-3-Clause
// Flow in time through a periodic packing of spheres, from rest, driven by a constant force, at Reynolds numbers
// ρ U d / μ of its Darcy velocity U and the diameter d of its grains; printed as JSON. Where the steady solver finds a
// flow, the flow in time is to end in it: 1e-6 of the velocity of all cells. At 200 it is watched for 50 turnover times
// d / (U / porosity), in which it is to stay bounded and to make no energy: what the drive gives less what friction
// takes and the flow keeps is printed. Ends with status 1 when a figure misses what is asked.
//   karst-verify-packing_in_time           16³ cells at a Reynolds number of 10
//   karst-verify-packing_in_time --full    32³ cells at 10, 50 and 200
#include <algorithm>
#include <cmath>
#include <optional>

#include "ins/solve/steady_approach.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "support/flow_cases.hpp"
#include "support/level_cases.hpp"
#include "verification/figures.hpp"

namespace karst {
namespace {

constexpr double tolerance = 1e-9;      ///< of residuals
constexpr double cfl = 2.0;             ///< of the first steps; a starting flow is faster than a steady one in places
constexpr double most_turnovers = 200;  ///< on the way to the steady flow
constexpr double watched = 50.0;        ///< turnover times
constexpr double there = 1e-6;          ///< of the steady flow
constexpr double most_swing = 0.05;     ///< of the Darcy velocity around its mean, relative

struct Packing {
  Packing(const Comm& here, int n)
      : comm(here),
        radius(n / 6.4),
        geometry(build_geometry(comm, test::flow_grid(Index::all(n), {true, true, true}, 16),
                                *test::packing(43, radius, n, true), KeepPores::connected)),
        stokes(comm, geometry, {}, options()) {
    drive.force = {1.0, 0.0, 0.0};
    creeping = stokes.solve(drive).velocity[0];
  }
  static StokesOptions options() {
    StokesOptions o;
    o.krylov.tolerance = tolerance;
    return o;
  }
  double reynolds(double inertia, double velocity) const { return inertia * velocity * 2.0 * radius; }
  double turnover(double inertia, double velocity) const {
    return 2.0 * radius * geometry.report.porosity / (velocity * inertia);
  }

  const Comm& comm;
  double radius;  ///< of the spheres [cells]
  Geometry geometry;
  StokesSolver stokes;
  StokesDrive drive;
  double creeping = 0.0;  ///< Darcy velocity
};

/// A steady flow at a Reynolds number to 1 %, by the drive that gives it; none where Newton's method finds none.
struct SteadyFlow {
  double inertia = 0.0, velocity = 0.0;
  std::vector<Quad> values;
};
std::optional<SteadyFlow> steady_flow(Packing& packing, double reynolds) {
  SteadyOptions options;
  options.tolerance = tolerance;
  SteadySolver steady(packing.stokes, options);
  packing.stokes.solve(packing.drive);
  SteadyFlow flow{0.0, packing.creeping, {}};
  for (int i = 0; i < 10; ++i) {
    const double wanted = reynolds / packing.reynolds(1.0, flow.velocity);
    const auto nothing = [](double, const SteadyReport&) {};
    const SteadyApproach way = approach(steady, packing.drive, flow.inertia, wanted, nothing, "steady");
    if (!way.reached) return {};
    flow.inertia = wanted;
    flow.velocity = way.last.flow.velocity[0];
    if (std::abs(packing.reynolds(flow.inertia, flow.velocity) / reynolds - 1.0) < 0.01) break;
  }
  const auto values = packing.stokes.solution();
  flow.values.assign(values.begin(), values.end());
  return flow;
}

/// |u - u_steady| over |u_steady|, of all cells.
double difference(const Packing& packing, const SteadyFlow& steady) {
  std::array<double, 2> sums{};
  const auto now = packing.stokes.solution();
  for (std::size_t v = 0; v < steady.values.size(); ++v)
    for (std::size_t d = 0; d < 3; ++d) {
      const double u = steady.values[v].v[d], off = now[v].v[d] - u;
      sums[0] += off * off;
      sums[1] += u * u;
    }
  packing.comm.sum(std::span(sums));
  return std::sqrt(sums[0] / sums[1]);
}

/// Steps from rest whose length follows the outflow of the last one, where it would be off by more than a quarter.
class March {
 public:
  March(Packing& packing, double inertia, double turnover)
      : flow_(
            packing.stokes, packing.geometry, [&packing](double) { return packing.drive; }, packing.drive,
            TimeScheme::bdf2, inertia),
        dt_(0.005 * turnover) {}
  const StepReport& step() {
    last_ = flow_.step(dt_);
    const double wanted = cfl / flow_.outflow();
    if (wanted < 0.8 * dt_ || wanted > 1.25 * dt_) dt_ = std::min(wanted, 1.5 * dt_);
    ++steps;
    iterations += last_.iterations;
    return last_;
  }
  int steps = 0;
  std::int64_t iterations = 0;

 private:
  UnsteadySolver flow_;
  double dt_;
  StepReport last_;
};

Json to_the_steady_flow(Packing& packing, const SteadyFlow& steady, Asked& ask) {
  const double reynolds = packing.reynolds(steady.inertia, steady.velocity),
               turnover = packing.turnover(steady.inertia, steady.velocity);
  std::ranges::fill(packing.stokes.all_values(), Quad{});
  March march(packing, steady.inertia, turnover);
  StepReport r;
  double off = 1.0;
  do {
    r = march.step();
    off = difference(packing, steady);
  } while (r.time < most_turnovers * turnover && off > there);
  ask(off <= there, fmt::format("Reynolds number {:.3g}: {:.2e} off the steady flow", reynolds, off));
  return {{"reynolds", reynolds},       {"turnovers", r.time / turnover},
          {"steps", march.steps},       {"iterations", march.iterations},
          {"off_the_steady_flow", off}, {"energy_imbalance", (r.velocity[0] - r.dissipation) / r.velocity[0]}};
}

/// From a flow that has gone on for a fifth of that time.
/// @param expected  Darcy velocity
Json watch(Packing& packing, double inertia, double expected, Asked& ask) {
  const double turnover = packing.turnover(inertia, expected);
  std::ranges::fill(packing.stokes.all_values(), Quad{});
  March march(packing, inertia, turnover);
  StepReport r;
  while (r.time < 0.2 * watched * turnover) r = march.step();
  const double start = r.time, energy = r.kinetic_energy;
  double power = 0.0, friction = 0.0, least = r.velocity[0], most = least, largest_cfl = 0.0;
  while (r.time < start + watched * turnover) {
    const StepReport before = r;
    r = march.step();
    power += 0.5 * r.dt * (before.velocity[0] + r.velocity[0]);
    friction += 0.5 * r.dt * (before.dissipation + r.dissipation);
    least = std::min(least, r.velocity[0]);
    most = std::max(most, r.velocity[0]);
    largest_cfl = std::max(largest_cfl, r.cfl);
  }
  const double mean = power / (r.time - start), imbalance = (power - friction - (r.kinetic_energy - energy)) / power;
  ask(most - mean < most_swing * mean && mean - least < most_swing * mean,
      fmt::format("Darcy velocity between {:.3g} and {:.3g} of its mean", least / mean, most / mean));
  ask(imbalance >= 0.0, fmt::format("energy: {:.2e} of the drive's power is made out of nothing", -imbalance));
  return {{"reynolds", packing.reynolds(inertia, mean)},
          {"turnovers", (r.time - start) / packing.turnover(inertia, mean)},
          {"steps", march.steps},
          {"iterations", march.iterations},
          {"largest_cfl", largest_cfl},
          {"least_velocity", least / mean},
          {"largest_velocity", most / mean},
          {"energy_imbalance", imbalance}};
}

void verify(const Comm& comm, int argc, char** argv) {
  const bool all = asks_for_all(argc, argv);
  const int n = all ? 32 : 16;
  Packing packing(comm, n);
  Json figures{{"cells", n}, {"porosity", packing.geometry.report.porosity}, {"steady", Json::array()}};
  Asked ask;
  double resistance = 0.0;  // U_0 / U = 1 + resistance Re
  for (const double reynolds : all ? std::vector<double>{10.0, 50.0} : std::vector<double>{10.0}) {
    const std::optional<SteadyFlow> steady = steady_flow(packing, reynolds);
    ask(steady.has_value(), fmt::format("Reynolds number {}: no steady flow", reynolds));
    if (!steady) continue;
    resistance = (packing.creeping / steady->velocity - 1.0) / reynolds;
    figures["steady"].push_back(to_the_steady_flow(packing, *steady, ask));
  }
  if (all) {
    const double velocity = packing.creeping / (1.0 + 200.0 * resistance);
    figures["watched"] = watch(packing, 200.0 / packing.reynolds(1.0, velocity), velocity, ask);
  }
  print_figures(comm, figures, ask);
}

}  // namespace
}  // namespace karst

int main(int argc, char** argv) {
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) { karst::verify(comm, argc, argv); });
}
