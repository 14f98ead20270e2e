// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/vof_values.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "app/output/field_view.hpp"
#include "app/output/plot_file.hpp"
#include "fields/ground.hpp"
#include "grid/vof_loops.hpp"
#include "io/plotfile.hpp"
#include "page/plane_picture.hpp"
#include "support/geometry_cases.hpp"

namespace karst::vof_values_test {
namespace {

/// A refined ball; the value of an unknown is x + 10 y + 100 z of its cell's centre, in level-0 cells.
struct Values {
  Comm comm = Comm::world();
  Ground ground{comm, build_geometry(comm, test::grid_of(32, 2), *make_level_set(Sphere{{15.2, 16.1, 16.6}, 7.3}),
                                     KeepPores::all)};
  const Geometry& geometry = ground.geometry();
  const JoinedCells& joined = *ground.joined();
  const CompositeNumbering& numbering = joined.numbering();
  std::vector<double> values = std::vector<double>(numbering.n_own());

  Values() {
    for (const LevelGeometry& level : geometry.levels)
      for (int b = 0; b < level.graph.n_local(); ++b) {
        const BoxGraph graph = level.graph.box(b);
        for_each_vof(graph, [&](int vof, int cell) {
          const std::int32_t number = numbering.number(level.level, b, vof);
          if (number >= 0) values[number] = at(graph.cells.cell(cell), level.level);
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
    view.fill = [this, remote = joined.remote<double>([this](std::size_t i) { return values[i]; })](
                    int level, std::size_t box, std::size_t component, std::span<float> cells) {
      fill_cells(joined, level, static_cast<std::int64_t>(box), cells, [&](std::size_t i) {
        return (component == 1 ? 2.0 : 1.0) * (i < values.size() ? values[i] : remote[i - values.size()]);
      });
    };
    view.threads_may_fill = true;
    return view;
  }
  static double at(const Index& c, int level) {
    return std::ldexp(c[0] + 0.5 + 10 * (c[1] + 0.5) + 100 * (c[2] + 0.5), -level);
  }
};

/// Cells that hold a VoF.
std::vector<bool> with_vof(const BoxGraph& graph) {
  std::vector<bool> cells(graph.cells.count(), false);
  for_each_vof(graph, [&](int, int cell) { cells[cell] = true; });
  return cells;
}

// A cell whose fluid has joined a neighbour's VoF has the neighbour's value, also from another box or rank.
TEST(VofValuesMpi, CellsHoldTheirValuesOrThoseOfTheirHomesAndSolidNone) {
  const Values v;
  const std::vector<double> remote = v.joined.remote<double>([&](std::size_t i) { return v.values[i]; });
  std::int64_t own = 0, joined = 0, unknown = 0, far = 0;
  for (int l = 0; l < 2; ++l) {
    const LevelGraph& graph = v.geometry.levels[l].graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const Box box = graph.box(b).cells;
      const std::vector<bool> holds = with_vof(graph.box(b));
      std::vector<float> cells(box.count());
      fill_cells(v.joined, l, b, cells,
                 [&](std::size_t i) { return i < v.values.size() ? v.values[i] : remote[i - v.values.size()]; });
      for_each_cell(box, [&](const Index& c) {
        const std::size_t i = box.offset(c);
        if (std::isnan(cells[i])) return void(++unknown);
        if (holds[i]) {
          ++own;
          EXPECT_NEAR(cells[i], Values::at(c, l), 1e-3);
          return;
        }
        ++joined;
        double nearest = 1e9;  // to the value of a neighbour, or to the mean of several with equal shares
        for (unsigned sides = 1; sides < 64; ++sides) {
          double sum = 0.0;
          bool inside = true;
          for (int side = 0; side < 6; ++side) {
            if ((sides >> side & 1U) == 0) continue;
            sum += Values::at(c + side_offset(side), l);
            inside = inside && box.contains(c + side_offset(side));
          }
          const double off = std::abs(double{cells[i]} - sum / std::popcount(sides));
          if (off < 1e-3 && !inside) ++far;
          nearest = std::min(nearest, off);
        }
        EXPECT_LT(nearest, 1e-3);
      });
    }
  }
  EXPECT_GT(v.comm.sum(unknown), 1000);
  EXPECT_GT(v.comm.sum(own), 20000);
  EXPECT_GT(v.comm.sum(joined), 500);
  EXPECT_GT(v.comm.sum(far), 50);
}

// Solid, covered cells and all others have the flags that VTK knows; cells whose fluid was joined are shown.
TEST(VofValuesMpi, HiddenAreSolidAndCoveredCells) {
  const Values v;
  std::array<std::int64_t, 4> n{};  // shown, solid, covered, both
  for (int l = 0; l < 2; ++l) {
    const LevelGraph& graph = v.geometry.levels[l].graph;
    for (int b = 0; b < graph.n_local(); ++b) {
      const Box box = graph.box(b).cells;
      std::vector<std::uint8_t> flags(box.count());
      fill_hidden(v.geometry, l, b, flags);
      for_each_cell(box, [&](const Index& c) {
        const std::uint8_t flag = flags[box.offset(c)];
        const bool solid = (flag & cell_is_solid) != 0, covered = (flag & cell_is_covered) != 0;
        ++n[(solid ? 1U : 0U) + (covered ? 2U : 0U)];
        EXPECT_EQ(covered, v.geometry.grid.cell_is_refined(l, c));
        const double h = std::ldexp(1.0, -l), half = 0.5 * std::sqrt(3.0) * h;
        const double r = norm(h * Vec3{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5} - Vec3{15.2, 16.1, 16.6});
        if (r < 7.3 - half) {
          EXPECT_TRUE(solid);
        }
        if (r > 7.3) {
          EXPECT_FALSE(solid);
        }
      });
    }
  }
  v.comm.sum(std::span(n));
  for (const std::int64_t some : n) EXPECT_GT(some, 500);
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
        const double value = plane.values[32 * j + i];
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
  const FieldLattice lattice = lattice_of(v.comm, v.view(), {0, 1, 0}, 16 * 16 * 16);
  EXPECT_EQ(lattice.size, Index::all(16));
  EXPECT_EQ(lattice.width, 2.0);
  if (v.comm.rank() != 0) return;
  ASSERT_EQ(lattice.values.size(), 4096U);
  int whole = 0;
  for_each_cell({Index{}, lattice.size}, [&](const Index& c) {
    const auto& value = lattice.at(c[0], c[1], c[2]);
    EXPECT_GE(value[3], 0.0F);
    EXPECT_LE(value[3], 1.0F);
    const double r = norm(2.0 * Vec3{c[0] + 0.5, c[1] + 0.5, c[2] + 0.5} - Vec3{15.2, 16.1, 16.6});
    if (value[3] < 1.0F || r < 9.1) return;  // cells at the wall have the values of their homes
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
}  // namespace karst::vof_values_test
