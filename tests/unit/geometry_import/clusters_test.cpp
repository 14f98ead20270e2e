// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/clusters.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "base/comm/parallel.hpp"
#include "unit/geometry_import/label_images.hpp"

namespace karst::clusters_test {
namespace {

constexpr std::uint8_t solid = 1;

/// What is known of all clusters of an image.
struct Whole {
  std::vector<std::int64_t> number;  ///< of each voxel; -1 outside of the set
  std::vector<Cluster> clusters;
};

/// A plain flood fill.
Whole flood_fill(const LabelImage& image, const LabelSet& set, Contact contact) {
  const Index n = image.voxels;
  Whole w{std::vector<std::int64_t>(image.values.size(), -1), {}};
  for (std::size_t seed = 0; seed < image.values.size(); ++seed) {
    if (!set[image.values[seed]] || w.number[seed] >= 0) continue;
    const auto number = static_cast<std::int64_t>(w.clusters.size());
    Cluster& c = w.clusters.emplace_back();
    c.first = static_cast<std::int64_t>(seed);
    std::vector<std::size_t> todo{seed};
    w.number[seed] = number;
    while (!todo.empty()) {
      const auto v = static_cast<int>(todo.back());
      todo.pop_back();
      const Index p{v % n[0], v / n[0] % n[1], v / n[0] / n[1]};
      ++c.voxels;
      for (int d = 0; d < 3; ++d)
        c.touches = static_cast<std::uint8_t>(c.touches | unsigned{p[d] == 0} << (2 * d) |
                                              unsigned{p[d] == n[d] - 1} << (2 * d + 1));
      for (int k = 0; k < 27; ++k) {
        const Index e{k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1}, q = p + e;
        if (contact == Contact::faces && std::abs(e[0]) + std::abs(e[1]) + std::abs(e[2]) != 1) continue;
        if (q[0] < 0 || q[1] < 0 || q[2] < 0 || q[0] >= n[0] || q[1] >= n[1] || q[2] >= n[2]) continue;
        const std::size_t to = image.at(q[0], q[1], q[2]);
        if (!set[image.values[to]] || w.number[to] >= 0) continue;
        w.number[to] = number;
        todo.push_back(to);
      }
    }
  }
  return w;
}

/// Gathers what the ranks know; checks that they agree. Collective.
Whole gather(const Comm& comm, const LabelImage& image, const Clusters& found) {
  const ImageWindow own = in_slabs(comm, image).own();
  std::vector<std::int64_t> number(own.count(), -1);
  for (std::size_t r = 0; r < found.rows(); ++r)
    for (const ClusterRun& run : found.row(r))
      std::fill_n(number.begin() + std::ptrdiff_t(r) * own.image[0] + run.first, run.last - run.first,
                  found.number(run.slot));
  Whole w{comm.all_gather(std::span<const std::int64_t>(number)), {}};
  struct Numbered {
    std::int64_t number;
    Cluster cluster;
  };
  std::vector<Numbered> mine;
  for (std::uint32_t s = 0; s < found.of_rank().size(); ++s) mine.push_back({found.number(s), found.of_rank()[s]});
  std::vector<bool> seen(found.count());
  w.clusters.resize(seen.size());
  for (const Numbered& n : comm.all_gather(std::span<const Numbered>(mine))) {
    Cluster& c = w.clusters.at(n.number);
    if (seen[n.number]) {
      EXPECT_EQ(c.voxels, n.cluster.voxels);
      EXPECT_EQ(c.touches, n.cluster.touches);
      EXPECT_EQ(c.first, n.cluster.first);
    }
    seen[n.number] = true;
    c = n.cluster;
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), false), 0);
  return w;
}

void expect_exact(const Comm& comm, const LabelImage& image, const LabelSet& set, Contact contact) {
  const Clusters found(comm, in_slabs(comm, image), set, contact);
  const Whole truth = flood_fill(image, set, contact), w = gather(comm, image, found);
  ASSERT_EQ(w.clusters.size(), truth.clusters.size());
  EXPECT_TRUE(w.number == truth.number);
  for (std::size_t c = 0; c < truth.clusters.size(); ++c) {
    EXPECT_EQ(w.clusters[c].voxels, truth.clusters[c].voxels) << "cluster " << c;
    EXPECT_EQ(w.clusters[c].first, truth.clusters[c].first) << "cluster " << c;
    EXPECT_EQ(w.clusters[c].touches, truth.clusters[c].touches) << "cluster " << c;
  }
  std::int64_t owned = 0;
  for (std::uint32_t s = 0; s < found.of_rank().size(); ++s) owned += found.owned(s);
  EXPECT_EQ(comm.sum(owned), found.count());
}

std::int64_t count(const Comm& comm, const LabelImage& image, Contact contact) {
  return Clusters(comm, in_slabs(comm, image), solid_labels(), contact).count();
}

// Two voxels that differ by an offset are one cluster when they share a face; when they share an edge or corner only
// through corners; never beyond.
TEST(Clusters, NeighboursMpi) {
  for (int k = 0; k < 125; ++k) {
    const Index e{k % 5 - 2, k / 5 % 5 - 2, k / 25 - 2};
    const int steps = std::abs(e[0]) + std::abs(e[1]) + std::abs(e[2]);
    const int most = std::max({std::abs(e[0]), std::abs(e[1]), std::abs(e[2])});
    LabelImage image({5, 5, 5}, pore_label);
    image(2, 2, 2) = image(2 + e[0], 2 + e[1], 2 + e[2]) = solid;
    EXPECT_EQ(count(Comm::world(), image, Contact::faces), steps <= 1 ? 1 : 2) << k;
    EXPECT_EQ(count(Comm::world(), image, Contact::corners), most <= 1 ? 1 : 2) << k;
  }
}

// Random images around the percolation thresholds of 6 (0.3116) and 26 neighbours (0.0976), and of both kinds.
TEST(Clusters, EqualAFloodFillMpi) {
  const Comm comm = Comm::world();
  int seed = 0;
  for (const Index& n : {Index{17, 11, 13}, Index{5, 4, 3}, Index{1, 9, 8}, Index{30, 1, 2}, Index{6, 7, 1}})
    for (const double p : {0.1, 0.3, 0.5, 0.9})
      for (const Contact contact : {Contact::faces, Contact::corners}) {
        const LabelImage image = random_labels(n, p, 7, pore_label, static_cast<std::uint64_t>(++seed));
        expect_exact(comm, image, solid_labels(), contact);
        expect_exact(comm, image, pore_labels(), contact);
      }
}

// The solid is one set whatever its phases are; the outside belongs to neither.
TEST(Clusters, SetOfLabelsMpi) {
  LabelImage image({9, 1, 1}, pore_label);
  const std::uint8_t labels[9] = {3, 254, 1, 255, 0, 2, 255, 255, 1};
  std::copy(labels, labels + 9, image.values.begin());
  EXPECT_EQ(count(Comm::world(), image, Contact::corners), 3);
  EXPECT_EQ(Clusters(Comm::world(), in_slabs(Comm::world(), image), pore_labels(), Contact::faces).count(), 1);
  LabelSet some{};
  some[3] = some[2] = true;
  EXPECT_EQ(Clusters(Comm::world(), in_slabs(Comm::world(), image), some, Contact::faces).count(), 2);
}

// A path that winds round the axis up through all planes, and never meets itself, is one cluster; cut once, two.
TEST(Clusters, SpiralMpi) {
  const int turns = 6;
  LabelImage image({8, 8, 4 * turns + 1}, pore_label);
  for (int i = 0, z = 0; z < image.voxels[2]; ++z, ++i) {
    for (int x = 0; x < 8; ++x) {
      if (i % 4 == 0) image(x, 0, z) = solid;
      if (i % 4 == 1) image(7, x, z) = solid;
      if (i % 4 == 2) image(x, 7, z) = solid;
      if (i % 4 == 3) image(0, x, z) = solid;
    }
  }
  EXPECT_EQ(count(Comm::world(), image, Contact::faces), 1);
  expect_exact(Comm::world(), image, solid_labels(), Contact::faces);
  image(3, 7, 14) = pore_label;
  EXPECT_EQ(count(Comm::world(), image, Contact::faces), 2);
}

// A checkerboard is single voxels through faces and one cluster through corners.
TEST(Clusters, CheckerboardMpi) {
  LabelImage image({6, 5, 7}, pore_label);
  for (int z = 0; z < 7; ++z)
    for (int y = 0; y < 5; ++y)
      for (int x = 0; x < 6; ++x)
        if ((x + y + z) % 2 == 0) image(x, y, z) = solid;
  EXPECT_EQ(count(Comm::world(), image, Contact::faces), 105);
  EXPECT_EQ(count(Comm::world(), image, Contact::corners), 1);
  expect_exact(Comm::world(), image, solid_labels(), Contact::corners);
}

// Teeth that meet in the last plane only, and teeth that meet in the first: all other slabs see separate pillars. Then
// a snake, whose pillars meet two by two in alternate end planes.
TEST(Clusters, CombsMpi) {
  for (const int end : {0, 11}) {
    LabelImage image({15, 9, 12}, pore_label);
    for (int z = 0; z < 12; ++z)
      for (int y = 0; y < 9; ++y)
        for (int x = 0; x < 15; ++x)
          if ((x % 2 == 0 && y % 2 == 0) || z == end) image(x, y, z) = solid;
    EXPECT_EQ(count(Comm::world(), image, Contact::faces), 1);
    expect_exact(Comm::world(), image, solid_labels(), Contact::faces);
  }
  LabelImage snake({15, 1, 12}, pore_label);
  for (int x = 0; x < 15; ++x)
    for (int z = 0; z < 12; ++z)
      if (x % 2 == 0 || z == (x % 4 == 1 ? 11 : 0)) snake(x, 0, z) = solid;
  EXPECT_EQ(count(Comm::world(), snake, Contact::corners), 1);
  expect_exact(Comm::world(), snake, solid_labels(), Contact::faces);
}

TEST(Clusters, NoneAndAllMpi) {
  const LabelImage image({4, 3, 5}, pore_label);
  EXPECT_EQ(count(Comm::world(), image, Contact::faces), 0);
  const Clusters all(Comm::world(), in_slabs(Comm::world(), image), pore_labels(), Contact::faces);
  EXPECT_EQ(all.count(), 1);
  for (const Cluster& c : all.of_rank()) {
    EXPECT_EQ(c.voxels, 60);
    EXPECT_TRUE(c.connects(0) && c.connects(1) && c.connects(2));
  }
}

TEST(Clusters, ConnectsMpi) {
  LabelImage image({4, 4, 4}, pore_label);
  for (int z = 0; z < 4; ++z) image(1, 1, z) = solid;
  const Clusters found(Comm::world(), in_slabs(Comm::world(), image), solid_labels(), Contact::faces);
  for (const Cluster& c : found.of_rank()) {
    EXPECT_FALSE(c.connects(0) || c.connects(1));
    EXPECT_TRUE(c.connects(2));
  }
}

TEST(Clusters, ThreadsDoNotMatter) {
  const LabelImage image = random_labels({40, 30, 23}, 0.32, solid, pore_label, 3);
  const int threads = n_threads();
  for (const int n : {1, 2, 5}) {
    set_n_threads(n);
    expect_exact(Comm::self(), image, solid_labels(), Contact::faces);
    expect_exact(Comm::self(), image, pore_labels(), Contact::corners);
  }
  set_n_threads(threads);
}

// A flag that one rank sets on a cluster is set on all that hold a part of it.
TEST(Clusters, FlagsOverRanksMpi) {
  const Comm comm = Comm::world();
  const LabelImage image = random_labels({12, 12, 9}, 0.3, solid, pore_label, 11);
  const Clusters found(comm, in_slabs(comm, image), solid_labels(), Contact::faces);
  std::vector<std::uint8_t> flags(found.of_rank().size());
  for (std::uint32_t s = 0; s < flags.size(); ++s)
    if (found.owned(s)) flags[s] = static_cast<std::uint8_t>(found.number(s) % 4);
  found.or_over_ranks(comm, flags);
  for (std::uint32_t s = 0; s < flags.size(); ++s) EXPECT_EQ(flags[s], found.number(s) % 4);
  for (const Clusters::Shared& s : found.shared()) {
    EXPECT_EQ(found.number(s.slot), s.number);
    EXPECT_EQ(found.slot_of(s.number), s.slot);
  }
  EXPECT_FALSE(found.slot_of(found.count()).has_value());
}

}  // namespace
}  // namespace karst::clusters_test
