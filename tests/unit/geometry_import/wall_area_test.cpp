// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/wall/wall_area.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "base/math/triple.hpp"

namespace karst::wall_area_test {
namespace {

template <class F>
std::vector<float> sampled(const Index& n, F&& f) {
  std::vector<float> phi;
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x) phi.push_back(static_cast<float>(f(Vec3(x + 0.5, y + 0.5, z + 0.5))));
  return phi;
}

// φ linear: exact, up to the ends of the image.
TEST(WallArea, PlanesAreExact) {
  const Index n{8, 9, 10};
  for (int d = 0; d < 3; ++d) {
    const auto phi = sampled(n, [&](const Vec3& x) { return x[d] - 4.2; });
    EXPECT_NEAR(wall_area({n, 0, n[2]}, phi, 0, n[2]), double(n[(d + 1) % 3]) * n[(d + 2) % 3], 1e-4) << d;
  }
}

TEST(WallArea, SpheresConverge) {
  double previous = 1;
  for (const int n : {16, 32, 64}) {
    const double r = 0.37 * n;
    const auto phi = sampled(Index::all(n), [&](const Vec3& x) {
      const Vec3 d = x - Vec3(0.5 * n + 0.13, 0.5 * n - 0.21, 0.5 * n + 0.07);
      return std::sqrt(dot(d, d)) - r;
    });
    const double error = wall_area({Index::all(n), 0, n}, phi, 0, n) / (4 * std::numbers::pi * r * r) - 1;
    EXPECT_LT(error, 0) << "flat pieces inside a sphere";
    EXPECT_LT(std::abs(error), 0.3 * previous) << n;
    previous = std::abs(error);
  }
  EXPECT_LT(previous, 5e-4);
}

// Layers with a plane around them give what the whole image gives.
TEST(WallArea, LayersAddUp) {
  const Index n{10, 9, 20};
  const auto f = [](const Vec3& x) { return std::sin(x[0]) + std::cos(0.7 * x[1]) + std::sin(0.5 * x[2] + 1); };
  const auto phi = sampled(n, f);
  const double all = wall_area({n, 0, 20}, phi, 0, 20);
  double sum = 0;
  for (int first = 0; first < 20; first += 7) {
    const ImageWindow layer{n, first, std::min(20, first + 7)}, window = layer.grown(1);
    const std::vector<float> part(phi.begin() + window.first * 90, phi.begin() + window.last * 90);
    sum += wall_area(window, part, layer.first, layer.last);
  }
  EXPECT_NEAR(sum / all, 1, 1e-12);
}

TEST(WallArea, OutsideOfTheSampleNothingCounts) {
  const Index n{10, 10, 10};
  const auto phi = sampled(n, [](const Vec3& x) { return x[2] - 5.0; });
  std::vector<std::uint8_t> inside(100, 0);
  for (std::size_t y = 2; y < 8; ++y)
    for (std::size_t x = 3; x < 7; ++x) inside[10 * y + x] = 1;
  EXPECT_NEAR(wall_area({n, 0, 10}, phi, 0, 10, inside), 5 * 3, 1e-5);
}

}  // namespace
}  // namespace karst::wall_area_test
