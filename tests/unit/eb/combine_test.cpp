// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/combine.hpp"

#include <gtest/gtest.h>

#include "eb/shapes/expression.hpp"
#include "eb/shapes/shapes.hpp"
#include "support/errors.hpp"
#include "support/level_set_cases.hpp"

namespace karst::combine_test {
namespace {

using test::RandomPoints;
using test::Region;

const Region domain{Vec3::all(0.0), Vec3::all(32.0)};

std::unique_ptr<LevelSet> ball(const Vec3& c, double r) { return make_level_set(Sphere{c, r}); }

std::unique_ptr<LevelSet> ellipsoid() {
  return make_level_set(Ellipsoid{turned_frame({31.0, 2.0, 15.0}, {10, 20, 30}), {9.0, 4.0, 3.0}});
}

LevelSetParts random_balls(int n) {
  RandomPoints random(1);
  LevelSetParts parts;
  for (int i = 0; i < n; ++i) parts.push_back(ball(random.point(domain.lo, domain.hi), random.number(1, 6)));
  return parts;
}

/// φ at random points from the whole domain's local and from small boxes': the same bits.
void expect_box_independent(const LevelSet& s) {
  const auto whole = s.local(domain.lo, domain.hi);
  RandomPoints random(2);
  for (int b = 0; b < 50; ++b) {
    const Vec3 lo = random.point(domain.lo, domain.hi - Vec3::all(8));
    const double width = random.number(0.1, 8.0);
    const auto part = s.local(lo, lo + Vec3::all(width));
    for (int n = 0; n < 40; ++n) {
      const Vec3 x = random.point(lo, lo + Vec3::all(width));
      ASSERT_EQ((*part)(x), (*whole)(x));
    }
  }
}

TEST(Combine, UnionIsTheMinimumAndIntersectionTheMaximum) {
  const auto a = ball({10, 10, 10}, 6), b = ball({14, 10, 10}, 5);
  const auto make = [] {
    LevelSetParts parts;
    parts.push_back(ball({10, 10, 10}, 6));
    parts.push_back(ball({14, 10, 10}, 5));
    return parts;
  };
  const auto united = union_of_solids(make()), common = intersection_of_solids(make());
  RandomPoints random(4);
  for (int n = 0; n < 500; ++n) {
    const Vec3 x = random.point(domain.lo, domain.hi);
    const double phi_a = (*a->local(x, x))(x), phi_b = (*b->local(x, x))(x);
    EXPECT_EQ((*united->local(x, x))(x), std::min(phi_a, phi_b));
    EXPECT_EQ((*common->local(x, x))(x), std::max(phi_a, phi_b));
  }
}

TEST(Combine, BitsDoNotDependOnTheBox) {
  expect_box_independent(*union_of_solids(random_balls(40)));
  expect_box_independent(*intersection_of_solids(random_balls(5)));
  expect_box_independent(*periodic_images(ellipsoid(), Vec3::all(32), {true, true, true}, Vec3::all(9.0)));
}

/// Of many parts few count in each brick of a box: lines through all bricks, in one call, against each part by itself.
TEST(Combine, BricksOfABoxLeaveOutNoneThatCounts) {
  const auto united = union_of_solids(random_balls(40)), common = intersection_of_solids(random_balls(5));
  const LevelSetParts balls = random_balls(40);
  const auto at = [&](std::size_t i, const Vec3& x) { return (*balls[i]->local(x, x))(x); };
  RandomPoints random(11);
  for (int n = 0; n < 40; ++n) {
    const Vec3 lo = random.point(domain.lo, domain.hi - Vec3::all(12)), hi = lo + Vec3::all(random.number(1, 12));
    const Vec3 from = random.point(lo, hi), to = n == 0 ? hi : random.point(lo, hi);
    std::vector<Vec3> line;
    for (int i = 0; i <= 150; ++i) line.push_back(from + (i / 150.0) * (to - from));
    line.push_back(lo), line.push_back(hi);
    std::vector<double> least(line.size()), most(line.size());
    united->local(lo, hi)->evaluate(line, least);
    common->local(lo, hi)->evaluate(line, most);
    for (std::size_t p = 0; p < line.size(); ++p) {
      double min = at(0, line[p]), max = min;
      for (std::size_t i = 1; i < balls.size(); ++i) min = std::min(min, at(i, line[p]));
      for (std::size_t i = 1; i < 5; ++i) max = std::max(max, at(i, line[p]));
      ASSERT_EQ(least[p], min);
      ASSERT_EQ(most[p], max);
    }
  }
}

TEST(Combine, KeepsTheLipschitzConstant) {
  test::expect_lipschitz(*union_of_solids(random_balls(40)), domain, 5);
  test::expect_lipschitz(*complement(intersection_of_solids(random_balls(3))), domain, 6);
  test::expect_lipschitz(*periodic_images(ellipsoid(), Vec3::all(32), {true, true, true}, Vec3::all(9.0)), domain, 7);
}

TEST(Combine, ComplementTurnsTheMeaningRound) {
  const auto cavity = complement(ball({16, 16, 16}, 5));
  EXPECT_DOUBLE_EQ((*cavity->local(domain.lo, domain.hi))({16, 16, 18}), 3.0);
  EXPECT_DOUBLE_EQ((*cavity->local(domain.lo, domain.hi))({16, 16, 30}), -9.0);
}

// A solid that leaves through one end comes in through the other, and both ends agree bit by bit.
TEST(Combine, PeriodicImagesRepeatWithThePeriod) {
  const auto s = periodic_images(ellipsoid(), Vec3::all(32), {true, true, false}, Vec3::all(9.0));
  const auto inside = s->local(domain.lo, domain.hi);
  EXPECT_LT((*inside)({0.5, 2.0, 15.0}), 0.0);    // the part beyond x = 32
  EXPECT_LT((*inside)({31.0, 31.5, 15.0}), 0.0);  // and beyond y = 0
  RandomPoints random(8);
  for (int n = 0; n < 500; ++n) {
    Vec3 low = random.point(domain.lo, domain.hi), high = low;
    low[n % 2] = -2.0 + 0.5 * (n % 9);
    high[n % 2] = low[n % 2] + 32.0;
    const double phi = (*s->local(low, low))(low);
    if (phi < 8.0) {
      ASSERT_EQ(phi, (*s->local(high, high))(high));
    }
  }
}

// One cell thick and periodic: a ball much larger than the domain is repeated as often as it reaches.
TEST(Combine, ThinPeriodicDomain) {
  const auto s = periodic_images(ball({16, 16, 0.5}, 6), {32, 32, 1}, {false, false, true}, Vec3::all(6.0));
  EXPECT_NEAR((*s->local({}, {32, 32, 1}))({26, 16, 0.5}), 4.0, 1e-14);
  EXPECT_NEAR((*s->local({}, {32, 32, 1}))({26, 16, 1.0}), std::sqrt(100.25) - 6.0, 1e-14);
  const auto tilted = make_level_set(Cylinder{frame_along({16, 16, 0.5}, {0, 1, 1}), 1.0, 6.0});
  EXPECT_GT((*tilted->local({}, {32, 32, 1}))({16, 19.5, 0.5}), 0.0);
  const auto repeated = periodic_images(make_level_set(Cylinder{frame_along({16, 16, 0.5}, {0, 1, 1}), 1.0, 6.0}),
                                        {32, 32, 1}, {false, false, true}, Vec3::all(6.1));
  EXPECT_LT((*repeated->local({}, {32, 32, 1}))({16, 19.5, 0.5}), 0.0);  // comes from the third image below
}

TEST(Combine, SmoothnessOfMixedParts) {
  const Smoothness distance{1.0, 0.0}, image{0.0, 0.5}, formula{0.0, 0.125};
  EXPECT_EQ(combined(distance, distance).lipschitz, 1.0);
  EXPECT_EQ(combined(distance, image).lipschitz, 0.0);
  EXPECT_EQ(combined(distance, image).sample_spacing, 0.5);
  EXPECT_EQ(combined(image, formula).sample_spacing, 0.125);
}

// Bounds of the sign through union, intersection, complement and images: never wrong, and of use.
TEST(Combine, SignBoundsAgreeWithSamples) {
  const auto ball = [] { return make_level_set(Sphere{{5, 5, 5}, 2.5}); };
  const auto wave = [] { return make_expression("sin(x) + cos(y)*z/3 - 0.4", 1.0); };
  const auto pair = [&](auto combine) {
    LevelSetParts parts;
    parts.push_back(ball()), parts.push_back(wave());
    return combine(std::move(parts), std::vector<std::string>{unnamed_mineral});
  };
  std::vector<std::unique_ptr<LevelSet>> sets;
  sets.push_back(pair(union_of_solids));
  sets.push_back(pair(intersection_of_solids));
  sets.push_back(complement(pair(union_of_solids)));
  sets.push_back(periodic_images(pair(union_of_solids), {10, 10, 10}, {true, false, true}, Vec3::all(9.0)));
  int certain = 0, once = 0;
  for (const auto& set : sets) {
    EXPECT_TRUE(set->smoothness().bounds_signs);
    for (int n = 0; n < 200; ++n) {
      const Vec3 lo{(n * 37 % 100) * 0.1, (n * 61 % 100) * 0.1, (n * 17 % 100) * 0.1},
          hi = lo + Vec3::all(0.1 + n % 4 * 0.4);
      const auto phi = set->local(lo, hi);
      const SignBounds signs = phi->signs(lo, hi);
      certain += signs.one_kind();
      for (int d = 0; d < 3; ++d) {
        const int rises = signs.rises[d];  // NOLINT(bugprone-signed-char-misuse): -1 is one
        once += rises != 0 && !signs.one_kind();
        double before = 0.0;
        for (int i = 0; i <= 16; ++i) {
          Vec3 x = lo + 0.3 * (hi - lo);
          x[d] = lo[d] + (hi[d] - lo[d]) * i / 16.0;
          const double f = (*phi)(x);
          EXPECT_TRUE(f > 0.0 ? signs.may_be_fluid : signs.may_be_solid);
          EXPECT_FALSE(i > 0 && rises * before > 0.0 && rises * f < 0.0) << "back along " << d;
          before = f;
        }
      }
    }
  }
  EXPECT_GT(certain, 400);
  EXPECT_GT(once, 50);
}

// A long body in a thin domain needs images along its thin direction only, as many as there it reaches.
TEST(Combine, LongBodiesInThinDomains) {
  const auto slab = [] { return make_level_set(Cuboid{{{16, 16, 0.5}}, {5000, 2, 0.6}}); };
  const auto s = periodic_images(slab(), {32, 32, 1}, {false, false, true}, {5000, 2, 0.6});
  const auto local = s->local(Vec3::all(0), {32, 32, 1});
  for (const double z : {0.0, 0.3, 0.999}) {
    EXPECT_DOUBLE_EQ((*local)({16, 12, z}), 2.0);
    EXPECT_LT((*local)({1, 16, z}), 0.0);
  }
  EXPECT_NE(test::error_of([&] {
              periodic_images(slab(), {32, 32, 1}, {false, false, true}, {5000, 2, 1600});
            }).find("needs 3219 images"),
            std::string::npos);
}

TEST(Combine, NothingToCombineIsAnError) {
  EXPECT_NE(test::error_of([] { union_of_solids({}); }).find("at least one"), std::string::npos);
  EXPECT_NE(test::error_of([] {
              periodic_images(ball({}, 1), {0, 1, 1}, {true, false, false}, Vec3::all(1.0));
            }).find("period"),
            std::string::npos);
  EXPECT_NE(test::error_of([] {
              periodic_images(ball({}, 1), {1, 1, 1}, {true, true, true}, Vec3::all(1e4));
            }).find("images"),
            std::string::npos);
}

}  // namespace
}  // namespace karst::combine_test
