// SPDX-License-Identifier: BSD-3-Clause
// Geometry on one and several levels.
#include "eb/geometry.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "base/error.hpp"
#include "eb/described_level_set.hpp"
#include "support/level_cases.hpp"

namespace karst {
namespace {

GridOptions grid_of(int n, int levels, bool periodic = false) {
  GridOptions grid;
  grid.cells = Index::all(n);
  grid.size = Vec3::all(1.0);
  grid.periodic = {periodic, periodic, periodic};
  grid.box = 8;
  grid.levels = levels;
  for (int l = 1; l < levels; ++l) grid.refine.push_back({l, Refinement::Where::wall, {}, {}, 1});
  return grid;
}

/// Σ a_w n over the VoFs that no finer level covers, minus the difference of the open area on the ends of the domain,
/// in units of h0². Zero when coarse and fine apertures agree on every face between levels.
Vec3 composite_closure(const Comm& comm, const Geometry& geometry) {
  Vec3 sum;
  for (int l = 0; l < static_cast<int>(geometry.levels.size()); ++l) {
    const LevelGeometry& level = geometry.levels[static_cast<std::size_t>(l)];
    const double area = std::ldexp(1.0, -2 * l);
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph graph = level.graph.box(b);
      const auto covered = [&](int cell) {
        return l + 1 < geometry.grid.n_levels() && geometry.grid.cell_is_refined(l, graph.cells.cell(cell));
      };
      const auto moments = level.box(b);
      for (std::size_t r = 0; r < moments.moments.size(); ++r)
        if (!covered(graph.row_cell[r])) sum += area * moments.moments[r].wall;
      for_each_face(graph, moments, [&](const FaceView& f) {
        if (covered(f.cell) || graph.name(f.neighbour) != domain_face) return;
        sum[direction_of(f.side)] -= (is_high(f.side) ? area : -area) * f.aperture;
      });
    }
  }
  comm.sum(std::span(sum.v));
  return sum;
}

TEST(Geometry, LevelsAgreeOnTheFacesBetweenThemMpi) {
  const Comm comm = Comm::world();
  for (const bool periodic : {false, true}) {
    const auto phi = test::packing(12, 5.3, 32, periodic);
    GridOptions grid = grid_of(32, 2, periodic);
    // Walls cross the boundary between the levels.
    grid.refine = {{1, Refinement::Where::region, {0.3, 0.3, 0.3}, {0.7, 0.7, 0.7}, 0}};
    const Geometry geometry = build_geometry(comm, grid, *phi, KeepPores::all);
    ASSERT_EQ(geometry.levels.size(), 2u);
    EXPECT_GT(geometry.report.levels[1].irregular, 1000);
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(composite_closure(comm, geometry)[d], 0.0, 1e-9);
    for (const LevelGeometry& level : geometry.levels) {
      EXPECT_LT(test::free_stream_error(level), 1e-12);
      const auto wrong = check(comm, level.graph);
      EXPECT_TRUE(wrong.empty()) << wrong.front();
    }
  }
}

// Refining at the wall gives the volume and area of the fine grid.
TEST(Geometry, RefinementAtTheWallIsAsGoodAsTheFineGridMpi) {
  const Comm comm = Comm::world();
  const auto phi = make_level_set(Sphere{{16.3, 15.8, 16.1}, 8.0});
  const auto fine_phi = make_level_set(Sphere{{32.6, 31.6, 32.2}, 16.0});
  const Geometry two = build_geometry(comm, grid_of(32, 2), *phi, KeepPores::all);
  const Geometry fine = build_geometry(comm, grid_of(64, 1), *fine_phi, KeepPores::all);
  ASSERT_EQ(two.levels.size(), 2u);
  EXPECT_NEAR(two.report.porosity, fine.report.porosity, 1e-12);
  EXPECT_NEAR(two.report.specific_surface, 2.0 * fine.report.specific_surface, 1e-10);
  const double exact = 1.0 - 4.0 / 3.0 * std::numbers::pi * 512.0 / 32768.0;
  EXPECT_NEAR(two.report.porosity, exact, 0.002 * (1.0 - exact));
  EXPECT_LT(two.report.levels[0].vofs_composite + two.report.levels[1].vofs_composite, fine.report.levels[0].vofs);
}

// Three levels, each properly nested in the next coarser one.
TEST(Geometry, ThreeLevelsNestMpi) {
  const Comm comm = Comm::world();
  const auto phi = make_level_set(Sphere{{16.3, 15.8, 16.1}, 5.0});
  const Geometry geometry = build_geometry(comm, grid_of(32, 3), *phi, KeepPores::connected);
  ASSERT_EQ(geometry.levels.size(), 3u);
  const double exact = 4.0 / 3.0 * std::numbers::pi * 125.0 / 32768.0;
  EXPECT_NEAR(1.0 - geometry.report.porosity, exact, 0.001 * exact);  // 20 cells per radius on the finest level
  for (int d = 0; d < 3; ++d) EXPECT_NEAR(composite_closure(comm, geometry)[d], 0.0, 1e-9);
}

/// Bodies described in metres on a domain of this length.
Geometry described(const Comm& comm, double length) {
  GeometryOptions options;
  SolidOptions body;
  body.shape = SolidShape::sphere;
  body.center = length * Vec3{0.31, 0.42, 0.55};
  body.radius = 0.23 * length;
  options.solids.push_back(body);
  body.shape = SolidShape::torus;
  body.center = length * Vec3{0.6, 0.55, 0.4};
  body.axis = {0.3, 0.2, 1.0};
  body.major_radius = 0.25 * length;
  body.radius = 0.08 * length;
  options.solids.push_back(body);
  GridOptions grid = grid_of(32, 1);
  grid.size = Vec3::all(length);
  const auto phi = make_described_level_set(options, grid.cell_width(), grid.size, grid.periodic);
  return build_geometry(comm, grid, *phi, KeepPores::all);
}

// E6: a domain of 1 m and one of 1e-6 m are the same in cells.
TEST(Geometry, DoesNotDependOnTheUnitOfLengthMpi) {
  const Comm comm = Comm::world();
  const Geometry metre = described(comm, 1.0), micrometre = described(comm, 1e-6);
  const LevelReport &a = metre.report.levels[0], &b = micrometre.report.levels[0];
  EXPECT_EQ(a.vofs, b.vofs);
  EXPECT_EQ(a.irregular, b.irregular);
  EXPECT_EQ(a.joined, b.joined);
  EXPECT_EQ(a.orphans, b.orphans);
  EXPECT_EQ(a.extra_faces, b.extra_faces);
  EXPECT_EQ(a.cut.cells_cut, b.cut.cells_cut);
  EXPECT_EQ(a.cut.cells_subdivided, b.cut.cells_subdivided);
  const auto& one = metre.levels[0].moments;
  const auto& other = micrometre.levels[0].moments;
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(one[i].kappa, other[i].kappa, 1e-12);
    for (std::size_t s = 0; s < 6; ++s) EXPECT_NEAR(one[i].aperture[s], other[i].aperture[s], 1e-12);
  }
}

TEST(Geometry, NoFluidIsAnErrorMpi) {
  const auto phi = make_level_set(Sphere{{16, 16, 16}, 60.0});
  EXPECT_THROW(build_geometry(Comm::world(), grid_of(32, 1), *phi, KeepPores::all), Error);
}

}  // namespace
}  // namespace karst
