// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/prepare/prepare.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "geometry_import/prepare/prepare_denoise.hpp"
#include "geometry_import/prepare/prepare_resample.hpp"
#include "geometry_import/prepare/prepare_trend.hpp"
#include "geometry_import/prepare/prepare_view.hpp"
#include "geometry_import/voxels/level_set.hpp"
#include "image_generator/random_numbers.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::prepare_test {
namespace {

using test::error_of;
using test::has;

/// An image in memory.
class Values : public ImageFile {
 public:
  Values(const Index& size, std::vector<float> values) : ImageFile(described(size)), values_(std::move(values)) {}
  static ImageInfo described(const Index& size) {
    ImageInfo info;
    info.path = "image";
    info.size = size;
    info.type = VoxelType::float32;
    return info;
  }

 private:
  void load_plane(int z, std::span<float> values) override {
    std::copy_n(values_.begin() + z * std::ssize(values), values.size(), values.begin());
  }
  std::vector<float> values_;
};

std::size_t count(const Index& n) {
  return static_cast<std::size_t>(n[0]) * static_cast<std::size_t>(n[1]) * static_cast<std::size_t>(n[2]);
}

template <class F>
std::vector<float> filled(const Index& n, F&& f) {
  std::vector<float> v;
  for (int k = 0; k < n[2]; ++k)
    for (int j = 0; j < n[1]; ++j)
      for (int i = 0; i < n[0]; ++i) v.push_back(static_cast<float>(f(i, j, k)));
  return v;
}

std::vector<float> all_values(ImageFile& image) {
  const Index n = image.info().size;
  std::vector<float> values(count(n));
  const std::size_t plane = values.size() / static_cast<std::size_t>(n[2]);
  for (int z = 0; z < n[2]; ++z)
    image.read_plane(z, std::span(values).subspan(static_cast<std::size_t>(z) * plane, plane));
  return values;
}

/// A value that tells where it came from.
double place(int i, int j, int k) { return i + 100 * j + 10000 * k; }

class Prepare : public testing::Test {
 protected:
  PreparedImage prepared(const Index& n, std::vector<float> values, const PrepareOptions& o, bool labels = false,
                         const Vec3& spacing = Vec3::all(1)) {
    return prepare(comm_, std::make_unique<Values>(n, std::move(values)), spacing, o,
                   labels ? std::optional(0.0) : std::nullopt, directory_.path() + "/a");
  }
  bool nothing_left() const { return std::filesystem::is_empty(directory_.path()); }

 private:
  Comm comm_ = Comm::self();
  test::SharedDirectory directory_{comm_};
};

TEST_F(Prepare, NothingAskedForHandsTheImageBack) {
  auto image = std::make_unique<Values>(Index{2, 2, 2}, std::vector<float>(8, 1));
  const ImageFile* same = image.get();
  const PreparedImage p = prepare(Comm::self(), std::move(image), Vec3::all(2e-6), {}, {}, "/nowhere/a");
  EXPECT_EQ(p.image.get(), same);
  EXPECT_EQ(p.voxel, 2e-6);
  EXPECT_TRUE(p.steps.empty());
}

// Every order of axes, flipped and cropped: each voxel is the one it should be; slabs of any size give the same.
TEST(PrepareView, CropFlipAndAxesMoveEveryVoxelToItsPlace) {
  const Index n{7, 6, 5};
  for (const Index& axes :
       {Index{0, 1, 2}, Index{0, 2, 1}, Index{1, 0, 2}, Index{1, 2, 0}, Index{2, 0, 1}, Index{2, 1, 0}})
    for (const int flips : {0, 1, 2, 4, 7})
      for (const std::int64_t slab : {std::int64_t{1}, std::int64_t{200}, view_slab_bytes}) {
        Orientation o{{1, 2, 0}, {7, 5, 4}, {(flips & 1) != 0, (flips & 2) != 0, (flips & 4) != 0}, axes};
        const auto image = oriented(std::make_unique<Values>(n, filled(n, place)), o, slab);
        const auto expected = filled(image->info().size, [&](int i, int j, int k) {
          const Index view{i, j, k};
          Index file;
          for (int d = 0; d < 3; ++d) {
            const int a = axes[d];
            file[a] = o.flip[a] ? o.high[a] - 1 - view[d] : o.low[a] + view[d];
          }
          return place(file[0], file[1], file[2]);
        });
        ASSERT_TRUE(all_values(*image) == expected) << axes[0] << axes[1] << axes[2] << " " << flips << " " << slab;
      }
}

TEST_F(Prepare, AxesTurnTheSpacingAndWhatIsKeptInScratchIsExact) {
  PrepareOptions o;
  o.axes = {2, 1, 0};
  o.flip = {true, false, false};
  const Index n{40, 3, 2};
  const PreparedImage p = prepared(n, filled(n, place), o);
  EXPECT_EQ(p.image->info().size, (Index{2, 3, 40}));
  EXPECT_TRUE(all_values(*p.image) == filled({2, 3, 40}, [](int i, int j, int k) { return place(39 - k, j, i); }));
  EXPECT_EQ(p.steps.size(), 2U);
  EXPECT_TRUE(nothing_left());
  o.resample = 1;
  const PreparedImage cubes = prepared(n, filled(n, place), o, false, {1, 2, 4});
  EXPECT_EQ(cubes.image->info().size, (Index{8, 6, 40}));
}

TEST_F(Prepare, ResamplingToTheSameWidthIsExact) {
  PrepareOptions o;
  o.resample = 3e-6;
  const Index n{5, 4, 33};
  const auto values = filled(n, [](int i, int j, int k) { return std::sin(i + 2.0 * j + 3.7 * k); });
  const PreparedImage p = prepared(n, values, o, false, Vec3::all(3e-6));
  EXPECT_TRUE(all_values(*p.image) == values);
}

// g = x + 2 y - 3 z (of the voxel centres, in old voxels) stays so where no end is near.
TEST_F(Prepare, LinearFieldsStayExactUnderResampling) {
  const Index n{24, 30, 36};
  const auto field = [](double x, double y, double z) { return x + 2 * y - 3 * z; };
  const auto values = filled(n, [&](int i, int j, int k) { return field(i + 0.5, j + 0.5, k + 0.5); });
  for (const double w : {0.5, 0.7, 0.999, 1.001, 1.5, 2.0, 3.3}) {
    PrepareOptions o;
    o.resample = w;
    const PreparedImage p = prepared(n, values, o);
    const Index m = p.image->info().size;
    const std::vector<float> made = all_values(*p.image);
    std::size_t at = 0;
    for (int k = 0; k < m[2]; ++k)
      for (int j = 0; j < m[1]; ++j)
        for (int i = 0; i < m[0]; ++i, ++at) {
          bool inner = true;
          const Index v{i, j, k};
          for (int d = 0; d < 3; ++d) inner = inner && v[d] * w > 0.5 && (v[d] + 1) * w < n[d] - 0.5;
          if (!inner) continue;
          ASSERT_NEAR(made[at], field((i + 0.5) * w, (j + 0.5) * w, (k + 0.5) * w), 2e-5) << w;
        }
  }
}

// The mean, so the porosity, is kept to round-off when the new voxels fill the image.
TEST_F(Prepare, CoarseningKeepsTheMean) {
  const RandomNumbers random(1, 0);
  const Index n{30, 24, 18};
  std::size_t at = 0;
  const auto values = filled(n, [&](int, int, int) { return random.normal(at++) > 0 ? 1 : 0; });
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (const double w : {1.2, 1.5, 2.0, 6.0}) {
    PrepareOptions o;
    o.resample = w;
    const std::vector<float> made = all_values(*prepared(n, values, o).image);
    EXPECT_NEAR(std::accumulate(made.begin(), made.end(), 0.0) / static_cast<double>(made.size()), mean, 1e-6) << w;
  }
}

TEST_F(Prepare, DifferentWidthsBecomeTheSmallest) {
  const Index n{4, 4, 4};
  const PreparedImage p = prepared(n, filled(n, place), {}, false, {1, 2, 0.5});
  EXPECT_EQ(p.image->info().size, (Index{8, 16, 4}));
  EXPECT_EQ(p.voxel, 0.5);
  ASSERT_EQ(p.steps.size(), 1U);
  EXPECT_TRUE(has(p.steps[0], "4 x 4 x 4 voxels of 1 x 2 x 0.5 m to 8 x 16 x 4 of 0.5 m")) << p.steps[0];
}

TEST_F(Prepare, LabelsAreNeverMixed) {
  const Index n{6, 6, 6};
  const auto values = filled(n, [](int i, int j, int) { return i < 4 ? 7 : j < 3 ? 1 : 200; });
  PrepareOptions o;
  o.resample = 0.5;
  EXPECT_TRUE(all_values(*prepared(n, values, o, true).image) == filled(Index::all(12), [](int i, int j, int) {
                return i < 8 ? 7 : j < 6 ? 1 : 200;
              }));
  o.resample = 3;  // second column: one layer of 7, two of the others
  EXPECT_TRUE(all_values(*prepared(n, values, o, true).image) == filled(Index::all(2), [](int i, int j, int) {
                return i < 1 ? 7 : j < 1 ? 1 : 200;
              }));
  o.resample = 6;
  EXPECT_EQ(all_values(*prepared(n, values, o, true).image)[0], 7);
  const Index two{2, 1, 1};
  o.resample = 1;
  EXPECT_EQ(all_values(*prepared(two, {5, 3}, o, true, {0.5, 1, 1}).image)[0], 3) << "the smallest among equals";
}

TEST_F(Prepare, LargerVoxelsFavourNoLabel) {
  const Index n = Index::all(32);
  std::uint64_t number = 0;
  const auto values = filled(n, [&](int, int, int) { return RandomNumbers(5, 0).uniform(number++) < 0.5 ? 0 : 1; });
  PrepareOptions o;
  o.resample = 2;  // 27 % of the new voxels have as many of the one as of the other
  const std::vector<float> larger = all_values(*prepared(n, values, o, true).image);
  EXPECT_NEAR(std::accumulate(larger.begin(), larger.end(), 0.0) / static_cast<double>(larger.size()), 0.5, 0.02);
}

std::vector<float> medians(const Index& n, const std::vector<float>& values, int radius) {
  std::vector<float> out(values.size());
  median({n, 0, n[2]}, values, radius, 0, n[2], out);
  return out;
}

TEST(PrepareMedian, IsTheMiddleOfTheSortedNeighbours) {
  const RandomNumbers random(5, 0);
  const Index n{19, 5, 6};
  std::size_t at = 0;
  const auto values = filled(n, [&](int, int, int) { return random.normal(at++); });
  for (const int radius : {1, 2}) {
    const auto expected = filled(n, [&](int i, int j, int k) {
      std::vector<float> near;
      for (int c = k - radius; c <= k + radius; ++c)
        for (int b = j - radius; b <= j + radius; ++b)
          for (int a = i - radius; a <= i + radius; ++a)
            near.push_back(values[(std::clamp(c, 0, n[2] - 1) * n[1] + std::clamp(b, 0, n[1] - 1)) * n[0] +
                                  std::clamp(a, 0, n[0] - 1)]);
      std::sort(near.begin(), near.end());
      return near[near.size() / 2];
    });
    EXPECT_TRUE(medians(n, values, radius) == expected) << radius;
  }
}

TEST(PrepareMedian, RemovesSingleVoxelsAndKeepsPlanes) {
  const Index n{12, 12, 12};
  const auto plane = filled(n, [](int i, int, int) { return i < 6 ? 10 : 90; });
  for (const int radius : {1, 2}) {
    EXPECT_TRUE(medians(n, plane, radius) == plane);
    std::vector<float> bad = plane;
    bad[5 * 144 + 4 * 12 + 2] = 255;
    bad[5 * 144 + 8 * 12 + 9] = 0;
    EXPECT_TRUE(medians(n, bad, radius) == plane);
  }
}

TEST(PrepareBilateral, KeepsAStepExactlyAndRemovesNoiseBesideIt) {
  const Index n{24, 16, 16};
  const auto step = filled(n, [](int i, int, int) { return i < 12 ? 50 : 150; });
  std::vector<float> out(step.size());
  bilateral({n, 0, 16}, step, {1, 60}, 0, 16, out);
  EXPECT_TRUE(out == step);
  const RandomNumbers random(7, 0);
  std::vector<float> noisy = step;
  for (std::size_t i = 0; i < noisy.size(); ++i) noisy[i] += static_cast<float>(5 * random.normal(i));
  bilateral({n, 0, 16}, noisy, {1, 60}, 0, 16, out);
  double square = 0, worst = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    square += std::pow(out[i] - step[i], 2);
    worst = std::max(worst, std::abs(double{out[i]} - step[i]));
  }
  EXPECT_LT(std::sqrt(square / static_cast<double>(out.size())), 1.2);  // of 5
  EXPECT_LT(worst, 8);  // no voxel has gone half way to the other side, 50
}

TEST(PrepareNoise, IsMeasured) {
  const RandomNumbers random(9, 0);
  const Index n{64, 64, 17};
  std::size_t at = 0;
  Values image(n, filled(n, [&](int i, int, int) { return (i < 30 ? 0 : 100) + 6 * random.normal(at++); }));
  EXPECT_NEAR(noise_of(Comm::self(), image), 6, 0.2);
  Values flat(n, filled(n, [](int i, int, int) { return i < 30; }));
  EXPECT_EQ(noise_of(Comm::self(), flat), 0);
}

// A point becomes a Gaussian: sum 1, mean at the point, second moment σ² (cut at 4 σ).
TEST_F(Prepare, GaussianHasTheRightMoments) {
  const Index n{31, 31, 31};
  PrepareOptions o;
  o.denoise = Denoise::gaussian;
  o.width = 1.5;
  const auto values = filled(n, [](int i, int j, int k) { return i == 15 && j == 15 && k == 15; });
  const std::vector<float> made = all_values(*prepared(n, values, o).image);
  double sum = 0;
  Vec3 first, second;
  for (std::size_t m = 0; m < made.size(); ++m) {
    const Vec3 x{double(m % 31) - 15, double(m / 31 % 31) - 15, double(m / 961) - 15};
    sum += double{made[m]};
    for (int d = 0; d < 3; ++d) {
      first[d] += double{made[m]} * x[d];
      second[d] += double{made[m]} * x[d] * x[d];
    }
  }
  EXPECT_NEAR(sum, 1, 1e-5);
  for (int d = 0; d < 3; ++d) {
    EXPECT_NEAR(first[d], 0, 1e-5);
    EXPECT_NEAR(second[d], 1.5 * 1.5, 0.005);
  }
}

TEST_F(Prepare, RadialTrendIsFoundAndRemoved) {
  const Index n{40, 40, 20};
  const auto rho2 = [](int i, int j) { return (std::pow(i - 19.5, 2) + std::pow(j - 19.5, 2)) / 400; };
  const auto cupped = filled(n, [&](int i, int j, int) { return 100 + 20 * rho2(i, j) - 5 * std::pow(rho2(i, j), 2); });
  Values image(n, cupped);
  const RadialTrend trend = radial_trend(Comm::self(), image, {20, 20, 20});
  EXPECT_NEAR(trend.square, 20, 1e-3);
  EXPECT_NEAR(trend.fourth, -5, 1e-3);
  PrepareOptions o;
  o.beam_hardening = true;
  const std::vector<float> made = all_values(*prepared(n, cupped, o).image);
  const std::vector<float> inside = SampleCylinder{20, 20, 20}.distance(n);
  double sum = 0, mean = 0, voxels = 0;
  for (std::size_t m = 0; m < made.size(); ++m) {
    if (inside[m % inside.size()] <= 0) continue;
    ASSERT_NEAR(made[m], made[20 * 40 + 20], 1e-3);
    sum += double{made[m]};
    mean += double{cupped[m]};
    ++voxels;
  }
  EXPECT_NEAR(sum / voxels, mean / voxels, 1e-3) << "the mean of the sample stays";
}

TEST_F(Prepare, MistakesAreNamed) {
  const auto error = [&](const std::function<void(PrepareOptions&)>& change, bool labels = false) {
    PrepareOptions o;
    change(o);
    return error_of([&] { prepared({8, 9, 10}, filled({8, 9, 10}, place), o, labels); });
  };
  EXPECT_TRUE(has(error([](auto& o) { o.crop_high = {9, 9, 10}; }), "crop to voxels 0 to 9 in x given, but the image"));
  EXPECT_TRUE(has(error([](auto& o) { o.crop_low = {0, 9, 0}; }), "the result is empty"));
  EXPECT_TRUE(has(error([](auto& o) { o.resample = 20; }), "allowed are 1 to 65536"));
  EXPECT_TRUE(has(error([](auto& o) { o.resample = 1e-6; }), "allowed are 1 to 65536"));
  EXPECT_TRUE(has(error([](auto& o) { o.width = 1; }), "without a filter"));
  EXPECT_TRUE(has(error([](auto& o) { o.denoise = Denoise::median, o.width = 1.5; }), "is 1 or 2 voxels"));
  EXPECT_TRUE(has(error([](auto& o) { o.denoise = Denoise::gaussian, o.width = 9; }), "allowed are 0.3 to 4"));
  EXPECT_TRUE(has(error([](auto& o) { o.denoise = Denoise::gaussian, o.step = 9; }), "applies only to"));
  EXPECT_TRUE(has(error([](auto& o) { o.denoise = Denoise::bilateral, o.step = 0; }), "must be positive"));
  EXPECT_TRUE(has(error([](auto& o) { o.denoise = Denoise::median; }, true), "already segmented"));
  EXPECT_TRUE(has(error([](auto& o) { o.beam_hardening = true; }, true), "already segmented"));
  EXPECT_TRUE(nothing_left());
  PrepareOptions bilateral_without_noise;
  bilateral_without_noise.denoise = Denoise::bilateral;
  EXPECT_TRUE(has(error_of([&] {
                    prepared({4, 4, 4}, std::vector<float>(64, 1), bilateral_without_noise);
                  }),
                  "no noise found"));
  PrepareOptions o;
  o.sample_radius = 3;
  EXPECT_TRUE(has(error_of([&] { sample_cylinder(o, {8, 8, 8}); }), "choose `sample = cylinder`"));
  o.cylinder = true;
  EXPECT_EQ(sample_cylinder(o, {8, 8, 8}).radius, 3);
  o.sample_center = {9, 4};
  EXPECT_TRUE(has(error_of([&] { sample_cylinder(o, {8, 8, 8}); }), "must lie inside"));
  o.sample_center = {4};
  EXPECT_TRUE(has(error_of([&] { sample_cylinder(o, {8, 8, 8}); }), "two are needed"));
  o.sample_center = {4, 4};
  o.sample_radius = 12;
  EXPECT_TRUE(has(error_of([&] { sample_cylinder(o, {8, 8, 8}); }), "diagonal"));
  o.sample_center = {0.5, 4};
  o.sample_radius.reset();
  EXPECT_TRUE(has(error_of([&] { sample_cylinder(o, {8, 8, 8}); }), "at least 1"));
  EXPECT_EQ(error_of([] { sample_cylinder({}, {8, 1, 8}); }), "");  // a section, without a cylinder
}

}  // namespace
}  // namespace karst::prepare_test
