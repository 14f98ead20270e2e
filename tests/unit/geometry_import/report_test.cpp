// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/report/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "geometry_import/report/report_charts.hpp"
#include "geometry_import/report/slice_pictures.hpp"
#include "support/image_files.hpp"
#include "support/tags.hpp"
#include "tests/support/narrow_page.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::report_test {
namespace {

using test::error_of;
using test::has;
using test::wrong_with_tags;

SizeDistribution sizes_of(const std::vector<double>& share) {
  return {.bin_width = 0.5,
          .share = share,
          .mean = 1,
          .smallest = 0.1,
          .largest = 2,
          .tenth = 0.5,
          .median = 1,
          .ninetieth = 1.5};
}

ReportPage empty_page() {
  ReportPage page;
  page.voxels = {4, 4, 4};
  page.voxel = 1e-6;
  return page;
}

/// A ball of solid in a box of 24 x 20 x 16 voxels.
ReportPage page_of_ball(const Comm& comm, bool gray) {
  const Index n{24, 20, 16};
  const ImageWindow layer{n, 0, n[2]};
  std::vector<float> phi, values;
  std::vector<std::uint8_t> labels;
  for (int z = 0; z < n[2]; ++z)
    for (int y = 0; y < n[1]; ++y)
      for (int x = 0; x < n[0]; ++x) {
        phi.push_back(static_cast<float>(std::hypot(x - 12.0, y - 10.0, z - 8.0) - 6.5));
        values.push_back(100 - 8 * phi.back());
        labels.push_back(phi.back() > 0 ? 0 : 1);
      }
  ReportPictures pictures(n);
  if (comm.rank() == 0) {
    if (gray) pictures.add_gray(layer, values);
    pictures.add_labels(layer, labels);
    pictures.add_level_set(layer, phi);
  }
  ReportPage page;
  page.title = "ball.raw";
  page.source = "raw, uint8";
  page.voxels = n;
  page.voxel = 2e-6;
  page.pictures = pictures.gather(comm);
  page.level_set_porosity = 0.8502;
  ImageStatistics& s = page.statistics;
  s.porosity = 0.85;
  s.percolates = {true, true, false};
  s.connected_porosity = {0.84, 0.83, 0};
  s.profile = {std::vector<double>(24, 0.85), std::vector<double>(20, 0.85), std::vector<double>(16, 0.85)};
  s.phases = {{"pore", 0, 0.85}, {"quartz", 1, 0.15}};
  s.specific_surface = 0.069;
  s.pore_size = sizes_of({0.1, 0.2, 0.3, 0.4});
  s.throat_size = sizes_of({0.5, 0.5});
  for (auto& c : s.correlation) c = {1, 0.5, 0.1, -0.1};
  s.correlation_length = {1.5, 1.6, 1.7};
  s.suggested_width = 1;
  s.suggestion = "pores are wide";
  if (gray) {
    Histogram h = histogram_for(0, 160, GrayValues::integers);
    h.add(values);
    page.histogram = {h, {100}, {"pore", "solid"}, {0, 1}};
  }
  page.cleaning = {{"specks", 3, 17}};
  page.made = {{"threshold", "100"}};
  return page;
}

int count_of(const std::string& text, const std::string& part) {
  int n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST(Report, IsOneWellFormedFile) {
  for (const bool gray : {false, true}) {
    const std::string text = html(page_of_ball(Comm::self(), gray));
    EXPECT_EQ(wrong_with_tags(text), "");
    EXPECT_EQ(test::wider_than_screen(text), "");
    EXPECT_FALSE(has(text, "<script"));
    EXPECT_FALSE(has(text, "http://") || has(text, "https://") || has(text, "src=\"/")) << "nothing from elsewhere";
    EXPECT_EQ(count_of(text, "<img "), gray ? 9 : 6) << "a wall over each gray slice, else over each segmented one";
    EXPECT_EQ(count_of(text, "<img "), count_of(text, " alt=\""));
    EXPECT_EQ(count_of(text, "class=\"chart\""), gray ? 5 : 4);
    EXPECT_EQ(count_of(text, "role=\"img\" aria-label=\""), gray ? 6 : 5);
  }
}

TEST(Report, TellsTheFiguresWithUnits) {
  const std::string text = html(page_of_ball(Comm::self(), true));
  for (const char* part :
       {"85.0\u202f%", "24 × 20 × 16", "48.0\u202fµm × 40.0\u202fµm × 32.0\u202fµm", "34\u202f500 <span", "x\u00a0✓",
        "title=\"no\">✗", "connected: x\u00a084.0 · y\u00a083.0 · z\u00a00 %", "3.40\u202fµm", "pores are wide",
        "No warnings", "Solid in three dimensions", "quartz", "specks", "0.221\u202f%", "diameter [µm]", "[voxels]"})
    EXPECT_TRUE(has(text, part)) << part;
}

// The check of the width finds what makes a page wide.
TEST(Report, NothingIsWiderThanTheScreen) {
  const std::string text = html(page_of_ball(Comm::self(), true));
  const auto with = [&](const std::string& part, const std::string& other) {
    const std::size_t at = text.find(part, text.find("<body>"));
    EXPECT_NE(at, std::string::npos) << part;
    return std::string(text).replace(at, part.size(), other);
  };
  for (const auto& [part, other] :
       {std::pair{"<div class=\"scroll\">", "<div>"}, std::pair{"viewBox=", "width=\"900\" viewBox="},
        std::pair{"style=\"--n:", "style=\"grid-template-columns:repeat(9,1fr);--n:"},
        std::pair{"class=\"stack\" style=\"width:", "class=\"picture\" style=\"width:"}})
    EXPECT_NE(test::wider_than_screen(with(part, other)), "") << other;
}

TEST(Report, EveryTextIsEscaped) {
  ReportPage page = page_of_ball(Comm::self(), true);
  const std::string evil = "<b onload=\"x\">&'";
  page.title = page.source = page.statistics.suggestion = evil;
  page.statistics.phases[1].name = page.cleaning[0].what = page.histogram->classes[0] = evil;
  page.warnings = {evil, evil};
  page.made = {{evil, evil}};
  page.options = evil;
  const std::string text = html(page);
  EXPECT_FALSE(has(text, "<b "));
  EXPECT_EQ(wrong_with_tags(text), "");
  EXPECT_EQ(count_of(text, "&lt;b onload=&quot;x&quot;&gt;&amp;&#39;"), 13);
  EXPECT_TRUE(has(text, "2 warnings"));
}

TEST(Report, BearsWhatIsMissing) {
  const std::string text = html(empty_page());
  EXPECT_EQ(wrong_with_tags(text), "");
  EXPECT_TRUE(has(text, "no pore percolates"));
  EXPECT_TRUE(has(text, "Nothing was removed"));
  EXPECT_FALSE(has(text, "nan") || has(text, "inf "));
}

// The page shows the body that fills less: the solid of a box that is mostly pore, and nothing beyond the sample.
TEST(Report, ShowsWhatFillsLess) {
  ReportPage page = page_of_ball(Comm::self(), false);
  const std::string solid = html(page);
  EXPECT_TRUE(has(solid, "Solid in three"));
  page.sample = SampleCylinder{12, 10, 3};
  page.sample_share = 0.06;
  const std::string thinner = html(page);
  EXPECT_NE(solid, thinner) << "the ball is cut to a rod";
  EXPECT_TRUE(has(thinner, "outside of the sample"));
  page.pictures.coarse.values.clear();
  page.statistics.porosity = 0.4;
  EXPECT_TRUE(has(html(page), "Pore space in three"));
}

TEST(ReportCharts, HistogramBarsHoldAllVoxels) {
  ReportHistogram h{histogram_for(0, 200, GrayValues::integers), {80.5}, {"pore", "solid"}, {0, 1}};
  for (std::size_t g = 20; g < 180; ++g) h.histogram.count[g] = static_cast<std::int64_t>(g);
  const Chart c = histogram_chart(h);
  EXPECT_NEAR(c.x.low, 20, 1.5) << "empty ends are left out";
  EXPECT_NEAR(c.x.high, 180, 1.5);
  ASSERT_EQ(c.series.size(), 2U);
  double sum = 0;
  for (const ChartSeries& s : c.series)
    for (std::size_t i = 0; i < s.y.size(); ++i) sum += s.y[i] * (s.x[i + 1] - s.x[i]);
  EXPECT_NEAR(sum, 100, 0.2);
  EXPECT_EQ(c.series[0].x.back(), 80.5);
  EXPECT_EQ(c.series[1].x.front(), 80.5);
  EXPECT_EQ(c.series[0].colour, hex(label_colour(0)));
  ASSERT_EQ(c.marks.size(), 1U);
  EXPECT_EQ(c.marks[0].x, 80.5);
  h.seed_threshold = 60;
  ASSERT_EQ(histogram_chart(h).marks.size(), 2U);
  EXPECT_EQ(histogram_chart(h).marks[1].text, "seeds 60.00");
}

TEST(ReportCharts, ATowerIsCutAndTold) {
  ReportHistogram h{histogram_for(0, 100, GrayValues::integers), {50}, {"pore", "solid"}, {0, 1}};
  for (std::size_t g = 10; g < 90; ++g) h.histogram.count[g] = 100;
  h.histogram.count[10] = 100000;
  const Chart c = histogram_chart(h);
  EXPECT_LT(c.y.high, 1) << "the others have 0.09 %";
  EXPECT_TRUE(has(c.y.label, "highest 92"));
}

TEST(ReportCharts, SizesAreInMetresAndVoxels) {
  const Chart c = size_chart(sizes_of({0.1, 0.2, 0.3, 0.4}), 5e-6, "pores", "share", 1.5);
  EXPECT_EQ(c.x.label, "diameter [µm]");
  EXPECT_DOUBLE_EQ(c.x.high, 10);
  EXPECT_DOUBLE_EQ(c.top->high, 2);
  EXPECT_DOUBLE_EQ(c.series[0].y[2], 30);
  EXPECT_DOUBLE_EQ(c.series[0].x[2], 5);
  EXPECT_NEAR(c.series[1].y.back(), 100, 1e-12);
  EXPECT_DOUBLE_EQ(c.marks[0].x, 5) << "median";
  EXPECT_DOUBLE_EQ(c.marks[1].x, 7.5) << "bound";
  const Chart many = size_chart(sizes_of(std::vector<double>(150, 1.0 / 150)), 5e-6, "pores", "share", 0);
  EXPECT_EQ(many.series[0].y.size(), 50U) << "bins are put together";
  EXPECT_NEAR(many.series[0].y[0], 2, 1e-12);
}

TEST(ReportMpi, IsWrittenWholeOrNotAtAll) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const ReportPage page = page_of_ball(comm, true);
  write_report(comm, directory.path() + "/a.html", page);
  if (comm.rank() == 0) {
    EXPECT_EQ(test::bytes_of_file(directory.path() + "/a.html"), html(page));
  }
  comm.any(false);
  const std::string nowhere = directory.path() + "/none/a.html";
  EXPECT_TRUE(has(error_of([&] { write_report(comm, nowhere, empty_page()); }), "none/a.html"));
  EXPECT_FALSE(std::filesystem::exists(nowhere));
}

}  // namespace
}  // namespace karst::report_test
