// SPDX-License-Identifier: BSD-3-Clause
#include "fields/cell_field.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "support/field_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"

namespace karst::cell_field_test {
namespace {

double linear(const Vec3& x, int component) { return (component + 1) * (0.7 + 0.3 * x[0] - 0.2 * x[1] + 0.45 * x[2]); }

GridOptions two_levels() {
  return test::refined_in(test::flow_grid(Index::all(16), {false, false, false}), 1, {5, 4, 6}, {11, 12, 10});
}

TEST(CellField, SumsRunOverUnknownsMpi) {
  const Comm comm = Comm::world();
  const auto grid =
      test::composite_of(comm, two_levels(), test::DistanceFunction([](const Vec3& x) { return x[2] - 3.3; }));
  CellField ones(grid), field(grid), other(grid);
  for (int l = 0; l < 2; ++l) ones.level(l).fill(7.0);  // in covered VoFs and ghosts, which no sum may see
  test::set_by_place(ones, [](const Vec3&, int) { return 1.0; });
  test::set_by_place(field, linear);
  EXPECT_NEAR(dot(ones, ones), static_cast<double>(grid->numbering().n_global()), 1e-9);
  EXPECT_NEAR(integral(ones), 16 * 16 * (16 - 3.3), 1e-9);
  EXPECT_NEAR(max_norm(field), linear({15.5, 0.5, 15.5}, 0), 1e-12);
  copy(ones, other);
  EXPECT_NEAR(dot(other, field), dot(ones, field), 0.0);
  test::for_unknowns(*grid, [&](const Vec3& x, std::size_t vof, int l, int b) {
    if (norm(x - Vec3{8.25, 8.25, 8.25}) < 1e-9) other.level(l).box(b)[vof] = std::nan("");
  });
  EXPECT_TRUE(std::isinf(max_norm(other)));
}

}  // namespace
}  // namespace karst::cell_field_test
