// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/extrapolation.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace karst {
namespace {

/// k(w) = 3 + κ b + C w^p on these widths.
std::vector<GridValue> values(const std::vector<std::pair<double, double>>& widths_offsets, double kappa, double c,
                              double p) {
  std::vector<GridValue> all;
  for (const auto& [w, b] : widths_offsets) all.push_back({w, b, 3.0 + kappa * b + c * std::pow(w, p)});
  return all;
}

// Offsets of lines through an image, t (1 - t) less its mean: through the samples, half way, a quarter beside,
// anywhere.
TEST(Extrapolation, OffsetsOfLines) {
  EXPECT_NEAR(line_offset(1.0, 48), -1.0 / 6, 1e-14);
  EXPECT_NEAR(line_offset(3.0, 16), -1.0 / 6, 1e-14);
  EXPECT_NEAR(line_offset(2.0, 24), 1.0 / 4 - 1.0 / 6, 1e-14);
  EXPECT_NEAR(line_offset(0.5, 96), 3.0 / 16 - 1.0 / 6, 1e-14);
  EXPECT_NEAR(line_offset(0.01, 4800), 0.0, 1e-4);
  EXPECT_NEAR(line_offset(64.0 / 21, 21), 0.0, 1e-3);
}

// The model is met exactly: described shapes for any order from 1 to 3, images for order 2.
TEST(Extrapolation, FindsTheLimitOfItsModel) {
  for (const double p : {1.0, 1.3, 2.0, 3.0}) {
    const auto grids = values({{1, 0}, {2, 0}, {3, 0}}, 0.0, -0.01, p);
    const Extrapolated e = extrapolate(grids);
    ASSERT_TRUE(e.limit.has_value());
    EXPECT_NEAR(*e.limit, 3.0, 1e-9) << p;
    EXPECT_NEAR(e.error, std::min(0.02, 0.01 * (std::pow(2, p) - 1)), 1e-9) << p;
  }
  for (const auto& widths : {std::vector<double>{1, 2, 3}, {0.5, 1, 1.5}, {1, 2, 64.0 / 21}}) {
    std::vector<std::pair<double, double>> grids;
    for (const double w : widths)
      grids.emplace_back(w / widths[0], line_offset(w, static_cast<int>(std::lround(192 / w))));
    const Extrapolated e = extrapolate(values(grids, 0.1, 0.02, 2.0));
    ASSERT_TRUE(e.limit.has_value());
    EXPECT_NEAR(*e.limit, 3.0, 1e-12);
  }
}

// One cell per voxel lies below its limit though wider cells lie above it: the limit is above all the same.
TEST(Extrapolation, GoesUpFromOneCellPerVoxel) {
  const auto grids = values({{1, -1.0 / 6}, {2, 1.0 / 12}, {3, -1.0 / 6}}, 0.3, 0.01, 2.0);
  ASSERT_LT(grids[0].permeability, 3.0);
  ASSERT_GT(grids[2].permeability, grids[0].permeability);
  EXPECT_NEAR(extrapolate(grids).error, 2.0 * (3.0 - grids[0].permeability), 1e-12);
}

TEST(Extrapolation, HoldsBackWhereGridsDisagree) {
  EXPECT_TRUE(std::isnan(extrapolate(std::vector<GridValue>{{1, 0, 3.0}}).error));
  const Extrapolated two = extrapolate(std::vector<GridValue>{{1, 0, 3.0}, {2, 0, 3.2}});
  EXPECT_NEAR(two.error, 0.2, 1e-15);
  EXPECT_FALSE(two.limit.has_value());
  // The coarsest grid goes back: no limit, the error is the first difference.
  for (const double b : {0.0, 1.0 / 6}) {
    const Extrapolated back = extrapolate(std::vector<GridValue>{{1, -b, 3.0}, {2, 0.5 * b, 3.2}, {3, -b, 2.9}});
    EXPECT_NEAR(back.error, 0.2, 1e-15);
    EXPECT_FALSE(back.limit.has_value());
  }
  // A limit further away than the second grid: the third has lost a throat that the second kept.
  const Extrapolated far =
      extrapolate(std::vector<GridValue>{{1, -1.0 / 6, 3.0}, {2, 1.0 / 12, 3.01}, {3, -1.0 / 6, 3.2}});
  EXPECT_NEAR(far.error, 0.01, 1e-12);
  EXPECT_FALSE(far.limit.has_value());
  // Both parts of the model cancel: at least two thirds of the difference are left.
  const Extrapolated luck =
      extrapolate(std::vector<GridValue>{{1, -1.0 / 6, 3.0}, {2, 1.0 / 12, 3.09}, {3, -1.0 / 6, 3.16}});
  EXPECT_NEAR(*luck.limit, 3.0, 1e-12);
  EXPECT_NEAR(luck.error, 0.06, 1e-12);
}

TEST(Extrapolation, WiderGridsFillTheDomain) {
  using Grids = std::vector<Index>;
  EXPECT_EQ(wider_grids({48, 96, 1}), (Grids{{24, 48, 1}, {16, 32, 1}}));
  EXPECT_EQ(wider_grids({64, 64, 64}), (Grids{{32, 32, 32}, {21, 21, 21}}));
  EXPECT_EQ(wider_grids({45, 90, 45}), (Grids{{23, 46, 23}, {15, 30, 15}}));
  EXPECT_EQ(wider_grids({536, 300, 40}), (Grids{{268, 150, 20}}));
  EXPECT_EQ(wider_grids({8, 8, 9}), Grids{});
  EXPECT_EQ(wider_grids({128, 64, 192}, {2, 1, 3}), (Grids{{64, 32, 96}, {42, 21, 63}}));  // as for 64 x 64 x 64
  EXPECT_EQ(wider_grids({12, 6, 6}, {2, 1, 1}), Grids{});
  EXPECT_EQ(wider_grids({6, 6, 6}), Grids{});
}

}  // namespace
}  // namespace karst
