// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/endless_images.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "eb/shapes/combine.hpp"
#include "support/errors.hpp"
#include "support/level_set_cases.hpp"

namespace karst::endless_images_test {
namespace {

using test::error_of;

/// Distance to the nearest of all lines, by the definition: far more images than any point of the domain needs.
double distance_to_lines(const Vec3& x, const Vec3& center, const Vec3& axis, const Periods& domain) {
  constexpr int all = 20;
  double least = 1e300;
  for (int i = domain.periodic[0] ? -all : 0; i <= (domain.periodic[0] ? all : 0); ++i)
    for (int j = domain.periodic[1] ? -all : 0; j <= (domain.periodic[1] ? all : 0); ++j)
      for (int k = domain.periodic[2] ? -all : 0; k <= (domain.periodic[2] ? all : 0); ++k) {
        const Vec3 r = x - center - Vec3{i * domain.size[0], j * domain.size[1], k * domain.size[2]};
        least = std::min(least, norm(r - dot(r, axis) / dot(axis, axis) * axis));
      }
  return least;
}

// A cylinder that crosses a period seven times is seven times in the domain; five images on each side made it four.
TEST(EndlessImages, AreAllLinesThroughTheDomain) {
  test::RandomPoints random(5);
  struct Case {
    Vec3 axis;
    Periods domain;
  };
  for (const Case& c :
       {Case{{1, 7, 0}, {{16, 16, 16}, {true, true, true}}},
        Case{{1, 0, 1}, {{32, 8, 4}, {true, true, true}}},  // 8 periods of z on one of x
        Case{{10, 3, 2}, {{12, 12, 12}, {true, true, true}}}, Case{{1, 0, 2}, {{24, 12, 12}, {true, true, false}}},
        Case{{1, 0.618, 0.2}, {{16, 12, 8}, {true, true, false}}},
        Case{{1, 0.618, 0.2}, {{16, 12, 8}, {false, false, false}}}}) {
    const Vec3 center = random.point({}, c.domain.size);
    const EndlessImages found = endless_images(center, c.axis, 0.5, c.domain, "it");
    const auto phi = images(make_level_set(Cylinder{frame_along(center, found.axis), 0.5}), found.shifts);
    const auto local = phi->local({}, c.domain.size);
    for (int n = 0; n < 12; ++n) {
      const Vec3 x = random.point({}, c.domain.size);
      ASSERT_NEAR((*local)(x), distance_to_lines(x, center, c.axis, c.domain) - 0.5, 1e-9)
          << c.axis[0] << " " << c.axis[1] << " " << c.axis[2];
    }
  }
}

TEST(EndlessImages, LinesThatNeverComeBackAreAnError) {
  const Periods cube{{16, 16, 16}, {true, true, true}};
  const std::string error = error_of([&] { endless_images({8, 8, 8}, {1, 0.618034, 0}, 1.0, cube, "the rod"); });
  EXPECT_NE(error.find("the rod"), std::string::npos) << error;
  EXPECT_NE(error.find("give it a length"), std::string::npos) << error;
  const Periods flat{{16, 16, 16}, {true, true, false}};
  EXPECT_NE(error_of([&] {
              endless_images({8, 8, 8}, {1, 0.6, 1e-5}, 1.0, flat, "it");
            }).find("images"),
            std::string::npos);
}

// Far away along a direction without images, as in a deck whose centres are somewhere on the axis.
TEST(EndlessImages, OfACentreFarOutside) {
  const Periods slab{{16, 16, 16}, {true, false, true}};
  const EndlessImages near = endless_images({8, 8, 8}, {1, 2, 0}, 1.0, slab, "it");
  const EndlessImages far = endless_images({8 + 160, 8 + 320, 8}, {1, 2, 0}, 1.0, slab, "it");
  EXPECT_EQ(far.shifts.size(), near.shifts.size());
  EXPECT_FALSE(near.shifts.empty());
}

}  // namespace
}  // namespace karst::endless_images_test
