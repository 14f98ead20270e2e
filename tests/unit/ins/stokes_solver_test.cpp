// SPDX-License-Identifier: BSD-3-Clause
#include "ins/solve/stokes_solver.hpp"

#include <gtest/gtest.h>

#include "base/comm/parallel.hpp"
#include "fields/face_field.hpp"
#include "support/errors.hpp"
#include "support/flow_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::stokes_solver_test {
namespace {

StokesReport solve(const Comm& comm, const Geometry& geometry, const Vec3& force, double tolerance = 1e-8) {
  return StokesSolver(test::composite_on(comm, geometry), {}, test::stokes_options(tolerance))
      .solve(test::driven_by(force));
}

// Zick & Homsy, J. Fluid Mech. 115 (1982) 13.
TEST(StokesSolver, DragOfSphereArraysMpi) {
  const Comm comm = Comm::world();
  for (const auto& [solid, factor] : {std::pair{0.125, 4.292}, {0.343, 15.4}, {0.5236, 42.1}}) {
    std::array<double, 2> error{};
    for (const int n : {16, 32}) {
      const StokesReport r = solve(comm, test::sphere_array(comm, solid, n), {1, 0, 0});
      error[n == 32] = std::abs(test::drag_factor(solid, n, r.velocity[0]) / factor - 1.0);
      EXPECT_LE(r.krylov.iterations, 40);
      EXPECT_LE(r.krylov.relative_residual, 1e-8);
      EXPECT_LT(r.divergence, 1e-6);
    }
    EXPECT_LT(error[1], 0.003) << solid;
    EXPECT_GT(std::log2(error[0] / error[1]), 1.75) << solid;  // factors have three digits
  }
}

struct Slope {
  int x, y;
};
constexpr std::array<Slope, 3> slopes{{{8, 0}, {20, 6}, {12, 12}}};  // 0, 17 and 45 degrees

test::Channel channel(const Slope& slope, double width, double offset, int thickness, bool round) {
  const auto slit = [=](double a, double) { return 0.5 * width - std::abs(a); };
  const auto tube = [=](double a, double b) { return 0.5 * width - std::hypot(a, b - 0.21); };
  const auto finer = static_cast<int>(std::max(width / 4.0, 1.0));
  return {slope.x * finer,
          slope.y * finer,
          thickness * (round ? finer : 1),
          round ? std::function<double(double, double)>(tube) : slit,
          offset,
          8 * finer};
}

// Permeability of narrow slits, mean over their places on the grid, against w² / 12.
void expect_permeability_of_slits(double width, double most) {
  for (const Slope& slope : slopes) {
    double mean = 0.0;
    for (int i = 0; i < 10; ++i)
      mean +=
          1.2 * test::channel_rate(Comm::self(), channel(slope, width, 0.1 * i + 0.003, 1, false)) / std::pow(width, 3);
    EXPECT_LT(std::abs(mean - 1.0), most) << slope.y << " " << width;
  }
}
TEST(StokesSolver, NarrowSlits) { expect_permeability_of_slits(2.0, 0.05); }
TEST(StokesSolver, NarrowSlitsAtNight) {
  expect_permeability_of_slits(3.0, 0.02);
  expect_permeability_of_slits(4.0, 0.01);
}

// Round tubes 3 cells across, mean over their places on the grid, against π R⁴ / 8.
TEST(StokesSolver, NarrowTubes) {
  const Comm comm = Comm::self();
  for (const Slope& slope : slopes) {
    double mean = 0.0;
    for (const double offset : {0.003, 0.303, 0.703})
      mean += test::channel_rate(comm, channel(slope, 3.0, offset, 8, true)) / 3.0;
    EXPECT_NEAR(mean / (std::numbers::pi * std::pow(1.5, 4) / 8.0), 1.0, 0.05) << slope.y;
  }
}

// S1: order and error at 16 cells across.
TEST(StokesSolver, ChannelsConverge) {
  const Comm comm = Comm::self();
  for (const bool round : {false, true})
    for (const Slope& slope : slopes) {
      const auto error = [&](double w) {
        const double exact = round ? std::numbers::pi * std::pow(0.5 * w, 4) / 8.0 : w * w * w / 12.0;
        return std::abs(test::channel_rate(comm, channel(slope, w, 0.303, round ? 8 : 1, round), 1e-9) / exact - 1.0);
      };
      const double coarse = error(4.0), fine = error(8.0);
      EXPECT_TRUE(coarse < 1e-6 || std::log2(coarse / fine) > 1.9) << round << " " << slope.y;  // or exact
      EXPECT_LT(fine, 0.004) << round << " " << slope.y;
      EXPECT_TRUE(round || error(16.0) < 0.001) << slope.y;
    }
}

TEST(StokesSolver, SameFlowForBoxesThreadsAndRanksMpi) {
  const Comm comm = Comm::world();
  const auto phi = test::packing(40, 3.2, 16, true);
  const auto velocity = [&](const Comm& here, int box, double tolerance) {
    const Geometry g =
        build_geometry(here, test::flow_grid(Index::all(16), {true, true, true}, box), *phi, KeepPores::connected);
    return solve(here, g, {1, 0.5, 0}, tolerance).velocity;
  };
  const Vec3 alone = velocity(Comm::self(), 8, 1e-11), together = velocity(comm, 8, 1e-11);
  EXPECT_LT(norm(together - alone), 1e-10 * norm(alone));
  EXPECT_LT(norm(velocity(Comm::self(), 16, 1e-11) - alone), 1e-9 * norm(alone));
  if (comm.size() == 1) {
    const int threads = n_threads();
    set_n_threads(1);
    const Vec3 one = velocity(comm, 8, 1e-8);
    set_n_threads(2);
    const Vec3 two = velocity(comm, 8, 1e-8);
    set_n_threads(threads);
    EXPECT_EQ(one, two);
  }
}

// A turned sample has a turned permeability. (No two spheres lie on the grid alike: where a small piece has two equal
// ways to a home, the first side decides.)
TEST(StokesSolver, TurnsWithTheAxes) {
  const Comm comm = Comm::self();
  std::vector<Sphere> spheres{{{3.31, 5.13, 7.78}, 4.1}, {{11.22, 12.96, 4.47}, 3.3}, {{9.14, 2.25, 12.73}, 2.9}};
  const auto velocity = [&](const Vec3& force) {
    const Geometry g = build_geometry(comm, test::flow_grid(Index::all(16)),
                                      *make_sphere_list(spheres, {Vec3::all(16), {true, true, true}}), KeepPores::all);
    return solve(comm, g, force, 1e-10).velocity;
  };
  const Vec3 before = velocity({1, 0, 0});
  for (Sphere& s : spheres) s.center = {s.center[2], s.center[0], s.center[1]};
  const Vec3 after = velocity({0, 1, 0});
  for (int d = 0; d < 3; ++d) EXPECT_NEAR(before[d], after[(d + 1) % 3], 1e-8 * norm(before));
}

// Flux through a plane of periodic flow does not depend on the plane.
TEST(StokesSolver, EveryPlanePassesTheSameFlux) {
  const Comm comm = Comm::self();
  const Geometry geometry = test::sphere_array(comm, 0.343, 16);
  StokesSolver solver(test::composite_on(comm, geometry), {}, test::stokes_options(1e-10));
  const StokesDrive drive = test::driven_by({1, 0, 0});
  const StokesReport report = solver.solve(drive);
  const FaceField all = solver.face_fluxes();
  const Field& fluxes = all.primary(0);
  const LevelGraph& graph = geometry.levels[0].graph;
  std::vector<double> plane(16);
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph box = graph.box(b);
    for_each_vof(box, [&](int vof, int cell) { plane[box.cells.cell(cell)[0]] += fluxes.box(b, 0)[vof]; });
    for (const FlowExtra& e : solver.op().level(0).rows().extra_of(b))
      for (int k = 0; k > e.step[0]; --k) {  // each face once, for all planes it passes
        const int x = box.cells.cell(cell_of(box, e.vof))[0] + k;
        plane[(x + 16) % 16] -= solver.op().level(0).extra_flux(solver.values().level(0), b, e, drive.force);
      }
  }
  for (const double p : plane) EXPECT_NEAR(p, report.velocity[0] * 256, 1e-8 * p);
  EXPECT_GT(report.tortuosity, 1.0);
  EXPECT_LT(report.tortuosity, 1.3);
}

/// A ball in the middle of a channel between two pressures; periodic, or between sides of this kind.
StokesReport past_a_ball(const Comm& comm, bool periodic, FlowSide kind) {
  constexpr int n = 24;
  const std::vector<Sphere> ball{{{n * 0.5 + 0.137, n * 0.5 - 0.211, n * 0.5 + 0.313}, 0.3 * n}};
  const Geometry geometry =
      build_geometry(comm, test::flow_grid(Index::all(n), {false, periodic, periodic}),
                     *make_sphere_list(ball, {Vec3::all(n), {false, periodic, periodic}}), KeepPores::all);
  FlowSides sides;
  sides.fill(kind);
  sides[0] = sides[1] = FlowSide::pressure;
  StokesSolver solver(test::composite_on(comm, geometry), sides);
  StokesDrive drive;
  drive.at_end[0] = n;
  return solver.solve(drive);
}

// Planes of symmetry hold the normal component alone; the preconditioner knows.
TEST(StokesSolver, SidesCostNoIterationsMpi) {
  const Comm comm = Comm::world();
  const StokesReport periodic = past_a_ball(comm, true, FlowSide::no_slip);
  EXPECT_LE(periodic.krylov.iterations, 27);
  for (const FlowSide kind : {FlowSide::symmetry, FlowSide::no_slip})
    EXPECT_LE(past_a_ball(comm, false, kind).krylov.iterations, periodic.krylov.iterations + 2);
}

// Contacts of spheres, some of them cut by the ends: no face lets pressure drive a flux against its difference.
TEST(StokesSolver, FacesConductAlongThePressure) {
  const Comm comm = Comm::self();
  FlowSides sides{};
  sides[0] = sides[1] = FlowSide::pressure;
  const Geometry geometry = build_geometry(comm, test::flow_grid(Index::all(32), {false, true, true}),
                                           *test::packing(68, 5.0, 32, true), KeepPores::connected);
  const StokesLevels op(test::composite_on(comm, geometry), sides);
  const StokesOperator& level = op.level(0);
  for (int b = 0; b < level.geometry().graph.n_local(); ++b) {
    const FloatField& t = level.inverse_diagonal();
    for (const FlowRow& row : level.rows().of(b))
      for (std::size_t s = 0; s < 6; ++s)
        EXPECT_GE(row.bend[s], -0.76F * row.area[s] * 0.5F * (t.box(b)[row.vof] + t.box(b)[row.slot[s]]));
  }
}

// What one cell says of the flux to its neighbour the other one says, too, beside a no-slip side as well. With a body
// that no symmetry evens out anything else makes the equations of a periodic flow contradict each other.
TEST(StokesSolver, PeriodicFlowBetweenNoSlipSidesConverges) {
  const std::vector<Sphere> sphere{{{7.2, 5.3, 8.6}, 4.1}};
  const Geometry geometry =
      build_geometry(Comm::self(), test::flow_grid(Index::all(16), {true, false, true}),
                     *make_sphere_list(sphere, {Vec3::all(16), {true, false, true}}), KeepPores::all);
  StokesOptions options;
  options.krylov.tolerance = 1e-11;
  StokesSolver solver(test::composite_on(Comm::self(), geometry), {}, options);
  StokesDrive drive;
  drive.force = {1, 0, 0};
  EXPECT_LE(solver.solve(drive).krylov.relative_residual, 1e-11);
}

TEST(StokesSolver, NothingThatDrivesIsAnError) {
  const Comm comm = Comm::self();
  const Geometry geometry = test::sphere_array(comm, 0.343, 8);
  StokesSolver solver(test::composite_on(comm, geometry), {});
  EXPECT_THROW(solver.solve({}), Error);
}

TEST(StokesSolver, FailureNamesTheSolve) {
  const Comm comm = Comm::self();
  const Geometry geometry = test::sphere_array(comm, 0.343, 16);
  StokesOptions options;
  options.krylov.max_iterations = 3;
  StokesSolver solver(test::composite_on(comm, geometry), {}, options);
  StokesDrive drive;
  drive.force = {1, 0, 0};
  const std::string text = test::error_of([&] { solver.solve(drive, "stokes x"); });
  EXPECT_TRUE(test::has(text, "stokes x: not converged")) << text;
}

}  // namespace
}  // namespace karst::stokes_solver_test
