// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/wall/wall_faces.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/math/triple.hpp"
#include "geometry_import/voxels/level_set.hpp"
#include "image_generator/packing.hpp"
#include "random_phases.hpp"

namespace karst::wall_faces_test {
namespace {

std::vector<float> segmented(const ImageWindow& all, const std::vector<std::uint8_t>& phase, float shift) {
  std::vector<float> phi(all.count());
  segmented_level_set(all, phase, 1.0, shift, all, phi);
  return phi;
}

using Distance = std::function<double(const Vec3&)>;  // to the wall, > 0 in the pore

/// Pore where the distance of the voxel centre is positive.
std::vector<std::uint8_t> phases(const ImageWindow& all, const Distance& distance) {
  std::vector<std::uint8_t> phase;
  for (int z = 0; z < all.image[2]; ++z)
    for (int y = 0; y < all.image[1]; ++y)
      for (int x = 0; x < all.image[0]; ++x) phase.push_back(distance({x + 0.5, y + 0.5, z + 0.5}) > 0);
  return phase;
}

struct Errors {
  double mean = 0, deviation = 0;
};

/// Distance to the true wall of where φ crosses zero along grid lines, `margin` voxels away from the ends of the image.
Errors crossing_errors(const ImageWindow& all, const std::vector<float>& phi, const Distance& distance, int margin) {
  double sum = 0, squares = 0;
  int n_crossings = 0;
  const std::array<std::int64_t, 3> stride{1, all.row(), all.plane()};
  for (std::int64_t n = 0; n < static_cast<std::int64_t>(phi.size()); ++n) {
    const Index v{static_cast<int>(n % all.row()), static_cast<int>(n / all.row() % all.image[1]),
                  static_cast<int>(n / all.plane())};
    bool within = true;
    for (int d = 0; d < 3; ++d) within = within && v[d] >= margin && v[d] + 1 < all.image[d] - margin;
    for (int d = 0; d < 3 && within; ++d) {
      const double a = phi[n], b = phi[n + stride[d]];
      if ((a > 0) == (b > 0)) continue;
      Vec3 x{v[0] + 0.5, v[1] + 0.5, v[2] + 0.5};
      x[d] += a / (a - b);
      sum += distance(x);
      squares += distance(x) * distance(x);
      ++n_crossings;
    }
  }
  const double mean = sum / n_crossings;
  return {mean, std::sqrt(squares / n_crossings - mean * mean)};
}

// The stairs of the inclined slits carry heights two planes a step.
TEST(WallFaces, AWindowGivesTheValuesOfTheWholeImage) {
  const ImageWindow all{{40, 12, 100}, 0, 100};
  const Distance slits = [](const Vec3& x) { return std::sin(0.4 * (x[2] - 1.6 * x[0] + 0.3 * x[1])); };
  for (const std::vector<std::uint8_t>& phase : {random_phases(all, 2.0, 0.1, 3), phases(all, slits)}) {
    const std::vector<float> whole = segmented(all, phase, 0.1F);
    const ImageWindow part{all.image, 40, 48}, wide = part.grown(segmented_reach(1.0));
    ASSERT_GT(wide.first, 0);
    ASSERT_LT(wide.last, 100);
    const std::vector<std::uint8_t> some(phase.begin() + all.start_of(wide.first),
                                         phase.begin() + all.start_of(wide.last));
    std::vector<float> phi(part.count());
    segmented_level_set(wide, some, 1.0, 0.1F, part, phi);
    for (std::int64_t n = 0; n < static_cast<std::int64_t>(part.count()); ++n)
      ASSERT_EQ(phi[n], whole[all.start_of(part.first) + n]) << "bit by bit";
  }
}

TEST(WallFaces, AreTheSameForEveryShift) {
  const ImageWindow all{{40, 12, 30}, 0, 30}, part{all.image, 8, 20};
  const std::vector<std::uint8_t> phase = random_phases(all, 2.0, 0.1, 5);
  const WallFaces faces(all, phase, 1.0, part);
  std::vector<float> phi(part.count());
  for (const float shift : {0.1F, -0.3F, 0.1F}) {
    faces.level_set(shift, phi);
    const std::vector<float> whole = segmented(all, phase, shift);
    for (std::size_t n = 0; n < phi.size(); ++n) ASSERT_EQ(phi[n], whole[all.start_of(part.first) + n]) << shift;
  }
}

// Slits and ducts: φ is as far from zero on both sides of every face (but for the excess at corners), whatever the
// shift. Not the capillary of one voxel, which makes up for its corners.
TEST(WallFaces, FlatWallsStayOnTheFacesOfTheVoxels) {
  const ImageWindow all{{12, 13, 14}, 0, 14};
  for (const int width : {1, 2, 3, 5})
    for (const int other : {1, 3, 20}) {
      if (width == 1 && other == 1) continue;
      const std::vector<std::uint8_t> phase = phases(all, [&](const Vec3& x) {
        return std::min(std::min(x[0] - 4, 4 + width - x[0]), std::min(x[1] - 4, 4 + other - x[1]));
      });
      const std::vector<float> phi = segmented(all, phase, 0.3F);
      for (std::int64_t n = 0; n < static_cast<std::int64_t>(phi.size()); ++n)
        for (const std::int64_t step : {1, 12}) {
          if ((step == 1 ? n % 12 == 11 : n / 12 % 13 == 12) || phase[n] == phase[n + step]) continue;
          ASSERT_NEAR(phi[n] + phi[n + step], 0, 0.005) << width << " x " << other;
        }
    }
}

/// Pore volume of the interpolant over that of the voxels, for a pore within [from, to) of 9 x 9 x 9 voxels.
double volume_kept(const Index& from, const Index& to, bool pore = true) {
  const ImageWindow all{Index::all(9), 0, 9};
  std::vector<std::uint8_t> phase = phases(all, [&](const Vec3& x) {
    double d = 99;
    for (int e = 0; e < 3; ++e) d = std::min({d, x[e] - from[e], to[e] - x[e]});
    return pore ? d : -d;
  });
  const std::vector<float> phi = segmented(all, phase, 0);
  const WallSums sums = wall_sums(all, phi, 0, 9);
  const auto voxels = static_cast<double>(pore ? sums.voxels : 729 - sums.voxels);
  const double volume = static_cast<double>(sums.pore_volume) / volume_parts;
  return (pore ? volume : 729 - volume) / voxels;
}

// Of the table of decision 013; grains are treated as pores are. Along each axis.
TEST(WallFaces, FeaturesOfOneToThreeVoxelsKeepTheirVolume) {
  struct Duct {
    int width, height;
    double kept;
  };
  for (int axis = 0; axis < 3; ++axis)
    for (const Duct& duct :
         {Duct{1, 1, 0.968}, {1, 2, 0.845}, {1, 3, 0.896}, {2, 2, 0.923}, {2, 3, 0.949}, {3, 3, 0.966}})
      for (const bool pore : {true, false}) {
        Index from = Index::all(3), to = Index::all(4);
        from[axis] = 0, to[axis] = 9;
        to[(axis + 1) % 3] = 3 + duct.width, to[(axis + 2) % 3] = 3 + duct.height;
        EXPECT_NEAR(volume_kept(from, to, pore), duct.kept, 0.005) << duct.width << " x " << duct.height;
      }
  EXPECT_NEAR(volume_kept({3, 3, 3}, {4, 4, 4}), 0.95, 0.03);
  EXPECT_NEAR(volume_kept({3, 3, 0}, {4, 4, 4}), 0.95, 0.03) << "a dead end";
  for (const int width : {1, 2, 3}) EXPECT_NEAR(volume_kept({0, 0, 3}, {9, 9, 3 + width}), 1, 1e-4) << "slits";
}

// Labels of voxel centres know a wall to 0.29 voxel (evenly between two halves); spreading halves that.
TEST(WallFaces, InclinedWallsBecomePlane) {
  const ImageWindow all{{40, 40, 40}, 0, 40};
  for (const Vec3& direction : {Vec3{1, 0.31, 0.17}, Vec3{0.12, 0.55, -1}, Vec3{0.8, -1, 0.63}, Vec3{1, 0.21, 0.93}}) {
    const Vec3 normal = direction * (1 / norm(direction));
    const Distance distance = [&](const Vec3& x) { return dot(normal, x - Vec3{20.1, 19.7, 20.3}); };
    const Errors e = crossing_errors(all, segmented(all, phases(all, distance), 0), distance, 8);
    EXPECT_NEAR(e.mean, 0, 0.01);
    EXPECT_LT(e.deviation, 0.15);
  }
}

// What sharp corners get is not for the stairs of an inclined wall: there φ of a voxel across an edge stays √2 - 1/2.
TEST(WallFaces, StairsAreNoCorners) {
  const ImageWindow all{{24, 24, 24}, 0, 24};
  const Vec3 normal = Vec3{1, 0.9, 0.1} * (1 / norm(Vec3{1, 0.9, 0.1}));
  const std::vector<std::uint8_t> phase = phases(all, [&](const Vec3& x) {
    return dot(normal, x - Vec3{12.1, 11.7, 12.3});
  });
  const std::vector<float> phi = segmented(all, phase, 0);
  std::vector<float> distance(all.count());
  signed_distance(all, phase, distance);
  int n_edges = 0;
  for (int z = 6; z < 18; ++z)
    for (int y = 6; y < 18; ++y)
      for (int x = 6; x < 18; ++x) {
        const std::size_t n = all.start_of(z) + y * 24 + x;
        if (std::abs(std::abs(distance[n]) - 0.9142F) > 1e-3F) continue;
        EXPECT_NEAR(phi[n], distance[n], 0.1);
        ++n_edges;
      }
  EXPECT_GT(n_edges, 100);
}

TEST(WallFaces, RoundWallsStayWhereTheyAre) {
  for (const double radius : {6.0, 10.0})
    for (const double side : {1.0, -1.0}) {
      const int n = static_cast<int>(2 * radius) + 8;
      const ImageWindow all{Index::all(n), 0, n};
      const Vec3 center{n / 2 + 0.13, n / 2 - 0.21, n / 2 + 0.31};
      const Distance distance = [&](const Vec3& x) { return side * (norm(x - center) - radius); };
      const Errors e = crossing_errors(all, segmented(all, phases(all, distance), 0), distance, 0);
      EXPECT_NEAR(e.mean, 0, 0.02) << radius;
      EXPECT_LT(e.deviation, 0.14) << radius;
    }
}

TEST(WallFaces, NoVoxelChangesItsPhase) {
  const ImageWindow all{{24, 24, 24}, 0, 24};
  for (const double correlation : {0.3, 0.7, 1.5})
    for (const float shift : {-0.4F, 0.0F, 0.4F}) {
      const std::vector<std::uint8_t> phase = random_phases(all, correlation, 0.3, 9);
      const std::vector<float> phi = segmented(all, phase, shift);
      for (std::size_t n = 0; n < phi.size(); ++n) {
        ASSERT_EQ(phi[n] > 0, phase[n] == 1);
        ASSERT_GE(std::abs(phi[n]), phase_margin - 1e-3F);
        ASSERT_LE(std::abs(phi[n]), level_set_clip);
      }
    }
}

TEST(WallFaces, ThroatsAndWallsOneVoxelWideStay) {
  const ImageWindow all{{16, 16, 16}, 0, 16};
  for (const bool throat : {true, false}) {
    std::vector<std::uint8_t> phase(all.count(), throat ? 0 : 1);
    for (std::int64_t x = 0; x < 16; ++x)
      for (std::int64_t y = 0; y < (throat ? 1 : 16); ++y) phase[all.start_of(8) + (throat ? 8 : y) * 16 + x] = throat;
    const std::vector<float> phi = segmented(all, phase, 0);
    for (std::int64_t x = 0; x + 1 < 16; ++x) {  // the linear interpolant keeps its sign along the feature
      const std::int64_t n = all.start_of(8) + 8 * 16 + x;
      EXPECT_EQ(phi[n] > 0, throat);
      EXPECT_EQ(phi[n + 1] > 0, throat);
      EXPECT_NE(phi[n - 256] > 0, throat);
    }
  }
}

}  // namespace
}  // namespace karst::wall_faces_test
