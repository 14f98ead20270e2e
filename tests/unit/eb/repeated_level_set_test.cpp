// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/repeated_level_set.hpp"

#include <gtest/gtest.h>

#include "eb/shapes/shapes.hpp"

namespace karst::repeated_level_set_test {
namespace {

TEST(RepeatedLevelSet, EveryCopyIsTheSample) {
  const Sphere ball{{2.0, 3.0, 4.0}, 1.5};
  const auto sample = make_level_set(ball);
  const auto copies = repeated(make_level_set(ball), {8.0, 0.0, 16.0});  // one copy along y
  const auto here = sample->local({0, 0, 0}, {8, 8, 16});
  for (const Vec3 shift : {Vec3{0, 0, 0}, Vec3{8, 0, 0}, Vec3{24, 0, 32}, Vec3{-8, 0, 0}}) {
    const Vec3 lo = Vec3{1, 1, 1} + shift, hi = Vec3{5, 6, 7} + shift;
    const auto there = copies->local(lo, hi);
    for (const Vec3 x : {Vec3{2, 3, 4}, Vec3{1.25, 2, 6.5}, Vec3{5, 6, 1}}) EXPECT_EQ((*there)(x + shift), (*here)(x));
    EXPECT_EQ(there->signs(Vec3{1.5, 2.5, 3.5} + shift, Vec3{2.5, 3.5, 4.5} + shift).may_be_fluid,
              here->signs({1.5, 2.5, 3.5}, {2.5, 3.5, 4.5}).may_be_fluid);
    double area = 0.0;
    there->add_wall(Vec3{3.5, 3, 4} + shift, 2.0, {&area, 1});
    EXPECT_EQ(area, 2.0);
  }
  const auto beyond = copies->local({1, 9, 1}, {5, 14, 7});
  EXPECT_NEAR((*beyond)({2, 11, 4}), 6.5, 1e-14);  // no copy along y
}

}  // namespace
}  // namespace karst::repeated_level_set_test
