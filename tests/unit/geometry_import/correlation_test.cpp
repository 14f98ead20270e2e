// SPDX-License-Identifier: BSD-3-Clause
// Two-point correlation of layers, noise and overlapping spheres, which is known, and by counting pairs.
#include "geometry_import/pores/correlation.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/comm/parallel.hpp"
#include "image_generator/random_numbers.hpp"
#include "slab_cases.hpp"

namespace karst::correlation_test {
namespace {

using test::image_of;
using test::label_slabs;

TEST(CorrelationMpi, LayersRepeat) {
  const Comm comm = Comm::world();
  for (int axis = 0; axis < 3; ++axis) {
    Index n{6, 5, 7};
    n[axis] = 40;
    const auto c = correlation(
        comm, label_slabs(comm, n, image_of<std::uint8_t>(n, [&](const Index& x) { return x[axis] % 8 < 4 ? 0 : 3; })));
    // ε = 1/2; the share of pairs r apart falls from 1/2 to 0 and comes back, so ρ = 1 - r/2 up to r = 4.
    ASSERT_EQ(c.rho[axis].size(), 21U);
    EXPECT_EQ(c.rho[axis][0], 1);
    EXPECT_NEAR(c.rho[axis][4], -1, 1e-12);
    EXPECT_NEAR(c.rho[axis][8], 1, 1e-12);
    for (int d = 0; d < 3; ++d) {
      if (d == axis) continue;
      for (const double rho : c.rho[d]) EXPECT_NEAR(rho, 1, 1e-12);
      EXPECT_NEAR(c.length[d], n[d] / 2, 1e-12) << "no zero: up to the last lag";
    }
  }
}

TEST(CorrelationMpi, NoiseHasNone) {
  const Comm comm = Comm::world();
  const RandomNumbers random(3, 0);
  const Index n{70, 40, 50};
  std::uint64_t i = 0;
  const auto c = correlation(
      comm,
      label_slabs(comm, n, image_of<std::uint8_t>(n, [&](const Index&) { return random.uniform(i++) < 0.3 ? 0 : 1; })));
  for (std::size_t d = 0; d < 3; ++d) {
    for (std::size_t r = 1; r < c.rho[d].size(); ++r) EXPECT_NEAR(c.rho[d][r], 0, 4 / std::sqrt(70000.0));
    EXPECT_NEAR(c.length[d], 0.5, 0.02);
  }
}

/// Pairs one by one, in an image with voxels that are not in the sample.
TEST(CorrelationMpi, IsThatOfAllPairsOfTheSample) {
  const Comm comm = Comm::world();
  const RandomNumbers random(5, 0);
  for (const Index& n : {Index{131, 4, 9}, {5, 66, 3}, {3, 2, 30}, {64, 1, 1}}) {
    std::uint64_t i = 0;
    const auto label = image_of<std::uint8_t>(n, [&](const Index& x) {
      const double u = random.uniform(i++);
      return x[0] == 2 ? 255 : u < 0.4 ? 0 : u < 0.5 ? 255 : 7;
    });
    const auto value = [&](const Index& x) { return label[(std::int64_t{x[2]} * n[1] + x[1]) * n[0] + x[0]]; };
    const auto c = correlation(comm, label_slabs(comm, n, label));
    for (int d = 0; d < 3; ++d)
      for (int r = 0; r < static_cast<int>(c.rho[d].size()); ++r) {
        double both = 0, pairs = 0, at_low = 0, at_high = 0;
        for (int z = 0; z < n[2]; ++z)
          for (int y = 0; y < n[1]; ++y)
            for (int x = 0; x < n[0]; ++x) {
              const Index low{x, y, z}, high = low + unit(d) * r;
              if (high[d] >= n[d] || value(low) == 255 || value(high) == 255) continue;
              ++pairs;
              both += value(low) == 0 && value(high) == 0;
              at_low += value(low) == 0;
              at_high += value(high) == 0;
            }
        const double a = at_low / pairs, b = at_high / pairs, variances = a * (1 - a) * b * (1 - b);
        const double rho = variances > 0 ? (both / pairs - a * b) / std::sqrt(variances) : 0;
        EXPECT_NEAR(c.rho[d][r], rho, 1e-12) << d << ' ' << r;
      }
    EXPECT_EQ(std::ssize(c.rho[0]), std::min(n[0] / 2, 128) + 1);
  }
}

// A post in an open channel: pairs far apart have it at one end at most, and more of their ends are post than of the
// image.
TEST(CorrelationMpi, IsACoefficientInASmallSample) {
  const Comm comm = Comm::world();
  const Index n{64, 36, 5};
  const auto c = correlation(comm, label_slabs(comm, n, image_of<std::uint8_t>(n, [](const Index& x) {
                                                 const double a = x[0] - 31.5, b = x[1] - 17.5;
                                                 return a * a + b * b < 225.0 ? 1 : 0;
                                               })));
  double least = 1;
  for (std::size_t d = 0; d < 3; ++d)
    for (const double rho : c.rho[d]) {
      EXPECT_LE(std::abs(rho), 1.0);
      least = std::min(least, rho);
    }
  EXPECT_LT(least, -0.5);
  EXPECT_EQ(c.rho[0][0], 1);
  EXPECT_NEAR(c.rho[2][2], 1, 1e-12);
  EXPECT_GT(c.rho[1][18], -1.0);
}

// A wall in one half alone: from half of the image on no pair has it at its lower end.
TEST(CorrelationMpi, IsNoneWhereOneEndIsTheSameEverywhere) {
  const Comm comm = Comm::world();
  const Index n{16, 4, 3};
  const auto c = correlation(
      comm, label_slabs(comm, n, image_of<std::uint8_t>(n, [](const Index& x) { return x[0] >= 12 ? 1 : 0; })));
  EXPECT_EQ(c.rho[0][0], 1);
  EXPECT_EQ(c.rho[0][4], 0);
  EXPECT_EQ(c.rho[0][8], 0);
  EXPECT_NEAR(c.rho[0][3], std::sqrt(3.0) / 4, 1e-12);  // shares 1/13 and 4/13, both 1/13
}

// Boolean model: spheres of radius R at random points, n per volume; the pore is what none of them covers:
// S₂ = exp(-n V₂), V₂ = 4/3 π R³ (1 + 3/4 r/R - (r/R)³/16) for r < 2 R (Torquato 2002, section 5.1).
TEST(CorrelationMpi, OverlappingSpheresFollowTheClosedForm) {
  const Comm comm = Comm::world();
  const int n = 96;
  const double radius = 6, number = 300;
  std::vector<std::uint8_t> label(std::int64_t{n} * n * n, 0);
  const RandomNumbers random(11, 0);
  for (std::uint64_t s = 0; s < 300; ++s) {
    const Vec3 c = Vec3{random.uniform(3 * s), random.uniform(3 * s + 1), random.uniform(3 * s + 2)} * double(n);
    const int reach = static_cast<int>(radius) + 1;
    for (int z = int(c[2]) - reach; z <= int(c[2]) + reach; ++z)
      for (int y = int(c[1]) - reach; y <= int(c[1]) + reach; ++y)
        for (int x = int(c[0]) - reach; x <= int(c[0]) + reach; ++x)
          if (norm(Vec3{x + 0.5, y + 0.5, z + 0.5} - c) < radius)
            label[(std::int64_t{(z + n) % n} * n + (y + n) % n) * n + (x + n) % n] = 1;
  }
  const auto c = correlation(comm, label_slabs(comm, Index::all(n), label));
  const double density = number / std::pow(n, 3), volume = 4.0 / 3 * std::numbers::pi * std::pow(radius, 3);
  const double e = std::exp(-density * volume);
  for (std::size_t r = 0; r < 16; ++r) {
    const double q = double(r) / radius;
    const double v2 = volume * (q < 2 ? 1 + 0.75 * q - q * q * q / 16 : 2);
    const double exact = (std::exp(-density * v2) - e * e) / (e - e * e);
    for (std::size_t d = 0; d < 3; ++d) EXPECT_NEAR(c.rho[d][r], exact, 0.06) << d << ' ' << r;
    EXPECT_NEAR((c.rho[0][r] + c.rho[1][r] + c.rho[2][r]) / 3, exact, 0.03) << r;
  }
}

TEST(CorrelationMpi, NothingToCorrelate) {
  const Comm comm = Comm::world();
  for (const int label : {0, 1, 255}) {
    const auto c = correlation(comm, label_slabs(comm, {3, 1, 4}, std::vector<std::uint8_t>(12, std::uint8_t(label))));
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_TRUE(c.rho[d].empty());
      EXPECT_EQ(c.length[d], 0);
    }
  }
}

}  // namespace
}  // namespace karst::correlation_test
