// SPDX-License-Identifier: BSD-3-Clause
// Transient flow through a periodic packing of spheres, from rest, driven by a constant force, at Reynolds numbers ρ U
// d / μ of its Darcy velocity U and the diameter d of its grains; printed as JSON. Where the steady solver finds a
// flow, the transient flow must converge to it: 1e-6 of the velocity of all cells. At 200 it is computed over 50
// turnover times d / (U / porosity), in which it must remain bounded and must not produce energy. The balance of the
// power of the driving force is printed (EnergyRates). Ends with status 1 if a figure does not meet the requirement.
//   karst-verify-packing_in_time             16³ cells at a Reynolds number of 10
//   karst-verify-packing_in_time --full      32³ cells at 10, 50 and 200
//   karst-verify-packing_in_time energy N    power of the steady flows at 0, 10 and 50 on N³ cells
//   karst-verify-packing_in_time watch N T   N³ cells at 200 over T turnover times
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "ins/operator/flow_kernels.hpp"
#include "ins/solve/steady_approach.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"
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
/// Of the power, by what is carried, either way: what is of fourth order makes and takes some where ten cells stand for
/// a grain (docs/decisions/044), half a percent at a Reynolds number of 50.
constexpr double most_advected = 1e-2;
constexpr float t_of_whole_cells = 1.0F / 6.0F;

struct Packing {
  Packing(const Comm& here, int n)
      : comm(here),
        radius(n / 6.4),
        geometry(build_geometry(comm, test::flow_grid(Index::all(n), {true, true, true}, 16),
                                *test::packing(43, radius, n, true), KeepPores::connected)),
        stokes(test::composite_on(comm, geometry), {}, options()) {
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
  for (int i = 0; i < 10 && reynolds > 0.0; ++i) {
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

/// Parts of the power of a drive along x with this mean velocity.
Json parts_of(const EnergyRates& e, double power) {
  return {{"dissipation", e.dissipation / power},
          {"growth", e.growth / power},
          {"advection", e.advection / power},
          {"pressure_coupling", (power - e.work) / power},
          {"time_scheme", e.time_scheme / power}};
}

/// Σ g (flux - w (u_l + u_r) / 2) over the primary faces without the bend, g = f - (p_r - p_l): the power that Rhie &
/// Chow's term takes (with the curvature of flow_rows.hpp, where there is one), over the volume of the domain, in a
/// steady flow on one level. Of faces between whole cells, and of all others.
std::array<double, 2> pressure_term(Packing& packing) {
  StokesSolver& stokes = packing.stokes;
  stokes.residual(packing.drive, stokes.krylov().work());
  const StokesOperator& op = stokes.op().level(0);
  std::array<double, 2> sums{};
  for (int b = 0; b < op.geometry().graph.n_local(); ++b) {
    const LevelValues& values = stokes.values().level(0);
    const Quad *x = values.x.box(b).data(), *w = values.mean.box(b).data();
    const float* t = op.inverse_diagonal().box(b).data();
    const std::size_t first = op.geometry().graph.vof_begin(b);
    const auto add = [&](std::size_t v, std::size_t n, std::size_t side, double area, bool row) {
      const std::size_t d = side / 2;
      const double sign = side % 2 == 1 ? 1.0 : -1.0, f = packing.drive.force.v[d];
      const double flux = kernels::flux_out(w, t, v, n, side, f, area, 0.0);
      const double mean = 0.5 * sign * area * (x[v].v[d] + x[n].v[d]);
      const double g = sign * f - (x[n].v[kernels::p] - x[v].v[kernels::p]);
      sums[row || t[n] != t_of_whole_cells ? 1 : 0] += 0.5 * g * (flux - mean);  // a face is met from both of its sides
    };
    kernels::for_plain(op.geometry().graph.box(b), [&](std::size_t v, const std::array<std::uint16_t, 6>& n) {
      for (std::size_t s = 0; s < 6 && op.is_plain(first + v); ++s) add(v, n[s], s, 1.0, false);
    });
    for (const FlowRow& row : op.rows().of(b))
      for (std::size_t s = 0; s < 6; ++s)
        if (row.area[s] > 0.0F) add(row.vof, row.slot[s], s, double{row.area[s]}, true);
  }
  packing.comm.sum(std::span(sums));
  for (double& sum : sums) sum *= stokes.per_cell();
  return sums;
}

/// Where the power of a steady flow goes, from a step in which it stays.
Json energy(Packing& packing, const SteadyFlow& steady) {
  std::ranges::copy(steady.values, packing.stokes.all_values().begin());
  const std::array<double, 2> term = pressure_term(packing);
  UnsteadySolver flow(
      packing.stokes, packing.geometry, [&](double) { return packing.drive; }, packing.drive, TimeScheme::bdf2,
      steady.inertia);
  std::ranges::copy(steady.values, packing.stokes.all_values().begin());
  flow.begin_here(packing.drive);
  const StepReport r = flow.step(steady.inertia > 0.0 ? 1.0 / flow.outflow() : 1.0);
  Json parts = parts_of(r.energy, r.velocity[0]);
  parts["reynolds"] = packing.reynolds(steady.inertia, steady.velocity);
  parts["pressure_term_whole_cells"] = term[0] / r.velocity[0];
  parts["pressure_term_next_to_walls"] = term[1] / r.velocity[0];
  return parts;
}

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
          {"off_the_steady_flow", off}, {"energy", parts_of(r.energy, r.velocity[0])}};
}

/// Adds up over the time, by the trapezoidal rule.
void add(EnergyRates& sum, double weight, const EnergyRates& e) {
  for (double EnergyRates::*part : {&EnergyRates::work, &EnergyRates::growth, &EnergyRates::time_scheme,
                                    &EnergyRates::dissipation, &EnergyRates::advection})
    sum.*part += weight * e.*part;
}

/// From a flow that has gone on for a fifth of that time.
/// @param expected  Darcy velocity
Json watch(Packing& packing, double inertia, double expected, double turnovers, Asked& ask) {
  const double turnover = packing.turnover(inertia, expected);
  std::ranges::fill(packing.stokes.all_values(), Quad{});
  March march(packing, inertia, turnover);
  StepReport r;
  while (r.time < 0.2 * turnovers * turnover) r = march.step();
  const double start = r.time, at_start = r.kinetic_energy;
  double power = 0.0, least = r.velocity[0], most = least, largest_cfl = 0.0;
  EnergyRates sum;
  while (r.time < start + turnovers * turnover) {
    const StepReport before = r;
    r = march.step();
    power += 0.5 * r.dt * (before.velocity[0] + r.velocity[0]);
    add(sum, 0.5 * r.dt, before.energy);
    add(sum, 0.5 * r.dt, r.energy);
    least = std::min(least, r.velocity[0]);
    most = std::max(most, r.velocity[0]);
    largest_cfl = std::max(largest_cfl, r.cfl);
  }
  const double mean = power / (r.time - start),
               taken = (power - sum.dissipation - (r.kinetic_energy - at_start)) / power;
  ask(most - mean < most_swing * mean && mean - least < most_swing * mean,
      fmt::format("Darcy velocity between {:.3g} and {:.3g} of its mean", least / mean, most / mean));
  ask(taken >= 0.0, fmt::format("energy: {:.2e} of the drive's power is made out of nothing", -taken));
  ask(std::abs(sum.advection) <= most_advected * power,
      fmt::format("energy: advection takes {:.2e} of the drive's power", sum.advection / power));
  return {{"reynolds", packing.reynolds(inertia, mean)},
          {"turnovers", (r.time - start) / packing.turnover(inertia, mean)},
          {"steps", march.steps},
          {"iterations", march.iterations},
          {"largest_cfl", largest_cfl},
          {"least_velocity", least / mean},
          {"largest_velocity", most / mean},
          {"change_of_kinetic_energy", (r.kinetic_energy - at_start) / power},
          {"energy", parts_of(sum, power)}};
}

/// At a Reynolds number of 200, by the resistance of a steady flow, U_0 / U = 1 + resistance Re.
Json watch_at_200(Packing& packing, const SteadyFlow& steady, double turnovers, Asked& ask) {
  const double resistance =
      (packing.creeping / steady.velocity - 1.0) / packing.reynolds(steady.inertia, steady.velocity);
  const double velocity = packing.creeping / (1.0 + 200.0 * resistance);
  return watch(packing, 200.0 / packing.reynolds(1.0, velocity), velocity, turnovers, ask);
}

/// Power of the steady flows, or, where turnovers > 0, of one at 200.
Json power_on(const Comm& comm, int n, double turnovers, Asked& ask) {
  Packing packing(comm, n);
  Json figures{{"cells", n}, {"steady", Json::array()}};
  for (const double reynolds : {0.0, 10.0, 50.0}) {
    if (turnovers > 0.0 && reynolds < 50.0) continue;
    const std::optional<SteadyFlow> steady = steady_flow(packing, reynolds);
    ask(steady.has_value(), fmt::format("Reynolds number {}: no steady flow", reynolds));
    if (!steady) continue;
    if (turnovers > 0.0)
      figures["watched"] = watch_at_200(packing, *steady, turnovers, ask);
    else
      figures["steady"].push_back(energy(packing, *steady));
  }
  return figures;
}

Json in_time(const Comm& comm, bool all, Asked& ask) {
  const int n = all ? 32 : 16;
  Packing packing(comm, n);
  Json figures{{"cells", n}, {"porosity", packing.geometry.report.porosity}, {"steady", Json::array()}};
  for (const double reynolds : all ? std::vector<double>{10.0, 50.0} : std::vector<double>{10.0}) {
    const std::optional<SteadyFlow> steady = steady_flow(packing, reynolds);
    ask(steady.has_value(), fmt::format("Reynolds number {}: no steady flow", reynolds));
    if (!steady) continue;
    figures["steady"].push_back(to_the_steady_flow(packing, *steady, ask));
    if (reynolds == 50.0) figures["watched"] = watch_at_200(packing, *steady, watched, ask);
  }
  return figures;
}

void verify(const Comm& comm, int argc, char** argv) {
  const std::string_view what = argc > 1 ? argv[1] : "";
  Asked ask;
  if (argc > 2 && (what == "energy" || what == "watch"))
    return print_figures(comm, power_on(comm, std::atoi(argv[2]), argc > 3 ? std::atof(argv[3]) : 0.0, ask), ask);
  print_figures(comm, in_time(comm, asks_for_all(argc, argv), ask), ask);
}

}  // namespace
}  // namespace karst

int main(int argc, char** argv) {
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) { karst::verify(comm, argc, argv); });
}
