// SPDX-License-Identifier: BSD-3-Clause
// Walls of labels whose voxels are wider along z: a sphere and an inclined plane, whose distances are known.
#include "geometry_import/wall/file_voxels.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "geometry_import/prepare/prepare_resample.hpp"
#include "geometry_import/voxels/clusters.hpp"
#include "geometry_import/voxels/level_set.hpp"
#include "geometry_import/wall/wall_faces.hpp"

namespace karst::file_voxels_test {
namespace {

using Distance = std::function<double(const Vec3&)>;  // [cubes], > 0 in the pore

/// Labels of voxels `ratio` cubes wide along z, and what is made of them.
struct Stretched {
  Index cubes;
  SourceLattice lattice;
  ImageWindow voxels, all;
  std::vector<std::uint8_t> labels;  ///< of the voxels
  std::vector<float> phi;            ///< of the cubes

  Stretched(const Index& image, double ratio, const Distance& distance) : cubes(image) {
    const Index n{image[0], image[1], static_cast<int>(std::lround(image[2] / ratio))};
    Resampling r;
    for (int d = 0; d < 3; ++d) r[d] = resampling_shares(n[d], d == 2 ? 1 / ratio : 1.0, true);
    EXPECT_EQ(resampled_size(r), image);
    lattice = lattice_of(r, n, {1, 1, 1 / ratio});
    voxels = {n, 0, n[2]};
    all = {image, 0, image[2]};
    std::vector<std::uint8_t> phase;
    for (int z = 0; z < n[2]; ++z)
      for (int y = 0; y < n[1]; ++y)
        for (int x = 0; x < n[0]; ++x) phase.push_back(distance({x + 0.5, y + 0.5, (z + 0.5) * ratio}) > 0);
    for (const std::uint8_t p : phase) labels.push_back(p ? pore_label : 1);
    std::vector<float> of_voxels(voxels.count());
    segmented_level_set(voxels, phase, 1.0, 0.0F, voxels, of_voxels);
    phi.resize(all.count());
    level_set_at_cubes(lattice, voxels, of_voxels, all, phi);
  }
  /// f(centre, φ) of the cubes within a cube of the wall.
  void beside_wall(const Distance& distance, const std::function<void(double error)>& f) const {
    for (std::size_t n = 0; n < phi.size(); ++n) {
      const auto i = static_cast<int>(n);
      const Vec3 c{i % cubes[0] + 0.5, i / cubes[0] % cubes[1] + 0.5, i / cubes[0] / cubes[1] + 0.5};
      bool inside = true;
      for (int d = 0; d < 3; ++d) inside = inside && c[d] > 6 && c[d] < cubes[d] - 6;
      if (inside && std::abs(distance(c)) < 0.5) f(phi[n] - distance(c));
    }
  }
  double root_mean_square(const Distance& distance) const {
    double sum = 0, count = 0;
    beside_wall(distance, [&](double error) {
      sum += error * error;
      ++count;
    });
    EXPECT_GT(count, 50);
    return std::sqrt(sum / count);
  }
};

TEST(FileVoxels, ASphereKeepsItsVolumeAndItsWall) {
  for (const double ratio : {1.2, 1.5, 2.0}) {
    const Distance sphere = [](const Vec3& x) {
      return 12.3 - std::hypot(std::hypot(x[0] - 20.2, x[1] - 19.7), x[2] - 20.4);
    };
    const Stretched s({40, 40, 42}, ratio, sphere);
    const double volume = static_cast<double>(wall_sums(s.all, s.phi, 0, 42).pore_volume) / volume_parts;
    EXPECT_NEAR(volume / (4 * std::numbers::pi / 3 * std::pow(12.3, 3)), 1, 0.01) << ratio;
    EXPECT_LT(s.root_mean_square(sphere), 0.1 * (1 + ratio)) << ratio;
  }
}

TEST(FileVoxels, AnInclinedPlaneIsOne) {
  for (const Vec3& direction : {Vec3{0.31, 0.17, 1}, Vec3{1, 0.21, 0.93}, Vec3{0.8, -1, 0.63}})
    for (const double ratio : {1.5, 2.0}) {
      const Vec3 normal = direction * (1 / norm(direction));
      const Distance plane = [&](const Vec3& x) { return dot(normal, x - Vec3{20.1, 19.7, 20.3}); };
      const Stretched s({40, 40, 42}, ratio, plane);
      double mean = 0;
      int count = 0;
      s.beside_wall(plane, [&](double error) {
        mean += error;
        ++count;
      });
      EXPECT_NEAR(mean / count, 0, 0.02 * ratio) << ratio;
      EXPECT_LT(s.root_mean_square(plane), 0.19 * ratio) << ratio;  // stairs of whole voxels: 0.29 voxel
    }
}

// Across the wide axis, whatever the ratio: where the file has it, and a distance in cubes.
TEST(FileVoxels, AFlatWallStaysBetweenItsVoxels) {
  for (const double ratio : {1.2, 1.5, 1.9, 3.0}) {
    const Index cubes{4, 4, static_cast<int>(std::lround(20 * ratio))};
    const Stretched s(cubes, ratio, [&](const Vec3& x) { return x[2] - 7 * ratio; });
    for (int z = 0; z < cubes[2]; ++z) {
      const double wanted = z + 0.5 - 7 * ratio;
      if (std::abs(wanted) > 3) continue;
      EXPECT_NEAR(s.phi[16 * z], wanted, gray_margin + 1.0 / 8192) << ratio << ", plane " << z;
    }
  }
}

TEST(FileVoxels, LabelsHaveThePhasesOfTheLevelSetAndTheNamesOfTheirNeighbours) {
  const Distance plane = [](const Vec3& x) { return 0.8 * (x[2] - 18.3) + 0.6 * (x[0] - 14.1); };
  Stretched s({30, 16, 36}, 1.5, plane);
  for (std::size_t n = 0; n < s.labels.size(); ++n)
    if (s.labels[n] != pore_label) s.labels[n] = n / 30 % 16 < 8 ? 3 : 5;
  std::vector<std::uint8_t> labels;
  int changed = 0;
  for (int z = 0; z < 36; ++z)
    for (int i = 0; i < 30 * 16; ++i) labels.push_back(s.labels[static_cast<int>((z + 0.5) / 1.5) * 480 + i]);
  const std::vector<std::uint8_t> before = labels;
  labels[0] = outside_label;
  labels_as_level_set(s.lattice, s.voxels, s.labels, s.all, s.phi, labels);
  EXPECT_EQ(labels[0], outside_label);
  for (std::size_t n = 1; n < labels.size(); ++n) {
    ASSERT_EQ(labels[n] == pore_label, s.phi[n] > 0) << n;
    ASSERT_TRUE(labels[n] == pore_label || labels[n] == (n / 30 % 16 < 8 ? 3 : 5)) << n;
    changed += labels[n] != before[n];
  }
  EXPECT_GT(changed, 20);  // else there is nothing to see
}

// Layers of cubes get the values of the whole image.
// A voxel of 2 x 2 cubes that the rim of a cylinder cuts has the value of a cube inside, from whatever side it is cut.
TEST(FileVoxels, AVoxelOnTheRimHasTheValueOfItsCubesInside) {
  SourceLattice lattice;
  lattice.voxels = {2, 1, 1};
  lattice.ratio = {0.5, 0.5, 1};
  lattice.first_cube = {std::vector{0, 2}, std::vector{0}, std::vector{0}};
  const ImageWindow cubes{{4, 2, 1}, 0, 1}, voxels{{2, 1, 1}, 0, 1};
  constexpr std::uint8_t o = outside_label;
  const std::vector<std::uint8_t> labels{o, o, 7, o, o, 5, o, o}, far{o, o, o, 7, 5, o, o, o}, none(8, o);
  const std::vector<std::uint8_t> values{1, 2, 3, 4, 5, 6, 7, 8};
  const auto of = [&](const std::vector<std::uint8_t>& l) {
    const Array<std::uint8_t> all = at_voxels(lattice, cubes, l, values, voxels);
    return std::vector<int>{all[0], all[1]};
  };
  EXPECT_EQ(of(labels), (std::vector{6, 3}));
  EXPECT_EQ(of(far), (std::vector{5, 4}));
  EXPECT_EQ(of(none), (std::vector{1, 3}));
}

TEST(FileVoxels, ALayerGivesTheValuesOfTheWholeImage) {
  const Distance sphere = [](const Vec3& x) { return std::hypot(std::hypot(x[0] - 9, x[1] - 8), x[2] - 31) - 7.2; };
  const Stretched s({18, 16, 60}, 1.5, sphere);
  std::vector<std::uint8_t> of_cubes;
  for (int z = 0; z < 60; ++z)
    for (int i = 0; i < 18 * 16; ++i)
      of_cubes.push_back(s.labels[static_cast<int>((z + 0.5) / 1.5) * 288 + i] == pore_label ? 1 : 0);
  for (const int first : {0, 20, 25, 47}) {
    const ImageWindow layer{s.cubes, first, std::min(60, first + 13)}, near = voxels_around(s.lattice, layer);
    const ImageWindow wide = near.grown(segmented_reach(1.0)), cubes = cubes_of(s.lattice, s.cubes, wide);
    const auto part = std::span<const std::uint8_t>(of_cubes).subspan(cubes.first * 288, cubes.count());
    const Array<std::uint8_t> phase = at_voxels(s.lattice, cubes, part, part, wide);
    std::vector<float> of_voxels(near.count()), phi(layer.count());
    segmented_level_set(wide, phase.span(), 1.0, 0.0F, near, of_voxels);
    level_set_at_cubes(s.lattice, near, of_voxels, layer, phi);
    for (std::size_t n = 0; n < phi.size(); ++n) ASSERT_EQ(phi[n], s.phi[first * 288 + n]) << first << ' ' << n;
  }
}

}  // namespace
}  // namespace karst::file_voxels_test
