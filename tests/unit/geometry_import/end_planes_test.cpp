// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/file/end_planes.hpp"

#include <gtest/gtest.h>

#include "geometry_import/import.hpp"
#include "image_generator/packing.hpp"
#include "image_generator/rock.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::end_planes_test {
namespace {

/// Imports labels (0 pore) of these voxels, x fastest.
GeometryFile imported(const test::SharedDirectory& directory, const Index& size,
                      const std::function<bool(const Index&)>& is_solid) {
  std::vector<std::uint8_t> phase;
  for (int z = 0; z < size[2]; ++z)
    for (int y = 0; y < size[1]; ++y)
      for (int x = 0; x < size[0]; ++x) phase.push_back(is_solid({x, y, z}) ? 1 : 0);
  ImportOptions o;
  o.file = directory.path() + "/a.raw";
  test::write_raw(o.file, phase);
  o.size = size;
  o.type = VoxelType::uint8;
  o.voxel = 1e-6;
  o.pore = 0;
  import_image(Comm::self(), o, directory.path() + "/a.h5");
  return GeometryFile(directory.path() + "/a.h5");
}

// A duct of 4 x 4 of 8 x 8 voxels along z that jumps by two voxels along x half way: its ends differ by two columns of
// 4 voxels each, its neighbouring planes near the ends not at all.
TEST(EndPlanes, AJumpOfADuctIsMeasured) {
  const test::SharedDirectory directory(Comm::self());
  const GeometryFile file = imported(directory, {8, 8, 12}, [](const Index& v) {
    const int x = v[0] - (v[2] < 6 ? 0 : 2);
    return x < 1 || x > 4 || v[1] < 2 || v[1] > 5;
  });
  const EndPlanes z = compare_ends(file, 2);
  EXPECT_DOUBLE_EQ(z.differ, 16.0 / 64);
  EXPECT_EQ(z.inside, 0.0);
  EXPECT_DOUBLE_EQ(z.unrelated, 2 * 0.25 * 0.75);
  EXPECT_FALSE(ends_match(z));
  const EndPlanes y = compare_ends(file, 1);  // both ends solid; the duct begins at the third plane
  EXPECT_EQ(y.differ, 0.0);
  EXPECT_DOUBLE_EQ(y.inside, (48.0 / 96) / 3);
  EXPECT_TRUE(ends_match(y));
}

TEST(EndPlanes, TwoPlanesAreEnough) {
  const test::SharedDirectory directory(Comm::self());
  const GeometryFile file = imported(directory, {8, 4, 2}, [](const Index& v) { return v[0] < 4 + v[2]; });
  EXPECT_EQ(compare_ends(file, 1).differ, 0.0);
  EXPECT_DOUBLE_EQ(compare_ends(file, 2).differ, 1.0 / 8);
  EXPECT_DOUBLE_EQ(compare_ends(file, 2).inside, 1.0 / 8);
}

// Packings repeat themselves; the lower two thirds of one do not.
TEST(EndPlanes, PackingsMatchAndPartsOfThemDoNot) {
  const test::SharedDirectory directory(Comm::self());
  const Index size{36, 36, 36};
  for (const int seed : {1, 2}) {
    const std::vector<float> solid =
        solid_fraction(size, random_packing({size, 6, 0.4, static_cast<std::uint64_t>(seed)}));
    const auto at = [&](const Index& v) { return solid[(v[2] * 36 + v[1]) * 36 + v[0]] > 0.5F; };
    const GeometryFile whole = imported(directory, size, at);
    for (int d = 0; d < 3; ++d) EXPECT_TRUE(ends_match(compare_ends(whole, d))) << seed << d;
    const GeometryFile part = imported(directory, {24, 24, 24}, at);
    for (int d = 0; d < 3; ++d) {
      const EndPlanes planes = compare_ends(part, d);
      EXPECT_FALSE(ends_match(planes)) << seed << d << ' ' << planes.differ << ' ' << planes.inside;
    }
  }
}

}  // namespace
}  // namespace karst::end_planes_test
