// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/voxel_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "image_generator/packing.hpp"
#include "random_phases.hpp"
#include "support/image_files.hpp"

namespace karst::voxel_order_test {
namespace {

using Values = std::vector<std::uint8_t>;

class VoxelOrder : public test::ImageFolder {
 protected:
  /// The doubt about voxels written in the order of one size and read with another; empty: none.
  template <class T>
  std::string doubt(const std::vector<T>& values, const Index& read_as, VoxelType type, bool big_endian = false) {
    test::write_raw(path("a.raw"), values);
    return doubt_about_layout(*open_image(path("a.raw"), RawLayout{read_as, type, big_endian, 0}), big_endian);
  }
  std::string doubt(const Values& values, const Index& read_as) { return doubt(values, read_as, VoxelType::uint8); }
};

Values packing(const Index& size, double radius) {
  Values v;
  for (const float f : solid_fraction(size, random_packing({size, radius, 0.4, 3}))) v.push_back(f > 0.5F);
  return v;
}

Values from(const Index& n, const std::function<bool(int, int, int)>& is_solid) {
  Values v;
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x) v.push_back(is_solid(x, y, z) ? 1 : 0);
  return v;
}

ImageWindow whole(const Index& n) { return {n, 0, n[2]}; }

std::vector<Index> permutations(Index n) {
  std::ranges::sort(n.v);
  std::vector<Index> all;
  do all.push_back(n);
  while (std::ranges::next_permutation(n.v).found);
  return all;
}

std::string told(const Index& n) {
  return "`size = " + std::to_string(n[0]) + "x" + std::to_string(n[1]) + "x" + std::to_string(n[2]) + "`";
}

// A periodic packing, whose rows do not end with a jump, with sizes in each of the five wrong orders.
TEST_F(VoxelOrder, SizesInAnotherOrderAreSeen) {
  const Index right{56, 48, 40};
  const Values voxels = packing(right, 5);
  for (const Index& n : permutations(right)) {
    const std::string found = doubt(voxels, n);
    EXPECT_EQ(test::has(found, told(right)), n != right) << told(n) << ": " << found;
    EXPECT_EQ(found.empty(), n == right) << found;
  }
}

// Random phases that are no period, two sizes of which differ little; the share of two of them is twice another.
TEST_F(VoxelOrder, NearlyEqualSizesAndMultiplesToo) {
  for (const Index& right : {Index{64, 32, 36}, Index{48, 40, 44}, Index{32, 64, 48}}) {
    const Values voxels = random_phases(whole(right), 2.0, 0.4, 5);
    for (const Index& n : permutations(right)) {
      const std::string found = doubt(voxels, n);
      EXPECT_EQ(test::has(found, told(right)), n != right) << told(right) << " as " << told(n) << ": " << found;
      EXPECT_EQ(found.empty(), n == right) << found;
    }
  }
}

// Nothing is said of media in which steps over several rows lead to more alike voxels than neighbours are: layers,
// plates that stand along an axis, fibres, a duct, checks of one voxel, noise.
TEST_F(VoxelOrder, NothingIsSaidOfLayersAndFibres) {
  const auto hash = [](int a, int b) { return (a * 7919 + b * 104729 + a * b * 31) % 97 < 40; };
  for (const Index& n : {Index{140, 120, 20}, Index{48, 100, 12}}) {
    std::vector<std::pair<const char*, Values>> all;
    all.emplace_back("layers", from(n, [&](int, int, int z) { return hash(z / 3, 1); }));
    all.emplace_back("plates across y", from(n, [&](int, int y, int) { return hash(y / 3, 1); }));
    all.emplace_back("plates across x", from(n, [&](int x, int, int) { return hash(x / 3, 1); }));
    all.emplace_back("rods along y", from(n, [&](int x, int, int z) { return hash(x / 2, z / 3); }));
    all.emplace_back("rods along x", from(n, [&](int, int y, int z) { return hash(y / 3, z / 2); }));
    all.emplace_back("rods along z", from(n, [&](int x, int y, int) { return hash(x / 3, y / 2); }));
    all.emplace_back("duct", from(n, [&](int, int y, int z) { return std::abs(y - n[1] / 2) > 6 || z < 3; }));
    all.emplace_back("checks", from(n, [&](int x, int y, int z) { return (x + y + z) % 2 == 0; }));
    all.emplace_back("grooves", from(n, [&](int x, int y, int z) { return z > n[2] / 2 + (x / 3 + y / 7) % 2; }));
    all.emplace_back("inclined", from(n, [&](int x, int y, int z) { return hash((x + y + 2 * z) / 3, 5); }));
    all.emplace_back("noise", from(n, [&](int x, int y, int z) { return hash(x + 131 * y, z + 17 * x); }));
    for (const auto& [what, voxels] : all) EXPECT_EQ(doubt(voxels, n), "") << what << ", " << told(n);
  }
}

// Phases stretched 6 times along x, and along z, in the right order; stretched along x in a wrong one.
TEST_F(VoxelOrder, StretchedMediaAreTakenAsTheyAre) {
  const Index n{96, 40, 36};
  const Values fine = random_phases(whole({16, 40, 36}), 1.0, 0.5, 3);
  const Values along_x = from(n, [&](int x, int y, int z) { return fine[x / 6 + 16 * (y + 40 * z)] != 0; });
  EXPECT_EQ(doubt(along_x, n), "");
  EXPECT_TRUE(test::has(doubt(along_x, {40, 96, 36}), told(n)));
  const Index m{36, 40, 96};
  EXPECT_EQ(doubt(from(m, [&](int x, int y, int z) { return fine[z / 6 + 16 * (y + 40 * x)] != 0; }), m), "");
}

// Values of 2 and 4 bytes read as more voxels of fewer bytes: labels, noisy gray values, along x and in planes; the
// same of the right type, and plates of one voxel, which repeat as well.
TEST_F(VoxelOrder, PartsOfWiderValuesAreSeen) {
  const Index n{32, 28, 24};
  const Values phase = random_phases(whole(n), 2.0, 0.4, 7);
  const RandomNumbers random(1, 1);
  std::vector<std::uint16_t> gray;
  std::vector<float> real;
  std::vector<std::int32_t> labels;
  for (std::size_t i = 0; i < phase.size(); ++i) {
    real.push_back(static_cast<float>(9000 + 20000 * phase[i] + 900 * random.normal(static_cast<std::int64_t>(i))));
    gray.push_back(static_cast<std::uint16_t>(real.back()));
    labels.push_back(phase[i]);
  }
  const std::string two = "`type = uint16`", four = "`type = float32`";
  EXPECT_TRUE(test::has(doubt(gray, {32, 28, 48}, VoxelType::uint8), two));
  EXPECT_TRUE(test::has(doubt(gray, {64, 28, 24}, VoxelType::uint8), two));
  EXPECT_TRUE(
      test::has(doubt(std::vector<std::uint16_t>(phase.begin(), phase.end()), {32, 28, 48}, VoxelType::uint8), two));
  EXPECT_TRUE(test::has(doubt(real, {32, 28, 96}, VoxelType::uint8), four));
  EXPECT_TRUE(test::has(doubt(real, {32, 28, 48}, VoxelType::uint16), four));
  EXPECT_TRUE(test::has(doubt(labels, {32, 28, 48}, VoxelType::uint16), four));
  EXPECT_EQ(doubt(gray, n, VoxelType::uint16), "");
  EXPECT_EQ(doubt(phase, n), "");
  EXPECT_EQ(doubt(from(n, [](int x, int, int) { return x % 2 == 0; }), n), "");
}

// Gray values 1000 ± 200 and noise of 40 as 16 bits, in the other byte order.
TEST_F(VoxelOrder, ExchangedBytesAreSeen) {
  const Index n{32, 28, 24};
  const Values phase = random_phases(whole(n), 2.0, 0.4, 7);
  const RandomNumbers random(1, 1);
  std::vector<std::uint16_t> gray;
  for (std::size_t i = 0; i < phase.size(); ++i)
    gray.push_back(
        static_cast<std::uint16_t>(1000 + 400 * phase[i] + 40 * random.normal(static_cast<std::int64_t>(i))));
  EXPECT_EQ(doubt(gray, n, VoxelType::uint16), "");
  EXPECT_TRUE(test::has(doubt(gray, n, VoxelType::uint16, true), "`endian = little`"));
  for (std::uint16_t& g : gray) g = static_cast<std::uint16_t>(g << 8U | g >> 8U);
  EXPECT_TRUE(test::has(doubt(gray, n, VoxelType::uint16), "`endian = big`"));
}

// Labels and gray values of one byte, read as half as many of two.
TEST_F(VoxelOrder, TwoVoxelsInOneAreSeen) {
  const Index n{32, 28, 24};
  const Values phase = random_phases(whole(n), 2.0, 0.4, 7);
  EXPECT_TRUE(test::has(doubt(phase, {32, 28, 12}, VoxelType::uint16), "`type = uint8`"));
  EXPECT_TRUE(test::has(doubt(phase, {16, 28, 24}, VoxelType::int16), "`type = uint8`"));
  const std::vector<std::uint16_t> labels(phase.begin(), phase.end());
  EXPECT_EQ(doubt(labels, n, VoxelType::uint16), "");
}

// 40 of 48 rows behind 8 rows of a header that are none: no order of the sizes is right.
TEST_F(VoxelOrder, ShearedImagesAreSeen) {
  const Index n{56, 48, 40};
  Values voxels = packing(n, 5);
  EXPECT_TRUE(test::has(doubt(voxels, {48, 56, 40}), told(n)));
  voxels.resize(56 * 40 * 40);
  const std::string found = doubt(voxels, {56, 40, 40});
  EXPECT_TRUE(test::has(found, "are `size`, `type` and `skip_bytes` right?")) << found;
}

// A plane, and a row, have one order.
TEST_F(VoxelOrder, PlanesAndRows) {
  const Values voxels = packing({120, 100, 28}, 7);
  const Values plane(voxels.begin(), voxels.begin() + 120 * 100);
  EXPECT_EQ(doubt(plane, {120, 100, 1}), "");
  EXPECT_TRUE(test::has(doubt(plane, {100, 120, 1}), told({120, 100, 1})));
  EXPECT_EQ(doubt(Values(100, 1), {100, 1, 1}), "");
  EXPECT_EQ(doubt(Values(64, 1), {4, 2, 8}), "") << "a single value";
}

}  // namespace
}  // namespace karst::voxel_order_test
