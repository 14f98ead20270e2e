// SPDX-License-Identifier: BSD-3-Clause
// What the pictures of a report show is what the voxels hold, for any number of ranks.
#include "geometry_import/voxels/report_pictures.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "geometry_import/report/slice_pictures.hpp"

namespace karst::report_pictures_test {
namespace {

double gray_of(int x, int y, int z) { return 3.0 * x + 100 * std::sin(0.3 * y) + 5 * z; }
float phi_of(int x, int y, int z) {
  return static_cast<float>(std::round(4096 * 8 * std::sin(0.11 * x + 0.2 * y + 0.13 * z)) / 4096);
}
std::uint8_t segmented_of(int x, int y, int z) { return static_cast<std::uint8_t>((x / 3 + y / 2 + z / 5) % 4); }
/// Cleaning turned some voxels of label 3 into pore.
std::uint8_t label_of(int x, int y, int z) {
  const std::uint8_t label = segmented_of(x, y, z);
  return label == 3 && (x + y + z) % 7 == 0 ? 0 : label;
}

template <class T, class F>
std::vector<T> filled(const ImageWindow& layer, F&& value) {
  std::vector<T> values;
  for (int z = layer.first; z < layer.last; ++z)
    for (int y = 0; y < layer.image[1]; ++y)
      for (int x = 0; x < layer.image[0]; ++x) values.push_back(static_cast<T>(value(x, y, z)));
  return values;
}

PictureData pictures_of(const Comm& comm, const Index& voxels) {
  ReportPictures pictures(voxels);
  for (int first = 32 * comm.rank(); first < voxels[2]; first += 32 * comm.size()) {
    const ImageWindow layer{voxels, first, std::min(first + 32, voxels[2])};
    pictures.add_gray(layer, filled<float>(layer, gray_of));
    pictures.add_segmented(layer, filled<std::uint8_t>(layer, segmented_of));
    pictures.add_labels(layer, filled<std::uint8_t>(layer, label_of));
    pictures.add_level_set(layer, filled<float>(layer, phi_of));
  }
  return pictures.gather(comm);
}

Index voxel_of(const ImageSlice& s, int right, int down) {
  if (s.axis == 0) return {s.plane, right, down};
  if (s.axis == 1) return {right, s.plane, down};
  return {right, down, s.plane};
}

TEST(ReportPicturesMpi, RanksDoNotMatter) {
  const Comm comm = Comm::world();
  for (const Index& voxels : {Index{37, 41, 70}, Index{400, 6, 70}, Index{600, 6, 70}}) {
    const PictureData p = pictures_of(comm, voxels);
    if (comm.rank() != 0) {
      EXPECT_TRUE(p.coarse.values.empty() && p.slices[0].gray.empty());
      continue;
    }
    const PictureData alone = pictures_of(Comm::self(), voxels);
    EXPECT_EQ(p.coarse.values, alone.coarse.values);
    EXPECT_EQ(p.black, alone.black);
    EXPECT_EQ(p.white, alone.white);
    for (std::size_t d = 0; d < 3; ++d) {
      EXPECT_EQ(p.slices[d].gray, alone.slices[d].gray);
      EXPECT_EQ(p.slices[d].labels, alone.slices[d].labels);
      EXPECT_EQ(p.slices[d].changed, alone.slices[d].changed);
      EXPECT_EQ(p.slices[d].phi, alone.slices[d].phi);
    }
  }
}

TEST(ReportPictures, SlicesHoldTheVoxelsOfTheMiddlePlanes) {
  const Index voxels{37, 41, 70};
  const PictureData p = pictures_of(Comm::self(), voxels);
  EXPECT_EQ(p.block, 1);
  for (const ImageSlice& s : p.slices) {
    EXPECT_EQ(s.plane, voxels[s.axis] / 2);
    EXPECT_EQ(s.nx, voxels[s.axis == 0 ? 1 : 0]);
    EXPECT_EQ(s.ny, voxels[s.axis == 2 ? 1 : 2]);
    for (int j = 0; j < s.ny; ++j)
      for (int i = 0; i < s.nx; ++i) {
        const Index v = voxel_of(s, i, j);
        const std::size_t n = j * s.nx + i;
        ASSERT_EQ(s.labels[n], label_of(v[0], v[1], v[2]));
        ASSERT_EQ(s.changed[n], label_of(v[0], v[1], v[2]) != segmented_of(v[0], v[1], v[2]));
        ASSERT_EQ(s.phi[n], phi_of(v[0], v[1], v[2]));
        const double g = (gray_of(v[0], v[1], v[2]) - p.black) / (p.white - p.black);
        ASSERT_NEAR(s.gray[n], 255 * std::clamp(g, 0.0, 1.0), 0.51);
      }
  }
  for (int z = 0; z < 70; z += 9) EXPECT_EQ(p.coarse.values[(z * 41 + 7) * 37 + 5], phi_of(5, 7, z));
}

TEST(ReportPictures, LargeImagesAreMadeCoarser) {
  const Index voxels{600, 6, 70};
  const PictureData p = pictures_of(Comm::self(), voxels);
  EXPECT_EQ(p.block, 4);
  EXPECT_EQ(p.coarse.size, (Index{150, 2, 18}));
  const auto mean_of = [&](int x, int y, int z) {  // of the cube, as far as the image reaches
    double sum = 0;
    int n = 0;
    for (int k = 4 * z; k < std::min(4 * z + 4, 70); ++k)
      for (int j = 4 * y; j < std::min(4 * y + 4, 6); ++j)
        for (int i = 4 * x; i < 4 * x + 4; ++i) sum += static_cast<double>(phi_of(i, j, k)), ++n;
    return sum / n / 4;
  };
  for (const Index& c : {Index{0, 0, 0}, Index{149, 1, 17}, Index{70, 0, 8}})
    EXPECT_NEAR(p.coarse.values[(c[2] * 2 + c[1]) * 150 + c[0]], mean_of(c[0], c[1], c[2]), 1e-6);
  const ImageSlice& s = p.slices[2];
  EXPECT_EQ(s.step, 2);
  EXPECT_EQ(s.nx, 300);
  EXPECT_EQ(s.ny, 3);
  const int x = 60, y = 5, z = 35;  // the pixel (30, 2) has voxels 60, 61 and 4, 5
  EXPECT_EQ(s.labels[2 * 300 + 30], label_of(x + 1, y, z));
  bool changed = false;
  double gray = 0;
  for (const int i : {60, 61})
    for (const int j : {4, 5}) {
      changed = changed || label_of(i, j, z) != segmented_of(i, j, z);
      gray += 0.25 * gray_of(i, j, z);
    }
  EXPECT_EQ(s.changed[2 * 300 + 30], changed);
  EXPECT_NEAR(s.gray[2 * 300 + 30], 255 * std::clamp((gray - p.black) / (p.white - p.black), 0.0, 1.0), 0.51);
}

// 1 of 100 values of the sample is an outlier at either end; what is outside of the sample does not count.
TEST(ReportPictures, OutliersAndTheOutsideDoNotSetTheScale) {
  const Index voxels{40, 40, 40};
  const ImageWindow layer{voxels, 0, 40};
  ReportPictures pictures(voxels);
  const auto outside = [](int x, int, int) { return x < 8; };
  pictures.add_gray(layer, filled<float>(layer, [&](int x, int y, int z) {
                      const int n = (x + 40 * y + 1600 * z) % 1009;
                      return outside(x, y, z) ? -5000 : n == 0 ? 1e6 : n == 500 ? -1e6 : n % 100;
                    }));
  pictures.add_labels(layer,
                      filled<std::uint8_t>(layer, [&](int x, int y, int z) { return outside(x, y, z) ? 255 : 1; }));
  const PictureData p = pictures.gather(Comm::self());
  EXPECT_GE(p.black, 0);
  EXPECT_LE(p.black, 2);
  EXPECT_GE(p.white, 97);
  EXPECT_LE(p.white, 99);
  EXPECT_TRUE(p.slices[0].changed.empty()) << "nobody told what was there before cleaning";
  EXPECT_TRUE(p.coarse.values.empty());
}

TEST(SlicePictures, ShowLabelsAndChanges) {
  ImageSlice s;
  s.nx = 2;
  s.ny = 2;
  s.labels = {0, 1, 2, 255};
  s.changed = {0, 0, 1, 0};
  s.gray = {0, 60, 120, 255};
  const Picture labels = label_picture(s), gray = gray_picture(s);
  const auto at = [&](int x, int y) {
    return Rgb{labels.pixel(x, y)[0], labels.pixel(x, y)[1], labels.pixel(x, y)[2]};
  };
  EXPECT_EQ(at(0, 0), label_colour(0));
  EXPECT_EQ(at(1, 0), label_colour(1));
  EXPECT_EQ(at(0, 1), changed_colour);
  EXPECT_EQ(at(1, 1), outside_colour);
  EXPECT_EQ(gray.values, s.gray);
  EXPECT_TRUE(label_picture({}).empty() && gray_picture({}).empty() && wall_picture({}).empty());
}

TEST(SlicePictures, ColoursOfPhasesDiffer) {
  for (int a = 0; a < 8; ++a)
    for (int b = 0; b < a; ++b) EXPECT_NE(label_colour(a), label_colour(b));
  EXPECT_EQ(label_colour(1), label_colour(9)) << "in turn";
}

// A circle of radius 9 pixels: the line is where it is, and 2 π r times its width long.
TEST(SlicePictures, TheWallIsTheZeroLine) {
  ImageSlice s;
  s.nx = s.ny = 32;
  for (int y = 0; y < 32; ++y)
    for (int x = 0; x < 32; ++x) s.phi.push_back(static_cast<float>(9 - std::hypot(x + 0.5 - 16, y + 0.5 - 16)));
  const Picture wall = wall_picture(s);
  ASSERT_EQ(wall.width, 640);
  double drawn = 0;
  for (int y = 0; y < 640; ++y)
    for (int x = 0; x < 640; ++x) {
      const double cover = wall.pixel(x, y)[3] / 255.0;
      drawn += cover;
      if (cover > 0) {
        ASSERT_NEAR(std::hypot(x + 0.5 - 320, y + 0.5 - 320), 180, 2.5) << x << " " << y;
      }
    }
  EXPECT_NEAR(drawn / (2 * 3.14159265 * 180 * 2.6), 1, 0.03);
}

}  // namespace
}  // namespace karst::report_pictures_test
