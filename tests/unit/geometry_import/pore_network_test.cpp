// SPDX-License-Identifier: BSD-3-Clause
// Pores and throats of bodies and lattices of spheres, which are known.
#include "geometry_import/pores/pore_network.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/comm/parallel.hpp"
#include "geometry_import/voxels/distance.hpp"
#include "image_generator/random_numbers.hpp"
#include "slab_cases.hpp"

namespace karst::pore_network_test {
namespace {

using test::distance_image;
using test::image_of;
using test::label_slabs;

template <class F>
NetworkFigures figures(const Comm& comm, const Index& size, F&& f) {
  return network_figures(comm, label_slabs(comm, size, distance_image(size, f)));
}

/// The same by the labels of the voxels: f is the distance to the wall in the solid only, < 0.
template <class F>
NetworkFigures figures_of_body(const Comm& comm, const Index& size, F&& f) {
  const auto value = [&](const Index& x) { return f(Vec3{x[0] + 0.5, x[1] + 0.5, x[2] + 0.5}); };
  const auto label = image_of<std::uint8_t>(size, [&](const Index& x) { return value(x) > 0 ? 0 : 1; });
  Slabs<std::uint16_t> distance = label_slabs(comm, size, image_of<std::uint16_t>(size, [&](const Index& x) {
                                                return std::lround(64 * std::max(0.0, -value(x)));
                                              }));
  wall_distance(comm, label_slabs(comm, size, label), distance);
  return network_figures(comm, distance);
}

std::vector<double> throat_diameters(const NetworkFigures& f) {
  std::vector<double> d;
  for (std::size_t r = 0; r < f.throat_radius.size(); ++r)
    for (std::int64_t n = 0; n < f.throat_radius[r]; ++n) d.push_back(double(r) / 32);
  return d;
}

TEST(PoreNetworkMpi, TubesAndSlitsAreOnePore) {
  const Comm comm = Comm::world();
  for (int axis = 0; axis < 3; ++axis)
    for (const double c : {9.0, 9.5, 9.3}) {
      const auto tube = figures(comm, {19, 19, 19}, [&](const Vec3& x) {
        return 5.2 - std::hypot(x[(axis + 1) % 3] - c, x[(axis + 2) % 3] - c);
      });
      EXPECT_EQ(tube.pores, 1);
      EXPECT_EQ(tube.throats, 0);
      EXPECT_TRUE(throat_diameters(tube).empty());
      for (int d = 0; d < 3; ++d) EXPECT_NEAR(tube.critical[d] / 32.0, d == axis ? 10.4 : 0, 0.4);
      const auto slit = figures(comm, {19, 19, 19}, [&](const Vec3& x) { return 2 - std::abs(x[axis] - 9); });
      EXPECT_EQ(slit.pores, 1);
      for (int d = 0; d < 3; ++d) EXPECT_NEAR(slit.critical[d] / 32.0, d == axis ? 0 : 4, 0.04);
    }
}

// Two spheres joined by a tube: two pores and a throat as wide as the tube; spheres that lie deep in each other are
// one.
TEST(PoreNetworkMpi, DumbbellHasOneThroat) {
  const Comm comm = Comm::world();
  for (const double c : {11.5, 11.8, 12.0}) {
    const auto f = figures_of_body(comm, {24, 24, 44}, [&](const Vec3& x) {
      const double across = std::hypot(x[0] - c, x[1] - c);
      const double tube = std::abs(x[2] - 22) < 10 ? 3.1 - across : -30;
      return std::max({tube, 8 - std::hypot(across, x[2] - 11.2), 7 - std::hypot(across, x[2] - 33.1)});
    });
    EXPECT_EQ(f.pores, 2);
    ASSERT_EQ(f.throats, 1);
    EXPECT_NEAR(throat_diameters(f)[0], 6.2, 0.5);
  }
  // Overlap at mid-way: a neck of radius √(64 - 2.5²) = 7.6 between radii of 8.
  const auto one = figures_of_body(comm, {24, 24, 30}, [&](const Vec3& x) {
    const double across = std::hypot(x[0] - 12, x[1] - 12);
    return std::max(8 - std::hypot(across, x[2] - 12), 8 - std::hypot(across, x[2] - 17));
  });
  EXPECT_EQ(one.pores, 1);
}

/// Distance to the nearest of equal spheres of diameter 1 at lattice points plus shifts, in units of the lattice.
double outside_spheres(const Vec3& x, const std::vector<Vec3>& basis, double diameter) {
  double nearest = 1e30;
  for (const Vec3& b : basis) {
    Vec3 p = x - b;
    for (int d = 0; d < 3; ++d) p[d] -= std::round(p[d]);
    nearest = std::min(nearest, norm(p) - diameter / 2);
  }
  return nearest;
}

/// n lattice cells of a width along each axis; the pores at the ends are cut in half or not as the shift has it.
NetworkFigures lattice(const Comm& comm, int n, double width, const std::vector<Vec3>& basis, double diameter) {
  const int size = static_cast<int>(std::lround(n * width));
  return figures(comm, Index::all(size),
                 [&](const Vec3& x) { return width * outside_spheres(x * (1 / width), basis, diameter); });
}

// Simple cubic spheres that touch, at the corners of the cells: a pore in each cell, (√3 - 1) wide, and a throat
// through each side, (√2 - 1) wide: 3 n² (n - 1) of them.
TEST(PoreNetworkMpi, SimpleCubicSpheres) {
  const Comm comm = Comm::world();
  for (const double width : {16.0, 17.0, 15.5}) {
    const auto f = lattice(comm, 2, width, {{0, 0, 0}}, 1);
    EXPECT_EQ(f.pores, 8) << width;
    EXPECT_EQ(f.throats, 12) << width;
    for (const double d : throat_diameters(f)) EXPECT_NEAR(d, (std::sqrt(2) - 1) * width, 0.5) << width;
    for (int d = 0; d < 3; ++d) EXPECT_NEAR(f.critical[d] / 32.0, (std::sqrt(2) - 1) * width, 0.5);
  }
}

// Body-centred spheres that touch, √3/2 wide: the pores are the tetrahedral holes on the sides of the cells, 12 per
// cell, each with 4 throats, all alike: circles through three spheres with edges 1, √3/2, √3/2. On the way of two
// neighbouring holes the neck is hardly narrower: hole R = √5/4 - √3/4, throat 3/(4√2) - √3/4.
TEST(PoreNetworkMpi, BodyCentredSpheresAreFollowedThroughTheirNecks) {
  const Comm comm = Comm::world();
  const double s3 = std::sqrt(3), hole = std::sqrt(5) / 4 - s3 / 4, neck = 3 / (4 * std::sqrt(2)) - s3 / 4;
  const auto f = lattice(comm, 1, 40, {{0, 0, 0}, {0.5, 0.5, 0.5}}, s3 / 2);
  EXPECT_LT(neck / hole, same_pore);
  for (const double d : throat_diameters(f)) EXPECT_NEAR(d, 80 * neck, 0.8);
  for (int d = 0; d < 3; ++d) EXPECT_NEAR(f.critical[d] / 32.0, 80 * neck, 0.8);
  EXPECT_EQ(f.pores, 24) << "12 per cell, of which those on the sides are on both";
}

/// Graph written down: pores 10, 9, 8 in a row, then 4 apart.
BasinGraph row_of_basins() {
  BasinGraph g;
  g.basins = {{3, 10, {5, 0, 0, 0, 0, 0}}, {7, 9, {}}, {12, 8, {0, 6, 0, 0, 0, 0}}, {20, 4, {0, 4, 0, 0, 0, 0}}};
  g.saddles = {{3, 7, 8, 8}, {3, 12, 2, 2}, {7, 12, 4, 5}, {12, 20, 1, 1}};
  return g;
}

TEST(PoreNetwork, ShallowNecksJoinPores) {
  const PoreNetwork n = pore_network(row_of_basins());
  // 8 >= 0.85 * 9 joins 3 and 7; 5 < 0.85 * 8 does not; of the two ways from there to 12 the wider one counts.
  EXPECT_EQ(n.pore_radius, (std::vector<int>{10, 8, 4}));
  ASSERT_EQ(n.throats.size(), 2U);
  EXPECT_EQ(n.throats[0].low, 0);
  EXPECT_EQ(n.throats[0].high, 1);
  EXPECT_EQ(n.throats[0].radius, 5);
  EXPECT_EQ(n.throats[1].radius, 1);
}

TEST(PoreNetwork, WidestWayIsTheNarrowestPlaceOfTheBestWay) {
  BasinGraph g = row_of_basins();
  EXPECT_EQ(critical_radius(g), (std::array<int, 3>{5, 0, 0}));
  g.basins[0].touch[0] = 3;  // the way in is narrower
  EXPECT_EQ(critical_radius(g)[0], 3);
  g.basins[2].touch[1] = 0;  // out through the last one only
  EXPECT_EQ(critical_radius(g)[0], 1);
  g.basins[3].touch[1] = 0;
  EXPECT_EQ(critical_radius(g)[0], 0);
  EXPECT_EQ(critical_radius({}), (std::array<int, 3>{}));
  EXPECT_TRUE(pore_network({}).pore_radius.empty());
}

/// All basins by following every voxel up in the whole image.
std::set<std::int64_t> roots(const Index& n, const std::vector<std::uint16_t>& d) {
  std::set<std::int64_t> found;
  for (std::int64_t i = 0; i < std::int64_t(d.size()); ++i) {
    if (d[i] == 0) continue;
    bool highest = true;
    const int x = int(i % n[0]), y = int(i / n[0] % n[1]), z = int(i / n[0] / n[1]);
    for (int c = std::max(0, z - 1); c <= std::min(n[2] - 1, z + 1); ++c)
      for (int b = std::max(0, y - 1); b <= std::min(n[1] - 1, y + 1); ++b)
        for (int a = std::max(0, x - 1); a <= std::min(n[0] - 1, x + 1); ++a) {
          const std::int64_t j = (std::int64_t{c} * n[1] + b) * n[0] + a;
          highest = highest && (d[j] < d[i] || (d[j] == d[i] && j >= i));
        }
    if (highest) found.insert(i);
  }
  return found;
}

// Rough terrain with many plateaus and long ways, on slabs of a few planes: the graph is that of one rank and thread.
TEST(PoreNetworkMpi, RanksAndThreadsDoNotMatter) {
  const Comm comm = Comm::world();
  const Index n{13, 11, 75};
  for (const std::uint64_t seed : {1, 2}) {
    const RandomNumbers random(seed, 0);
    std::uint64_t i = 0;
    const auto distance = image_of<std::uint16_t>(n, [&](const Index& x) {
      const double wave = 200 + 100 * std::sin(0.3 * x[2] + 0.2 * x[0]) + 4 * (random.uniform(i++) < 0.5);
      return random.uniform(1000000 + i) < 0.3 ? 0 : std::floor(seed == 1 ? wave : 8 * std::floor(wave / 8));
    });
    const auto graph_of = [&](const Comm& on) { return basin_graph(on, label_slabs(on, n, distance)); };
    const BasinGraph alone = graph_of(Comm::self());
    const auto expected = roots(n, distance);
    ASSERT_EQ(alone.basins.size(), expected.size());
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), alone.basins.begin(),
                           [](std::int64_t r, const Basin& b) { return r == b.root; }));
    const int before = n_threads();
    for (const int threads : {1, 3}) {
      set_n_threads(threads);
      const BasinGraph graph = graph_of(comm);
      if (comm.rank() > 0) continue;
      ASSERT_EQ(graph.basins.size(), alone.basins.size());
      ASSERT_EQ(graph.saddles.size(), alone.saddles.size());
      for (std::size_t b = 0; b < alone.basins.size(); ++b) {
        EXPECT_EQ(graph.basins[b].root, alone.basins[b].root);
        EXPECT_EQ(graph.basins[b].peak, alone.basins[b].peak);
        EXPECT_EQ(graph.basins[b].touch, alone.basins[b].touch);
      }
      for (std::size_t s = 0; s < alone.saddles.size(); ++s) {
        EXPECT_EQ(graph.saddles[s].low, alone.saddles[s].low);
        EXPECT_EQ(graph.saddles[s].high, alone.saddles[s].high);
        EXPECT_EQ(graph.saddles[s].radius, alone.saddles[s].radius);
      }
    }
    set_n_threads(before);
  }
}

TEST(PoreNetworkMpi, NothingAndThinImages) {
  const Comm comm = Comm::world();
  for (const Index& n : {Index{1, 1, 1}, {1, 1, 9}, {6, 1, 1}, {5, 4, 1}, {2, 3, 4}}) {
    const std::size_t count = std::int64_t{n[0]} * n[1] * n[2];
    const auto none = network_figures(comm, label_slabs(comm, n, std::vector<std::uint16_t>(count, 0)));
    EXPECT_EQ(none.pores, 0);
    EXPECT_EQ(none.throats, 0);
    EXPECT_EQ(none.critical, (std::array<int, 3>{}));
    const auto all = network_figures(comm, label_slabs(comm, n, std::vector<std::uint16_t>(count, 100)));
    EXPECT_EQ(all.pores, 1);
    EXPECT_EQ(all.critical, (std::array<int, 3>{100, 100, 100}));
  }
}

}  // namespace
}  // namespace karst::pore_network_test
