// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/report/import_page.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "support/image_files.hpp"
#include "support/tags.hpp"

namespace karst::import_page_test {
namespace {

using test::has;

constexpr double none = std::numeric_limits<double>::quiet_NaN();

ImportReport gray_report() {
  ImportReport r;
  r.file = "core.tif";
  r.format = "TIFF";
  r.file_voxels = r.voxels = {20, 20, 20};
  r.voxel = 1e-6;
  r.segmentation = "thresholds";
  r.thresholds = {40, 70};
  r.threshold = 40;
  r.pore = r.seed_threshold = none;
  r.histogram = histogram_for(0, 99, GrayValues::integers);
  r.histogram.count.assign(100, 80);
  r.porosity_low = 0.3;
  r.porosity_high = 0.34;
  r.phases = {{"pore", 0, 0.4}, {"quartz", 1, 0.3}, {"calcite", 2, 0.3}};
  return r;
}

TEST(ImportPage, ClassesGoFromDarkToBright) {
  ImportReport r = gray_report();
  ReportPage page = import_page(r);
  EXPECT_EQ(page.histogram->classes, (std::vector<std::string>{"pore", "quartz", "calcite"}));
  EXPECT_EQ(page.histogram->labels, (std::vector<int>{0, 1, 2}));
  r.pore_above = true;
  page = import_page(r);
  EXPECT_EQ(page.histogram->classes, (std::vector<std::string>{"quartz", "calcite", "pore"}));
  EXPECT_EQ(page.histogram->labels, (std::vector<int>{1, 2, 0}));
}

TEST(ImportPage, TellsHowMuchHangsOnTheThreshold) {
  ImportReport r = gray_report();
  EXPECT_TRUE(has(import_page(r).histogram->note, "30.0\u202f% to 34.0\u202f%"));
  r.scan = ScanModel{60.5, 180, 0.47, 0.03, 0.03, 1, 4};
  EXPECT_TRUE(has(import_page(r).histogram->note, "60.50 (pore) and 180.0 (solid), blurred by 0.47 voxel"));
  EXPECT_FALSE(import_page(r).histogram->seed_threshold.has_value());
  r.seed_threshold = 31;
  EXPECT_EQ(import_page(r).histogram->seed_threshold, 31.0);
}

TEST(ImportPage, SegmentedImagesHaveNoHistogram) {
  ImportReport r = gray_report();
  r.threshold = none;
  r.thresholds.clear();
  r.pore = 7;
  const ReportPage page = import_page(r);
  EXPECT_FALSE(page.histogram.has_value());
  const std::string text = html(page);
  EXPECT_EQ(test::wrong_with_tags(text), "");
  EXPECT_TRUE(has(text, "<td>value of the pore</td><td>7</td>"));
  EXPECT_FALSE(has(text, "nan"));
}

}  // namespace
}  // namespace karst::import_page_test
