// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/vof_values.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "support/diffusion_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/ground_cases.hpp"

namespace karst::moved_fields_test {
namespace {

constexpr float none = std::numeric_limits<float>::quiet_NaN();

/// Of a place in cells of level 0.
float linear(const Vec3& x) { return static_cast<float>(x[0] + 10.0 * x[1] + 100.0 * x[2]); }
Vec3 centre(int level, const Index& cell) {
  const double h = std::ldexp(1.0, -level);
  return {h * (cell[0] + 0.5), h * (cell[1] + 0.5), h * (cell[2] + 0.5)};
}

std::shared_ptr<const Ground> ground_of(const Comm& comm, const GridOptions& grid) {
  return std::make_shared<const Ground>(
      comm, build_geometry(comm, grid, *make_level_set(Sphere{{8, 8, 8}, 3}), KeepPores::all));
}

/// A linear function and its negative, where no finer level is.
std::vector<JobComponent> fields_on(const std::shared_ptr<const Ground>& ground) {
  std::vector<JobComponent> fields;
  for (const float sign : {1.0F, -1.0F})
    fields.push_back({PlotField::velocity, "of place",
                      [sign, ground](int level, std::int64_t box, std::span<float> cells) {
                        const Geometry& geometry = ground->geometry();
                        const Box of_box = geometry.levels[level].graph.box(static_cast<int>(box)).cells;
                        for (std::int64_t i = 0; i < of_box.count(); ++i) {
                          const Index cell = of_box.cell(i);
                          cells[i] =
                              geometry.grid.cell_is_refined(level, cell) ? none : sign * linear(centre(level, cell));
                        }
                      },
                      ground});
  return fields;
}

/// expect(level, cell, value of the first field)
template <class Expect>
void for_values(const std::vector<JobComponent>& fields, Expect&& expect) {
  const Geometry& geometry = fields[0].ground->geometry();
  for (int l = 0; l < geometry.grid.n_levels(); ++l)
    for (int b = 0; b < geometry.levels[l].graph.n_local(); ++b) {
      const Box box = geometry.levels[l].graph.box(b).cells;
      std::vector<float> cells(box.count()), negative(box.count());
      fields[0].fill(l, b, cells);
      fields[1].fill(l, b, negative);
      for (std::int64_t i = 0; i < box.count(); ++i) {
        EXPECT_EQ(std::isnan(cells[i]), geometry.grid.cell_is_refined(l, box.cell(i)));
        if (std::isnan(cells[i])) continue;
        EXPECT_EQ(negative[i], -cells[i]);
        expect(l, box.cell(i), cells[i]);
      }
    }
}

// From a grid with a finer half to one without it: means; to one that is fine all over: values of the coarser cells.
TEST(MovedFieldsMpi, OnOtherLevelsMeansOrValuesOfTheCoarserCell) {
  const Comm comm = Comm::world();
  const GridOptions coarse = test::diffusion_grid({16, 16, 16}, {false, true, true}, 8);
  const auto half = ground_of(comm, test::refined_in(coarse, 1, {0, 0, 0}, {8, 16, 16}));
  std::vector<JobComponent> fields = fields_on(half);
  move_fields(comm, ground_of(comm, coarse), fields);
  for_values(fields, [](int level, const Index& cell, float value) { EXPECT_EQ(value, linear(centre(level, cell))); });
  fields = fields_on(half);
  move_fields(comm, ground_of(comm, test::refined_in(coarse, 1, {0, 0, 0}, {16, 16, 16})), fields);
  for_values(fields, [](int level, const Index& cell, float value) {
    const bool was_fine = cell[0] < 16;
    EXPECT_EQ(value,
              was_fine ? linear(centre(level, cell)) : linear(centre(0, {cell[0] / 2, cell[1] / 2, cell[2] / 2})));
  });
}

// On the same boxes with other owners, which may be the same ones: every value.
TEST(MovedFieldsMpi, OnTheSameBoxesEveryValue) {
  const Comm comm = Comm::world();
  const GridOptions grid =
      test::refined_in(test::diffusion_grid({16, 16, 16}, {false, true, true}, 8), 1, {0, 0, 0}, {8, 16, 16});
  std::vector<JobComponent> fields = fields_on(ground_of(comm, grid));
  BoxCosts equal;
  equal.equal = true;
  const auto others =
      std::make_shared<const Ground>(comm, build_geometry(comm, grid, *make_level_set(Sphere{{8, 8, 8}, 3}),
                                                          KeepPores::all, ControlVolumes::home_cells, equal));
  move_fields(comm, others, fields);
  EXPECT_EQ(fields[0].ground, others);
  for_values(fields, [](int level, const Index& cell, float value) { EXPECT_EQ(value, linear(centre(level, cell))); });
}

}  // namespace
}  // namespace karst::moved_fields_test
