// SPDX-License-Identifier: BSD-3-Clause
// Boxes that a front or a gradient asks for, in the open, on 32 x 16 x 16 cells with boxes of 8: a finer box covers
// 4 x 4 x 4 cells.
#include "transport/regrid/flagged_boxes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/math/no_number.hpp"
#include "grid/morton.hpp"
#include "support/field_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"

namespace karst::flagged_boxes_test {
namespace {

using Values = std::function<double(const Vec3&)>;

struct Case {
  explicit Case(const GridOptions& options = test::flow_grid({32, 16, 16}, {false, true, true}))
      : grid(make_scalar_grid(
            test::composite_of(comm, options, test::DistanceFunction([](const Vec3&) { return 100.0; })))),
        at_ends(grid.boundary.size(), no_number) {}

  /// Whether a box is missing, and positions of those asked for on a level, over all ranks.
  std::pair<bool, std::set<int>> columns(const Refinement& rule, const Values& f, int level = 1) {
    std::vector<double> values(grid.n_values);
    for (std::int32_t v = 0; v < grid.n_own; ++v) values[v] = f(grid.centroid[v]);
    fetch_remote(grid, values);
    FlaggedBoxes boxes;
    const bool missing = comm.any(flag_boxes(grid, rule, values, at_ends, &boxes));
    EXPECT_EQ(comm.any(flag_boxes(grid, rule, values, at_ends, nullptr)), missing);
    EXPECT_EQ(boxes.size(), static_cast<std::size_t>(rule.level));
    for (const auto& keys : boxes) EXPECT_TRUE(std::ranges::is_sorted(keys));
    std::set<int> along_x;
    const std::vector<std::uint64_t> all = comm.all_gather<std::uint64_t>(boxes.at(level - 1));
    const std::set<std::uint64_t> each(all.begin(), all.end());
    for (const std::uint64_t key : each) along_x.insert(morton_decode(key)[0]);
    const std::size_t across = std::size_t{16} << (2 * (level - 1));  // all of a plane
    EXPECT_EQ(each.size(), across * along_x.size());
    return {missing, along_x};
  }

  Comm comm = Comm::world();
  ScalarGrid grid;
  std::vector<double> at_ends;
};

Refinement front(double low, double high, int buffer, int level = 1) {
  Refinement r{level, Refinement::Where::front, {}, {}, buffer};
  r.low = low;
  r.high = high;
  return r;
}
Refinement gradient(double change, int buffer, int level = 1) {
  Refinement r{level, Refinement::Where::gradient, {}, {}, buffer};
  r.change = change;
  return r;
}
using Found = std::pair<bool, std::set<int>>;

TEST(FlaggedBoxesMpi, FrontsAlsoThoseFromOneCellToTheNext) {
  Case c;
  const Values jump = [](const Vec3& x) { return x[0] < 14.0 ? 1.0 : 0.0; };  // between cells 13 and 14
  EXPECT_EQ(c.columns(front(0.1, 0.9, 0), jump), (Found{true, {3}}));
  EXPECT_EQ(c.columns(front(0.1, 0.9, 1), jump), (Found{true, {3}}));
  EXPECT_EQ(c.columns(front(0.1, 0.9, 2), jump), (Found{true, {2, 3, 4}}));
  EXPECT_EQ(c.columns(front(1.1, 1.9, 2), jump), (Found{false, {}}));
  const Values ramp = [](const Vec3& x) {
    return x[0] / 32.0;
  };  // 0.25 to 0.5: cells 8 to 15, and 7 and 16 beside them
  EXPECT_EQ(c.columns(front(0.25, 0.5, 0), ramp), (Found{true, {1, 2, 3, 4}}));
}

// Through periodic sides a margin comes out on the other one; on others it ends.
TEST(FlaggedBoxesMpi, MarginsReachThroughPeriodicSides) {
  const Values jump = [](const Vec3& x) { return x[0] > 1.0 && x[0] < 8.0 ? 1.0 : 0.0; };
  Case closed, periodic(test::flow_grid({32, 16, 16}));
  EXPECT_EQ(closed.columns(front(0.1, 0.9, 3), jump), (Found{true, {0, 1, 2}}));
  EXPECT_EQ(periodic.columns(front(0.1, 0.9, 3), jump), (Found{true, {7, 0, 1, 2}}));
  EXPECT_EQ(periodic.columns(front(0.1, 0.9, 16), jump).second.size(), 8U);
}

// What is given at an end counts as a neighbour.
TEST(FlaggedBoxesMpi, WhatComesInCounts) {
  Case c;
  const Values clean = [](const Vec3&) { return 0.0; };
  EXPECT_EQ(c.columns(front(0.1, 0.9, 0), clean), (Found{false, {}}));
  for (std::size_t k = 0; k < c.at_ends.size(); ++k)
    if (c.grid.boundary[k].side == 0) c.at_ends[k] = 1.0;
  EXPECT_EQ(c.columns(front(0.1, 0.9, 0), clean), (Found{true, {0}}));
  EXPECT_EQ(c.columns(gradient(0.5, 0), clean), (Found{true, {0}}));
}

// A slope of 1 per cell of level 0 in cells 8 to 15. Boxes are asked for from half the change on, and missing from the
// whole one; cells of level 1 see half the slope.
TEST(FlaggedBoxesMpi, GradientsByCellsToBeRefined) {
  Case c;
  const Values ramp = [](const Vec3& x) { return std::clamp(x[0], 8.5, 15.5); };
  const std::set<int> steep{2, 3};
  EXPECT_EQ(c.columns(gradient(0.9, 0), ramp), (Found{true, steep}));
  EXPECT_EQ(c.columns(gradient(1.1, 0), ramp), (Found{false, steep}));
  EXPECT_EQ(c.columns(gradient(2.1, 0), ramp), (Found{false, {}}));
  EXPECT_EQ(c.columns(gradient(0.9, 0, 2), ramp, 2), (Found{true, {4, 5, 6, 7}}));
  EXPECT_EQ(c.columns(gradient(1.1, 0, 2), ramp, 2), (Found{false, {}}));
}

// Where the boxes are there nothing is missing, and the same are asked for.
TEST(FlaggedBoxesMpi, WhatIsThereIsNotMissing) {
  Case c(test::refined_in(test::flow_grid({32, 16, 16}, {false, true, true}), 1, {8, 0, 0}, {20, 16, 16}));
  const Values jump = [](const Vec3& x) { return x[0] < 14.0 ? 1.0 : 0.0; };
  EXPECT_EQ(c.columns(front(0.1, 0.9, 2), jump), (Found{false, {2, 3, 4}}));
  EXPECT_EQ(c.columns(front(0.1, 0.9, 1, 2), jump, 2), (Found{true, {6, 7}}));
  EXPECT_EQ(c.columns(gradient(0.5, 2), jump), (Found{false, {2, 3, 4}}));
}

}  // namespace
}  // namespace karst::flagged_boxes_test
