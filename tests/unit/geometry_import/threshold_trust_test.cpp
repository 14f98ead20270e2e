// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/segment/threshold_trust.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "geometry_import/import.hpp"
#include "image_generator/packing.hpp"
#include "image_generator/random_numbers.hpp"
#include "import_cases.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::threshold_trust_test {
namespace {

using test::has;

ThresholdEvidence good() { return {120, 60, 180, 10, 10, {60, 180}}; }

TEST(ThresholdTrust, TwoPeaksAndLittleNoise) {
  EXPECT_EQ(distrust(good()), "");
  EXPECT_EQ(several_phases(good()), "");
  ThresholdEvidence unknown = good();
  unknown.pore_noise = unknown.solid_noise = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(distrust(unknown), "");
}

TEST(ThresholdTrust, APeakOnEachSide) {
  ThresholdEvidence e = good();
  e.peaks = {180};
  EXPECT_TRUE(has(distrust(e), "one peak only, at 180, above the threshold of 120"));
  e.peaks = {30, 60};
  EXPECT_TRUE(has(distrust(e), "peaks at 30, 60, below the threshold of 120"));
  e.peaks = {};
  EXPECT_TRUE(has(distrust(e), "the threshold is unreliable"));
}

// The noise of either phase: 60 gray values are three times 20.
TEST(ThresholdTrust, NoiseThatReachesOverTheThreshold) {
  ThresholdEvidence e = good();
  e.pore_noise = 19.9;
  EXPECT_EQ(distrust(e), "");
  e.pore_noise = 20.1;
  EXPECT_TRUE(has(distrust(e), "peak of the pore"));
  e.pore_noise = 10;
  e.solid_noise = 20.1;
  EXPECT_TRUE(has(distrust(e), "peak of the solid"));
}

TEST(ThresholdTrust, MoreThanTwoPeaks) {
  ThresholdEvidence e = good();
  e.peaks = {20, 60, 180};
  EXPECT_TRUE(has(several_phases(e), "3 peaks (20, 60, 180)")) << several_phases(e);
  EXPECT_TRUE(has(several_phases(e), "has 2 of them below and 1 above"));
  EXPECT_EQ(distrust(e), "");
}

/// Import of a packing with this noise, as two phases or with two minerals.
ImportReport packing(const Comm& comm, const std::string& path, double noise, bool two_minerals) {
  const Index size = Index::all(40);
  const RandomNumbers random(1, 5);
  std::vector<float> gray;
  for (const float solid : solid_fraction(size, random_packing({size, 8, 0.4, 3}))) {
    const double of_solid = two_minerals && gray.size() > 32000 ? 230 : 180;
    gray.push_back(static_cast<float>(60 + (of_solid - 60) * double{solid} + 120 * noise * random.normal(gray.size())));
  }
  test::write_raw(path, gray);
  ImportOptions o = test::raw_image(path, size, VoxelType::float32);
  o.wall = WallFrom::threshold;
  return import_image(comm, o, path + ".h5");
}

// The import says it first of all: nothing of a clear image, an overlap when the noise is 35 % of the contrast, three
// peaks with two minerals.
TEST(ThresholdTrust, TheImportSaysItFirst) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const ImportReport clear = packing(comm, directory.path() + "/a.raw", 0.05, false);
  for (const std::string& w : clear.warnings) EXPECT_FALSE(has(w, "unreliable") || has(w, "peaks")) << w;
  const ImportReport noisy = packing(comm, directory.path() + "/b.raw", 0.35, false);
  ASSERT_FALSE(noisy.warnings.empty());
  EXPECT_TRUE(has(noisy.warnings[0], "the threshold is unreliable")) << noisy.warnings[0];
  const ImportReport minerals = packing(comm, directory.path() + "/c.raw", 0.05, true);
  ASSERT_FALSE(minerals.warnings.empty());
  EXPECT_TRUE(has(minerals.warnings[0], "the histogram has 3 peaks")) << minerals.warnings[0];
}

}  // namespace
}  // namespace karst::threshold_trust_test
