// SPDX-License-Identifier: BSD-3-Clause
#include "ins/stokes_levels.hpp"

#include <gtest/gtest.h>

#include "base/parallel.hpp"
#include "ins/wall_drag.hpp"
#include "support/flow_cases.hpp"

namespace karst {
namespace {

using test::flow_grid;
using test::refined_at_wall;
using test::refined_in;

struct Flow {
  StokesReport report;
  LevelFaceCounts faces;
  std::vector<std::int64_t> cells;  // per level, covered ones included
};

Flow flow(const Comm& comm, const GridOptions& grid, const LevelSet& level_set, const Vec3& force,
          double tolerance = 1e-8) {
  const Geometry geometry = build_geometry(comm, grid, level_set, KeepPores::all);
  StokesOptions options;
  options.krylov.tolerance = tolerance;
  StokesSolver solver(comm, geometry, {}, options);
  StokesDrive drive;
  drive.force = force;
  Flow result{solver.solve(drive), solver.op().face_counts(), {}};
  for (int l = 0; l < solver.op().n_levels(); ++l)
    result.cells.push_back(solver.op().level(l).rows().counts.flow_cells);
  return result;
}

/// Fluid between two plates across y, `width` apart, in a domain `height` cells high.
std::unique_ptr<LevelSet> slit(double width, double height, double offset) {
  return std::make_unique<test::DistanceFunction>(
      [=](const Vec3& p) { return 0.5 * width - std::abs(p[1] - 0.5 * height - offset); });
}

// Plane Poiseuille flow is exact on any levels, w³ / 12 per height: parabolas are met by momentum rows, fluxes at walls
// and polynomials between levels, also where walls cross from level to level and slivers lie on both sides.
TEST(StokesLevels, FlowBetweenPlatesIsExactOnAnyLevelsMpi) {
  const Comm comm = Comm::world();
  const GridOptions plain = flow_grid({16, 16, 8});
  const std::vector<std::pair<std::string, GridOptions>> grids{
      {"patch in the fluid", refined_in(plain, 1, {4, 7, 0}, {12, 9, 4})},
      {"layer across both walls", refined_in(plain, 1, {4, 0, 0}, {12, 16, 8})},
      {"patch at one wall", refined_in(plain, 1, {4, 10, 0}, {12, 16, 4})},
      {"at the walls", refined_at_wall(plain, 1, 0)},
      {"three levels", refined_in(refined_in(plain, 1, {0, 8, 0}, {16, 16, 8}), 2, {4, 10, 2}, {8, 16, 6})}};
  for (const auto& [name, grid] : grids)
    for (const double width : {9.3, 9.73}) {
      const Flow f = flow(comm, grid, *slit(width, 16, 0.13), {1, 0, 0});
      EXPECT_GT(f.cells[0] * f.cells[1], 0) << name;
      EXPECT_NEAR(f.report.velocity[0] * 16 / (width * width * width / 12.0), 1.0, 1e-7) << name;
      EXPECT_LT(f.report.divergence, 1e-8) << name;
      EXPECT_EQ(f.faces.closed, 0) << name;
      EXPECT_LE(f.report.krylov.iterations, 40) << name;
    }
}

// Walls in the last half of the coarse cells behind a level boundary: no coarse unknowns stand there, so the fine faces
// are closed; how far the wall is the coarse level knows.
TEST(StokesLevels, WallRightBehindTheBoundary) {
  const Comm comm = Comm::self();
  for (const auto& [width, closed] : {std::pair{8.87, 128}, {8.41, 256}}) {  // the patch lies between y = 4 and 12
    const Flow f =
        flow(comm, refined_in(flow_grid({16, 16, 8}), 1, {4, 7, 0}, {12, 9, 4}), *slit(width, 16, 0.13), {1, 0, 0});
    EXPECT_EQ(f.faces.closed, closed);
    EXPECT_NEAR(f.report.velocity[0] * 16 / (width * width * width / 12.0), 1.0, 0.005) << width;
  }
}

// A uniform force along the plates, across a level boundary at any angle, between walls that are not on the grid.
TEST(StokesLevels, InclinedSlitConverges) {
  const Comm comm = Comm::self();
  std::array<double, 2> error{};
  for (const int n : {1, 2}) {
    const test::Channel c{20 * n, 8 * n, 8, [n](double a, double) { return 2.7 * n - std::abs(a); }, 0.303 * n};
    const GridOptions grid = refined_in(flow_grid(c.cells()), 1, {4.0 * n, 0, 0}, {12.0 * n, 8.0 * n, 8});
    const Flow f = flow(comm, grid, *c.level_set(), c.along());
    error[n == 2] = std::abs(c.rate(f.report.velocity) / 8.0 * 12.0 / std::pow(5.4 * n, 3) - 1.0);
    EXPECT_GT(f.cells[0] * f.cells[1], 0);
  }
  EXPECT_LT(error[1], 0.004);
  EXPECT_GT(std::log2(error[0] / error[1]), 1.5);
}

// Every plane across the flow passes the same flux, on both levels and between them: the face of a coarse cell has the
// sum of the fine ones.
TEST(StokesLevels, EveryPlanePassesTheSameFlux) {
  const Comm comm = Comm::self();
  const Geometry geometry = build_geometry(comm, refined_in(flow_grid({16, 16, 8}), 1, {4, 0, 0}, {12, 16, 8}),
                                           *slit(9.6, 16, 0.0), KeepPores::all);
  StokesOptions options;
  options.krylov.tolerance = 1e-10;
  StokesSolver solver(comm, geometry, {}, options);
  StokesDrive drive;
  drive.force = {1, 0, 0};
  const StokesReport report = solver.solve(drive);
  const std::vector<Field> fluxes = solver.face_fluxes();
  int planes = 0;
  for (int l = 0; l < 2; ++l) {
    const StokesOperator& op = solver.op().level(l);
    std::vector<double> plane(32, 0.0);
    for (int b = 0; b < op.geometry().graph.n_local(); ++b) {
      const BoxGraph box = op.geometry().graph.box(b);
      for_each_vof(box, [&](int vof, int cell) {
        if (!std::ranges::binary_search(op.rows().covered_in(b), vof))
          plane[static_cast<std::size_t>(box.cells.cell(cell)[0])] +=
              fluxes[static_cast<std::size_t>(l)].box(b, 0)[static_cast<std::size_t>(vof)];
      });
    }
    for (const double p : plane) {
      if (p == 0.0) continue;
      ++planes;
      EXPECT_NEAR(p / (report.velocity[0] * 16 * 8), 1.0, 1e-8) << l;
    }
  }
  EXPECT_EQ(planes, 8 + 16);
}

// A sphere that the level boundary cuts: the same on any ranks and boxes.
TEST(StokesLevels, SameFlowForBoxesAndRanksMpi) {
  const auto velocity = [](const Comm& comm, int box) {
    return flow(comm, refined_in(flow_grid(Index::all(32), {true, true, true}, box), 1, {0, 0, 0}, {16, 32, 32}),
                *test::one_sphere(0.343, 32), {1, 0.5, 0}, 1e-10)
        .report.velocity;
  };
  const Vec3 together = velocity(Comm::world(), 8);
  EXPECT_LT(norm(velocity(Comm::self(), 8) - together), 1e-8 * norm(together));
  const Vec3 wide = Comm::world().size() == 1 ? velocity(Comm::self(), 16) : together;
  EXPECT_LT(norm(wide - together), 1e-8 * norm(together));
}

// Drag of a cubic array (4.292: Zick & Homsy, J. Fluid Mech. 115 (1982) 13) with cells of 1/64 of the period near the
// sphere and of 1/32 elsewhere: as with 1/64 everywhere (4.2904), where 1/32 everywhere has 4.2853.
TEST(StokesLevels, SphereRefinedAtTheWall) {
  const Comm comm = Comm::self();
  const Flow f = flow(comm, refined_at_wall(flow_grid(Index::all(32)), 1, 1), *test::one_sphere(0.125, 32), {1, 0, 0});
  EXPECT_NEAR(test::drag_factor(0.125, 32, f.report.velocity[0]), 4.2904, 0.0015);
  EXPECT_LT(f.report.divergence, 1e-8);
  EXPECT_LE(f.report.krylov.iterations, 33);  // 26 on one level
}

}  // namespace
}  // namespace karst
