// SPDX-License-Identifier: BSD-3-Clause
#include "fields/cell_field.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "fields/fill_ghosts.hpp"
#include "support/field_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"

namespace karst::cell_field_test {
namespace {

double linear(const Vec3& x, int component) { return (component + 1) * (0.7 + 0.3 * x[0] - 0.2 * x[1] + 0.45 * x[2]); }

GridOptions two_levels() {
  return test::refined_in(test::flow_grid(Index::all(16), {false, false, false}), 1, {5, 4, 6}, {11, 12, 10});
}

// Without walls a linear field is what it is everywhere: in covered cells, in the ghosts between levels, in halos.
TEST(FillGhosts, LinearFieldsAreExactMpi) {
  const auto grid =
      test::composite_of(Comm::world(), two_levels(), test::DistanceFunction([](const Vec3&) { return 100.0; }));
  CellField field(grid, 2);
  test::set_by_place(field, linear);
  FillGhosts fill(grid);
  fill(field);
  double worst = 0.0;
  std::int64_t ghosts = 0, covered = 0;
  for (int l = 0; l < 2; ++l)
    for (int b = 0; b < grid->graph(l).n_local(); ++b) {
      const BoxGraph box = grid->graph(l).box(b);
      covered += std::ssize(grid->covered_in(l, b));
      for_each_vof(box, [&](int vof, int cell, const std::array<std::uint16_t, 6>& slots) {
        const Index at = box.cells.cell(cell);
        for (int side = -1; side < 6; ++side) {
          const int slot = side < 0 ? vof : slots[side];
          if (box.name(slot) == domain_face || slot == box.closed()) continue;
          ghosts += box.name(slot) == coarse_face;
          const Index there = side < 0 ? at : at + side_offset(side);
          const Vec3 x = Composite::width(l) * Vec3{there[0] + 0.5, there[1] + 0.5, there[2] + 0.5};
          for (int c = 0; c < 2; ++c) worst = std::max(worst, std::abs(field.level(l).box(b, c)[slot] - linear(x, c)));
        }
      });
    }
  EXPECT_LT(grid->comm().max(worst), 1e-12);
  EXPECT_GT(grid->comm().sum(ghosts), 100);
  EXPECT_GT(grid->comm().sum(covered), 100);
}

// Between walls a constant stays one, and what is averaged down is the mean over the fluid: the mass on a coarse cell's
// children is its own.
TEST(FillGhosts, ConstantsAndMassInAPackingMpi) {
  const Comm comm = Comm::world();
  const auto grid =
      test::composite_of(comm, test::refined_in(test::flow_grid(Index::all(16)), 1, {5, 0, 3}, {13, 11, 12}),
                         *test::packing(14, 3.3, 16, true, 3));
  CellField field(grid);
  test::set_by_place(field, [](const Vec3&, int) { return 3.0; });
  FillGhosts fill(grid);
  fill(field);
  double worst = 0.0;
  for (int l = 0; l < 2; ++l)
    for (int b = 0; b < grid->graph(l).n_local(); ++b)
      for_each_face(grid->graph(l).box(b), [&](int vof, int, int slot) {
        const auto x = field.level(l).box(b);
        if (grid->numbering().number(l, b, vof) >= 0)
          worst = std::max({worst, std::abs(x[vof] - 3.0), std::abs(x[slot] - 3.0)});
      });
  EXPECT_LT(comm.max(worst), 1e-13);
}

TEST(CellField, SumsRunOverUnknownsMpi) {
  const Comm comm = Comm::world();
  const auto grid =
      test::composite_of(comm, two_levels(), test::DistanceFunction([](const Vec3& x) { return x[2] - 3.3; }));
  CellField ones(grid), field(grid), other(grid);
  test::set_by_place(ones, [](const Vec3&, int) { return 1.0; });
  test::set_by_place(field, linear);
  FillGhosts fill(grid);
  fill(ones);  // values in covered VoFs, which no sum may see
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
