// SPDX-License-Identifier: BSD-3-Clause
#include "fields/transfer.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "base/core/error.hpp"
#include "support/field_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"

namespace karst::transfer_test {
namespace {

double smooth(const Vec3& x, int component) {
  return component == 0 ? 1.5 + std::sin(0.5 * x[0]) * std::cos(0.4 * x[1]) + 0.3 * std::sin(0.8 * x[2])
                        : (x[0] < 7.0 ? 1.0 : 0.0);  // a jump
}

GridOptions refined(const Vec3& lo, const Vec3& hi) {
  return test::refined_in(test::flow_grid(Index::all(16)), 1, lo, hi);
}

const Vec3 lo{5, 0, 3}, hi{13, 11, 12};

std::pair<double, double> range_of(const CellField& field, int component) {
  double low = 1e30, high = -1e30;
  test::for_unknowns(field.grid(), [&](const Vec3&, std::size_t vof, int l, int b) {
    low = std::min(low, field.level(l).box(b, component)[vof]);
    high = std::max(high, field.level(l).box(b, component)[vof]);
  });
  return {-field.grid().comm().max(-low), field.grid().comm().max(high)};
}

TEST(Transfer, ToTheSameGridIsTheIdentityMpi) {
  const Comm comm = Comm::world();
  const auto walls = test::packing(14, 3.3, 16, true, 3);
  const auto grid = test::composite_of(comm, refined(lo, hi), *walls);
  CellField from(grid, 2), to(test::composite_of(comm, refined(lo, hi), *walls), 2);
  test::set_by_place(from, smooth);
  FillGhosts fill(grid);
  const TransferReport report = transfer(from, fill, to);
  EXPECT_EQ(report.copied, grid->numbering().n_global());
  EXPECT_EQ(report.averaged + report.interpolated + report.from_nearest, 0);
  test::for_unknowns(*grid, [&](const Vec3&, std::size_t vof, int l, int b) {
    for (int c = 0; c < 2; ++c) EXPECT_EQ(to.level(l).box(b, c)[vof], from.level(l).box(b, c)[vof]);
  });
}

// Refined, coarsened and moved regions in a packing: mass to round-off, no new extremes, and in the pores away from
// walls as good as a linear interpolation.
TEST(Transfer, KeepsMassAndBoundsMpi) {
  const Comm comm = Comm::world();
  const auto walls = test::packing(14, 3.3, 16, true, 3);
  const std::array grids{test::flow_grid(Index::all(16)), refined(lo, hi), refined({1, 2, 0}, {8, 16, 7}),
                         test::refined_in(refined(lo, hi), 2, {6, 3, 4}, {10, 8, 9})};
  for (const auto& [a, b] : {std::pair{0, 1}, {1, 2}, {3, 0}}) {
    const auto old = test::composite_of(comm, grids[a], *walls);
    CellField from(old, 2), to(test::composite_of(comm, grids[b], *walls), 2);
    test::set_by_place(from, smooth);
    FillGhosts fill(old);
    const TransferReport report = transfer(from, fill, to);
    EXPECT_GT(report.averaged + report.interpolated, 0);
    EXPECT_GT(report.copied, 0);
    for (int c = 0; c < 2; ++c) {
      const double before = integral(from, c), after = integral(to, c);
      EXPECT_NEAR(after, before, 1e-13 * before) << a << " to " << b;
      EXPECT_NEAR(report.mass_changed[c], 0.0, 1e-13 * before);
      const auto [low, high] = range_of(from, c);
      const auto [new_low, new_high] = range_of(to, c);
      EXPECT_GE(new_low, low);
      EXPECT_LE(new_high, high);
    }
  }
}

// There is no room between the bounds of a constant: it stays, and the report says what mass the fluid gained.
TEST(Transfer, ConstantStaysConstantMpi) {
  const Comm comm = Comm::world();
  const auto walls = test::packing(14, 3.3, 16, true, 3);
  const auto old = test::composite_of(comm, test::flow_grid(Index::all(16)), *walls);
  CellField from(old), to(test::composite_of(comm, refined(lo, hi), *walls));
  test::set_by_place(from, [](const Vec3&, int) { return 2.0; });
  FillGhosts fill(old);
  const TransferReport report = transfer(from, fill, to);
  EXPECT_EQ(range_of(to, 0), std::pair(2.0, 2.0));
  EXPECT_NE(report.mass_changed[0], 0.0);
  EXPECT_NEAR(report.mass_changed[0], integral(to) - integral(from), 1e-10);
}

// Whole cells: a linear field arrives as one, but next to its extremes at the ends.
TEST(Transfer, LinearFieldsAreExactInTheOpenMpi) {
  const Comm comm = Comm::world();
  const test::DistanceFunction open([](const Vec3&) { return 100.0; });
  const auto old = test::composite_of(comm, test::flow_grid(Index::all(16)), open);
  CellField from(old), to(test::composite_of(comm, refined(lo, hi), open));
  const auto linear = [](const Vec3& x, int) { return 0.3 * x[0] - 0.2 * x[1] + 0.45 * x[2]; };
  test::set_by_place(from, linear);
  FillGhosts fill(old);
  transfer(from, fill, to);
  double worst = 0.0;
  test::for_unknowns(to.grid(), [&](const Vec3& x, std::size_t vof, int l, int b) {
    for (int d = 0; d < 3; ++d)
      if (x[d] < 1.0 || x[d] > 15.0) return;
    worst = std::max(worst, std::abs(to.level(l).box(b)[vof] - linear(x, 0)));
  });
  EXPECT_LT(comm.max(worst), 1e-12);
}

TEST(Transfer, GridsThatDifferAreRefused) {
  const Comm comm = Comm::self();
  const test::DistanceFunction open([](const Vec3&) { return 100.0; });
  const auto small = test::composite_of(comm, test::flow_grid(Index::all(8)), open);
  CellField from(small), to(test::composite_of(comm, test::flow_grid(Index::all(16)), open)), two(small, 2);
  FillGhosts fill(small);
  EXPECT_THROW(transfer(from, fill, to), Error);
  EXPECT_THROW(transfer(from, fill, two), Error);
}

}  // namespace
}  // namespace karst::transfer_test
