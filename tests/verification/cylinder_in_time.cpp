// SPDX-License-Identifier: BSD-3-Clause
// Transient flow past a cylinder in a channel (Schäfer & Turek, Notes Numer. Fluid Mech. 52 (1996) 547): with inertia,
// from a parabolic inlet: drag, lift and pressure difference, printed as JSON. Ends with status 1 if a figure does not
// meet the requirement.
//   karst-verify-cylinder_in_time [pulse | street | box] [N] [dt] [L] [FILE]   N cells per diameter, steps [s],
//   on L levels around the cylinder, each of half the width; FILE: all steps as CSV, for cylinder_curves.py
// pulse:  2D-3, mean speed sin(π t / 8) for 8 s (John, Int. J. Numer. Methods Fluids 44 (2004) 777)
// box:    3D-3Z, the pulse in a channel with four walls (Bayraktar, Mierka & Turek, Int. J. Comput. Sci. Eng. 7 (2012)
//         253: largest drag 3.2978, least lift -0.010999), until 4.5 s; the third level is at the wall of the cylinder
//         alone, dt that of a mean speed of 1 m/s
// street: 2D-2, vortex street at a Reynolds number of 100, from rest: the last periods count Without arguments the
// pulse on 10 cells. Below 20 cells the tolerances are wider.
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <numbers>
#include <string_view>

#include "base/core/error.hpp"
#include "ins/solve/unsteady_solver.hpp"
#include "ins/upscale/body_forces.hpp"
#include "support/ground_cases.hpp"
#include "verification/cylinder_channel.hpp"
#include "verification/figures.hpp"

namespace karst {
namespace {

constexpr double drag_in_box = 3.2978, lift_in_box = -0.010999;
constexpr double diameter = CylinderChannel::diameter, viscosity = 1e-3, speed = 1.0;  // ρ = 1, SI
constexpr double drag = 2.950921575, drag_time = 3.93625, lift = 0.47795, lift_time = 5.693125, drop = -0.1116;

enum class Flow : std::uint8_t { pulse, street, box };

struct Case {
  Flow kind;
  CylinderChannel channel;
  double dt;
  double h() const { return channel.width(); }
  double inertia() const { return speed * h() / viscosity; }  ///< of the solver's units: a velocity of 1 is `speed`
  double seconds(double time) const { return time * h() * h() / viscosity; }
  /// Of the inlet; its mean is 1.
  double profile(const Vec3& x) const {
    const Index cells = channel.cells();
    const auto parabola = [&](int d) { return 6.0 * x[d] / cells[d] * (1.0 - x[d] / cells[d]); };
    return parabola(1) * (channel.thick ? parabola(2) : 1.0);
  }
  /// In the box both figures are of the peak, at 4 s.
  double end() const { return kind == Flow::street ? 12.0 : kind == Flow::box ? 4.5 : 8.0; }
  /// Of the step from this time on, or as much as is left. A third dimension makes steps dear: where the flow in the
  /// box is slow they are longer, of the same CFL number.
  double step(double t) const {
    const double wanted = kind == Flow::box ? dt / std::max(mean_speed(t), 0.25) : dt;
    return (end() - t) / std::max(1.0, std::round((end() - t) / wanted));
  }
  /// Grows to 1 within half a second.
  double mean_speed(double t) const {
    if (kind != Flow::street) return std::sin(std::numbers::pi * t / 8.0);
    return t < 0.5 ? 0.5 * (1.0 - std::cos(2.0 * std::numbers::pi * t)) : 1.0;
  }
};

struct Moment {
  double time, drag, lift, drop;  ///< [s], [-], [-], [Pa]
};

std::vector<Moment> run(const Comm& comm, const Case& of) {
  const Geometry geometry = of.channel.geometry(comm);
  FlowSides sides{};
  sides[0] = FlowSide::velocity;
  sides[1] = FlowSide::outlet;
  StokesOptions options;
  options.krylov.tolerance = 1e-6;
  StokesSolver stokes(test::composite_on(comm, geometry), sides, options);
  stokes.op().set_profile(0, [&](const Vec3& x) { return of.profile(x); });
  const auto drive_at = [&](double time) {
    StokesDrive drive;
    drive.at_end[0] = of.mean_speed(of.seconds(time)) / speed;
    return drive;
  };
  StokesDrive reference;
  reference.at_end[0] = 1.0;
  UnsteadySolver flow(stokes, geometry, drive_at, reference, TimeScheme::bdf2, of.inertia());
  flow.keep_rate();
  std::vector<Moment> all;
  const double pressure = viscosity * speed / of.h();
  const auto pressure_at = [&](bool front) {
    return of.channel.pressure_at(comm, geometry, stokes.op().numbering(), stokes.solution(), front);
  };
  for (double t = 0.0; t < (1.0 - 1e-9) * of.end(); t = all.back().time) {
    const StepReport r = flow.step(of.step(t) * viscosity / (of.h() * of.h()));
    const MomentumRows rows = flow.momentum_rows();
    const Vec3 force = body_forces(stokes.op(), stokes.values(), drive_at(r.time), {0}, rows)[0].total();
    const Vec3 c = (2.0 * viscosity * speed / (speed * speed * diameter * of.channel.cells()[2])) * force;
    all.push_back({of.seconds(r.time), c[0], c[1], pressure * (pressure_at(true) - pressure_at(false))});
    if (comm.rank() == 0 && all.size() % 50 == 0)
      fmt::print(stderr, "{:.3f} s: drag {:.5f}, lift {:+.5f}, drop {:+.5f}, CFL {:.2f}, {} iterations\n",
                 all.back().time, all.back().drag, all.back().lift, all.back().drop, r.cfl, r.iterations);
  }
  return all;
}

void write(const std::vector<Moment>& all, const char* name) {
  std::ofstream file(name);
  file << "time_s,drag,lift,pressure_difference_Pa\n";
  for (const Moment& m : all) file << fmt::format("{:.8g},{:.8g},{:.8g},{:.8g}\n", m.time, m.drag, m.lift, m.drop);
  require(file.flush().good(), "{} cannot be written", name);
}

/// Height and time of the largest value within a span of time, by the parabola through it and its neighbours.
std::array<double, 2> peak(const std::vector<Moment>& all, double Moment::*of, double from) {
  std::size_t k = 0;
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].time >= from && (all[k].time < from || all[i].*of > all[k].*of)) k = i;
  if (k == 0 || k + 1 == all.size()) return {all[k].*of, all[k].time};
  const double low = all[k - 1].*of, mid = all[k].*of, high = all[k + 1].*of;
  const double shift = 0.5 * (low - high) / (low - 2.0 * mid + high);
  return {mid - 0.25 * (low - high) * shift, all[k].time + shift * (all[k + 1].time - all[k].time)};
}

void ask_box(const std::vector<Moment>& all, Json& one, Asked& ask) {
  std::vector<Moment> turned = all;
  for (Moment& m : turned) m.lift = -m.lift;
  one["drag"] = peak(all, &Moment::drag, 0.1)[0];
  one["least_lift"] = -peak(turned, &Moment::lift, 0.1)[0];
  const auto near = [&](const char* name, double wanted) {
    const double off = one[name].get<double>() / wanted - 1.0;
    ask(std::abs(off) <= 0.03, fmt::format("{}: {:+.2e} of 3 %", name, off));
  };
  near("drag", drag_in_box);
  near("least_lift", lift_in_box);
}

/// @param forgiven  times what is allowed on 20 cells and more
void ask_pulse(const std::vector<Moment>& all, double forgiven, Json& one, Asked& ask) {
  const auto [most_drag, at_drag] = peak(all, &Moment::drag, 0.1);
  const auto [most_lift, at_lift] = peak(all, &Moment::lift, 0.1);
  one["drag"] = most_drag;
  one["drag_time"] = at_drag;
  one["lift"] = most_lift;
  one["lift_time"] = at_lift;
  one["pressure_difference"] = all.back().drop;
  const auto near = [&](const char* name, double value, double wanted, double by) {
    ask(std::abs(value - wanted) <= forgiven * by,
        fmt::format("{}: {:.6g}, wanted {:.6g} to {:.2g}", name, value, wanted, forgiven * by));
  };
  near("largest drag", most_drag, drag, 0.01 * drag);
  near("its time", at_drag, drag_time, 0.02);
  near("largest lift", most_lift, lift, 0.01 * lift);
  near("its time", at_lift, lift_time, 0.02);
  near("pressure difference at the end", all.back().drop, drop, 0.01 * std::abs(drop));
}

/// Strouhal number of the last four upward passages of the lift through 0.
void ask_street(const std::vector<Moment>& all, Json& one, Asked& ask) {
  std::vector<double> ups;
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i - 1].lift < 0.0 && all[i].lift >= 0.0)
      ups.push_back(all[i].time - (all[i].time - all[i - 1].time) * all[i].lift / (all[i].lift - all[i - 1].lift));
  ask(ups.size() > 4, "four periods of shedding");
  if (ups.size() <= 4) return;
  const double from = ups[ups.size() - 5];
  const double strouhal = 4.0 * diameter / (ups.back() - from) / speed;
  one["strouhal"] = strouhal;
  one["drag"] = peak(all, &Moment::drag, from)[0];
  one["lift"] = peak(all, &Moment::lift, from)[0];
  constexpr double by = 0.03;
  const auto within = [&](const char* name, double low, double high) {
    const double value = one[name].get<double>();
    ask(value >= (1.0 - by) * low && value <= (1.0 + by) * high,
        fmt::format("{}: {:.5g}, wanted {} to {}", name, value, low, high));
  };
  within("strouhal", 0.2995, 0.3020);
  within("drag", 3.22, 3.24);
  within("lift", 0.98, 1.02);
}

void verify(const Comm& comm, int argc, char** argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "pulse";
  const int cells = argc > 2 ? std::atoi(argv[2]) : 10;
  const Flow kind = mode == "street" ? Flow::street : mode == "box" ? Flow::box : Flow::pulse;
  const int levels = argc > 4 ? std::atoi(argv[4]) : 1;
  const Case of{kind,
                {cells, kind == Flow::box, levels, kind == Flow::box && levels > 2},
                argc > 3 ? std::atof(argv[3]) : 0.1 / (cells << (levels - 1))};
  const std::vector<Moment> all = run(comm, of);
  if (argc > 5 && comm.rank() == 0) write(all, argv[5]);
  Json one;
  one["cells_per_diameter"] = of.channel.finest_per_diameter();
  one["levels"] = levels;
  one["dt"] = of.dt;
  Asked ask;
  if (kind == Flow::pulse)
    ask_pulse(all, of.channel.finest_per_diameter() < 20 ? 25.0 : 1.0, one, ask);
  else
    kind == Flow::street ? ask_street(all, one, ask) : ask_box(all, one, ask);
  print_figures(comm, one, ask);
}

}  // namespace
}  // namespace karst

int main(int argc, char** argv) {
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) { karst::verify(comm, argc, argv); });
}
