// SPDX-License-Identifier: BSD-3-Clause
#include "eb/geometry_sample.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "eb/geometry.hpp"
#include "eb/shapes/shapes.hpp"

namespace karst::geometry_sample_test {
namespace {

GridOptions cube(int n, int box) {
  GridOptions grid;
  grid.cells = Index::all(n);
  grid.size = Vec3::all(n);
  grid.box = box;
  return grid;
}

/// Solid in a ball of 0.4 times the domain.
std::unique_ptr<LevelSet> ball(double n) { return make_level_set(Sphere{{0.51 * n, 0.48 * n, 0.5 * n}, 0.4 * n}); }

constexpr double porosity = 1.0 - 4.0 / 3.0 * std::numbers::pi * 0.064;
constexpr SampleSize unhurried{.classified = 16384, .cut = 640, .classify_seconds = 1e3, .cut_seconds = 1e3};

// A lattice smaller than the sample is counted: the same boxes and volume as the geometry, no error.
TEST(GeometrySampleMpi, SmallGridsAreCounted) {
  const Comm comm = Comm::world();
  const GridOptions grid = cube(40, 8);  // the last boxes are whole
  const auto level_set = ball(40);
  const Geometry geometry = build_geometry(comm, grid, *level_set, KeepPores::all);
  const GeometrySample sample = sample_geometry(comm, grid, *level_set, unhurried);
  ASSERT_EQ(sample.levels.size(), 1U);
  const LevelEstimate& e = sample.levels[0];
  const LevelReport& level = geometry.report.levels[0];
  EXPECT_EQ(e.fluid_error, 0.0);
  EXPECT_EQ(e.candidates, 125.0);
  EXPECT_EQ(e.boxes, static_cast<double>(level.boxes));
  EXPECT_EQ(e.cut, static_cast<double>(level.cut.cells_cut));
  EXPECT_NEAR(e.volume / 64000.0, geometry.report.porosity, 1e-12);
  EXPECT_NEAR(e.wall_area, geometry.report.wall_area, 1e-9 * e.wall_area);
  EXPECT_NEAR(e.fluid, static_cast<double>(level.vofs), 1e-3 * e.fluid);
  EXPECT_NEAR(e.irregular, static_cast<double>(level.irregular), 0.1 * e.irregular);
}

// 10^5 cells per direction: 10^15 cells, 2.4e11 boxes. The volume is known; the error that is stated holds.
TEST(GeometrySampleMpi, HugeGridsAreSampled) {
  const Comm comm = Comm::world();
  const int n = 100000;
  const GeometrySample sample = sample_geometry(
      comm, cube(n, 16), *ball(n), {.classified = 1000, .cut = 20, .classify_seconds = 1e3, .cut_seconds = 1e3});
  const LevelEstimate& e = sample.levels[0];
  const double cells = 1e15;
  EXPECT_DOUBLE_EQ(e.candidates, std::pow(n / 16, 3));
  EXPECT_GT(e.volume_error, 0.0);
  EXPECT_LT(e.volume_error, 0.03 * cells);
  EXPECT_LT(std::abs(e.volume - porosity * cells), 3.0 * e.volume_error);
}

// Between both: the wall is where the sample has to look. Every count within a tenth of the geometry's.
TEST(GeometrySampleMpi, CountsAreThoseOfTheGeometry) {
  const Comm comm = Comm::world();
  const GridOptions grid = cube(96, 8);
  const auto level_set = ball(96);
  const LevelReport level = build_geometry(comm, grid, *level_set, KeepPores::all).report.levels[0];
  const GeometrySample sample = sample_geometry(
      comm, grid, *level_set, {.classified = 800, .cut = 50, .classify_seconds = 1e3, .cut_seconds = 1e3});
  const LevelEstimate& e = sample.levels[0];
  EXPECT_LT(sample.classified, 1728.0);
  EXPECT_NEAR(e.fluid, static_cast<double>(level.vofs), 0.1 * e.fluid);
  EXPECT_NEAR(e.cut, static_cast<double>(level.cut.cells_cut), 0.1 * e.cut);
  EXPECT_NEAR(e.irregular, static_cast<double>(level.irregular), 0.15 * e.irregular);
}

// Cells half as wide at the wall, and in a region so small that chance alone would miss it.
TEST(GeometrySampleMpi, RefinedLevelsAreSampled) {
  const Comm comm = Comm::world();
  GridOptions grid = cube(56, 8);
  grid.levels = 3;
  grid.refine = {{.level = 1, .where = Refinement::Where::wall, .lo = {}, .hi = {}},
                 {.level = 2, .where = Refinement::Where::region, .lo = {1, 1, 1}, .hi = {7, 7, 7}}};
  const auto level_set = ball(56);
  const GeometryReport report = build_geometry(comm, grid, *level_set, KeepPores::all).report;
  const GeometrySample sample = sample_geometry(
      comm, grid, *level_set, {.classified = 200, .cut = 40, .classify_seconds = 1e3, .cut_seconds = 1e3});
  ASSERT_EQ(sample.levels.size(), 3U);
  for (std::size_t l = 0; l < 3; ++l)
    EXPECT_NEAR(sample.levels[l].fluid, static_cast<double>(report.levels[l].vofs), 0.2 * sample.levels[l].fluid) << l;
}

}  // namespace
}  // namespace karst::geometry_sample_test
