// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/field_view.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace karst {
namespace {

constexpr int n = 16, parts = 10;
constexpr double radius = 5.3, centre_x = 7.6, centre_y = 8.3;  // of a disc of solid [cells]

bool in_fluid(double x, double y) { return std::hypot(x - centre_x, y - centre_y) > radius; }

/// Each cell has its number as value; none in cells without fluid.
PlaneValues around_a_disc() {
  PlaneValues plane{2, 0, n, n, {}, {}};
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      int fluid = 0;
      for (int part = 0; part < parts * parts; ++part)
        fluid += in_fluid(i + (part % parts + 0.5) / parts, j + (part / parts + 0.5) / parts) ? 1 : 0;
      plane.fluid.push_back(static_cast<double>(fluid) / (parts * parts));
      plane.values.push_back(fluid > 0 ? j * n + i : std::nan(""));
    }
  return plane;
}

TEST(FieldView, PlanesEndAtTheWallWithinCells) {
  const PlaneValues plane = around_a_disc(), fine = up_to_walls(plane);
  ASSERT_EQ(fine.nx, 16 * n);
  ASSERT_EQ(fine.ny, 16 * n);
  double solid = 0.0, farthest = 0.0;
  for (int row = 0; row < fine.ny; ++row)
    for (int column = 0; column < fine.nx; ++column) {
      const double x = (column + 0.5) / 16, y = (row + 0.5) / 16;
      const double value = fine.values[std::int64_t{row} * fine.nx + column];
      if (std::isnan(value)) solid += 1.0 / (16 * 16);
      if (std::isnan(value) == in_fluid(x, y))
        farthest = std::max(farthest, std::abs(std::hypot(x - centre_x, y - centre_y) - radius));
      if (std::isnan(value)) continue;
      const int cell = static_cast<int>(value);
      EXPECT_LE(std::abs(cell % n + 0.5 - x), 1.0);
      EXPECT_LE(std::abs(cell / n + 0.5 - y), 1.0);
    }
  const double area = std::acos(-1.0) * radius * radius;
  EXPECT_NEAR(solid / area, 1.0, 0.01);
  EXPECT_LT(farthest, 0.15);  // [cells]; the outline of whole cells is off by up to 0.7
}

TEST(FieldView, PlanesWithoutFractionsAreInWholeCells) {
  PlaneValues plane = around_a_disc();
  plane.fluid.clear();
  EXPECT_EQ(plane_figure_to_walls(plane, {}), plane_figure(plane, {}));
}

}  // namespace
}  // namespace karst
