// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/segment/clean.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "base/comm/parallel.hpp"
#include "base/core/error.hpp"
#include "geometry_import/voxels/clusters.hpp"
#include "support/errors.hpp"
#include "unit/geometry_import/label_images.hpp"

namespace karst::clean_test {
namespace {

using Values = std::vector<std::uint8_t>;

struct Cleaned {
  CleanReport report;
  Values values;
};

Cleaned cleaned(const LabelImage& image, const CleanOptions& options) {
  Slabs<std::uint8_t> labels = in_slabs(Comm::world(), image);
  const CleanReport report = clean(Comm::world(), labels, options);
  return {report, whole(Comm::world(), labels)};
}

std::int64_t pores(const Values& values) { return std::count(values.begin(), values.end(), pore_label); }

void expect_sum(const ClusterSum& sum, std::int64_t clusters, std::int64_t voxels) {
  EXPECT_EQ(sum.clusters, clusters);
  EXPECT_EQ(sum.voxels, voxels);
}

std::string error_of(const LabelImage& image, const CleanOptions& options) {
  return test::error_of([&] { cleaned(image, options); });
}

/// Pore with a wall of solid label 1 in the planes x = 0 and x = 4.
LabelImage channel() {
  LabelImage image({5, 4, 9}, pore_label);
  for (int z = 0; z < 9; ++z)
    for (int y = 0; y < 4; ++y) image(0, y, z) = image(4, y, z) = 1;
  return image;
}

// A speck of two voxels in contact through a corner, of two phases, across a boundary between ranks.
TEST(Clean, SpecksMpi) {
  LabelImage image = channel();
  image(2, 1, 4) = 3;
  image(2, 2, 5) = 7;
  expect_sum(cleaned(image, {.specks = 2}).report.specks, 0, 0);
  const Cleaned result = cleaned(image, {.specks = 3});
  expect_sum(result.report.specks, 1, 2);
  EXPECT_TRUE(result.report.changed());
  EXPECT_TRUE(result.values == channel().values);
}

// The outside of the sample holds what touches it, even at a corner, even when the contact lies on another rank.
TEST(Clean, WhatTouchesTheOutsideIsNoSpeckMpi) {
  for (int z = 0; z < 9; ++z) {
    LabelImage image = channel();
    for (int k = std::max(0, z - 3); k <= z; ++k) image(2, 2, k) = 2;
    image(3, 3, std::min(z + 1, 8)) = outside_label;
    const Cleaned result = cleaned(image, {.specks = 10});
    expect_sum(result.report.specks, 0, 0);
    EXPECT_TRUE(result.values == image.values) << z;
    image(3, 3, std::min(z + 1, 8)) = pore_label;
    EXPECT_EQ(cleaned(image, {.specks = 10}).report.specks.clusters, 1) << z;
  }
}

// A hole of two voxels, in two planes, with more faces to label 5 than to 9, though the rank of one voxel sees more 9.
TEST(Clean, HolesTakeTheLabelAtMostFacesMpi) {
  for (int z = 1; z < 7; ++z) {
    LabelImage image({7, 7, 9}, 5);
    image(0, 0, 0) = pore_label;
    for (int k = 1; k < 9; ++k) image(0, 0, k) = pore_label;
    image(3, 3, z) = image(3, 3, z + 1) = pore_label;
    image(2, 3, z) = image(4, 3, z) = image(3, 2, z) = 9;
    Cleaned result = cleaned(image, {.holes = 3});
    expect_sum(result.report.holes, 1, 2);
    EXPECT_EQ(result.values[image.at(3, 3, z)], 5);
    EXPECT_EQ(result.values[image.at(3, 3, z + 1)], 5);
    image(3, 4, z) = image(2, 3, z + 1) = image(4, 3, z + 1) = 9;  // now 6 to 4
    result = cleaned(image, {.holes = 3});
    EXPECT_EQ(result.values[image.at(3, 3, z)], 9);
    EXPECT_EQ(result.values[image.at(3, 3, z + 1)], 9);
    image(2, 3, z + 1) = 5;  // 5 to 5: the smaller label
    EXPECT_EQ(cleaned(image, {.holes = 3}).values[image.at(3, 3, z)], 5);
    expect_sum(cleaned(image, {.holes = 2}).report.holes, 0, 0);
  }
}

// Diagonal contact does not join pores; a hole that sees only the outside becomes label 1.
TEST(Clean, HolesAreConnectedThroughFacesMpi) {
  LabelImage image({4, 4, 4}, 4);
  for (int x = 0; x < 4; ++x) image(x, 0, 0) = pore_label;
  image(1, 2, 2) = image(2, 3, 2) = pore_label;
  const Cleaned result = cleaned(image, {.holes = 2});
  expect_sum(result.report.holes, 2, 2);
  EXPECT_EQ(result.values[image.at(1, 2, 2)], 4);

  LabelImage shut({5, 5, 5}, outside_label);
  for (int x = 0; x < 5; ++x) shut(x, 0, 0) = pore_label;
  shut(2, 2, 3) = pore_label;
  EXPECT_EQ(cleaned(shut, {.holes = 2}).values[shut.at(2, 2, 3)], 1);
}

/// Solid of label 6 with pores along x and z that do not meet, a larger blind pore, and a single voxel.
LabelImage blind_and_through() {
  LabelImage image({9, 9, 9}, 6);
  for (int i = 0; i < 9; ++i) image(i, 1, 1) = image(7, 7, i) = pore_label;
  for (int x = 1; x < 4; ++x)
    for (int y = 3; y < 6; ++y)
      for (int z = 3; z < 6; ++z) image(x, y, z) = pore_label;
  image(8, 3, 3) = pore_label;
  return image;
}

TEST(Clean, KeepConnectedAlongAnyOfTheAxesMpi) {
  const LabelImage image = blind_and_through();
  const auto kept = [&](const std::array<bool, 3>& axes) {
    return cleaned(image, {.keep = KeepClusters::connected, .axes = axes});
  };
  Cleaned result = kept({true, true, true});
  expect_sum(result.report.dropped, 2, 28);
  EXPECT_EQ(pores(result.values), 18);
  EXPECT_EQ(result.values[image.at(2, 4, 4)], 6);
  result = kept({true, false, false});
  expect_sum(result.report.dropped, 3, 37);
  EXPECT_EQ(result.values[image.at(3, 1, 1)], pore_label);
  result = kept({false, true, true});
  expect_sum(result.report.dropped, 3, 37);
  EXPECT_EQ(result.values[image.at(7, 7, 4)], pore_label);
}

TEST(Clean, KeepLargestMpi) {
  const LabelImage image = blind_and_through();
  Cleaned result = cleaned(image, {.keep = KeepClusters::largest});
  expect_sum(result.report.dropped, 3, 19);
  EXPECT_EQ(pores(result.values), 27);
  EXPECT_EQ(result.values[image.at(2, 4, 4)], pore_label);
  LabelImage equals({3, 3, 8}, 2);  // two of the same size: the one that comes first
  equals(1, 1, 2) = equals(1, 1, 6) = pore_label;
  result = cleaned(equals, {.keep = KeepClusters::largest});
  expect_sum(result.report.dropped, 1, 1);
  EXPECT_EQ(result.values[equals.at(1, 1, 2)], pore_label);
}

// Holes and dropped pores are counted apart: the single voxel is a hole, the blind pore is dropped.
TEST(Clean, HolesComeBeforeKeepMpi) {
  const Cleaned result = cleaned(blind_and_through(), {.holes = 2, .keep = KeepClusters::connected});
  expect_sum(result.report.holes, 1, 1);
  expect_sum(result.report.dropped, 1, 27);
}

// A speck that closes a channel opens it when it goes: specks come first.
TEST(Clean, SpecksComeFirstMpi) {
  LabelImage image({5, 5, 5}, outside_label);
  for (int z = 0; z < 5; ++z) image(2, 2, z) = z == 2 ? 3 : pore_label;
  for (int z = 0; z < 5; ++z) image(0, 0, z) = 1;
  EXPECT_NE(error_of(image, {.specks = 2, .keep = KeepClusters::connected}), "no error") << "it touches the outside";
  LabelImage free({7, 7, 5}, 1);
  for (int z = 0; z < 5; ++z)
    for (int y = 1; y < 6; ++y)
      for (int x = 1; x < 6; ++x) free(x, y, z) = pore_label;
  free(3, 3, 2) = 3;
  const Cleaned result = cleaned(free, {.specks = 2, .keep = KeepClusters::connected});
  expect_sum(result.report.specks, 1, 1);
  expect_sum(result.report.dropped, 0, 0);
  EXPECT_EQ(pores(result.values), 125);
}

/// What cleaning by whole clusters must hold to, on a random image of three phases with an outside.
void expect_truths(const LabelImage& image, const CleanOptions& options) {
  const Cleaned once = cleaned(image, options);
  const CleanReport& r = once.report;
  EXPECT_EQ(pores(once.values) - pores(image.values), r.specks.voxels - r.holes.voxels - r.dropped.voxels);
  for (std::size_t i = 0; i < once.values.size(); ++i)
    ASSERT_EQ(once.values[i] == outside_label, image.values[i] == outside_label);
  LabelImage again = image;
  again.values = once.values;
  const Cleaned twice = cleaned(again, options);
  EXPECT_FALSE(twice.report.changed());
  EXPECT_TRUE(twice.values == once.values);
  Slabs<std::uint8_t> alone = in_slabs(Comm::self(), image);
  const CleanReport serial = clean(Comm::self(), alone, options);
  expect_sum(serial.specks, r.specks.clusters, r.specks.voxels);
  expect_sum(serial.holes, r.holes.clusters, r.holes.voxels);
  expect_sum(serial.dropped, r.dropped.clusters, r.dropped.voxels);
  EXPECT_TRUE(std::equal(once.values.begin(), once.values.end(), alone.values().begin(), alone.values().end()));
}

// Pore volume is accounted for, the outside is left alone, a second pass changes nothing, ranks do not matter.
TEST(Clean, VolumeIsConservedAndTwiceIsOnceMpi) {
  int seed = 0;
  for (const Index& n : {Index{16, 12, 14}, Index{20, 20, 2}, Index{9, 1, 11}})
    for (const double p : {0.3, 0.5, 0.7}) {
      LabelImage image = random_labels(n, p, pore_label, 1, static_cast<std::uint64_t>(++seed));
      const LabelImage phase = random_labels(n, 0.4, 1, 0, 77), out = random_labels(n, 0.02, 1, 0, 78);
      for (std::size_t i = 0; i < image.values.size(); ++i) {
        if (image.values[i] == 1 && phase.values[i] == 1) image.values[i] = 200;
        if (seed % 2 == 0 && out.values[i] == 1) image.values[i] = outside_label;
      }
      for (const KeepClusters keep : {KeepClusters::all, KeepClusters::largest})
        for (const std::int64_t size : {1, 2, 5}) expect_truths(image, {.specks = size, .holes = size, .keep = keep});
      if (p > 0.4 && n[0] == 16) expect_truths(image, {.specks = 3, .holes = 4, .keep = KeepClusters::connected});
    }
}

TEST(Clean, NothingAskedNothingDoneMpi) {
  const LabelImage image = random_labels({9, 9, 9}, 0.4, pore_label, 1, 5);
  const Cleaned result = cleaned(image, {});
  EXPECT_FALSE(result.report.changed());
  EXPECT_TRUE(result.values == image.values);
}

TEST(Clean, ErrorsSayWhatToDoMpi) {
  const LabelImage image = blind_and_through();
  EXPECT_NE(error_of(image, {.specks = -1}).find("specks = -1 voxels"), std::string::npos);
  EXPECT_NE(error_of(image, {.holes = -2}).find("holes = -2 voxels"), std::string::npos);
  EXPECT_NE(error_of(image, {.keep = KeepClusters::connected, .axes = {}}).find("at least one of x, y, z"),
            std::string::npos);
  EXPECT_NE(error_of(image, {.keep = KeepClusters::connected, .axes = {false, true, false}})
                .find("no pore cluster connects the faces of the image across y (4 clusters in all, the largest of 27 "
                      "voxels); use other axes"),
            std::string::npos);
  EXPECT_NE(error_of(image, {.holes = 20, .keep = KeepClusters::connected})
                .find("no pore cluster of at least holes = 20 voxels connects the faces of the image across x or y or "
                      "z"),
            std::string::npos);
  EXPECT_NE(error_of(image, {.holes = 28}).find("holes = 28 voxels fills all 4 pore clusters, the largest of 27"),
            std::string::npos);
  EXPECT_NE(error_of(image, {.specks = 1000}).find("specks = 1000 voxels removes all 1 solid clusters"),
            std::string::npos);
  EXPECT_NE(error_of(LabelImage({3, 3, 3}, 1), {.keep = KeepClusters::largest}).find("no pore voxel"),
            std::string::npos);
}

// A row of candidates grows from a seed at its end through all slabs; candidates at a corner of it do not.
TEST(GrowSeeds, ThroughFacesFromAnyRankMpi) {
  const std::uint8_t candidate = 2, solid = 1;
  for (const int end : {0, 10}) {
    LabelImage image({4, 4, 11}, solid);
    for (int z = 0; z < 11; ++z) image(1, 1, z) = candidate;
    image(1, 1, end) = pore_label;
    image(2, 2, 4) = image(2, 3, 4) = candidate;
    image(3, 0, 6) = 9;
    Slabs<std::uint8_t> labels = in_slabs(Comm::world(), image);
    const GrownSeeds grown = grow_seeds(Comm::world(), labels, candidate, solid);
    EXPECT_EQ(grown.grown, 10);
    expect_sum(grown.without_seed, 1, 2);
    LabelImage truth({4, 4, 11}, solid);
    for (int z = 0; z < 11; ++z) truth(1, 1, z) = pore_label;
    truth(3, 0, 6) = 9;
    EXPECT_TRUE(whole(Comm::world(), labels) == truth.values);
  }
}

// On random images: no pore is lost, no candidate is left, a second growth has nothing to do.
TEST(GrowSeeds, RandomImagesMpi) {
  for (const double p : {0.002, 0.02}) {
    LabelImage image = random_labels({14, 13, 12}, 0.35, 3, 1, 21);
    const LabelImage seeds = random_labels({14, 13, 12}, p, 1, 0, 22);
    for (std::size_t i = 0; i < seeds.values.size(); ++i)
      if (seeds.values[i] == 1) image.values[i] = pore_label;
    Slabs<std::uint8_t> labels = in_slabs(Comm::world(), image);
    const GrownSeeds grown = grow_seeds(Comm::world(), labels, 3, 5);
    const Values values = whole(Comm::world(), labels);
    EXPECT_GT(grown.grown, 0);
    EXPECT_GT(grown.without_seed.clusters, 0);
    EXPECT_EQ(pores(values), pores(image.values) + grown.grown);
    EXPECT_EQ(std::count(values.begin(), values.end(), 3), 0);
    EXPECT_EQ(std::count(values.begin(), values.end(), 5), grown.without_seed.voxels);
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_TRUE(image.values[i] != pore_label || values[i] == pore_label);
    const GrownSeeds again = grow_seeds(Comm::world(), labels, 3, 5);
    EXPECT_EQ(again.grown + again.without_seed.clusters, 0);
  }
}

TEST(GrowSeeds, ErrorsMpi) {
  Slabs<std::uint8_t> labels = in_slabs(Comm::world(), LabelImage({3, 3, 3}, 0));
  EXPECT_THROW(grow_seeds(Comm::world(), labels, 0, 1), Error);
  EXPECT_THROW(grow_seeds(Comm::world(), labels, 255, 1), Error);
  EXPECT_THROW(grow_seeds(Comm::world(), labels, 2, 0), Error);
  EXPECT_THROW(grow_seeds(Comm::world(), labels, 2, 255), Error);
}

}  // namespace
}  // namespace karst::clean_test
