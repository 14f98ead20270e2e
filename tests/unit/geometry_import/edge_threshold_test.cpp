// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/segment/edge_threshold.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "image_generator/ct_image.hpp"
#include "image_generator/random_numbers.hpp"
#include "image_generator/rock.hpp"

namespace karst::edge_threshold_test {
namespace {

/// An image in memory.
class Given : public ImageFile {
 public:
  template <class F>
  Given(const Index& size, F&& gray) : ImageFile(info_of(size)) {
    for (int k = 0; k < size[2]; ++k)
      for (int j = 0; j < size[1]; ++j)
        for (int i = 0; i < size[0]; ++i) values_.push_back(static_cast<float>(gray(i, j, k)));
  }
  const std::vector<float>& values() const { return values_; }

 private:
  static ImageInfo info_of(const Index& size) {
    ImageInfo info;
    info.size = size;
    info.type = VoxelType::float32;
    return info;
  }
  void load_plane(int z, std::span<float> values) override {
    std::copy_n(values_.begin() + static_cast<std::ptrdiff_t>(values.size()) * z, values.size(), values.begin());
  }
  std::vector<float> values_;
};

double threshold_of(const Comm& comm, Given& image, const Sample& sample = {}) {
  const auto [low, high] = std::minmax_element(image.values().begin(), image.values().end());
  Histogram histogram = histogram_for(double{*low}, double{*high}, GrayValues::real);
  histogram.add(image.values());
  const Sample whole(image.info().size, {});
  return edge_threshold(ImageLayers(comm, image, sample.whole() ? whole : sample), histogram);
}

/// Slits of pore, 60, in a solid, 180, blurred by σ: 60 + 120 (1 - Σ [Φ((x - a) / σ) - Φ((x - b) / σ)]).
double blurred_slits(double x, double width, double sigma) {
  const auto below = [&](double edge) { return 0.5 * std::erfc((edge - x) / sigma * std::sqrt(0.5)); };
  double pore = 0;
  for (double low = 4.3; low < 60; low += 9.7) pore += below(low) - below(low + width);
  return 180 - 120 * pore;
}

TEST(EdgeThreshold, LiesHalfwayBetweenThePhasesHoweverThinTheyAre) {
  for (const double width : {5.0, 6.0}) {
    Given image({64, 6, 6}, [&](int i, int, int) { return blurred_slits(i + 0.5, width, 1); });
    EXPECT_NEAR(threshold_of(Comm::self(), image), 120, 0.02 * 120) << width;
  }
}

// In polyhedra with gaps of about 4 voxels under blur 1 the pore's peak lies far above its own gray value.
TEST(EdgeThreshold, IsBetterThanHalfwayBetweenPeaksInThinGaps) {
  RockOptions rock;
  rock.kind = RockKind::polyhedra;
  rock.size = {48, 48, 48};
  rock.radius = 12;
  rock.porosity = 0.4;
  const Rock made = make_rock(rock);
  CtOptions scan;
  scan.blur = 1;
  scan.noise = 0.1;
  const std::vector<double> solid{0, 1};
  const std::vector<float> gray = ct_image_float(rock.size, made.scene->voxels(solid, made.samples).value, scan);
  Given image(rock.size, [&](int i, int j, int k) { return gray[(k * 48 + j) * 48 + i]; });
  Histogram histogram = histogram_for(0, 255, GrayValues::real);
  histogram.add(image.values());
  EXPECT_GT(halfway_threshold(histogram), 124);
  EXPECT_NEAR(threshold_of(Comm::self(), image), 120, 3);
}

TEST(EdgeThreshold, BearsNoiseThatIsNotTheSameInBothPhases) {
  const RandomNumbers random(3, 1);
  Given image({60, 20, 20}, [&](int i, int j, int k) {
    const auto n = static_cast<std::uint64_t>((k * 20 + j) * 60 + i);
    return (i < 40 ? 60 + 3 * random.normal(n) : 180 + 9 * random.normal(n));
  });
  EXPECT_NEAR(threshold_of(Comm::self(), image), 120, 3);
}

TEST(EdgeThresholdMpi, IsTheSameForAnyNumberOfRanksAndInsideASample) {
  const Comm comm = Comm::world();
  const RandomNumbers random(5, 2);
  Given image({70, 66, 100}, [&](int i, int j, int k) {
    const double r = std::hypot(i - 35, j - 33, k % 30 - 15);
    return (r < 10 ? 180 : 60) + 5 * random.normal(static_cast<std::uint64_t>((k * 66 + j) * 70 + i));
  });
  const Sample sample(image.info().size, SampleCylinder{35, 33, 25});
  EXPECT_EQ(threshold_of(comm, image), threshold_of(Comm::self(), image));
  EXPECT_EQ(threshold_of(comm, image, sample), threshold_of(Comm::self(), image, sample));
}

TEST(EdgeThreshold, WithoutAnEdgeItIsHalfway) {
  // one value in each plane: the only axis with a slope has two voxels, and none has two neighbours
  Given image({8, 8, 2}, [](int, int, int k) { return k == 0 ? 10.0 : 30.0; });
  EXPECT_NEAR(threshold_of(Comm::self(), image), 20, 0.01);
}

TEST(Sample, CornersOfOneValueLookLikeTheSurroundingsOfACylinder) {
  const Index n{80, 70, 1};
  const auto plane = [&](double outside) {
    std::vector<float> values;
    for (int j = 0; j < 70; ++j)
      for (int i = 0; i < 80; ++i) {
        const bool inside = std::hypot(i - 39.5, j - 34.5) < 34;
        values.push_back(static_cast<float>(inside ? 100 + (i * 7 + j * 3) % 50 : outside + i % 2));
      }
    return values;
  };
  EXPECT_TRUE(looks_cylindrical(n, plane(0)));
  std::vector<float> grainy = plane(0);
  grainy[3] = 90;
  EXPECT_FALSE(looks_cylindrical(n, grainy));
  EXPECT_FALSE(looks_cylindrical({40, 140, 1}, plane(0))) << "too narrow to tell";
}

// A core among voxels of label 0 has these in all corners; a tube has, too, but nothing else; a rock that fills the
// image has both labels there.
TEST(Sample, LabelsAroundACylinder) {
  const Index n{80, 70, 20};
  const auto looks = [&](int grain, double radius) {
    return labels_look_cylindrical(n, [&](int k, std::span<float> values) {
      for (int j = 0; j < 70; ++j)
        for (int i = 0; i < 80; ++i)
          values[j * 80 + i] = std::hypot(i - 39.5, j - 34.5) < radius
                                   ? static_cast<float>(1 + (i / grain + j / grain + k / grain) % 2)
                                   : 0;
    });
  };
  EXPECT_TRUE(looks(4, 34.0));
  EXPECT_FALSE(looks(1000, 30.0)) << "a tube";
  EXPECT_FALSE(looks(4, 60.0)) << "fills the image";
}

}  // namespace
}  // namespace karst::edge_threshold_test
