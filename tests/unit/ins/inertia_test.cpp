// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/inertia.hpp"

#include <gtest/gtest.h>

#include "base/core/error.hpp"
#include "ins/upscale/permeability.hpp"
#include "support/errors.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::inertia_test {
namespace {

// Data that obey the law give its constants back.
TEST(Forchheimer, FitFindsTheLaw) {
  const double k = 2e-12, beta = 3e5, density = 1000.0, viscosity = 1e-3;
  std::vector<InertiaPoint> points;
  for (const double u : {0.001, 0.003, 0.01, 0.05}) {
    InertiaPoint p;
    p.gradient = -(viscosity / k * u + beta * density * u * u);
    p.permeability = viscosity * u / -p.gradient;
    points.push_back(p);
  }
  const auto fit = fit_forchheimer(points, density, viscosity);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->permeability / k, 1.0, 1e-12);
  EXPECT_NEAR(fit->beta / beta, 1.0, 1e-10);
  EXPECT_LT(fit->deviation, 1e-12);
  points[1].permeability *= 1.02;
  EXPECT_GT(fit_forchheimer(points, density, viscosity)->deviation, 0.002);
  points.resize(2);
  EXPECT_FALSE(fit_forchheimer(points, density, viscosity).has_value());
}

/// A simple cubic array of solid fraction 0.343 on 12³ cells of width h; columns along x.
struct Array {
  double h = 1e-5, viscosity = 1e-3, density = 1000.0;
  bool ends = false;

  FlowColumn column(FlowOptions options, const FlowWatch& watch = {}) const {
    const Comm comm = Comm::self();
    const double radius = 12 * std::cbrt(0.75 * 0.343 / std::numbers::pi);
    const std::vector<Sphere> sphere{{{6.137, 5.789, 6.313}, radius}};
    const Geometry geometry =
        build_geometry(comm, test::flow_grid(Index::all(12), {!ends, true, true}),
                       *make_sphere_list(sphere, {Vec3::all(12), {true, true, true}}), KeepPores::all);
    options.model = FlowModel::steady;
    options.axes = {0};
    options.tolerance = 1e-9;
    const FlowSample sample{h, geometry.report.connected_porosity, geometry.report.specific_surface / h};
    return permeability(test::ground_on(comm, geometry), options, {viscosity, density}, sample, watch)[0];
  }
};

FlowOptions gradient(double g, std::vector<double> steps) {
  FlowOptions options;
  options.drive = FlowDrive::pressure_gradient;
  options.gradient = {g, g, g};
  options.steps = std::move(steps);
  return options;
}
constexpr double strong = 4e5;  // [Pa/m]: a Reynolds number of 11 in the array of cells of 1e-5 m with water

TEST(Inertia, SweepLosesPermeability) {
  const FlowColumn column = Array{}.column(gradient(strong, {0.01, 0.1, 0.3, 1.0}));
  ASSERT_EQ(column.inertia.size(), 4U);
  double before = column.permeability[0];
  for (const InertiaPoint& p : column.inertia) {
    EXPECT_LT(p.permeability, before);
    EXPECT_GT(p.newton_steps, 0);
    EXPECT_LE(p.relative_residual, 1e-9);
    EXPECT_NEAR(p.darcy_velocity[0], p.permeability / 1e-3 * p.gradient, 1e-10 * p.darcy_velocity[0]);
    EXPECT_NEAR(p.cell_reynolds, 1000.0 * p.largest_speed * 1e-5 / 1e-3, 1e-10 * p.cell_reynolds);
    before = p.permeability;
  }
  const InertiaPoint &first = column.inertia[0], &last = column.inertia[3];
  EXPECT_NEAR(first.gradient, 0.01 * strong, 1e-9 * strong);
  EXPECT_GT(first.permeability, 0.9999 * column.permeability[0]);
  EXPECT_LT(last.permeability, 0.98 * column.permeability[0]);
  EXPECT_NEAR(last.reynolds, 10.0, 3.0);
  EXPECT_NEAR(last.forchheimer / last.reynolds, first.forchheimer / first.reynolds, 1e-12);
  EXPECT_EQ(column.gradient, last.gradient);
  EXPECT_EQ(column.reynolds, last.reynolds);
  ASSERT_TRUE(column.forchheimer.has_value());
  EXPECT_GT(column.forchheimer->beta, 0.0);
  EXPECT_LT(column.forchheimer->deviation, 0.02);
  // The wall takes what drives the fluid, as in Stokes flow.
  EXPECT_NEAR(column.pressure_drag + column.viscous_drag, 1.0, 0.05);
}

// A wanted velocity needs the gradient that makes it.
TEST(Inertia, VelocityAndFlowRateAreMet) {
  const InertiaPoint by_gradient = Array{}.column(gradient(strong, {1.0})).inertia[0];
  FlowOptions options;
  options.drive = FlowDrive::velocity;
  options.velocity = -0.5 * by_gradient.darcy_velocity[0];
  options.steps = {1.0, 2.0};
  const FlowColumn by_velocity = Array{}.column(options);
  EXPECT_NEAR(by_velocity.inertia[0].darcy_velocity[0] / options.velocity, 1.0, 2e-6);
  EXPECT_NEAR(by_velocity.inertia[1].darcy_velocity[0] / options.velocity, 2.0, 4e-6);
  for (const InertiaPoint& p : by_velocity.inertia) EXPECT_LE(p.newton_steps, 11);  // 10; 12 and 13 without secants
  EXPECT_LT(by_velocity.gradient, 0.0);
  options.drive = FlowDrive::flow_rate;
  options.flow_rate = by_gradient.darcy_velocity[0] * 144e-10;
  options.steps = {1.0};
  const FlowColumn by_rate = Array{}.column(options);
  EXPECT_NEAR(by_rate.flow_rate / options.flow_rate, 1.0, 2e-6);
  EXPECT_NEAR(by_rate.gradient / strong, 1.0, 1e-5);
}

// Against the axis: the same flow, up to where the sphere stands on the grid. All numbers but velocities stay positive.
TEST(Inertia, DriveTheOtherWayRound) {
  double on_the_way = 0.0;
  int iterations = 0;
  FlowWatch watch;
  watch.iteration = [&](const std::string& solve, int n, double, double k) {
    if (solve != "steady x 2/2") return;
    on_the_way = k;
    iterations = n;
  };
  const FlowColumn with = Array{}.column(gradient(strong, {0.01, 1.0})),
                   against = Array{}.column(gradient(-strong, {0.01, 1.0}), watch);
  const InertiaPoint& last = against.inertia[1];
  EXPECT_LT(last.darcy_velocity[0], 0.0);
  EXPECT_NEAR(last.permeability / with.inertia[1].permeability, 1.0, 1e-3);
  EXPECT_NEAR(on_the_way / last.permeability, 1.0, 1e-3);
  EXPECT_EQ(last.iterations, iterations);
  EXPECT_LE(against.inertia[0].iterations, with.inertia[0].iterations + 2);  // both start from Stokes flow
  EXPECT_NEAR(against.pressure_drag / with.pressure_drag, 1.0, 0.01);
  EXPECT_NEAR(against.viscous_drag / with.viscous_drag, 1.0, 0.01);
  EXPECT_NEAR(last.tortuosity / with.inertia[1].tortuosity, 1.0, 1e-3);
  EXPECT_GT(std::abs(last.tortuosity - against.inertia[0].tortuosity), 1e-3);
}

// The same Reynolds number in other units, the same flow.
TEST(Inertia, DependsOnTheReynoldsNumberAlone) {
  const FlowColumn water = Array{}.column(gradient(strong, {1.0}));
  // G h³ ρ / μ² stays: 8 times the width, 3 times the viscosity, half of the density.
  const FlowColumn other = Array{8e-5, 3e-3, 500.0}.column(gradient(strong * 9.0 * 2.0 / 512.0, {1.0}));
  EXPECT_NEAR(other.inertia[0].reynolds / water.inertia[0].reynolds, 1.0, 1e-8);
  EXPECT_NEAR(other.inertia[0].permeability / water.inertia[0].permeability, 64.0, 1e-6);
}

// Ends with pressures: the array repeats itself, but at its ends velocities do not change along the flow.
TEST(Inertia, PressuresAtTheEnds) {
  Array array;
  array.ends = true;
  FlowOptions options;
  options.drive = FlowDrive::pressure_drop;
  options.pressure_drop = strong * 12e-5;
  const FlowColumn open = array.column(options), periodic = Array{}.column(gradient(strong, {1.0}));
  EXPECT_NEAR(open.gradient, strong, 1e-9 * strong);
  EXPECT_NEAR(open.inertia[0].permeability / periodic.inertia[0].permeability, 1.0, 0.1);
  EXPECT_TRUE(std::isnan(open.pressure_drag));
  options.pressure_drop = -options.pressure_drop;
  EXPECT_LT(array.column(options).inertia[0].darcy_velocity[0], 0.0);
}

// What Newton's method does not reach at once it reaches by way of a flow in between.
TEST(Inertia, StepsInBetween) {
  FlowOptions options = gradient(5.0 * strong, {1.0});
  const InertiaPoint direct = Array{}.column(options).inertia[0];
  options.newton_steps = direct.newton_steps - 1;
  const InertiaPoint led = Array{}.column(options).inertia[0];
  EXPECT_NEAR(led.permeability / direct.permeability, 1.0, 1e-7);
  EXPECT_GT(led.newton_steps, direct.newton_steps);
  EXPECT_EQ(direct.drives_between, 0);
  EXPECT_GT(led.drives_between, 0);
  // From a flow a hundred times slower by the root of that, and no further than what is wanted.
  options.steps = {0.01, 1.0};
  const InertiaPoint onwards = Array{}.column(options).inertia[1];
  EXPECT_NEAR(onwards.permeability / direct.permeability, 1.0, 1e-7);
  EXPECT_GT(onwards.drives_between, 0);
  EXPECT_LE(onwards.drives_between, 2);
}

TEST(Inertia, FailureSaysHowFarItCame) {
  FlowOptions options = gradient(1000.0 * strong, {1e-3, 1.0});
  options.newton_steps = 3;
  const std::string text = test::error_of([&] { Array{}.column(options); });
  for (const char* part :
       {"steady x 2/2", "Reynolds number of about", "Solved up to a Reynolds number of", "flow.steps"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(text.find("flow.reservoir"), std::string::npos) << text;  // of samples between two pressures alone
  Array open;
  open.ends = true;
  options.drive = FlowDrive::pressure_drop;
  options.pressure_drop = 1000.0 * strong * 12e-5;
  const std::string between = test::error_of([&] { open.column(options); });
  EXPECT_NE(between.find("flow.reservoir = 8"), std::string::npos) << between;
}

}  // namespace
}  // namespace karst::inertia_test
