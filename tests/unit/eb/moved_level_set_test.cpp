// SPDX-License-Identifier: BSD-3-Clause
// What is known of the sign of a level set that was moved.
#include "eb/moving/moved_level_set.hpp"

#include <gtest/gtest.h>

#include "eb/cut/cut_box.hpp"
#include "eb/link/level_builder.hpp"
#include "eb/shapes/image_level_set.hpp"
#include "support/moving_cases.hpp"

namespace karst::moved_level_set_test {
namespace {

using test::MovingWall;

/// Distances from a packing, as samples at voxel centres.
std::shared_ptr<const LevelSet> image_of_packing(int n, double voxel, bool periodic) {
  const auto packing = std::shared_ptr<const LevelSet>(test::packing(12, 5.3, n * voxel, periodic));
  ImageSource source{.voxels = Index::all(n), .voxel = voxel, .lipschitz = 2.0};
  source.periodic = {periodic, periodic, periodic};
  source.read = [packing, voxel](const Box& box, std::span<float> out) {
    std::size_t at = 0;
    for_each_cell(box, [&](const Index& v) {
      const Vec3 x = voxel * (to_vec(v) + Vec3::all(0.5));
      out[at++] = static_cast<float>(std::clamp((*packing->local(x, x))(x) / voxel, -4.0, 4.0));
    });
  };
  return std::make_shared<const ImageLevelSet>(std::move(source));
}

std::vector<std::shared_ptr<const LevelSet>> cases(bool periodic) {
  return {image_of_packing(32, 1.0, periodic), image_of_packing(40, 0.8, periodic),
          test::packing(12, 5.3, 32, periodic)};
}

// Bounds of the sign hold for all points of a box.
TEST(MovedLevelSet, SignsHold) {
  int decided = 0;
  for (const bool periodic : {false, true})
    for (const auto& phi0 : cases(periodic)) {
      MovingWall wall(Comm::self(), test::grid_of(32, 1, periodic), phi0);
      wall.move(test::random_speed(5, 1.0), 1.3);
      const MovedLevelSet moved(*phi0, wall.displacement);
      test::Random random(11);
      for (int i = 0; i < 300; ++i) {
        const Vec3 lo{30 * random(), 30 * random(), 30 * random()};
        const Vec3 hi = lo + Vec3{2 * random(), 2 * random(), 2 * random()};
        const auto local = moved.local(lo, hi);
        const SignBounds signs = local->signs(lo, hi);
        decided += signs.one_kind();
        for (int k = 0; k < 60; ++k) {
          const double phi =
              (*local)(lo + Vec3{random() * (hi[0] - lo[0]), random() * (hi[1] - lo[1]), random() * (hi[2] - lo[2])});
          EXPECT_TRUE(phi > 0.0 ? signs.may_be_fluid : signs.may_be_solid) << phi;
        }
      }
    }
  EXPECT_GT(decided, 400);
}

/// The same without bounds of its sign.
class WithoutSigns final : public LocalLevelSet {
 public:
  explicit WithoutSigns(std::unique_ptr<LocalLevelSet> of) : of_(std::move(of)) {}
  void evaluate(std::span<const Vec3> x, std::span<double> phi) const override { of_->evaluate(x, phi); }
  Smoothness smoothness_here(const Smoothness& of_all) const override {
    Smoothness here = of_->smoothness_here(of_all);
    here.tight_signs = false;
    return here;
  }

 private:
  std::unique_ptr<LocalLevelSet> of_;
};

// Cells that bounds of the sign leave out are those in which there is nothing to be cut: all numbers have the same
// bits.
TEST(MovedLevelSet, BoxesAreCutAsWithoutSigns) {
  std::size_t pieces = 0;
  for (const bool periodic : {false, true})
    for (const auto& phi0 : cases(periodic)) {
      MovingWall wall(Comm::self(), test::grid_of(32, 1, periodic), phi0);
      wall.move(test::random_speed(4, 1.0), 1.3);
      const MovedLevelSet moved(*phi0, wall.displacement);
      for_each_cell({Index{}, Index::all(2)}, [&](const Index& at) {
        const Box cells{16 * at, 16 * at + Index::all(16)};
        const auto local = local_level_set(moved, cells, 0);
        const WithoutSigns plain(local_level_set(moved, cells, 0));
        const BoxPieces a = cut_box(*local, moved.smoothness(), cells, 0);
        const BoxPieces b = cut_box(plain, moved.smoothness(), cells, 0);
        EXPECT_EQ(a.kind, b.kind);
        ASSERT_EQ(a.pieces.size(), b.pieces.size());
        ASSERT_EQ(a.faces.size(), b.faces.size());
        for (std::size_t p = 0; p < a.pieces.size(); ++p) {
          EXPECT_EQ(a.pieces[p].cell, b.pieces[p].cell);
          EXPECT_EQ(a.pieces[p].kappa, b.pieces[p].kappa);
          EXPECT_EQ(a.pieces[p].centroid, b.pieces[p].centroid);
          EXPECT_EQ(a.pieces[p].wall, b.pieces[p].wall);
        }
        for (std::size_t f = 0; f < a.faces.size(); ++f) EXPECT_EQ(a.faces[f].aperture, b.faces[f].aperture);
        EXPECT_EQ(classify(*local, moved.smoothness(), cells, 0).kind,
                  classify(plain, moved.smoothness(), cells, 0).kind);
        pieces += a.pieces.size();
      });
    }
  EXPECT_GT(pieces, 1000U);
}

}  // namespace
}  // namespace karst::moved_level_set_test
