// SPDX-License-Identifier: BSD-3-Clause
// Features thinner than a cell (E3 of the verification list) and faces between levels.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <numbers>
#include <set>

#include "eb/shapes/expression.hpp"
#include "tests/support/cut_cases.hpp"

namespace karst::cut_thin_test {
namespace {
using namespace karst::testing;

const Box cells_8{{0, 0, 0}, {8, 8, 8}};

/// Fluid on the two sides of a wall is nowhere connected: side(x) says which side a place belongs to. Pieces whose
/// centroid is next to the wall count by their connection only.
void expect_separate(const BoxPieces& box, const std::function<double(const Vec3&)>& side) {
  const Fluid fluid = connected_fluid(box);
  std::set<int> above, below;
  for (std::size_t p = 0; p < box.pieces.size(); ++p) {
    const double s = side(cell_center(box, box.pieces[p].cell) + box.pieces[p].centroid);
    (s > 0 ? above : below).insert(fluid.piece[p]);
  }
  for (std::size_t c = 0; c < box.kind.size(); ++c)
    if (box.kind[c] == CellKind::regular)
      (side(cell_center(box, static_cast<std::int64_t>(c))) > 0 ? above : below).insert(fluid.cell[c]);
  for (const int a : above) EXPECT_EQ(below.count(a), 0u);
}

const Box cells_4{{2, 2, 2}, {6, 6, 6}};

TEST(CutThin, AlignedPlateSeparatesAtEveryOffset) {
  for (int d = 0; d < 3; ++d)
    for (const double thickness : {0.2, 0.35, 0.5, 0.7, 0.9})
      for (int i = 0; i <= 20; ++i) {
        Vec3 point, n;
        point[d] = 4 + 0.05 * i, n[d] = 1;
        const BoxPieces box = cut_box(plate(point, n, thickness), distance_like, cells_4, 0);
        expect_separate(box, [&](const Vec3& x) { return dot(x - point, n); });
        EXPECT_NEAR(sums(box).volume, 64 - 16 * thickness, 1e-9) << thickness << " " << i;
        EXPECT_NEAR(sums(box).wall_area, 32, 1e-9);
        EXPECT_LT(closure_error(box), 1e-13);
        EXPECT_EQ(box.counts.walls_lost + box.counts.gaps_closed, 0);
      }
}

// A formula states bounds: walls and gaps far thinner than any spacing of samples are found, and nothing is lost
// unseen.
TEST(CutThin, FormulasHideNothingBetweenSamples) {
  for (const double thickness : {0.04, 0.07, 0.11, 0.2})
    for (int i = 0; i < 8; ++i) {
      const double place = 4.01 + 0.123 * i;
      const auto solid = make_expression(fmt::format("abs(x - {}) - {}", place, 0.5 * thickness), 1.0);
      const BoxPieces box = cut_box(*solid->local({}, Vec3::all(8)), solid->smoothness(), cells_4, 0);
      if (thickness > 0.065) {
        expect_separate(box, [&](const Vec3& x) { return x[0] - place; });
        EXPECT_NEAR(sums(box).volume, 64 - 16 * thickness, 1e-9) << thickness << " at " << place;
      } else {  // thinner than h/16: may be lost, and then it is counted
        EXPECT_TRUE(box.counts.walls_lost > 0 || sums(box).volume < 63.99) << thickness << " at " << place;
      }
    }
}

TEST(CutThin, TiltedPlateSeparates) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 60; ++i) {
    const Vec3 n = random_unit(random), point{3.5 + uniform(random), 3.5 + uniform(random), 3.5 + uniform(random)};
    const double thickness = 0.2 + 0.7 * uniform(random);
    const BoxPieces box = cut_box(plate(point, n, thickness), distance_like, cells_8, 0);
    expect_separate(box, [&](const Vec3& x) { return dot(x - point, n); });
    EXPECT_LT(closure_error(box), 1e-13);
    EXPECT_EQ(box.counts.walls_lost + box.counts.gaps_closed, 0);
    const double above = sums(cut_box(plane(point + 0.5 * thickness * n, n), distance_like, cells_8, 0)).volume;
    const double below = sums(cut_box(plane(point - 0.5 * thickness * n, -n), distance_like, cells_8, 0)).volume;
    EXPECT_NEAR(sums(box).volume, above + below, 0.01 * (512 - above - below)) << thickness;
  }
}

// Two round cavities with a thin wall between them stay apart; volume of the fluid to 1 %.
TEST(CutThin, CavitiesNearlyTouchingStaySeparate) {
  for (const double gap : {0.2, 0.4, 0.6, 0.9})
    for (int i = 0; i < 4; ++i) {
      const double radius = 5;
      const Vec3 n = (1 / std::sqrt(1 + 0.09 + 0.04)) * Vec3{1, 0.3, -0.2};
      const Vec3 middle{8.1 + 0.25 * i, 8.3, 7.9}, a = middle - (radius + 0.5 * gap) * n,
                                                   b = middle + (radius + 0.5 * gap) * n;
      const FunctionPhi phi([&](const Vec3& x) { return std::max(radius - norm(x - a), radius - norm(x - b)); });
      const BoxPieces box = cut_box(phi, distance_like, {{-4, 0, 0}, {21, 16, 16}}, 0);
      expect_separate(box, [&](const Vec3& x) { return dot(x - middle, n); });
      const double volume = 2 * 4.0 / 3 * std::numbers::pi * radius * radius * radius;
      EXPECT_NEAR(sums(box).volume / volume, 1, 0.01);
      EXPECT_LT(closure_error(box), 1e-13);
    }
}

TEST(CutThin, SpheresNearlyTouchingKeepTheirVolume) {
  for (const double gap : {0.0, 0.1, 0.5}) {
    const double radius = 6;
    const Vec3 a{8.375 - radius - 0.5 * gap, 8.1, 8.3}, b{8.375 + radius + 0.5 * gap, 8.1, 8.3};
    const FunctionPhi phi([&](const Vec3& x) { return std::min(norm(x - a), norm(x - b)) - radius; });
    const BoxPieces box = cut_box(phi, distance_like, {{-6, 0, 0}, {22, 16, 16}}, 0);
    const double solid = 2 * 4.0 / 3 * std::numbers::pi * radius * radius * radius;
    EXPECT_NEAR((28 * 256 - sums(box).volume) / solid, 1, 0.01);
    EXPECT_GT(box.counts.cells_subdivided, 0);
    if (gap == 0) {
      EXPECT_GT(box.counts.gaps_closed,
                0);  // the gap closes at the contact, midway between two nodes of the finest lattice
    }
  }
}

// Images: no feature between samples half a cell apart, so one halving finds what there is.
TEST(CutThin, SampledLevelSetSeparatesAPlateOfThreeQuarters) {
  const Vec3 n{0, 0, 1};
  for (int i = 0; i < 10; ++i) {
    const Vec3 point{0, 0, 4 + 0.1 * i};
    const BoxPieces box = cut_box(plate(point, n, 0.75), Smoothness{0, 0.5}, cells_8, 0);
    expect_separate(box, [&](const Vec3& x) { return dot(x - point, n); });
    EXPECT_NEAR(sums(box).volume, 512 - 64 * 0.75, 1e-9);
  }
}

// The aperture of a coarse face is the mean of the four fine ones; the octant at the low end is refined.
TEST(CutThin, FacesTowardsAFinerLevelAreTheMeanOfItsFaces) {
  const FunctionPhi phi([](const Vec3& x) {
    const double a = std::abs(norm(x - Vec3{7.6, 8.2, 7.9}) - 5.0) - 0.15, b = norm(x - Vec3{2, 2, 2}) - 1.7;
    return std::min(a, b);
  });
  RefinedOctants refined;
  refined.width = 8;
  refined.add({0, 0, 0});
  const BoxPieces coarse = cut_box(phi, distance_like, {{0, 0, 0}, {16, 16, 16}}, 0, refined);
  const BoxPieces plain = cut_box(phi, distance_like, {{0, 0, 0}, {16, 16, 16}}, 0);
  const BoxPieces fine = cut_box(phi, distance_like, {{0, 0, 0}, {16, 16, 16}}, 1);
  EXPECT_LT(closure_error(coarse), 1e-13);
  double changed = 0;
  int open = 0;
  for (int d = 0; d < 3; ++d)
    for_each_cell({{0, 0, 0}, {8, 8, 8}}, [&](const Index& c) {
      if (c[d] != 7) return;
      double mean = 0;
      for (int q = 0; q < 8; ++q) {
        const Index child = 2 * c + Index{q & 1, q >> 1 & 1, q >> 2 & 1};
        if (child[d] == 15) mean += 0.25 * open_area(fine, child, high_side(d));
      }
      ASSERT_NEAR(open_area(coarse, c, high_side(d)), mean, 1e-15);
      ASSERT_NEAR(open_area(coarse, c + unit(d), low_side(d)), mean, 1e-15);
      changed += std::abs(open_area(plain, c, high_side(d)) - mean);
      open += mean > 0 && mean < 1;
    });
  EXPECT_GT(open, 10);
  EXPECT_GT(changed, 1e-4);  // a plain cut would not match
}

}  // namespace
}  // namespace karst::cut_thin_test
