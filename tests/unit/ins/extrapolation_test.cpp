// SPDX-License-Identifier: BSD-3-Clause
#include "ins/upscale/extrapolation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

namespace karst::extrapolation_test {
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

// The model is met exactly: described shapes for any order from 1 to 2, images for order 2.
TEST(Extrapolation, FindsTheLimitOfItsModel) {
  for (const double p : {1.0, 1.3, 1.8, 2.0}) {
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
    const Extrapolated e = extrapolate(values(grids, 0.1, widths[0] < 1 ? 0.02 : 0.01, 2.0));
    ASSERT_TRUE(e.limit.has_value());
    EXPECT_NEAR(*e.limit, 3.0, 1e-12);
    EXPECT_EQ(e.basis, ErrorBasis::limit);
  }
}

// One cell per voxel lies below its limit though wider cells lie above it: the limit is above all the same.
TEST(Extrapolation, GoesUpFromOneCellPerVoxel) {
  const auto grids = values({{1, -1.0 / 6}, {2, 1.0 / 12}, {3, -1.0 / 6}}, 0.3, 0.01, 2.0);
  ASSERT_LT(grids[0].permeability, 3.0);
  ASSERT_GT(grids[2].permeability, grids[0].permeability);
  const double change = 3.0 - grids[0].permeability, second = grids[1].permeability - grids[0].permeability;
  EXPECT_NEAR(extrapolate(grids).error, std::max(2.0 * change, 0.9 * second), 1e-12);
}

/// Changes of k = 3 on cells twice and three times as wide, of an image or of described shapes.
std::vector<GridValue> changes(bool image, std::initializer_list<double> by) {
  std::vector<GridValue> grids{{1, image ? -1.0 / 6 : 0.0, 3.0}};
  for (const double d : by) {
    const auto w = static_cast<double>(grids.size() + 1);
    grids.push_back({w, !image ? 0.0 : w == 2 ? 1.0 / 12 : -1.0 / 6, 3.0 + d});
  }
  return grids;
}

void expect(const Extrapolated& e, double error, ErrorBasis basis) {
  EXPECT_NEAR(e.error, error, 1e-12);
  EXPECT_EQ(e.basis, basis);
  EXPECT_EQ(e.limit.has_value(), basis == ErrorBasis::limit);
}

const GridValue between{1.5, 0.0, 3.04};

// A grid is missing: a multiple of the change that is left; nothing is known of one grid.
TEST(Extrapolation, OneGridIsMissing) {
  for (const bool image : {false, true}) {
    const Extrapolated none = extrapolate(changes(image, {}));
    EXPECT_TRUE(std::isnan(none.error));
    EXPECT_EQ(none.basis, ErrorBasis::none);
    expect(extrapolate(changes(image, {0.2})), 1.5 * 0.2, ErrorBasis::one_change);
    expect(extrapolate(changes(image, {-0.2})), 1.5 * 0.2, ErrorBasis::one_change);
    const Extrapolated alone = extrapolate(changes(image, {}), between);
    if (image)
      EXPECT_TRUE(std::isnan(alone.error) && alone.basis == ErrorBasis::none);  // its error and the wall's may cancel
    else
      expect(alone, 2.0 * 0.04, ErrorBasis::one_change);
    expect(extrapolate(changes(image, {0.2}), between), 0.2, ErrorBasis::larger_change);
    expect(extrapolate(changes(image, {0.01}), between), 1.25 * 0.04, ErrorBasis::larger_change);
  }
}

// They oscillate: the second change may be small by chance, so the third counts, or better the grid between.
TEST(Extrapolation, GridsDisagree) {
  for (const bool image : {false, true}) {
    expect(extrapolate(changes(image, {-0.006, 0.027})), 0.027, ErrorBasis::larger_change);
    expect(extrapolate(changes(image, {0.2, -0.1})), 0.2, ErrorBasis::larger_change);
    expect(extrapolate(changes(image, {-0.006, 0.027}), between), 1.25 * 0.04, ErrorBasis::larger_change);
    expect(extrapolate(changes(image, {0.2, -0.1}), between), 0.2, ErrorBasis::larger_change);
  }
}

// A change of 0.1 where the others are 2 and more is chance, though all have one sign: the limit would be further away
// than the second grid.
TEST(Extrapolation, SmallByChance) {
  expect(extrapolate(changes(true, {0.001, 0.02})), 0.02, ErrorBasis::larger_change);
  expect(extrapolate(changes(true, {0.001, 0.02}), between), 1.25 * 0.04, ErrorBasis::larger_change);
}

// Of described shapes a ratio of 26 / 7 would be of third order, which the method has not: a cube of 7/16 whose walls
// lie a quarter of a cell behind the centres changes by 0.36 % on cells twice as wide and is 0.8 % off.
TEST(Extrapolation, OrdersBeyondThatOfTheMethod) {
  expect(extrapolate(changes(false, {0.01, 0.01 * 26 / 7})), 0.01 * 26 / 7, ErrorBasis::larger_change);
  expect(extrapolate(changes(false, {0.01, 0.01 * 26 / 7}), between), 1.25 * 0.04, ErrorBasis::larger_change);
  const double ratio = (std::pow(3, 2.4) - 1) / (std::pow(2, 2.4) - 1);
  expect(extrapolate(changes(false, {0.03, 0.03 * ratio}), between), 2.0 / 3 * 0.03, ErrorBasis::limit);
}

// Of an image κ / 6 and C as good as cancel, or C is the larger: what is left of them is chance. Random crops whose
// wider grids say +3.8 and +12.4 % change by +4.7 % on cells half as wide, where k0 would be 2 % less than k(1).
TEST(Extrapolation, LimitOnTheOtherSideOfAnImage) {
  expect(extrapolate(changes(true, {0.038, 0.0676})), 0.0676, ErrorBasis::larger_change);
  expect(extrapolate(changes(true, {0.038, 0.124}), between), 1.25 * 0.04, ErrorBasis::larger_change);
  const Extrapolated near = extrapolate(changes(true, {0.038, 0.0674}), between);  // k0 = 3.00006
  expect(near, 0.9 * 0.038, ErrorBasis::limit);
}

// The error of a slit falls with the square of the cell width: (1 + 0.5 / 8²) of H³ / 12 on 8 cells. Three grids tell
// the limit; the change to cells twice as wide is three times the error, twice the error is told.
TEST(Extrapolation, BelongsToItsAxis) {
  const auto on = [](int axis, double cells) { return NumberedValue{axis, 1.0 + 0.5 / (cells * cells)}; };
  const std::vector<WiderGrid> wider{{2.0, 0.0, {on(0, 6), on(1, 6)}}, {3.0, 0.0, {on(0, 4)}}};
  const auto estimate = [&](int axis, const WiderGrid& other = {}) {
    return extrapolate_value(on(axis, 12), 0.0, wider, other);
  };
  EXPECT_NEAR(estimate(0).error, 2 * 0.5 / 144, 1e-12);
  EXPECT_NEAR(estimate(0).limit.value(), 1.0, 1e-12);
  EXPECT_EQ(estimate(0).basis, ErrorBasis::limit);
  EXPECT_NEAR(estimate(1).error, 1.5 * 3 * 0.5 / 144, 1e-15);
  EXPECT_EQ(estimate(1).basis, ErrorBasis::one_change);
  EXPECT_FALSE(estimate(1).limit.has_value());
  EXPECT_TRUE(std::isnan(estimate(2).error));  // nothing known there
  EXPECT_EQ(estimate(2).basis, ErrorBasis::none);
  EXPECT_NEAR(estimate(2, {1.5, 0.0, {on(2, 8)}}).error, 2.0 * 1.25 * 0.5 / 144, 1e-15);
  EXPECT_EQ(estimate(2, {1.5, 0.0, {on(2, 8)}}).basis, ErrorBasis::one_change);
}

TEST(Extrapolation, WiderGridsFillTheDomain) {
  using Grids = std::vector<Index>;
  EXPECT_EQ(wider_grids({48, 96, 1}), (Grids{{24, 48, 1}, {16, 32, 1}}));
  EXPECT_EQ(wider_grids({64, 64, 64}), (Grids{{32, 32, 32}, {21, 21, 21}}));
  EXPECT_EQ(wider_grids({45, 90, 45}), (Grids{{23, 46, 23}, {15, 30, 15}}));
  EXPECT_EQ(wider_grids({536, 300, 40}), (Grids{{268, 150, 20}}));
  EXPECT_EQ(wider_grids({300, 300, 10}), (Grids{{150, 150, 5}, {120, 120, 4}}));  // three times: 3 cells are too few
  EXPECT_EQ(wider_grids({40, 50, 5}), Grids{});
  EXPECT_EQ(wider_grids({8, 8, 9}), Grids{});
  EXPECT_EQ(wider_grids({128, 64, 192}, {2, 1, 3}), (Grids{{64, 32, 96}, {42, 21, 63}}));  // as for 64 x 64 x 64
  EXPECT_EQ(wider_grids({12, 6, 6}, {2, 1, 1}), Grids{});
  EXPECT_EQ(wider_grids({6, 6, 6}), Grids{});
}

TEST(Extrapolation, AGridBetween) {
  EXPECT_EQ(grid_between({48, 96, 1}), (Index{32, 64, 1}));
  EXPECT_EQ(grid_between({64, 64, 64}), (Index{43, 43, 43}));
  EXPECT_EQ(grid_between({300, 300, 10}), (Index{210, 210, 7}));
  EXPECT_EQ(grid_between({40, 50, 5}), (Index{32, 40, 4}));
  EXPECT_EQ(grid_between({96, 48, 48}, {2, 1, 1}), (Index{64, 32, 32}));
  EXPECT_FALSE(grid_between({48, 48, 10}).has_value());
  EXPECT_FALSE(grid_between({47, 53, 61}).has_value());
}

}  // namespace
}  // namespace karst::extrapolation_test
