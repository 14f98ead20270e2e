// SPDX-License-Identifier: BSD-3-Clause
// Boxes that a front or a gradient asks for, in the open, on 32 x 16 x 16 cells with boxes of 8: a finer box covers
// 4 x 4 x 4 cells.
#include "transport/regrid/flagged_boxes.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "base/math/no_number.hpp"
#include "eb/shapes/formula.hpp"
#include "grid/morton.hpp"
#include "support/field_cases.hpp"
#include "support/grid_cases.hpp"
#include "support/level_cases.hpp"

namespace karst::flagged_boxes_test {
namespace {

using Values = std::function<double(const Vec3&)>;

struct Case {
  explicit Case(
      const GridOptions& options = test::flow_grid({32, 16, 16}, {false, true, true}),
      const Values& phi = [](const Vec3&) { return 100.0; })
      : grid(make_scalar_grid(test::composite_of(comm, options, test::DistanceFunction(phi)))),
        at_ends(grid.boundary.size(), no_number) {}

  /// Whether a box is missing, and positions of those asked for on a level, over all ranks.
  std::pair<bool, std::set<int>> columns(const Refinement& rule, const Values& f, int level = 1) {
    std::vector<double> values(grid.n_values);
    for (std::int32_t v = 0; v < grid.n_own; ++v) values[v] = f(grid.centroid[v]);
    fetch_remote(grid, values);
    const auto [missing, each] = asked(rule, concentration_indicator(grid, rule, values, at_ends), level);
    const std::set<int> along_x = along(0, each);
    const std::size_t across = std::size_t{16} << (2 * (level - 1));  // all of a plane
    EXPECT_EQ(each.size(), across * along_x.size());
    return {missing, along_x};
  }

  /// Whether a box is missing, and the keys of those asked for on a level, over all ranks.
  std::pair<bool, std::vector<std::uint64_t>> asked(const Refinement& rule, const Indicator& indicator, int level = 1) {
    AskedBoxes boxes;
    const bool missing = comm.any(flag_boxes(grid, rule, indicator, &boxes));
    EXPECT_EQ(comm.any(flag_boxes(grid, rule, indicator, nullptr)), missing);
    EXPECT_EQ(boxes.size(), static_cast<std::size_t>(rule.level));
    for (const auto& of_level : boxes) EXPECT_TRUE(std::ranges::is_sorted(of_level, {}, &AskedBox::key));
    return {missing, keys_of(gather(comm, std::move(boxes))).at(level - 1)};
  }
  static std::set<int> along(int d, const std::vector<std::uint64_t>& keys) {
    std::set<int> all;
    for (const std::uint64_t key : keys) all.insert(morton_decode(key)[d]);
    return all;
  }
  /// u at the centroids of own volumes.
  Velocities velocities(const std::function<Vec3(const Vec3&)>& u) const {
    Velocities all;
    for (std::int32_t v = 0; v < grid.n_own; ++v)
      for (std::size_t d = 0; d < 3; ++d) all[d].push_back(u(grid.centroid[v])[static_cast<int>(d)]);
    return all;
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

// u = ω × r has the vorticity 2 |ω| in every volume whose neighbours resolve all directions, next to a wall and to a
// finer level, too.
TEST(IndicatorMpi, RigidRotationHasTwiceItsVorticity) {
  const Vec3 omega{0.3, -0.2, 0.6}, centre{13.0, 7.0, 9.0};
  Case c(test::refined_in(test::flow_grid({32, 16, 16}, {false, false, false}), 1, {8, 0, 0}, {20, 16, 16}),
         [](const Vec3& x) {
           return norm(x - Vec3{17.2, 8.1, 7.7}) - 3.3;
         });
  const Velocities u = c.velocities([&](const Vec3& x) { return cross(omega, x - centre); });
  constexpr double h = 2.5e-3;
  const std::vector<double> found = vorticities(c.grid, u, h);
  const auto off =
      std::ranges::count_if(found, [&](double w) { return !(std::abs(w * h - 2.0 * norm(omega)) < 1e-10); });
  EXPECT_LE(c.comm.sum(std::int64_t{off}), c.grid.counts.unresolved);
  EXPECT_LT(c.grid.counts.unresolved, 20);
}

// u_x = 4 z (H - z) / H² with H = 16 is above 3/4 where |z - H/2| < H/4, and steeper than 3/4 of its largest slope 4 /
// H where |z - H/2| > 3H/8. A finer box is 4 cells wide. Of twice as high a threshold kept from there on, boxes are
// asked for but not missing. The mean is 2/3.
TEST(IndicatorMpi, AParabolicProfileIsFastInTheMiddleAndSteepAtTheWalls) {
  Case c(test::flow_grid({32, 16, 16}, {true, true, false}));
  const Velocities u = c.velocities([](const Vec3& x) { return Vec3{x[2] * (16 - x[2]) / 64, 0, 0}; });
  Refinement rule{1, Refinement::Where::speed, {}, {}, 0};
  const std::vector<double> speed = speeds(u), vorticity = vorticities(c.grid, u, 1.0);
  const auto layers = [&](const std::vector<double>& values, double above, double keep) {
    rule.above = above;
    rule.keep = keep;
    const auto [missing, keys] = c.asked(rule, indicator_of(rule, values));
    return Found{missing, Case::along(2, keys)};
  };
  EXPECT_EQ(layers(speed, 0.75, 0.75), (Found{true, {1, 2}}));
  EXPECT_EQ(layers(speed, 1.5, 0.75), (Found{false, {1, 2}}));
  EXPECT_EQ(layers(vorticity, 0.1875, 0.1875), (Found{true, {0, 3}}));
  EXPECT_EQ(layers(vorticity, 0.375, 0.1875), (Found{false, {0, 3}}));
  std::vector<double> relative = speed;
  divide_by_mean(c.comm, c.grid, relative);
  EXPECT_EQ(layers(relative, 0.75 * 1.5, 0.75 * 1.5), (Found{true, {1, 2}}));
}

// A formula of the place asks for the boxes of the region that it describes, with the same buffer.
TEST(IndicatorMpi, AFormulaAsksForTheBoxesOfTheSameRegion) {
  const GridOptions grid = test::flow_grid({32, 16, 16}, {false, true, true});
  Case c(grid);
  std::array<std::vector<double>, 3> place;
  for (std::int32_t v = 0; v < c.grid.n_own; ++v)
    for (int d = 0; d < 3; ++d) place[d].push_back(c.grid.centroid[v][d]);
  const std::vector<std::span<const double>> columns(place.begin(), place.end());
  std::vector<double> inside(c.grid.n_own);
  NamedFormula("x > 9 && x < 15 && y < 3 && z > 2 && z < 11", {{"x", "y", "z"}, "formula", "x, y, z"})
      .evaluate(columns, inside);
  for (const int buffer : {0, 2, 5}) {
    Refinement rule{1, Refinement::Where::formula, {9, 0, 2}, {15, 3, 11}, buffer};
    const auto [missing, keys] = c.asked(rule, indicator_of(rule, inside));
    EXPECT_TRUE(missing);
    rule.where = Refinement::Where::region;
    const GridHierarchy same = build_hierarchy(
        c.comm, test::refined(grid, rule), [](int, const Box&) { return false; }, [](int, const Box&) { return 1.0; });
    EXPECT_EQ(keys, same.levels.at(1).layout.keys()) << buffer;
  }
}

}  // namespace
}  // namespace karst::flagged_boxes_test
