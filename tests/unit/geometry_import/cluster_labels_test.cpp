// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/voxels/cluster_labels.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "unit/geometry_import/label_images.hpp"

namespace karst::cluster_labels_test {
namespace {

/// A single pore voxel in the middle of solid label 3.
LabelImage one_pore() {
  LabelImage image({5, 5, 5}, 3);
  image(2, 2, 2) = pore_label;
  return image;
}

struct Around {
  bool contact;
  std::uint8_t label;
};

/// What the cluster of the voxel of one_pore meets; all ranks that hold it must agree.
Around around(const LabelImage& image, std::uint8_t label) {
  const Comm comm = Comm::world();
  const Slabs<std::uint8_t> labels = in_slabs(comm, image);
  const Clusters pores(comm, labels, pore_labels(), Contact::faces);
  const std::vector<std::uint8_t> asked(pores.of_rank().size(), 1);
  const std::vector<std::uint8_t> contact = in_contact(comm, labels, pores, asked, label);
  const std::vector<std::uint8_t> solid = solid_around(comm, labels, pores, asked);
  const bool here = !asked.empty();
  const std::int64_t most = comm.max(here ? solid[0] : std::int64_t{0});
  EXPECT_EQ(most, comm.min(here ? solid[0] : std::int64_t{1000}));
  return {comm.any(here && contact[0]), static_cast<std::uint8_t>(most)};
}

// All 26 neighbours count as contact, voxels two away do not.
TEST(ClusterLabels, ContactMpi) {
  for (int k = 0; k < 125; ++k) {
    if (k == 62) continue;
    const Index p{k % 5, k / 5 % 5, k / 25};
    LabelImage image = one_pore();
    image(p[0], p[1], p[2]) = 8;
    const bool near = std::abs(p[0] - 2) <= 1 && std::abs(p[1] - 2) <= 1 && std::abs(p[2] - 2) <= 1;
    EXPECT_EQ(around(image, 8).contact, near) << k;
  }
}

// Only faces count for the label around: 6 of them, the smaller label among equals.
TEST(ClusterLabels, LabelAtMostFacesMpi) {
  LabelImage image = one_pore();
  for (int k = 0; k < 27; ++k)
    if (k != 13 && (k % 3 != 1) + (k / 3 % 3 != 1) + (k / 9 != 1) > 1) image(1 + k % 3, 1 + k / 3 % 3, 1 + k / 9) = 8;
  EXPECT_EQ(around(image, 8).label, 3) << "edges and corners do not count";
  image(2, 2, 1) = image(2, 2, 3) = 9;
  image(1, 2, 2) = 4;
  EXPECT_EQ(around(image, 8).label, 3) << "3 faces of 3, 2 of 9, 1 of 4";
  image(2, 1, 2) = 254;
  EXPECT_EQ(around(image, 8).label, 3) << "2 of 3 and of 9";
  image(2, 3, 2) = outside_label;
  EXPECT_EQ(around(image, 8).label, 9);
  for (const std::uint8_t none : {outside_label, pore_label}) {
    LabelImage bare({5, 5, 5}, outside_label);
    bare(2, 2, 2) = pore_label;
    bare(0, 0, 0) = 7;
    bare(2, 2, 3) = none;
    EXPECT_EQ(around(bare, 8).label, 1);
  }
}

TEST(ClusterLabels, RelabelOnlyThoseAskedMpi) {
  const Comm comm = Comm::world();
  LabelImage image({4, 4, 6}, 1);
  for (int z = 0; z < 6; ++z) image(1, 1, z) = pore_label;
  image(3, 3, 3) = pore_label;
  Slabs<std::uint8_t> labels = in_slabs(comm, image);
  const Clusters pores(comm, labels, pore_labels(), Contact::faces);
  std::vector<std::uint8_t> asked, to;
  for (const Cluster& c : pores.of_rank()) {
    asked.push_back(c.voxels == 6);
    to.push_back(42);
  }
  relabel(labels, pores, asked, to);
  for (int z = 0; z < 6; ++z) image(1, 1, z) = 42;
  EXPECT_TRUE(whole(comm, labels) == image.values);
  EXPECT_EQ(count_labels(comm, labels, 42, 42), 6);
  EXPECT_EQ(count_labels(comm, labels, 0, 254), 96);
  EXPECT_EQ(count_labels(comm, labels, 2, 41), 0);
}

}  // namespace
}  // namespace karst::cluster_labels_test
