// SPDX-License-Identifier: BSD-3-Clause
#include "app/vof_values.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "app/plane_picture.hpp"
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
  FieldView view() const {
    FieldView view;
    view.cells = Index::all(32);
    view.components = {"value", "twice"};
    for (const LevelGeometry& level : geometry.levels) {
      view.boxes.emplace_back();
      for (int b = 0; b < level.graph.n_local(); ++b) view.boxes.back().push_back(level.graph.box(b).cells);
    }
    view.fill = [this](int level, std::size_t box, std::size_t component, std::span<float> cells) {
      fill_cells(geometry, numbering, level, static_cast<std::int64_t>(box), cells,
                 [&](std::size_t i) { return (component == 1 ? 2.0 : 1.0) * values[i]; });
    };
    view.threads_may_fill = true;
    return view;
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
    const std::size_t component = 0;
    const PlaneValues plane = middle_plane(v.comm, v.view(), {&component, 1}, direction);
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
          EXPECT_NEAR(value, Values::at(c, 0), 1e-3) << i << " " << j;
        }
      }
  }
}

// Means over 2³ cells of a linear field are its values at the middle, whatever the level of the cells.
TEST(VofValuesMpi, LatticeHoldsMeansOfAllLevels) {
  const Values v;
  const Lattice lattice = lattice_of(v.comm, v.view(), {0, 1, 0}, 16 * 16 * 16);
  EXPECT_EQ(lattice.size, Index::all(16));
  EXPECT_EQ(lattice.width, 2.0);
  if (v.comm.rank() != 0) return;
  ASSERT_EQ(lattice.values.size(), 4096U);
  int whole = 0;
  for_each_cell({Index{}, lattice.size}, [&](const Index& c) {
    const auto& value = lattice.at(c[0], c[1], c[2]);
    EXPECT_GE(value[3], 0.0F);
    EXPECT_LE(value[3], 1.0F);
    if (value[3] < 1.0F) return;
    ++whole;
    EXPECT_NEAR(value[0], 2.0 * Values::at(c, 0), 1e-3);
    EXPECT_NEAR(value[1], 4.0 * Values::at(c, 0), 2e-3);
  });
  EXPECT_GT(whole, 3500);
  EXPECT_EQ(lattice.at(7, 7, 8)[3], 0.0F);
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

TEST(VofValues, UnitsSuitTheLargestValue) {
  const auto unit = [](double largest) { return scaled_unit(largest, "m/s"); };
  EXPECT_EQ(unit(2.6e-3).name, "mm/s");
  EXPECT_NEAR(unit(2.6e-3).factor, 1e-3, 1e-18);
  EXPECT_EQ(unit(1e-6).name, "µm/s");
  EXPECT_EQ(unit(0.99).name, "mm/s");
  EXPECT_EQ(unit(12.0).name, "m/s");
  EXPECT_EQ(unit(0.0).name, "m/s");
  PlaneLook look;
  look.quantity = "speed [mm/s]";
  look.cell_width = 1e-5;
  const std::string figure = plane_figure({1, 0, 30, 20, std::vector<double>(600, 0.5)}, look);
  for (const char* part : {"speed [mm/s]", "x [µm]", "z [µm]", ">200<", "data:image/png"})
    EXPECT_NE(figure.find(part), std::string::npos) << part;
}

}  // namespace
}  // namespace karst
