// SPDX-License-Identifier: BSD-3-Clause
// All figures of small images, the edge cases, and that nothing depends on ranks.
#include "geometry_import/pores/statistics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/distance.hpp"
#include "image_generator/random_numbers.hpp"
#include "slab_cases.hpp"

namespace karst::statistics_test {
namespace {

using test::image_of;
using test::label_slabs;

/// Walls half a voxel from the centres of the solid.
ImageStatistics statistics(const Comm& comm, const Index& n, const std::vector<std::uint8_t>& label, double area = 0,
                           const std::vector<std::string>& names = {}) {
  Slabs<std::uint8_t> labels = label_slabs(comm, n, label);
  Slabs<std::uint16_t> distance = label_slabs(comm, n, std::vector<std::uint16_t>(label.size(), 32));
  wall_distance(comm, labels, distance);
  return image_statistics(comm, std::move(labels), std::move(distance), area, names);
}

/// Every number, for comparing and for looking for NaN.
std::vector<double> numbers(const ImageStatistics& s) {
  std::vector<double> v{s.porosity,         s.enclosed_porosity, double(s.pore_clusters),
                        s.specific_surface, double(s.pores),     double(s.throats),
                        s.coordination,     s.thin_throats,      s.suggested_width};
  for (std::size_t d = 0; d < 3; ++d) {
    v.insert(v.end(),
             {double(s.percolates[d]), s.connected_porosity[d], s.critical_diameter[d], s.correlation_length[d]});
    v.insert(v.end(), s.profile[d].begin(), s.profile[d].end());
    v.insert(v.end(), s.correlation[d].begin(), s.correlation[d].end());
  }
  for (const SizeDistribution* sizes : {&s.pore_size, &s.throat_size}) {
    v.insert(v.end(), {sizes->bin_width, sizes->mean, sizes->smallest, sizes->largest, sizes->tenth, sizes->median,
                       sizes->ninetieth});
    v.insert(v.end(), sizes->share.begin(), sizes->share.end());
  }
  for (const PhaseShare& p : s.phases) v.push_back(p.share);
  return v;
}

// A slit 4 voxels wide across z through 12, a closed pore of 2 x 2 x 2, solid of two minerals.
TEST(StatisticsMpi, FiguresOfASlit) {
  const Comm comm = Comm::world();
  const Index n{10, 8, 12};
  const auto label = image_of<std::uint8_t>(n, [&](const Index& x) {
    if (x[2] >= 2 && x[2] < 6) return 0;
    if (x[2] >= 8 && x[2] < 10 && x[0] / 2 == 2 && x[1] / 2 == 1) return 0;
    return x[0] < 5 ? 1 : 2;
  });
  const ImageStatistics s = statistics(comm, n, label, 480, {"pore", "quartz"});
  const double sample = 960;
  EXPECT_DOUBLE_EQ(s.porosity, 328 / sample);
  EXPECT_EQ(s.percolates, (std::array<bool, 3>{true, true, false}));
  EXPECT_DOUBLE_EQ(s.connected_porosity[0], 320 / sample);
  EXPECT_DOUBLE_EQ(s.connected_porosity[2], 0);
  EXPECT_DOUBLE_EQ(s.enclosed_porosity, 8 / sample);
  EXPECT_EQ(s.pore_clusters, 2);
  ASSERT_EQ(s.profile[2].size(), 12U);
  EXPECT_DOUBLE_EQ(s.profile[2][1], 0);
  EXPECT_DOUBLE_EQ(s.profile[2][3], 1);
  EXPECT_DOUBLE_EQ(s.profile[2][8], 4 / 80.0);
  EXPECT_DOUBLE_EQ(s.profile[0][4], (32 + 4) / 96.0);
  ASSERT_EQ(s.phases.size(), 3U);
  EXPECT_EQ(s.phases[0].name, "pore");
  EXPECT_EQ(s.phases[1].name, "quartz");
  EXPECT_EQ(s.phases[2].name, "phase 2");
  EXPECT_DOUBLE_EQ(s.phases[1].share + s.phases[2].share, 632 / sample);
  EXPECT_DOUBLE_EQ(s.specific_surface, 0.5);
  EXPECT_NEAR(s.pore_size.median, 4, 0.04);
  EXPECT_NEAR(s.pore_size.largest, 4, 0.04);
  EXPECT_EQ(s.pores, 2);
  EXPECT_EQ(s.throats, 0);
  EXPECT_NEAR(s.critical_diameter[0], 4, 0.04);
  EXPECT_EQ(s.critical_diameter[2], 0);
  EXPECT_EQ(s.suggested_width, 1) << s.suggestion;
  EXPECT_EQ(s.correlation[0][0], 1);
}

// Two chambers and a throat 2 voxels wide: cells of half a voxel put 4 in it.
TEST(StatisticsMpi, ThroatsDecideTheCellWidth) {
  const Comm comm = Comm::world();
  const Index n{14, 14, 30};
  const auto label = image_of<std::uint8_t>(n, [&](const Index& x) {
    const int out = std::max(std::abs(2 * x[0] - 13), std::abs(2 * x[1] - 13));
    const bool chamber = x[2] < 12 || x[2] >= 18;
    return out < (chamber ? 11 : 3) ? 0 : 1;
  });
  const ImageStatistics s = statistics(comm, n, label);
  EXPECT_EQ(s.pores, 2);
  EXPECT_EQ(s.throats, 1);
  EXPECT_EQ(s.coordination, 1);
  EXPECT_NEAR(s.throat_size.median, 2, 0.1);
  EXPECT_EQ(s.thin_throats, 1);
  EXPECT_NEAR(s.critical_diameter[2], 2, 0.1);
  EXPECT_EQ(s.suggested_width, 0.5) << s.suggestion;
}

// Voxels outside of the sample are in no share; the pore does not reach the ends across them.
TEST(StatisticsMpi, CylinderIsTheSample) {
  const Comm comm = Comm::world();
  const Index n{12, 12, 9};
  const auto label = image_of<std::uint8_t>(n, [&](const Index& x) {
    const double r = std::hypot(x[0] - 5.5, x[1] - 5.5);
    return r > 5 ? 255 : r < 3 ? 0 : 4;
  });
  const ImageStatistics s = statistics(comm, n, label, 0, {});
  const double pore = double(std::count(label.begin(), label.end(), 0)),
               solid = double(std::count(label.begin(), label.end(), 4));
  EXPECT_DOUBLE_EQ(s.porosity, pore / (pore + solid));
  EXPECT_EQ(s.percolates, (std::array<bool, 3>{false, false, true}));
  EXPECT_DOUBLE_EQ(s.connected_porosity[2], s.porosity);
  ASSERT_EQ(s.phases.size(), 2U);
  EXPECT_EQ(s.phases[1].name, "phase 4");
  EXPECT_EQ(s.profile[0][0], 0) << "no voxel of the sample";
  for (const double x : numbers(s)) EXPECT_TRUE(std::isfinite(x));
}

TEST(StatisticsMpi, NothingIsNaN) {
  const Comm comm = Comm::world();
  for (const Index& n : {Index{1, 1, 1}, {9, 1, 1}, {1, 1, 9}, {5, 4, 1}, {6, 5, 7}})
    for (const int kind : {0, 1, 255, -1}) {
      const RandomNumbers random(1, 0);
      std::uint64_t i = 0;
      const auto label = image_of<std::uint8_t>(n, [&](const Index&) {
        const double u = random.uniform(i++);
        return kind >= 0 ? kind : u < 0.5 ? 0 : u < 0.9 ? 2 : 255;
      });
      const ImageStatistics s = statistics(comm, n, label);
      for (const double x : numbers(s)) EXPECT_TRUE(std::isfinite(x)) << kind;
      EXPECT_FALSE(s.suggestion.empty());
      EXPECT_GT(s.suggested_width, 0);
      if (kind > 0) {
        EXPECT_EQ(s.pores + s.throats + s.pore_clusters, 0);
        EXPECT_TRUE(s.pore_size.share.empty());
      }
      if (kind == 0) {
        EXPECT_EQ(s.percolates, (std::array<bool, 3>{true, true, true}));
      }
      double shares = 0;
      for (const PhaseShare& p : s.phases) shares += p.share;
      EXPECT_NEAR(shares, kind == 255 ? 0 : 1, 1e-12);
    }
}

TEST(StatisticsMpi, RanksAndThreadsDoNotMatter) {
  const Comm comm = Comm::world();
  const Index n{40, 37, 45};
  const RandomNumbers random(9, 0);
  std::vector<Vec3> centers;
  for (std::uint64_t s = 0; s < 90; ++s)
    centers.push_back(
        {n[0] * random.uniform(3 * s), n[1] * random.uniform(3 * s + 1), n[2] * random.uniform(3 * s + 2)});
  const auto label = image_of<std::uint8_t>(n, [&](const Index& x) {
    const auto covers = [&](const Vec3& c) { return norm(Vec3{double(x[0]), double(x[1]), double(x[2])} - c) < 5.3; };
    return std::any_of(centers.begin(), centers.end(), covers) ? 1 : 0;
  });
  const auto here = numbers(statistics(comm, n, label, 1234.5));
  EXPECT_EQ(here, numbers(statistics(Comm::self(), n, label, 1234.5)));
  const int before = n_threads();
  set_n_threads(3);
  EXPECT_EQ(here, numbers(statistics(comm, n, label, 1234.5)));
  set_n_threads(before);
}

// A post in a channel 5 voxels high, 36 wide: a ball in it is not wider than 5, and neither is what passes. In one
// plane of it balls are discs.
TEST(StatisticsMpi, NoBallIsWiderThanTheImage) {
  const Comm comm = Comm::world();
  for (const int height : {5, 1}) {
    const Index n{48, 36, height};
    const auto label = image_of<std::uint8_t>(n, [](const Index& x) {
      const double a = x[0] - 23.5, b = x[1] - 17.5;
      return a * a + b * b < 36.0 ? 1 : 0;
    });
    const ImageStatistics s = statistics(comm, n, label);
    const double most = height == 1 ? 36 : 5;
    EXPECT_EQ(s.pore_size.bound, most);
    EXPECT_LE(s.pore_size.largest, most);
    EXPECT_LE(s.throat_size.largest, most);
    for (const double d : s.critical_diameter) EXPECT_LE(d, most);
    if (height == 1) continue;
    EXPECT_EQ(s.pore_size.median, 5);
    EXPECT_GT(s.pore_size.share_bound, 0.9);
    EXPECT_EQ(s.critical_diameter[0], 5);
  }
}

}  // namespace
}  // namespace karst::statistics_test
