// SPDX-License-Identifier: BSD-3-Clause
#include "eb/shapes/image_level_set.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <limits>
#include <numbers>

#include "base/comm/memory.hpp"
#include "base/comm/parallel.hpp"
#include "eb/geometry.hpp"
#include "support/errors.hpp"
#include "support/level_set_cases.hpp"

namespace karst::image_level_set_test {
namespace {

using test::error_of;
using test::RandomPoints;

/// An image made by a function of the voxel centre in voxel widths; counts what is read.
ImageSource image_of(const Index& voxels, std::function<double(const Vec3&)> f, std::int64_t* read = nullptr) {
  ImageSource source{.voxels = voxels};
  source.read = [f = std::move(f), voxels, read](const Box& box, std::span<float> out) {
    ASSERT_EQ(out.size(), static_cast<std::size_t>(box.count()));
    ASSERT_EQ(intersect(box, {Index{}, voxels}), box);
    std::size_t n = 0;
    for_each_cell(box, [&](const Index& v) { out[n++] = static_cast<float>(f({v[0] + 0.5, v[1] + 0.5, v[2] + 0.5})); });
    if (read) *read += box.count();
  };
  return source;
}

double linear(const Vec3& x) { return 0.25 * x[0] - 0.5 * x[1] + 2.0 * x[2] - 16.0; }

// Samples of a linear function (exact in float) give it back exactly, at any voxel width and origin.
TEST(ImageLevelSet, LinearFunctionsAreExact) {
  for (const double voxel : {1.0, 0.5, 3.0}) {
    ImageSource source = image_of({40, 37, 70}, linear);
    source.voxel = voxel;
    source.origin = {4.0, 0.0, -2.0};
    const ImageLevelSet s(source);
    EXPECT_DOUBLE_EQ(s.smoothness().sample_spacing, 0.5 * voxel);
    RandomPoints random(1);
    for (int b = 0; b < 30; ++b) {
      const Vec3 lo = source.origin + voxel * random.point({0.5, 0.5, 0.5}, {30, 27, 60});
      const Vec3 hi = lo + voxel * random.point({0, 0, 0}, {9, 9, 9});
      const auto local = s.local(lo, hi);
      for (int n = 0; n < 30; ++n) {
        const Vec3 x = random.point(lo, hi);
        ASSERT_NEAR((*local)(x), voxel * linear((x - source.origin) * (1.0 / voxel)), 1e-12);
      }
      EXPECT_NEAR((*local)(hi), voxel * linear((hi - source.origin) * (1.0 / voxel)), 1e-12);
    }
  }
}

// Of samples at nodes, two per voxel: exact up to the corners of the image, the border continues outwards, and the sign
// is bounded by the samples around a box.
TEST(ImageLevelSet, SamplesAtNodes) {
  constexpr int nodes = 2;
  const Index voxels{40, 9, 11};
  ImageSource source{.voxels = voxels, .voxel = 0.75, .nodes = nodes};
  source.read = [&](const Box& box, std::span<float> out) {
    ASSERT_EQ(intersect(box, {Index{}, nodes * voxels + Index::all(1)}), box);
    std::size_t n = 0;
    for_each_cell(box, [&](const Index& v) { out[n++] = static_cast<float>(linear(to_vec(v) * (1.0 / nodes))); });
  };
  const ImageLevelSet s(source);
  const Vec3 end = 0.75 * to_vec(voxels);
  RandomPoints random(4);
  const auto whole = s.local({}, end);
  for (int n = 0; n < 100; ++n) {
    const Vec3 x = random.point({}, end);
    ASSERT_NEAR((*whole)(x), 0.75 * linear(x * (1.0 / 0.75)), 1e-12);
  }
  EXPECT_DOUBLE_EQ((*whole)({}), 0.75 * linear({}));
  EXPECT_DOUBLE_EQ((*whole)(end), 0.75 * linear(to_vec(voxels)));
  EXPECT_DOUBLE_EQ((*s.local({31, 3, 3}, {33, 4, 4}))({32, 3, 3}), 0.75 * linear({40, 4, 4}));
  EXPECT_TRUE(s.smoothness().bounds_signs);
  EXPECT_FALSE(whole->signs({3, 3, 7}, {4, 4, 8}).may_be_solid);
  EXPECT_FALSE(whole->signs({3, 3, 3}, {4, 4, 4}).may_be_fluid);
  EXPECT_FALSE(whole->signs({3, 3, 5.5}, {4, 4, 8}).one_kind());
}

// The last node of a period is the first one of the next, so it is not asked for.
TEST(ImageLevelSet, NodesWrapInPeriodicDirections) {
  ImageSource source{.voxels = {6, 5, 4}, .voxel = 0.3, .nodes = 2};
  source.periodic = {true, false, false};
  source.read = [](const Box& box, std::span<float> out) {
    ASSERT_LE(box.hi[0], 12);
    std::size_t n = 0;
    for_each_cell(box, [&](const Index& v) { out[n++] = static_cast<float>(std::sin(v[0]) + v[1]); });
  };
  const ImageLevelSet s(source);
  const double end = 0.3 * source.voxels[0];
  EXPECT_EQ((*s.local({0, 0, 0}, {1, 1, 1}))({0, 0.4, 0.5}), (*s.local({1, 0, 0}, {2, 1, 1}))({end, 0.4, 0.5}));
  EXPECT_NEAR((*s.local({1, 0, 0}, {2, 1, 1}))({1.725, 0.3, 0.5}), 0.3 * (0.5 * std::sin(11.0) + 2.0), 1e-7);
}

TEST(ImageLevelSet, ContinuesItsBorderOutwards) {
  const ImageLevelSet s(image_of({8, 8, 8}, linear));
  const auto local = s.local(Vec3::all(-6), Vec3::all(14));
  EXPECT_DOUBLE_EQ((*local)({-5, 4, 4}), linear({0.5, 4, 4}));
  EXPECT_DOUBLE_EQ((*local)({0.1, 4, 4}), linear({0.5, 4, 4}));
  EXPECT_DOUBLE_EQ((*local)({13, 4, 4}), linear({7.5, 4, 4}));
  EXPECT_DOUBLE_EQ((*s.local({4, 4, 20}, {5, 5, 30}))({4, 4, 25}), linear({4, 4, 7.5}));
  EXPECT_DOUBLE_EQ((*s.local({4, 4, -30}, {5, 5, -20}))({4, 4, -25}), linear({4, 4, 0.5}));
}

// Bit for bit the same at both ends, also when a voxel is no binary fraction of a cell.
TEST(ImageLevelSet, WrapsInPeriodicDirections) {
  ImageSource source = image_of({30, 40, 20}, [](const Vec3& x) { return std::sin(x[0]) + std::cos(3 * x[1]) + x[2]; });
  source.voxel = 0.3;
  source.periodic = {true, true, false};
  const ImageLevelSet s(source);
  RandomPoints random(2);
  for (int n = 0; n < 300; ++n) {
    Vec3 low = random.point({0, 0, 0}, {9, 12, 6});
    const int d = n % 2;
    low[d] = 0.0;
    Vec3 high = low;
    high[d] = 0.3 * source.voxels[d];
    ASSERT_EQ((*s.local(low, low + Vec3::all(3)))(low), (*s.local(high - Vec3::all(3), high))(high));
  }
  const auto beyond = s.local({-6, -6, 0}, {20, 20, 6});
  EXPECT_NEAR((*beyond)({-4.0, 2, 3}), (*beyond)({5.0, 2, 3}), 1e-12);
  EXPECT_NEAR((*beyond)({10.0, 14.5, 3}), (*beyond)({1.0, 2.5, 3}), 1e-12);
}

TEST(ImageLevelSet, BitsDoNotDependOnTheBox) {
  ImageSource source = image_of({70, 40, 33}, [](const Vec3& x) { return std::sin(x[0]) + std::cos(3 * x[1]) + x[2]; });
  source.voxel = 0.7;
  const ImageLevelSet s(source);
  const auto whole = s.local({0, 0, 0}, {49, 28, 23.1});
  RandomPoints random(3);
  for (int b = 0; b < 50; ++b) {
    const Vec3 lo = random.point({0, 0, 0}, {40, 20, 15}), hi = lo + random.point({0, 0, 0}, {8, 8, 8});
    const auto part = s.local(lo, hi);
    for (int n = 0; n < 30; ++n) {
      const Vec3 x = random.point(lo, hi);
      ASSERT_EQ((*part)(x), (*whole)(x));
    }
  }
}

// A rank reads only the bricks its boxes touch, each once, and a dropped cache is read again.
TEST(ImageLevelSet, ReadsWhatItNeedsOnce) {
  std::int64_t read = 0;
  const std::int64_t before = arena::bytes_now(Purpose::geometry);
  const ImageLevelSet s(image_of({100, 100, 100}, linear, &read));
  EXPECT_EQ(read, 0);
  const auto kept = s.local(Vec3::all(2), Vec3::all(18));
  EXPECT_EQ(read, 32 * 32 * 32);
  EXPECT_EQ(s.cached_bytes(), 4 * read);
  EXPECT_GE(arena::bytes_now(Purpose::geometry) - before, 4 * read);
  s.local(Vec3::all(8), Vec3::all(16));
  EXPECT_EQ(read, 32 * 32 * 32);
  s.drop_cache();
  EXPECT_EQ(s.cached_bytes(), 0);
  EXPECT_DOUBLE_EQ((*kept)({5, 6, 7}), linear({5, 6, 7}));  // holds its own samples
  s.local(Vec3::all(97), Vec3::all(100));
  EXPECT_EQ(read, 32 * 32 * 32 + 4 * 4 * 4);  // the last brick is clipped
}

TEST(ImageLevelSet, ThreadsReadEachBrickOnce) {
  std::int64_t read = 0;  // not atomic: calls of the reader never overlap
  const ImageLevelSet s(image_of({64, 64, 64}, linear, &read));
  std::atomic<int> wrong{0};
  const int threads = n_threads();
  set_n_threads(4);
  parallel_for_dynamic(512, [&](std::int64_t b) {
    const Index cell = Box{{0, 0, 0}, {8, 8, 8}}.cell(b);
    const Vec3 lo{8.0 * cell[0], 8.0 * cell[1], 8.0 * cell[2]}, x = lo + Vec3{1.5, 2.25, 3.125};
    if (std::abs((*s.local(lo, lo + Vec3::all(8)))(x)-linear(x)) > 1e-12) ++wrong;
  });
  set_n_threads(threads);
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(read, 64 * 64 * 64);
}

// A plane wall, φ a distance, moves by exactly the shift, along its normal out of the pore; the rest stays.
TEST(ImageLevelSet, ShiftMovesAPlaneWallByExactlySoMuch) {
  const auto distance = [](const Vec3& x) { return 0.6 * x[0] + 0.8 * x[2] - 11.2; };
  const Vec3 normal{0.6, 0.0, 0.8}, on_wall{8.0, 5.0, 8.0};
  for (const double voxel : {1.0, 0.5}) {
    for (const double shift : {-0.75, -0.0625, 0.375, 1.0}) {
      ImageSource source = image_of({16, 10, 16}, distance);
      const double before = (*ImageLevelSet(source).local({}, {8, 5, 8}))({4, 3, 5});
      source.voxel = voxel;
      source.shift = shift;
      const ImageLevelSet moved(source);
      EXPECT_EQ(moved.smoothness().lipschitz, source.lipschitz);
      const Vec3 wall = voxel * (on_wall - shift * normal);
      EXPECT_NEAR((*moved.local({}, Vec3::all(16)))(wall), 0.0, 1e-6);  // samples are single precision
      source.voxel = 1.0;
      EXPECT_DOUBLE_EQ((*ImageLevelSet(source).local({}, {8, 5, 8}))({4, 3, 5}), before + shift);
    }
  }
}

// Between φ = -δ and δ lie 8πR²δ + (8/3)πδ³ of a ball; to its outer half goes 4πRδ² more than to the inner one. The
// interpolation between the samples makes the ball 0.02 voxel smaller, and so its area by 0.5 %.
TEST(ImageLevelSet, ShiftTakesItsAreaFromABallMpi) {
  const Comm comm = Comm::world();
  constexpr double radius = 8.0, shift = 0.25, pi = std::numbers::pi;
  const auto pores = [&](double moved) {
    ImageSource source = image_of({24, 24, 24}, [](const Vec3& x) { return norm(x - Vec3::all(12)) - radius; });
    source.shift = moved;
    GridOptions grid;
    grid.cells = Index::all(24);
    grid.size = Vec3::all(24);
    return 24.0 * 24.0 * 24.0 * build_geometry(comm, grid, ImageLevelSet(source), KeepPores::all).report.porosity;
  };
  const double narrow = pores(-shift), middle = pores(0.0), wide = pores(shift);
  const double area = 4.0 * pi * radius * radius;
  EXPECT_NEAR(wide - narrow, 2.0 * (area * shift + 4.0 / 3.0 * pi * shift * shift * shift), 0.01 * area * shift);
  EXPECT_NEAR(wide - middle, area * shift - 4.0 * pi * radius * shift * shift, 0.01 * area * shift);
  EXPECT_GT(middle - narrow, wide - middle);
}

TEST(ImageLevelSet, ErrorsAreClear) {
  EXPECT_NE(error_of([] { ImageLevelSet(image_of({0, 4, 4}, linear)); }).find("0 x 4 x 4"), std::string::npos);
  ImageSource source = image_of({4, 4, 4}, linear);
  source.voxel = -1.0;
  EXPECT_NE(error_of([&] { ImageLevelSet{source}; }).find("-1"), std::string::npos);
  source.voxel = 1.0;
  source.read = nullptr;
  EXPECT_NE(error_of([&] { ImageLevelSet{source}; }).find("reader"), std::string::npos);
  const ImageLevelSet bad(image_of(
      {4, 4, 4}, [](const Vec3& x) { return x[0] < 1 && x[1] > 3 ? std::numeric_limits<double>::quiet_NaN() : 0.0; }));
  EXPECT_NE(error_of([&] { bad.local({}, {1, 1, 1}); }).find("voxel (0, 3, 0)"), std::string::npos);
  int calls = 0;
  ImageSource broken{.voxels = {4, 4, 4}};
  broken.read = [&](const Box&, std::span<float> out) {
    if (calls++ == 0) throw Error("disk");
    std::fill(out.begin(), out.end(), 1.0F);
  };
  const ImageLevelSet retried(broken);
  EXPECT_EQ(error_of([&] { retried.local({}, {1, 1, 1}); }), "disk");
  EXPECT_DOUBLE_EQ((*retried.local({}, {1, 1, 1}))({1, 1, 1}), 1.0);  // nothing half-read stays
}

}  // namespace
}  // namespace karst::image_level_set_test
