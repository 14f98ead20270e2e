// SPDX-License-Identifier: BSD-3-Clause
// A cylinder in a channel at a Reynolds number of 20 (Schäfer & Turek, Notes Numer. Fluid Mech. 52 (1996) 547): steady
// flow with inertia from a parabolic inlet, drag, lift and pressure difference, printed as JSON. Ends with status 1
// when a figure misses what is asked in asked_of().
//   karst-verify-cylinder          2D-1 on 10, 20 and 40 cells per diameter; references: John & Matthies, Int. J.
//   Numer.
//                                  Methods Fluids 37 (2001) 885; Nabh, thesis, Heidelberg 1998
//   karst-verify-cylinder 3d N     3D-1Z on N cells per diameter, between no-slip sides
#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <string_view>

#include "grid/vof_loops.hpp"
#include "ins/upscale/end_flow.hpp"
#include "support/flow_cases.hpp"
#include "verification/figures.hpp"

namespace karst {
namespace {

constexpr double diameter = 0.1, height = 0.41, viscosity = 1e-3, density = 1.0, mean_speed = 0.2;
constexpr double drag_2d = 5.57953523384, lift_2d = 0.010618948146, drop_2d = 0.11752016697;
constexpr double drag_3d = 6.18533, lift_3d = 0.009401;

struct Channel {
  int per_diameter;
  bool thick;  ///< 3D-1Z
  double width() const { return diameter / per_diameter; }
  double length() const { return thick ? 2.5 : 2.2; }
  Vec3 axis() const { return {(thick ? 0.5 : 0.2) / width(), 0.2 / width(), 0.0}; }
  Index cells() const {
    const auto n = [&](double x) { return static_cast<int>(std::lround(x / width())); };
    return {n(length()), n(height), thick ? n(height) : 1};
  }
  /// Front and back of the cylinder, half way along it [cells].
  Vec3 place(bool front) const { return axis() + Vec3{(front ? -0.5 : 0.5) * per_diameter, 0.0, 0.5 * cells()[2]}; }
};

/// The pressure before or behind the cylinder, from the cells beside the line through its axis: the parabola through
/// the three next to it.
double pressure_at(const Comm& comm, const Geometry& geometry, const std::vector<Quad>& solution,
                   const Channel& channel, bool front) {
  const Vec3 at = channel.place(front);
  constexpr std::array<double, 3> weight{15.0 / 8.0, -10.0 / 8.0, 3.0 / 8.0};
  const LevelGraph& graph = geometry.levels[0].graph;
  double sum = 0.0, weights = 0.0;
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph box = graph.box(b);
    for_each_vof(box, [&](int vof, int cell) {
      const Index i = box.cells.cell(cell);
      const double away = front ? at[0] - 0.5 - i[0] : i[0] + 0.5 - at[0];
      const bool beside = std::abs(i[1] + 0.5 - at[1]) <= 0.5 + 1e-9 && std::abs(i[2] + 0.5 - at[2]) <= 0.5 + 1e-9;
      const auto k = static_cast<std::size_t>(std::max(std::floor(away), 0.0));
      if (!beside || away < 0.0 || k > 2) return;
      sum += weight[k] * solution[graph.vof_begin(b) + vof].v[3];
      weights += weight[k];
    });
  }
  std::array<double, 2> sums{sum, weights};
  comm.sum(std::span(sums));
  return sums[0] / sums[1];
}

Json measure(const Comm& comm, const Channel& channel) {
  const Vec3 axis = channel.axis();
  const test::DistanceFunction phi(
      [&](const Vec3& x) { return std::hypot(x[0] - axis[0], x[1] - axis[1]) - 0.5 * channel.per_diameter; });
  const Geometry geometry = build_geometry(comm, test::flow_grid(channel.cells(), {false, false, !channel.thick}, 16),
                                           phi, KeepPores::connected);
  const double h = channel.width(), depth = channel.thick ? height : h;
  FlowOptions options;
  options.model = FlowModel::steady;
  options.sides = FlowWalls::no_slip;
  options.axes = {0};
  options.tolerance = 1e-6;
  options.inlets = {{0, mean_speed, "parabolic"}};
  options.bodies = {{"cylinder", "", 0.0, diameter * depth}};
  const FluidOptions fluid{viscosity, density};
  const EndFlow flow = solve_end_flow(comm, geometry, options, fluid, {h, 1.0, 0.0});
  const auto coefficient = [&](const Vec3& force) {
    return *force_coefficients(force, options.bodies[0], options, fluid);
  };
  const BodyForce& force = flow.forces[0];
  Json one;
  one["cells_per_diameter"] = channel.per_diameter;
  one["drag"] = coefficient(force.total())[0];
  one["drag_pressure"] = coefficient(force.pressure)[0];
  one["drag_friction"] = coefficient(force.friction)[0];
  one["lift"] = coefficient(force.total())[1];
  one["pressure_difference"] = pressure_at(comm, geometry, flow.solution, channel, true) -
                               pressure_at(comm, geometry, flow.solution, channel, false);
  one["newton_steps"] = flow.newton_steps;
  one["iterations"] = flow.iterations;
  one["seconds"] = flow.setup_seconds + flow.seconds;
  return one;
}

/// Of a figure, relative.
double error_of(const Json& one, const char* key, double reference) {
  return one.at(key).get<double>() / reference - 1.0;
}

/// 1 % at 40 cells per diameter, and order 1.8 of the drag from 20.
Asked asked_of(Json& all) {
  Json &coarse = all[all.size() - 2], &fine = all.back();
  for (Json* one : {&coarse, &fine}) {
    (*one)["drag_error"] = error_of(*one, "drag", drag_2d);
    (*one)["lift_error"] = error_of(*one, "lift", lift_2d);
    (*one)["pressure_difference_error"] = error_of(*one, "pressure_difference", drop_2d);
  }
  Asked ask;
  for (const char* figure : {"drag_error", "lift_error", "pressure_difference_error"})
    ask(std::abs(fine[figure].get<double>()) < 0.01,
        fmt::format("{} on 40 cells: {:+.2e}", figure, fine[figure].get<double>()));
  const double order = last_order(all, "drag_error", "cells_per_diameter");
  ask(order >= 1.8, fmt::format("order {:.2f} of the drag", order));
  return ask;
}

void verify(const Comm& comm, int argc, char** argv) {
  if (argc > 2 && std::string_view(argv[1]) == "3d") {
    const Json one = measure(comm, {std::atoi(argv[2]), true});
    if (comm.rank() == 0)
      fmt::print("{}\ndrag {:+.2e}, lift {:+.2e}\n", one.dump(1), error_of(one, "drag", drag_3d),
                 error_of(one, "lift", lift_3d));
    return;
  }
  Json all = Json::array();
  for (const int n : {10, 20, 40}) all.push_back(measure(comm, {n, false}));
  const Asked asked = asked_of(all);
  print_figures(comm, all, asked);
}

}  // namespace
}  // namespace karst

int main(int argc, char** argv) {
  return karst::run_guarded(argc, argv, [&](const karst::Comm& comm) { karst::verify(comm, argc, argv); });
}
