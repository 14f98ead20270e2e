// SPDX-License-Identifier: BSD-3-Clause
#include "app/vof_values.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "grid/vof_loops.hpp"
#include "support/geometry_cases.hpp"

namespace karst {
namespace {

/// A refined ball; the value of an unknown is x + 10 y + 100 z of its cell's centre, in level-0 cells.
struct Values {
  Comm comm = Comm::world();
  Geometry geometry =
      build_geometry(comm, test::grid_of(32, 2), *make_level_set(Sphere{{15.2, 16.1, 16.6}, 7.3}), KeepPores::all);
  CompositeNumbering numbering{comm, geometry};
  std::vector<double> values = std::vector<double>(static_cast<std::size_t>(numbering.n_own()));

  Values() {
    for (const LevelGeometry& level : geometry.levels)
      for (int b = 0; b < level.graph.n_local(); ++b) {
        const BoxGraph graph = level.graph.box(b);
        for_each_vof(graph, [&](int vof, int cell) {
          const std::int32_t number = numbering.number(level.level, b, vof);
          if (number >= 0) values[static_cast<std::size_t>(number)] = at(graph.cells.cell(cell), level.level);
        });
      }
  }
  static double at(const Index& c, int level) {
    return std::ldexp(c[0] + 0.5 + 10 * (c[1] + 0.5) + 100 * (c[2] + 0.5), -level);
  }
};

TEST(VofValuesMpi, CellsHoldTheirValuesAndSolidNone) {
  const Values v;
  std::int64_t known = 0, unknown = 0;
  for (int l = 0; l < 2; ++l) {
    const LevelGraph& graph = v.geometry.levels[static_cast<std::size_t>(l)].graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const Box box = graph.box(b).cells;
      std::vector<float> cells(static_cast<std::size_t>(box.count()));
      fill_cells(v.geometry, v.numbering, l, b, cells, [&](std::size_t i) { return v.values[i]; });
      for_each_cell(box, [&](const Index& c) {
        const float value = cells[static_cast<std::size_t>(box.offset(c))];
        ++(std::isnan(value) ? unknown : known);
        if (!std::isnan(value)) {
          EXPECT_NEAR(value, Values::at(c, l), 1e-3);
        }
      });
    }
  }
  EXPECT_GT(v.comm.sum(unknown), 1000);
  EXPECT_GT(v.comm.sum(known), 20000);
}

// Cells of the coarse level that the fine one covers hold the mean of its two layers of cells.
TEST(VofValuesMpi, MiddlePlaneOfAllLevels) {
  const Values v;
  for (int direction = 0; direction < 3; ++direction) {
    const PlaneValues plane = middle_plane(v.comm, v.geometry, v.numbering, v.values, direction);
    EXPECT_EQ(plane.plane, 16);
    ASSERT_EQ(plane.values.size(), 1024U);
    for (int j = 0; j < 32; ++j)
      for (int i = 0; i < 32; ++i) {
        Index c{i, j, 0};
        if (direction == 0) c = {16, i, j};
        if (direction == 1) c = {i, 16, j};
        if (direction == 2) c = {i, j, 16};
        const double value = plane.values[static_cast<std::size_t>(32 * j + i)];
        const double r = norm(Vec3{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5} - Vec3{15.2, 16.1, 16.6});
        if (r < 6.0) {
          EXPECT_TRUE(std::isnan(value)) << i << " " << j;
        } else if (r > 8.7) {
          EXPECT_NEAR(value, Values::at(c, 0), 1e-10) << i << " " << j;
        }
      }
  }
}

TEST(VofValues, PicturesShowSolidInGrayAndValuesFromDarkToLight) {
  PlaneValues plane{2, 0, 3, 2, {0.0, 0.5, 1.0, std::nan(""), 2.0, -1.0}};
  const Picture picture = picture_of(plane, 0.0, 1.0);
  const auto light = [&](int column, int row) {
    const std::uint8_t* p = picture.pixel(column, row);
    return 0.3 * p[0] + 0.6 * p[1] + 0.1 * p[2];
  };
  EXPECT_LT(light(0, 1), light(1, 1));  // the first row of values is the lowest
  EXPECT_LT(light(1, 1), light(2, 1));
  EXPECT_EQ(light(1, 0), light(2, 1));  // beyond the scale: its end
  EXPECT_EQ(light(2, 0), light(0, 1));
  const std::uint8_t* solid = picture.pixel(0, 0);
  EXPECT_NEAR(solid[0], solid[2], 10);
}

}  // namespace
}  // namespace karst
