// SPDX-License-Identifier: BSD-3-Clause
// One cell and exact formulas.
#include <gtest/gtest.h>

#include "tests/support/cut_cases.hpp"

namespace karst::cut_cube_test {
namespace {
using namespace karst::testing;

const Box one_cell{{0, 0, 0}, {1, 1, 1}};

TEST(CutCube, RandomPlanesAreExact) {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  int cut = 0;
  for (int i = 0; i < 3000; ++i) {
    const Vec3 n = random_unit(random), point{uniform(random), uniform(random), uniform(random)};
    if (std::min({std::abs(n[0]), std::abs(n[1]), std::abs(n[2])}) < 0.05) continue;  // the formula loses digits
    const double c = dot(n, point);
    const BoxPieces box = cut_box(plane(point, n), distance_like, one_cell, 0);
    const HalfSpaceInCube solid = half_space_in_cube(n, c);
    const double kappa = 1 - solid.volume;
    ASSERT_NEAR(sums(box).volume, kappa, 1e-12);
    ASSERT_NEAR(sums(box).wall_area, solid.area, 2e-11);  // the formula itself divides by 2.5e-4
    for (int side = 0; side < 6; ++side) {
      const int d = direction_of(side);
      const std::array<double, 2> m{n[d == 0 ? 1 : 0], n[d == 2 ? 1 : 2]};
      ASSERT_NEAR(open_area(box, {}, side), 1 - half_plane_in_square(m, c - is_high(side) * n[d]), 1e-12);
    }
    if (box.pieces.size() != 1) continue;
    ++cut;
    const Piece& piece = box.pieces[0];
    for (int d = 0; d < 3; ++d) {
      ASSERT_NEAR(piece.kappa * (piece.centroid[d] + 0.5), 0.5 - solid.moment[d], 1e-11);
      ASSERT_NEAR(piece.wall[d], piece.wall_area * n[d], 1e-12);
    }
    ASSERT_NEAR(dot(piece.wall_centroid + Vec3{0.5, 0.5, 0.5}, n), c, 1e-12);
    ASSERT_EQ(piece.holds_center, dot(n, Vec3{0.5, 0.5, 0.5}) > c);
  }
  EXPECT_GT(cut, 1500);
}

TEST(CutCube, PlaneAndItsComplementFillTheCell) {
  std::mt19937 random(2);
  std::uniform_real_distribution<double> uniform(0, 1);
  for (int i = 0; i < 1000; ++i) {
    const Vec3 n = random_unit(random), point{uniform(random), uniform(random), uniform(random)};
    const BoxPieces a = cut_box(plane(point, n), distance_like, one_cell, 0);
    const BoxPieces b = cut_box(plane(point, -n), distance_like, one_cell, 0);
    ASSERT_NEAR(sums(a).volume + sums(b).volume, 1, 1e-12);
    ASSERT_NEAR(sums(a).wall_area, sums(b).wall_area, 1e-12);
  }
}

// All 256 sign patterns with random values of a trilinear φ: closed, finite, volume between 0 and 1, and the pieces
// of fluid and solid together fill the cell as far as the fans of triangles agree.
TEST(CutCube, EverySignPatternCloses) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> uniform(0.05, 1);
  for (int pattern = 1; pattern < 255; ++pattern) {
    std::array<double, 8> value;
    for (int c = 0; c < 8; ++c) value[c] = (pattern >> c & 1 ? 1 : -1) * uniform(random);
    const FunctionPhi phi([&](const Vec3& x) {
      double f = 0;
      for (int c = 0; c < 8; ++c) {
        double w = value[c];
        for (int d = 0; d < 3; ++d) w *= (c >> d & 1) ? x[d] : 1 - x[d];
        f += w;
      }
      return f;
    });
    const BoxPieces box = cut_box(phi, Smoothness{}, one_cell, 0);
    ASSERT_LT(closure_error(box), 1e-14) << pattern;
    ASSERT_GE(box.pieces.size(), 1u);
    double total = 0;
    for (const Piece& p : box.pieces) {
      ASSERT_GT(p.kappa, 0) << pattern;
      ASSERT_GE(p.wall_area, norm(p.wall) - 1e-14) << pattern;
      for (int d = 0; d < 3; ++d) ASSERT_LE(std::abs(p.centroid[d]), 0.5) << pattern;
      total += p.kappa;
    }
    ASSERT_LT(total, 1) << pattern;
  }
}

}  // namespace
}  // namespace karst::cut_cube_test
