// SPDX-License-Identifier: BSD-3-Clause
#include "ins/stokes_solver.hpp"

#include <gtest/gtest.h>

#include "base/parallel.hpp"
#include "support/flow_cases.hpp"

namespace karst {
namespace {

StokesReport solve(const Comm& comm, const Geometry& geometry, const Vec3& force, double tolerance = 1e-8) {
  StokesOptions options;
  options.krylov.tolerance = tolerance;
  StokesSolver solver(comm, geometry, {}, options);
  StokesDrive drive;
  drive.force = force;
  return solver.solve(drive);
}

// Zick & Homsy, J. Fluid Mech. 115 (1982) 13; the errors on 16^3 and 32^3 are what this discretisation gives.
TEST(StokesSolver, DragOfSphereArraysMpi) {
  const Comm comm = Comm::world();
  struct Case {
    double solid, factor, at_16, at_32;
  };
  for (const Case& c :
       {Case{0.125, 4.292, 0.006, 0.003}, Case{0.343, 15.4, 0.010, 0.004}, Case{0.5236, 42.1, 0.015, 0.006}}) {
    for (const int n : {16, 32}) {
      const StokesReport r = solve(comm, test::sphere_array(comm, c.solid, n), {1, 0, 0});
      const double error = test::drag_factor(c.solid, n, r.velocity[0]) / c.factor - 1.0;
      EXPECT_LT(std::abs(error), n == 16 ? c.at_16 : c.at_32) << c.solid << " " << n;
      EXPECT_LE(r.krylov.iterations, 40);
      EXPECT_LE(r.krylov.relative_residual, 1e-8);
      EXPECT_LT(r.divergence, 1e-6);
    }
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
  StokesOptions options;
  options.krylov.tolerance = 1e-10;
  StokesSolver solver(comm, geometry, {}, options);
  StokesDrive drive;
  drive.force = {1, 0, 0};
  const StokesReport report = solver.solve(drive);
  const Field fluxes = solver.face_fluxes();
  const LevelGraph& graph = geometry.levels[0].graph;
  std::vector<double> plane(16);
  for (int b = 0; b < graph.n_local(); ++b) {
    const BoxGraph box = graph.box(b);
    for_each_vof(box, [&](int vof, int cell) {
      plane[static_cast<std::size_t>(box.cells.cell(cell)[0])] += fluxes.box(b, 0)[static_cast<std::size_t>(vof)];
    });
  }
  for (const double p : plane) EXPECT_NEAR(p, report.velocity[0] * 256, 1e-8 * p);
  EXPECT_GT(report.tortuosity, 1.0);
  EXPECT_LT(report.tortuosity, 1.3);
}

TEST(StokesSolver, NothingThatDrivesIsAnError) {
  const Comm comm = Comm::self();
  const Geometry geometry = test::sphere_array(comm, 0.343, 8);
  StokesSolver solver(comm, geometry, {});
  EXPECT_THROW(solver.solve({}), Error);
}

TEST(StokesSolver, FailureNamesTheSolve) {
  const Comm comm = Comm::self();
  const Geometry geometry = test::sphere_array(comm, 0.343, 16);
  StokesOptions options;
  options.krylov.max_iterations = 3;
  StokesSolver solver(comm, geometry, {}, options);
  StokesDrive drive;
  drive.force = {1, 0, 0};
  try {
    solver.solve(drive, "stokes x");
    FAIL();
  } catch (const Error& e) {
    EXPECT_NE(std::string(e.what()).find("stokes x: not converged"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace karst
