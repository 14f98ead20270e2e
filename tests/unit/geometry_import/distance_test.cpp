// SPDX-License-Identifier: BSD-3-Clause
// The distance to the wall against all pairs of voxels and against walls that are known.
#include "geometry_import/voxels/distance.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/comm/parallel.hpp"
#include "image_generator/random_numbers.hpp"
#include "slab_cases.hpp"

namespace karst::distance_test {
namespace {

using test::label_slabs;
using test::whole;

/// Both images as they are on one rank, [nz][ny][nx].
struct Case {
  Index size;
  std::vector<std::uint8_t> label;
  std::vector<std::uint16_t> offset;
};

Case random_case(const Index& size, double solid, std::uint64_t seed) {
  Case c{size, {}, {}};
  const RandomNumbers random(seed, 0);
  for (int n = 0; n < size[0] * size[1] * size[2]; ++n) {
    const double u = random.uniform(2 * std::uint64_t(n));
    c.label.push_back(static_cast<std::uint8_t>(u < solid ? (u < solid / 2 ? 1 : 255) : 0));
    c.offset.push_back(static_cast<std::uint16_t>(random.uniform(2 * std::uint64_t(n) + 1) * 60));
  }
  return c;
}

std::vector<std::uint16_t> distances(const Comm& comm, const Case& c) {
  const Slabs<std::uint8_t> labels = label_slabs(comm, c.size, c.label);
  Slabs<std::uint16_t> distance = label_slabs(comm, c.size, c.offset);
  wall_distance(comm, labels, distance);
  return whole(comm, distance);
}

/// Nearest solid centre by looking at all of them, the deepest of the nearest.
std::vector<std::uint16_t> by_all_pairs(const Case& c) {
  std::vector<std::uint16_t> d(c.label.size(), 0);
  const auto place = [&](int n) { return Index{n % c.size[0], n / c.size[0] % c.size[1], n / c.size[0] / c.size[1]}; };
  for (int n = 0; n < static_cast<int>(d.size()); ++n) {
    if (c.label[n] != 0) continue;
    int nearest = 1 << 30, offset = 0;
    for (int m = 0; m < static_cast<int>(d.size()); ++m) {
      if (c.label[m] == 0) continue;
      const Index apart = place(n) - place(m);
      const int square = dot(apart, apart);
      if (square > nearest || (square == nearest && c.offset[m] <= offset)) continue;
      nearest = square;
      offset = c.offset[m];
    }
    const long exact = std::lround(64 * std::sqrt(nearest)) - offset;
    d[n] = static_cast<std::uint16_t>(nearest == 1 << 30 ? 65535 : std::max(1L, exact));
  }
  return d;
}

TEST(WallDistanceMpi, IsThatOfAllPairs) {
  const Comm comm = Comm::world();
  std::uint64_t seed = 0;
  for (const Index& size : {Index{9, 7, 11}, {1, 1, 13}, {14, 1, 3}, {5, 12, 1}, {1, 9, 2}, {17, 6, 9}})
    for (const double solid : {0.0, 0.01, 0.1, 0.5, 0.9, 1.0}) {
      const Case c = random_case(size, solid, ++seed);
      EXPECT_EQ(distances(comm, c), by_all_pairs(c)) << "seed " << seed;
    }
}

TEST(WallDistanceMpi, ThreadsDoNotMatter) {
  const Comm comm = Comm::world();
  const Case c = random_case({20, 21, 23}, 0.003, 7);
  const int before = n_threads();
  set_n_threads(1);
  const auto one = distances(comm, c);
  set_n_threads(3);
  EXPECT_EQ(distances(comm, c), one);
  set_n_threads(before);
}

TEST(WallDistanceMpi, FarWallsAreReached) {
  const Comm comm = Comm::world();
  Case c{{1, 2, 3000}, std::vector<std::uint8_t>(6000, 0), std::vector<std::uint16_t>(6000, 32)};
  c.label[0] = 1;  // at z = 0, y = 0
  const auto d = distances(comm, c);
  EXPECT_EQ(d[0], 0);
  EXPECT_EQ(d[1], 64 - 32);
  EXPECT_EQ(d[2 * 1000], 64 * 1000 - 32);
  EXPECT_EQ(d[2 * 1000 + 1], std::lround(64 * std::sqrt(1e6 + 1)) - 32);
  EXPECT_EQ(d[2 * 2999], largest_distance);
}

/// Errors of the distance [voxels], largest and mean, for a body: signed distance f, > 0 in the pore. Only voxels that
/// are nearer to it than to the ends of the image, as no wall is seen beyond.
struct Errors {
  double largest = 0, mean = 0;
};
Errors errors(const Comm& comm, int n, const std::function<double(const Vec3&)>& f) {
  Case c{Index::all(n), {}, {}};
  std::vector<double> exact;
  std::vector<bool> counts;
  for (int z = 0; z < n; ++z)
    for (int y = 0; y < n; ++y)
      for (int x = 0; x < n; ++x) {
        exact.push_back(f({x + 0.5, y + 0.5, z + 0.5}));
        c.label.push_back(exact.back() > 0 ? 0 : 1);
        c.offset.push_back(static_cast<std::uint16_t>(std::lround(64 * std::max(0.0, -exact.back()))));
        counts.push_back(exact.back() > 0 && std::min({x, y, z, n - 1 - x, n - 1 - y, n - 1 - z}) >= exact.back());
      }
  const auto d = distances(comm, c);
  const auto n_counted = static_cast<double>(std::ranges::count(counts, true));
  Errors e;
  for (std::size_t i = 0; i < d.size(); ++i) {
    if (!counts[i]) continue;
    const double error = d[i] / 64.0 - exact[i];
    EXPECT_GT(error, -1.5 / 64) << "never below, but for rounding";
    e.largest = std::max(e.largest, error);
    e.mean += error / n_counted;
  }
  return e;
}

// |x - s| - o(s) >= d(x), as the wall lies between, and more when s is off the normal through x, by a: about
// a² / 2(d + o), a up to the half diagonal of a voxel: a tenth of a voxel on average, half a voxel next to the wall.
TEST(WallDistanceMpi, WallsBetweenVoxelCentresAreSeen) {
  const Comm comm = Comm::world();
  for (const double shift : {0.1, 0.5, 0.8})
    EXPECT_LE(errors(comm, 24, [&](const Vec3& x) { return x[2] - 5 - shift; }).largest, 1.0 / 64) << shift;
  const Vec3 tilted = Vec3{1, 2, 2} * (1.0 / 3), center{16.2, 15.9, 16.4};
  const auto expect = [&](const Errors& e, double largest, double mean) {
    EXPECT_LT(e.largest, largest);
    EXPECT_LT(e.mean, mean);
  };
  expect(errors(comm, 24, [&](const Vec3& x) { return dot(tilted, x) - 11.3; }), 0.34, 0.12);
  expect(errors(comm, 32, [&](const Vec3& x) { return norm(x - center) - 9.3; }), 0.55, 0.12);
  expect(errors(comm, 32, [&](const Vec3& x) { return 13.3 - norm(x - center); }), 0.65, 0.10);
}

}  // namespace
}  // namespace karst::distance_test
