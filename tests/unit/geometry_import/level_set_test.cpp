// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/level_set.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "image_generator/packing.hpp"
#include "random_phases.hpp"

namespace karst::level_set_test {
namespace {

/// Distance by looking at every voxel.
float distance_by_search(const ImageWindow& all, const std::vector<std::uint8_t>& phase, std::int64_t n) {
  const std::int64_t nx = all.row(), ny = all.image[1];
  std::int64_t best = 1000000;
  for (std::int64_t m = 0; m < static_cast<std::int64_t>(phase.size()); ++m) {
    if (phase[m] == phase[n]) continue;
    const std::int64_t dx = m % nx - n % nx, dy = m / nx % ny - n / nx % ny, dz = m / (nx * ny) - n / (nx * ny);
    best = std::min(best, dx * dx + dy * dy + dz * dz);
  }
  const float d = std::min(std::sqrt(static_cast<float>(best)) - 0.5F, level_set_clip);
  return phase[n] ? d : -d;
}

TEST(LevelSet, DistanceIsExact) {
  const ImageWindow all{{61, 7, 23}, 0, 23};
  for (const double share : {0.0004, 0.4, 0.9996}) {
    const std::vector<std::uint8_t> phase = random_phases(all, 0.8, share, 5);
    std::vector<float> phi(all.count());
    signed_distance(all, phase, phi);
    std::size_t wrong = 0, clipped = 0;
    for (std::size_t n = 0; n < phi.size(); n += 7) {
      wrong += phi[n] != distance_by_search(all, phase, static_cast<std::int64_t>(n));
      clipped += std::abs(phi[n]) == level_set_clip;
    }
    EXPECT_EQ(wrong, 0u) << "share " << share;
    if (share < 0.01) {
      EXPECT_GT(clipped, 0u) << "the case must reach the clip";
    }
  }
}

TEST(LevelSet, GaussianKeepsConstantsAndMovesParabolas) {
  const ImageWindow all{{40, 40, 40}, 0, 40};
  std::vector<float> one(all.count(), 3.5F), parabola(all.count());
  gaussian(all, 1.3, one);
  EXPECT_NEAR(one[0], 3.5F, 1e-5);
  EXPECT_NEAR(one[all.start_of(20) + 20 * 40 + 20], 3.5F, 1e-5);
  const auto value = [](std::int64_t x, std::int64_t y, std::int64_t z) {
    return static_cast<float>(0.01 * static_cast<double>(x * x + 2 * y * y - z * y) + 0.3 * static_cast<double>(z));
  };
  for (std::int64_t n = 0; n < 64000; ++n) parabola[n] = value(n % 40, n / 40 % 40, n / 1600);
  gaussian(all, 1.0, parabola);
  const std::int64_t middle = all.start_of(20) + 20 * 40 + 20;
  EXPECT_NEAR(parabola[middle] - value(20, 20, 20), 0.5 * 0.06, 2e-4) << "σ²/2 ∇²g";
}

/// Gray image of a sphere: partial volumes, blurred, 8 bit.
std::vector<float> gray_sphere(const Index& size, const Sphere& sphere, double blur) {
  std::vector<float> gray = solid_fraction(size, {&sphere, 1});
  gaussian({size, 0, size[2]}, blur, gray);
  for (float& g : gray) g = std::round(20 + 200 * g);
  return gray;
}

/// Mean and largest error of where φ crosses zero along grid lines, as distance from the centre.
void crossing_errors(const ImageWindow& all, std::span<const float> phi, const Sphere& s, double& mean, double& worst) {
  mean = worst = 0;
  int n_crossings = 0;
  const std::array<std::int64_t, 3> stride{1, all.row(), all.plane()};
  for (std::int64_t n = 0; n < all.plane() * all.planes(); ++n) {
    const Index v{static_cast<int>(n % all.row()), static_cast<int>(n / all.row() % all.image[1]),
                  static_cast<int>(n / all.plane())};
    for (int d = 0; d < 3; ++d) {
      if (v[d] + 1 >= all.image[d]) continue;
      const double a = phi[n], b = phi[n + stride[d]];
      if ((a > 0) == (b > 0)) continue;
      Vec3 x{v[0] + 0.5, v[1] + 0.5, v[2] + 0.5};
      x[d] += a / (a - b);
      const double error = norm(x - s.center) - s.radius;
      mean += error;
      worst = std::max(worst, std::abs(error));
      ++n_crossings;
    }
  }
  mean /= n_crossings;
}

/// Where the wall of a sphere of radius R goes under a blur of b voxels and then the smoothing of gray values, to
/// leading order in 1 / R: -[(1+a) s1 - a s2] / [(1+a) / s1 - a / s2] / R, s1² = b² + σ², s2² = b² + 2σ²: second moment
/// of the kernel along the wall over its value at the wall, both from the normal distributions they are made of.
double displacement(double blur, double sigma, double radius) {
  if (sigma == 0) return -blur * blur / radius;
  const double a = 1 + std::numbers::sqrt2, s1 = std::hypot(blur, sigma),
               s2 = std::sqrt(blur * blur + 2 * sigma * sigma);
  return -((1 + a) * s1 - a * s2) / ((1 + a) / s1 - a / s2) / radius;
}

TEST(LevelSet, GrayWallsOfASphereLieWhereTheyShould) {
  const Index size{32, 32, 32};
  const ImageWindow all{size, 0, 32};
  const Sphere sphere{{16.13, 15.79, 16.31}, 12.0};
  for (const double blur : {0.0, 0.5, 1.0})
    for (const double smoothing : {0.0, 1.0}) {
      std::vector<float> gray = gray_sphere(size, sphere, blur);
      smooth(all, smoothing, gray);
      const GradientSums g = wall_gradient(all, gray, 120, 0, 32);
      std::vector<float> phi(gray.size());
      gray_level_set(gray, {120, g.length / static_cast<double>(g.voxels), false}, phi);
      double mean = 0, worst = 0;
      crossing_errors(all, phi, sphere, mean, worst);
      EXPECT_NEAR(mean, displacement(blur, smoothing, 12), 0.012) << "blur " << blur << " smoothing " << smoothing;
      EXPECT_LT(worst, blur + smoothing > 0 ? 0.2 : 0.45);
      for (std::int64_t n = 0; n < all.plane() * 32; ++n) {  // a distance near the wall
        const Vec3 x{static_cast<double>(n % 32) + 0.5, static_cast<double>(n / 32 % 32) + 0.5,
                     static_cast<double>(n / 1024) + 0.5};
        const double distance = norm(x - sphere.center) - 12;
        if (blur > 0.9 && std::abs(distance) < 0.7) {
          ASSERT_NEAR(phi[n], distance, 0.35);
        }
      }
    }
}

TEST(LevelSet, GrayMarginAndClip) {
  std::vector<float> phi{120, 119, 121, 0, 255};
  gray_level_set(phi, {120, 4, false}, phi);
  EXPECT_EQ(phi, (std::vector<float>{-gray_margin, 0.25, -0.25, 16, -16})) << "g = T is solid";
  std::vector<float> above{120, 119, 121};
  gray_level_set(above, {120, 4, true}, above);
  EXPECT_EQ(above, (std::vector<float>{-gray_margin, -0.25, 0.25}));
}

TEST(LevelSet, WallSumsOfAHalfSpaceAreExact) {
  const ImageWindow all{{8, 8, 8}, 0, 8};
  std::vector<float> phi(all.count());
  for (std::int64_t n = 0; n < 512; ++n) phi[n] = static_cast<float>(n % 8) + 0.5F - 3.3F;  // wall at x = 3.3
  const WallSums s = wall_sums(all, phi, 0, 8);
  EXPECT_EQ(s.voxels, 5 * 64) << "centres at 3.5 and beyond";
  EXPECT_NEAR(static_cast<double>(s.pore_volume) / volume_parts, 64 * 4.7, 64 * 1e-3);
  const WallSums part = wall_sums(all, phi, 2, 5);
  EXPECT_EQ(part.pore_volume * 8, s.pore_volume * 3);
}

// One sample of another sign: φ = 1 - (1 - d) u v w with u = 1 - |x|, so that the solid around it, of 8 (1 - c (1 + L +
// L² / 2)) voxels with c = 1 / (1 - d) and L = -ln c, reaches into its neighbours where d < -1. Mirrored and turned
// images have the same sums.
TEST(LevelSet, WallSumsOfOneSampleAndOfRoughOnes) {
  const ImageWindow all{{6, 6, 6}, 0, 6};
  for (const float d : {-1.0F, -3.0F, -7.0F}) {
    std::vector<float> phi(all.count(), 1.0F);
    phi[2 + 6 * 3 + 36 * 2] = d;
    const double c = 1.0 / (1.0 - d), l = -std::log(c), solid = 8 * (1 - c * (1 + l + l * l / 2));
    const double pore = static_cast<double>(wall_sums(all, phi, 0, 6).pore_volume) / volume_parts;
    EXPECT_NEAR(216 - pore, solid, 0.06 * solid) << d;
  }
  std::vector<float> rough(all.count()), mirrored(all.count()), turned(all.count());
  std::uint32_t state = 7;
  for (float& phi : rough)
    phi = static_cast<float>(static_cast<int>((state = state * 1664525U + 1013904223U) >> 24) - 97);
  for (int z = 0; z < 6; ++z)
    for (int y = 0; y < 6; ++y)
      for (int x = 0; x < 6; ++x) {
        mirrored[5 - x + 6 * y + 36 * (5 - z)] = rough[x + 6 * y + 36 * z];
        turned[y + 6 * z + 36 * x] = rough[x + 6 * y + 36 * z];
      }
  const WallSums s = wall_sums(all, rough, 0, 6);
  EXPECT_EQ(wall_sums(all, mirrored, 0, 6).pore_volume, s.pore_volume);
  EXPECT_EQ(wall_sums(all, turned, 0, 6).pore_volume, s.pore_volume);
}

// The slope of a plane is exact; of random samples it bounds every difference, also across a diagonal, for any cut into
// layers.
TEST(LevelSet, SteepestSlopeBoundsTheInterpolant) {
  const ImageWindow all{{9, 8, 7}, 0, 7};
  std::vector<float> plane(all.count()), rough(all.count());
  std::uint32_t state = 1;
  for (std::int64_t n = 0; n < static_cast<std::int64_t>(all.count()); ++n) {
    plane[n] = static_cast<float>(2 * (n % 9) - 3 * (n / 9 % 8) + 6 * (n / 72));
    rough[n] = static_cast<float>((state = state * 1664525U + 1013904223U) >> 24);
  }
  EXPECT_NEAR(steepest_slope(all, plane, 0, 7), 7.0, 1e-6);
  const double slope = steepest_slope(all, rough, 0, 7);
  EXPECT_EQ(slope, std::max(steepest_slope(all, rough, 0, 3), steepest_slope(all, rough, 3, 7)));
  double diagonal = 0, edge = 0;
  for (std::int64_t z = 0; z + 1 < 7; ++z)
    for (std::int64_t y = 0; y + 1 < 8; ++y)
      for (std::int64_t x = 0; x + 1 < 9; ++x) {
        const std::int64_t n = all.start_of(static_cast<int>(z)) + 9 * y + x;
        diagonal = std::max(diagonal, std::abs(double{rough[n + 72 + 9 + 1]} - rough[n]));
        edge = std::max(edge, std::abs(double{rough[n + 72]} - rough[n]));
      }
  EXPECT_GE(slope, diagonal / std::sqrt(3.0));
  EXPECT_GE(slope, edge);
}

}  // namespace
}  // namespace karst::level_set_test
