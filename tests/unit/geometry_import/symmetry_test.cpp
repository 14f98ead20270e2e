// SPDX-License-Identifier: BSD-3-Clause
// A mirrored or turned image has the mirrored or turned wall: none of the 48 symmetries of the cube is preferred.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/math/triple.hpp"
#include "geometry_import/file/geometry_file.hpp"
#include "geometry_import/import.hpp"
#include "geometry_import/voxels/level_set.hpp"
#include "geometry_import/wall/wall_area.hpp"
#include "geometry_import/wall/wall_faces.hpp"
#include "image_generator/random_numbers.hpp"
#include "random_phases.hpp"
#include "support/image_files.hpp"
#include "support/shared_directory.hpp"

namespace karst::symmetry_test {
namespace {

/// Axis d of the new image is axis axes[d] of the old one, from its other end where flip[d].
struct Symmetry {
  std::array<int, 3> axes;
  std::array<bool, 3> flip;

  Index size(const Index& n) const { return {n[axes[0]], n[axes[1]], n[axes[2]]}; }
  template <class T>
  std::vector<T> applied(const Index& n, const std::vector<T>& values) const {
    const Index m = size(n);
    std::vector<T> out;
    out.reserve(values.size());
    for (int z = 0; z < m[2]; ++z)
      for (int y = 0; y < m[1]; ++y)
        for (int x = 0; x < m[0]; ++x) {
          const Index to{x, y, z};
          Index from;
          for (int d = 0; d < 3; ++d) from[axes[d]] = flip[d] ? m[d] - 1 - to[d] : to[d];
          out.push_back(values[(std::int64_t{from[2]} * n[1] + from[1]) * n[0] + from[0]]);
        }
    return out;
  }
};

std::vector<Symmetry> symmetries() {
  std::vector<Symmetry> all;
  std::array<int, 3> axes{0, 1, 2};
  do {
    for (unsigned m = 0; m < 8; ++m) all.push_back({axes, {(m & 1) != 0, (m & 2) != 0, (m & 4) != 0}});
  } while (std::ranges::next_permutation(axes).found);
  return all;
}

std::ostream& operator<<(std::ostream& out, const Symmetry& s) {
  for (int d = 0; d < 3; ++d) out << (s.flip[d] ? '-' : '+') << "xyz"[s.axes[d]];
  return out;
}

ImageWindow whole(const Index& n) { return {n, 0, n[2]}; }

/// Every voxel by itself: corners, edges and single voxels of all kinds.
std::vector<std::uint8_t> noise(const Index& n, std::uint64_t seed) {
  const RandomNumbers random(seed, 0);
  std::vector<std::uint8_t> phase(whole(n).count());
  for (std::size_t i = 0; i < phase.size(); ++i) phase[i] = random.uniform(i) < 0.5;
  return phase;
}

constexpr Index size{10, 12, 11};

// Equal bits: volumes that choose the shift, and signs that the flow sees, follow.
TEST(Symmetry, OfTheLevelSetOfASegmentedImage) {
  for (const std::vector<std::uint8_t>& phase : {noise(size, 3), random_phases(whole(size), 1.5, 0.4, 5)}) {
    std::vector<float> phi(phase.size()), turned_phi(phase.size());
    segmented_level_set(whole(size), phase, 1.0, 0.1F, whole(size), phi);
    for (const Symmetry& s : symmetries()) {
      const ImageWindow turned = whole(s.size(size));
      segmented_level_set(turned, s.applied(size, phase), 1.0, 0.1F, turned, turned_phi);
      ASSERT_TRUE(turned_phi == s.applied(size, phi)) << s;
    }
  }
}

TEST(Symmetry, OfVolumeAreaAndSlopeOfTheInterpolant) {
  for (const std::vector<std::uint8_t>& phase : {noise(size, 3), random_phases(whole(size), 1.5, 0.4, 5)}) {
    std::vector<float> phi(phase.size());
    segmented_level_set(whole(size), phase, 1.0, 0.1F, whole(size), phi);
    const WallSums sums = wall_sums(whole(size), phi, 0, size[2]);
    const double area = wall_area(whole(size), phi, 0, size[2]);
    const double slope = steepest_slope(whole(size), phi, 0, size[2]);
    for (const Symmetry& s : symmetries()) {
      const ImageWindow turned = whole(s.size(size));
      const std::vector<float> turned_phi = s.applied(size, phi);
      EXPECT_EQ(wall_sums(turned, turned_phi, 0, turned.last).pore_volume, sums.pore_volume) << s;
      EXPECT_NEAR(wall_area(turned, turned_phi, 0, turned.last) / area, 1, 1e-13) << s;
      EXPECT_EQ(steepest_slope(turned, turned_phi, 0, turned.last), slope) << s;
    }
  }
}

struct Imported {
  ImportReport report;
  std::vector<float> phi, distance;
};

template <class T>
Imported imported(const test::SharedDirectory& directory, ImportOptions o, const Index& n,
                  const std::vector<T>& values) {
  o.file = directory.path() + "/a.raw";
  o.size = n;
  o.voxel = 1e-6;
  test::write_raw(o.file, values);
  Imported i;
  i.report = import_image(Comm::self(), o, directory.path() + "/a.h5");
  i.phi.resize(values.size());
  i.distance.resize(values.size());
  const GeometryFile file(directory.path() + "/a.h5");
  file.read_block({}, n, i.phi.data());
  file.read_wall_distance({}, n, i.distance.data());
  return i;
}

/// φ, distances, volume, shift to the last bit; area, a sum of doubles, to round-off.
void expect_same(const Imported& a, const Imported& b, const Symmetry& s) {
  EXPECT_TRUE(s.applied(size, a.phi) == b.phi) << s;
  EXPECT_TRUE(s.applied(size, a.distance) == b.distance) << s;
  EXPECT_EQ(a.report.level_set_porosity, b.report.level_set_porosity) << s;
  EXPECT_EQ(a.report.shift, b.report.shift) << s;
  EXPECT_NEAR(a.report.wall_area / b.report.wall_area, 1, 1e-13) << s;
}

TEST(Symmetry, OfTheImport) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  ImportOptions segmented, fitted, threshold;
  segmented.type = VoxelType::uint8;
  segmented.pore = 1;
  fitted.type = threshold.type = VoxelType::uint16;
  threshold.threshold = 1000;
  const std::vector<std::uint8_t> phase = random_phases(whole(size), 1.5, 0.4, 5);
  std::vector<float> gray(phase.begin(), phase.end());
  gaussian(whole(size), 0.7, gray);
  const RandomNumbers random(7, 0);
  std::vector<std::uint16_t> image;
  for (std::size_t n = 0; n < gray.size(); ++n)
    image.push_back(static_cast<std::uint16_t>(1500 - 1000 * gray[n] + 50 * random.normal(n)));
  const Imported a = imported(directory, segmented, size, phase), b = imported(directory, threshold, size, image),
                 c = imported(directory, fitted, size, image);
  EXPECT_NE(a.report.shift, 0);
  EXPECT_TRUE(c.report.scan);
  const std::vector<Symmetry> all = symmetries();
  for (std::size_t n = 7; n < all.size(); n += 7) {  // each order of the axes, mirrors among them
    const Symmetry& s = all[n];
    const Index turned = s.size(size);
    expect_same(a, imported(directory, segmented, turned, s.applied(size, phase)), s);
    expect_same(b, imported(directory, threshold, turned, s.applied(size, image)), s);
    expect_same(c, imported(directory, fitted, turned, s.applied(size, image)), s);
  }
}

}  // namespace
}  // namespace karst::symmetry_test
