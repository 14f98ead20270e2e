// SPDX-License-Identifier: BSD-3-Clause
// Geometry on one and several levels.
#include "eb/geometry.hpp"

#include <gtest/gtest.h>

#include <numbers>

#include "base/core/error.hpp"
#include "support/errors.hpp"
#include "support/geometry_cases.hpp"

namespace karst::geometry_test {
namespace {

using test::composite_closure;
using test::described;
using test::grid_of;

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

// Boxes clipped at a periodic end that is no multiple of a box, nor of half a box: both sides of the seam see the same
// boundary between the levels.
TEST(Geometry, LevelsAgreeAcrossAClippedPeriodicEndMpi) {
  const Comm comm = Comm::world();
  for (const int n : {19, 24, 27}) {
    const auto phi = test::packing(8, 4.3, n, true);
    GridOptions grid = test::grid_of(n, 2, true);
    grid.box = 16;
    grid.refine = {{1, Refinement::Where::region, {0.0, 0.0, 0.0}, {0.3, 0.3, 0.3}, 0}};
    const Geometry geometry = build_geometry(comm, grid, *phi, KeepPores::all);
    ASSERT_EQ(geometry.levels.size(), 2u);
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(test::composite_closure(comm, geometry)[d], 0.0, 1e-9) << n;
  }
}

TEST(Geometry, RefinementThatReachesNothingIsAnErrorMpi) {
  const auto phi = make_level_set(Sphere{{16, 16, 16}, 6.0});
  GridOptions grid = test::grid_of(32, 2);
  grid.refine = {{1, Refinement::Where::region, {10, 10, 10}, {20, 20, 20}, 0}};  // millimetres taken for metres
  EXPECT_THROW(build_geometry(Comm::world(), grid, *phi, KeepPores::all), Error);
  grid.refine.insert(grid.refine.begin(), Refinement{.level = 1, .where = Refinement::Where::wall, .lo = {}, .hi = {}});
  const std::string text = test::error_of([&] { build_geometry(Comm::world(), grid, *phi, KeepPores::all); });
  EXPECT_TRUE(test::has(text, "grid.refine[1]: the region from lo = (10, 10, 10)")) << text;
}

TEST(Geometry, NoFluidIsAnErrorMpi) {
  const auto phi = make_level_set(Sphere{{16, 16, 16}, 60.0});
  EXPECT_THROW(build_geometry(Comm::world(), grid_of(32, 1), *phi, KeepPores::all), Error);
}

}  // namespace
}  // namespace karst::geometry_test
