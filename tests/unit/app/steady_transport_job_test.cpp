// SPDX-License-Identifier: BSD-3-Clause
#include "app/transport/steady_transport_job.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "app/transport/transport_job.hpp"
#include "base/file/json.hpp"
#include "fields/composite.hpp"
#include "support/errors.hpp"
#include "support/job_cases.hpp"

namespace karst::steady_transport_job_test {
namespace {

using test::error_of;
using test::has;

constexpr double distance = 12.7, diffusivity = 0.2;

struct Case : test::JobCase {
  Case(const Index& cells, const std::array<bool, 3>& periodic, const LevelSet& walls)
      : JobCase(test::diffusion_grid(cells, periodic, 8), walls) {
    config.transport.mode = TransportMode::steady;
    config.transport.peclet_length = 5.0;
    config.transport.tolerance = 1e-12;
    ComponentDeck acid;
    acid.name = "acid";
    acid.diffusivity = diffusivity;
    acid.inlet = "2";
    acid.inlet_given = true;
    config.transport.components = {acid};
    services.exchanges.taken = {ExchangeName::flow};
  }
  Json run() {
    check_jobs(context);
    if (config.flow.model != FlowModel::none) run_job(flow_job(), context);
    result = run_job(transport_job(), context);
    return result.json["transport"]["components"][0];
  }
  JobResult result;
};

/// Fluid at rest between c = 2 at x = 0 and a plane wall.
struct Slab : Case {
  Slab() : Case({16, 8, 8}, {false, true, true}, *make_level_set(HalfSpace{{distance, 0.0, 0.0}, {-1.0, 0.0, 0.0}})) {
    config.flow.model = FlowModel::none;
  }
};

WallDeck wall_of(double rate, double order = 1.0) {
  WallDeck wall;
  wall.rate = rate;
  wall.order = order;
  return wall;
}

// -D c' = r(c_w) and c = 2 - r x / D: closed forms for a given flux, for order 1 (given as Damköhler number, with an
// equilibrium) and 2. The Sherwood number is that of half the slab, 2 L / distance.
TEST(SteadyTransportJobMpi, AWallBehindFluidAtRest) {
  const PetscSession petsc;
  const auto expect = [](const WallDeck& wall, double flux) {
    Slab c;
    c.config.transport.walls = {wall};
    const auto found = c.run();
    const double at_wall = 2.0 - flux * distance / diffusivity;
    const auto& of_wall = found["wall"];
    EXPECT_NEAR(of_wall["loss_C_m3_s"].get<double>(), 64.0 * flux, 1e-7);
    EXPECT_NEAR(of_wall["concentration"].get<double>(), at_wall, 1e-6);
    EXPECT_NEAR(found["mean"].get<double>(), 0.5 * (2.0 + at_wall), 2e-3);
    EXPECT_NEAR(of_wall["sherwood"].get<double>(), 2.0 * 5.0 / distance, 5e-3);
    EXPECT_LT(found["largest_imbalance"].get<double>(), 1e-9);
  };
  WallDeck given, first;
  given.flux = 0.01;
  expect(given, 0.01);
  const double by_length = diffusivity / distance;
  first.equilibrium = 0.5;
  first.damkohler = 3.0;
  expect(first, 1.5 / (1.0 / by_length + 5.0 / (3.0 * diffusivity)));
  // k c_w² = (2 - c_w) D / distance
  const double k = 0.03, a = by_length / k, c_w = 0.5 * (std::sqrt(a * a + 8.0 * a) - a);
  expect(wall_of(k, 2.0), k * c_w * c_w);
  // k √c_w = (2 - c_w) D / distance
  const double b = k / by_length, root = 0.5 * (std::sqrt(b * b + 8.0) - b);
  expect(wall_of(k, 0.5), k * root);
}

// Decay alone holds a closed box at source / decay, with nothing at its ends.
TEST(SteadyTransportJobMpi, SourceAndDecayBalance) {
  const PetscSession petsc;
  Slab c;
  ComponentDeck& acid = c.config.transport.components[0];
  acid.inlet_given = false;
  acid.source = 0.3;
  EXPECT_TRUE(has(error_of([&] { check_jobs(c.context); }), "has neither an inlet"));
  acid.decay = 0.1;
  const auto found = c.run();
  EXPECT_NEAR(found["mean"].get<double>(), 3.0, 1e-9);
  EXPECT_NEAR(found["value_range"][0].get<double>(), 3.0, 1e-8);
  EXPECT_LT(found["largest_imbalance"].get<double>(), 1e-9);
}

// Flow past two balls: what the steps end in is what is solved for (two different forms of second order); nothing
// leaves the bounds by more than the tolerance, and what the walls take is what is missing at the outlet.
TEST(SteadyTransportJob, IsWhereTheStepsEndAloneByDay) {
  const PetscSession petsc;
  LevelSetParts balls;
  balls.push_back(make_level_set(Sphere{{5.8, 5.1, 4.9}, 2.9}));
  balls.push_back(make_level_set(Sphere{{13.8, 5.1, 4.9}, 2.9}));
  Case c({20, 10, 10}, {false, true, true}, *union_of_solids(std::move(balls)));
  c.config.flow.model = FlowModel::stokes;
  c.config.flow.drive = FlowDrive::velocity;
  c.config.flow.velocity = 0.5;
  c.config.flow.axes = {0};
  c.config.flow.estimate_error = false;
  c.config.flow.tolerance = 1e-10;
  const auto inert = c.run();  // only what flows in holds it
  EXPECT_NEAR(inert["mean"].get<double>(), 2.0, 1e-7);
  EXPECT_NEAR(inert["outlet"].get<double>(), 2.0, 1e-7);
  EXPECT_TRUE(c.result.warnings.empty());
  c.services.exchanges.flow.columns.clear();
  c.config.transport.walls = {wall_of(0.05)};
  c.config.transport.components[0].inlet_kind = EndKind::value;
  const auto held = c.run();
  EXPECT_LT(held["largest_imbalance"].get<double>(), 2e-4);
  c.config.transport.components[0].inlet_kind = EndKind::flux;
  c.services.exchanges.flow.columns.clear();
  const auto steady = c.run();
  const double loss = steady["wall"]["loss_C_m3_s"];
  EXPECT_LT(steady["largest_imbalance"].get<double>(), 2e-4);
  EXPECT_GT(steady["value_range"][0].get<double>(), 0.0);
  EXPECT_LT(steady["value_range"][1].get<double>(), 2.0 + 1e-3);
  EXPECT_NEAR(steady["inlet"].get<double>(), 2.0, 1e-6);
  EXPECT_NEAR((2.0 - steady["outlet"].get<double>()) * 50.0, loss, 0.02);
  EXPECT_GT(held["wall"]["loss_C_m3_s"].get<double>(), loss);  // some diffuses in, too
  c.config.transport.mode = TransportMode::in_time;
  c.config.transport.tolerance = 1e-8;
  c.config.time.end_pore_volumes = 2.5;
  c.services.exchanges.flow.columns.clear();
  const auto end = c.run();
  EXPECT_NEAR(steady["outlet"].get<double>() / end["outlet"].get<double>(), 1.0, 5e-3);
  EXPECT_NEAR(steady["mean"].get<double>() / end["mean"].get<double>(), 1.0, 5e-3);
  EXPECT_NEAR(loss / end["wall"]["loss_C_m3_s"].get<double>(), 1.0, 0.03);
}

// The polygons have the areas of the walls they stand for, and lie about their planes.
TEST(WallSurfaceMpi, HasTheAreaOfTheWall) {
  const Comm comm = Comm::world();
  const Geometry geometry = build_geometry(comm, test::diffusion_grid({12, 12, 12}, {false, false, false}, 8),
                                           *make_level_set(Sphere{{6.1, 5.9, 6.0}, 4.3}), KeepPores::all);
  const auto composite = test::composite_on(comm, geometry);
  const std::vector<WallPlace> places = wall_places(geometry, *numbering_of(composite));
  const Surface surface = wall_surface(geometry, places, 0.5);
  ASSERT_EQ(surface.ends.size(), places.size());
  double sum = 0.0, farthest = 0.0;
  std::size_t p = 0;
  for (std::size_t i = 0; i < surface.ends.size(); ++i) {
    std::vector<Vec3> points;
    for (; p < static_cast<std::size_t>(surface.ends[i]); ++p)
      points.push_back({surface.points[3 * p], surface.points[3 * p + 1], surface.points[3 * p + 2]});
    double area = 0.0;
    for (std::size_t k = 2; k < points.size(); ++k)
      area += 0.5 * norm(cross(points[k - 1] - points[0], points[k] - points[0]));
    EXPECT_NEAR(area, surface.arrays[0].values[i], 1e-5);
    for (const Vec3& x : points) farthest = std::max(farthest, std::abs(norm(x - 0.5 * Vec3{6.1, 5.9, 6.0}) - 2.15));
    sum += area;
  }
  EXPECT_NEAR(comm.sum(sum), std::numbers::pi * 4.3 * 4.3, 0.01 * std::numbers::pi * 4.3 * 4.3);
  EXPECT_LT(farthest, 0.1);  // a fifth of a cell
}

}  // namespace
}  // namespace karst::steady_transport_job_test
