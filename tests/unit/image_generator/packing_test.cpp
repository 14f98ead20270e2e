// SPDX-License-Identifier: BSD-3-Clause
#include "image_generator/packing.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "geometry_import/read/image_file.hpp"
#include "image_generator/ct_image.hpp"
#include "image_generator/random_numbers.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::packing_test {
namespace {

using test::error_of;
using test::has;

double porosity_of(const std::vector<float>& solid) {
  return 1 - std::accumulate(solid.begin(), solid.end(), 0.0) / static_cast<double>(solid.size());
}

TEST(RandomNumbers, HaveTheirMomentsAndStayTheSame) {
  const RandomNumbers random(7, 1), other(7, 2);
  double sum = 0, square = 0, correlation = 0;
  constexpr int n = 100000;
  for (std::uint64_t i = 0; i < n; ++i) {
    const double x = random.normal(i);
    sum += x;
    square += x * x;
    correlation += x * other.normal(i);
  }
  EXPECT_NEAR(sum / n, 0, 0.01);
  EXPECT_NEAR(square / n, 1, 0.015);
  EXPECT_NEAR(correlation / n, 0, 0.01) << "streams are independent";
  EXPECT_EQ(random.bits(0), RandomNumbers(7, 1).bits(0));
  EXPECT_NE(random.bits(0), RandomNumbers(8, 1).bits(0));
}

TEST(Packing, SolidFractionOfASphereIsItsVolume) {
  const Sphere s{{10.3, 9.8, 10.1}, 6.0};
  const std::vector<float> solid = solid_fraction({20, 20, 20}, {&s, 1});
  const double volume = std::accumulate(solid.begin(), solid.end(), 0.0);
  EXPECT_NEAR(volume / (4.0 / 3.0 * std::numbers::pi * 216), 1, 2e-4);
  EXPECT_EQ(solid[(10 * 20 + 10) * 20 + 10], 1.0F);
  EXPECT_EQ(solid[0], 0.0F);
}

TEST(Packing, HasThePorosityAskedForAndFewOverlaps) {
  for (const double porosity : {0.38, 0.6}) {
    const Index size{64, 48, 56};
    const std::vector<Sphere> spheres = random_packing({size, 8, porosity, 2});
    EXPECT_NEAR(porosity_of(solid_fraction(size, spheres)), porosity, 0.003);
    double deepest = 0;
    for (std::size_t a = 0; a < spheres.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        deepest = std::max(deepest, 2 * spheres[a].radius - norm(spheres[a].center - spheres[b].center));
    EXPECT_LT(deepest, 0.25 * spheres[0].radius);
    EXPECT_NEAR(spheres[0].radius, 8, 0.5);
  }
}

TEST(Packing, IsPeriodicAndReproducible) {
  const PackingOptions o{{48, 48, 48}, 8, 0.4, 5};
  const std::vector<Sphere> a = random_packing(o), b = random_packing(o);
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t s = 0; s < a.size(); ++s) EXPECT_EQ(a[s].center, b[s].center);
  for (const Sphere& s : a) {  // what sticks out on one side comes in on the other
    const bool sticks_out = s.center[0] >= 0 && s.center[0] < s.radius && s.center[1] >= 0 && s.center[1] < 48 &&
                            s.center[2] >= 0 && s.center[2] < 48;
    if (!sticks_out) continue;
    bool found = false;
    for (const Sphere& t : a) found = found || norm(t.center - s.center - Vec3{48, 0, 0}) < 1e-9;
    EXPECT_TRUE(found);
  }
  PackingOptions other = o;
  other.seed = 6;
  EXPECT_NE(random_packing(other)[0].center, a[0].center);
}

TEST(Packing, OptionsOutOfRangeAreNamed) {
  EXPECT_TRUE(has(error_of([] { random_packing({{30, 64, 64}, 10, 0.4, 1}); }), "at least 4 radii"));
  EXPECT_TRUE(has(error_of([] { random_packing({{64, 64, 64}, 0, 0.4, 1}); }), "radius 0"));
  EXPECT_TRUE(has(error_of([] { random_packing({{64, 64, 64}, 10, 0.05, 1}); }), "porosity 0.05"));
  const auto ct = [](CtOptions o) { return error_of([&] { ct_image({1, 1, 1}, {0.0F}, o); }); };
  EXPECT_TRUE(has(ct({.blur = -1}), "blur -1"));
  EXPECT_TRUE(has(ct({.noise = -1}), "noise -1"));
  EXPECT_TRUE(has(ct({.photons = 3}), "photons 3"));
  EXPECT_TRUE(has(ct({.ring = 99}), "ring 99"));
  EXPECT_TRUE(has(ct({.bits = 12}), "bits 12"));
}

TEST(CtImage, NoiseAndRingsAreAsLargeAsAskedFor) {
  const Index size{40, 40, 40};
  const auto deviation = [&](const CtOptions& o) {
    const std::vector<std::uint16_t> image = ct_image(size, std::vector<float>(64000, 1.0F), o);
    double sum = 0, square = 0;
    for (const auto v : image) {
      sum += v;
      square += double(v) * v;
    }
    sum /= 64000;
    EXPECT_NEAR(sum, 257 * grain_gray, 257 * 5);
    return std::sqrt(square / 64000 - sum * sum) / 257;
  };
  EXPECT_EQ(deviation({.blur = 0, .noise = 0, .photons = 0, .ring = 0, .bits = 16, .seed = 1}), 0);
  EXPECT_NEAR(deviation({.blur = 1, .noise = 0.05, .photons = 0, .ring = 0, .bits = 16, .seed = 1}), 6, 0.1);
  EXPECT_NEAR(deviation({.blur = 0, .noise = 0, .photons = 400, .ring = 0, .bits = 16, .seed = 1}), 9, 0.15);
  EXPECT_NEAR(deviation({.blur = 0, .noise = 0, .photons = 0, .ring = 0.05, .bits = 16, .seed = 1}), 6, 2.5);
}

TEST(CtImage, TiffRoundTrip) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const Index size{21, 34, 5};
  for (const int bits : {8, 16})
    for (const auto compression : {TiffCompression::none, TiffCompression::lzw, TiffCompression::deflate}) {
      std::vector<std::uint16_t> values(21 * 34 * 5);
      for (std::size_t n = 0; n < values.size(); ++n)
        values[n] = static_cast<std::uint16_t>(n * 37 % (bits == 8 ? 256 : 65536));
      write_tiff(comm, directory.path() + "/a.tif", size, values, bits, compression, 4e-6);
      const auto image = open_image(directory.path() + "/a.tif");
      EXPECT_EQ(image->info().size, size);
      EXPECT_NEAR(image->info().voxel.value_or(0), 4e-6, 1e-12);
      std::vector<float> plane(21 * 34);
      for (int z = 0; z < 5; ++z) {
        image->read_plane(z, plane);
        for (std::size_t n = 0; n < plane.size(); ++n)
          ASSERT_EQ(plane[n], values[static_cast<std::size_t>(z) * plane.size() + n]);
      }
    }
  EXPECT_TRUE(has(error_of([&] { write_tiff(comm, directory.path() + "/no/a.tif", size, {}, 8, {}, 0); }), "no/a.tif"));
}

}  // namespace
}  // namespace karst::packing_test
