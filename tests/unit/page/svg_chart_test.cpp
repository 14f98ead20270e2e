// SPDX-License-Identifier: BSD-3-Clause
#include "page/svg_chart.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "page/page_text.hpp"
#include "support/errors.hpp"
#include "support/tags.hpp"

namespace karst::svg_chart_test {
namespace {

using test::has;
using test::wrong_with_tags;

Chart line_chart() {
  Chart c;
  c.description = "a < b";
  c.x = {"x [µm]", 10, 30};
  c.y = {"y & z", -1, 3};
  c.series.push_back({.name = "\"one\"", .colour = "#123456", .x = {10, 15, 30}, .y = {-1, 1, 3}});
  return c;
}

/// The d of the n-th path.
std::string path_of(const std::string& text, int n) {
  std::size_t at = 0;
  for (int i = 0; i <= n; ++i) at = text.find(" d=\"", at) + 4;
  return text.substr(at, text.find('"', at) - at);
}

// Dashes tell curves apart: one alone has none.
TEST(SvgChart, OneCurveIsNotDashed) {
  Chart c = line_chart();
  c.series[0].dash = "2 3";
  EXPECT_FALSE(has(svg(c), "stroke-dasharray"));
  c.series.push_back(c.series[0]);
  EXPECT_TRUE(has(svg(c), "stroke-dasharray=\"2 3\""));
}

// A line of no length with round ends at each point; those that are no numbers have none.
TEST(SvgChart, PointsAreNotJoined) {
  Chart c = line_chart();
  c.series[0].drawn = DrawnAs::points;
  c.series[0].y[1] = std::nan("");
  const ChartFrame f = frame_of(c);
  char expected[80];
  std::snprintf(expected, sizeof(expected), "M%.2f,%.2fh0M%.2f,%.2fh0", f.left, f.bottom, f.right, f.top);
  EXPECT_EQ(path_of(svg(c), 0), expected);
}

TEST(SvgChart, CurvesBeyondTheColoursAreDashed) {
  Chart c = line_chart();
  const ChartSeries one = c.series[0];
  c.series.clear();
  for (std::size_t i = 0; i <= chart_colours.size(); ++i) {
    c.series.push_back(one);
    c.series.back().name = std::to_string(i);
    c.series.back().colour = chart_colours[i % chart_colours.size()];
  }
  const std::string text = svg(c);
  std::size_t dashed = 0;
  for (std::size_t at = 0; (at = text.find("stroke-dasharray", at)) != std::string::npos; ++at) ++dashed;
  EXPECT_EQ(dashed, 2U) << "the last one and its sample in the legend";
}

TEST(SvgChart, LinesEndWhereTheDataEnd) {
  const Chart c = line_chart();
  const ChartFrame f = frame_of(c);
  double x[3], y[3];
  ASSERT_EQ(std::sscanf(path_of(svg(c), 0).c_str(), "M%lf,%lfL%lf,%lfL%lf,%lf", x, y, x + 1, y + 1, x + 2, y + 2), 6);
  EXPECT_NEAR(x[0], f.left, 0.006);
  EXPECT_NEAR(y[0], f.bottom, 0.006);
  EXPECT_NEAR(x[1], f.left + 0.25 * (f.right - f.left), 0.006);
  EXPECT_NEAR(y[1], 0.5 * (f.top + f.bottom), 0.006);
  EXPECT_NEAR(x[2], f.right, 0.006);
  EXPECT_NEAR(y[2], f.top, 0.006);
}

TEST(SvgChart, BarsStandOnTheAxisBetweenTheirEdges) {
  Chart c = line_chart();
  c.y = {"", 0, 4};
  c.series = {{.colour = "red", .drawn = DrawnAs::bars, .x = {10, 20, 30}, .y = {0, 1}}};
  const ChartFrame f = frame_of(c);
  double left, low, high, right, low2;
  ASSERT_EQ(std::sscanf(path_of(svg(c), 0).c_str(), "M%lf,%lfV%lfH%lfV%lfZ", &left, &low, &high, &right, &low2), 5);
  EXPECT_NEAR(left, 0.5 * (f.left + f.right) + 0.5, 0.006) << "the empty bar is not drawn";
  EXPECT_NEAR(right, f.right - 0.5, 0.006);
  EXPECT_NEAR(low, f.bottom, 0.006);
  EXPECT_EQ(low, low2);
  EXPECT_NEAR(high, f.bottom - 0.25 * (f.bottom - f.top), 0.006);
}

TEST(SvgChart, TheRightAxisIsAnotherOne) {
  Chart c = line_chart();
  c.right = ChartAxis{"%", 0, 100};
  c.series[0].on_right = true;
  c.series[0].y = {0, 50, 100};
  const ChartFrame f = frame_of(c);
  double x, y;
  ASSERT_EQ(std::sscanf(path_of(svg(c), 0).c_str(), "M%lf,%lf", &x, &y), 2);
  EXPECT_NEAR(y, f.bottom, 0.006);
}

TEST(SvgChart, WhatIsNoNumberBreaksTheLine) {
  Chart c = line_chart();
  c.series[0].y[1] = std::numeric_limits<double>::quiet_NaN();
  const std::string path = path_of(svg(c), 0);
  EXPECT_EQ(std::count(path.begin(), path.end(), 'M'), 2);
  EXPECT_FALSE(has(path, "nan"));
}

TEST(SvgChart, TextsAreEscapedAndTagsClosed) {
  Chart c = line_chart();
  c.top = ChartAxis{"<top>", 1, 3};
  c.right = ChartAxis{"'right'", 0, 1};
  c.marks = {{12, "<m>"}, {28, "n"}};
  c.words = {{10, 20, "a&b", "#000"}};
  const std::string text = svg(c);
  EXPECT_EQ(wrong_with_tags(text), "");
  for (const char* part :
       {"a &lt; b", "y &amp; z", "&quot;one&quot;", "&lt;top&gt;", "&#39;right&#39;", "&lt;m&gt;", "a&amp;b", "x [µm]"})
    EXPECT_TRUE(has(text, part)) << part;
  EXPECT_FALSE(has(text, "<m>"));
}

/// Left and right ends of all texts that stand level, as wide as they are taken to be.
std::vector<std::pair<double, double>> text_ends(const std::string& text) {
  std::vector<std::pair<double, double>> ends;
  for (std::size_t at = text.find("<text x=\""); at != std::string::npos; at = text.find("<text x=\"", at + 1)) {
    const double x = std::stod(text.substr(at + 9));
    const std::string anchor = text.substr(text.find("text-anchor=\"", at) + 13, 3);
    const std::size_t begin = text.find('>', at) + 1;
    const double wide = text_width(text.substr(begin, text.find('<', begin) - begin));
    const double left = x - (anchor == "sta" ? 0.0 : anchor == "mid" ? 0.5 * wide : wide);
    ends.emplace_back(left, left + wide);
  }
  return ends;
}

TEST(SvgChart, LabelsAreWhole) {
  Chart c = line_chart();
  c.y = {"voxels [% per gray value], cut: highest 92.1", 0, 25000};
  c.right = ChartAxis{"cumul. [%]", 0, 100};
  c.x.log10 = true;
  c.x.low = -4;
  c.x.high = 2;
  for (const char* name : {"along x, of a long name", "along y, of a long name", "along z, of a long name"})
    c.series.push_back({.name = name, .colour = "red", .x = {-1, 1}, .y = {0, 1}});
  for (const auto& [left, right] : text_ends(svg(c))) {
    EXPECT_GE(left, 0.0);
    EXPECT_LE(right, c.width);
  }
  EXPECT_TRUE(has(svg(c), ">10⁻⁴<") && has(svg(c), ">10²<"));
  c.x.low = -0.31;
  c.x.high = 1.1;
  for (const char* tick : {">0.5<", ">1<", ">2<", ">10<"}) EXPECT_TRUE(has(svg(c), tick)) << tick;
  Chart narrow = c;
  narrow.series.resize(1);
  EXPECT_GT(frame_of(c).top, frame_of(narrow).top) << "a long legend takes another line";
}

// Values that are equal to round-off end, too.
TEST(SvgChart, TicksOfARangeOfRoundOff) {
  EXPECT_EQ(ticks(0.1, std::nextafter(0.1, 1.0), 5).size(), 2U);
  EXPECT_EQ(ticks(2.0, 2.0, 5).size(), 2U);
  EXPECT_EQ(ticks(0.94, 2.06, 6, 1.0), (std::vector<double>{1.0, 2.0}));  // whole numbers
  EXPECT_EQ(ticks(0.94, 8.4, 6, 1.0), (std::vector<double>{2.0, 4.0, 6.0, 8.0}));
}

TEST(SvgChart, TicksAreRoundNumbers) {
  const std::vector<double> at = ticks(0, 1, 5);
  ASSERT_EQ(at.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(at[i], 0.2 * static_cast<double>(i), 1e-15);
  EXPECT_EQ(ticks(-1, 3, 4), (std::vector<double>{-1, 0, 1, 2, 3}));
  EXPECT_EQ(ticks(12, 57, 5), (std::vector<double>{20, 30, 40, 50}));
  EXPECT_EQ(axis_end(0.7), 0.8);
  EXPECT_EQ(axis_end(101), 150);
  EXPECT_EQ(axis_end(200), 200);
  EXPECT_EQ(axis_end(9), 10);
  EXPECT_EQ(axis_end(0), 1);
}

TEST(ReportText, NumbersHaveTheirDigits) {
  EXPECT_EQ(number_text(0.352149), "0.352");
  EXPECT_EQ(number_text(9.996), "10.0");
  EXPECT_EQ(number_text(-1234.5), "-1230");
  EXPECT_EQ(number_text(20832), "20\u202f800");
  EXPECT_EQ(number_text(1234567, 7), "1\u202f234\u202f567");
  EXPECT_EQ(number_text(0), "0");
  EXPECT_EQ(number_text(1.5e-9), "1.50e-09");
  EXPECT_EQ(number_text(std::numeric_limits<double>::infinity()), "–");
  EXPECT_EQ(percent_text(0.3521), "35.2\u202f%");
  EXPECT_EQ(length_text(5.3e-6), "5.30\u202fµm");
  EXPECT_EQ(length_text(0.99999e-3), "1.00\u202fmm");
  EXPECT_EQ(length_text(0), "0\u202fm");
  EXPECT_EQ(std::string(length_unit(3e-4).name), "µm");
  EXPECT_EQ(count_text(1, "throat", "throats"), "1 throat");
  EXPECT_EQ(count_text(12345, "throat", "throats"), "12\u202f345 throats");
}

TEST(ReportText, NothingFromOutsideIsMarkup) {
  EXPECT_EQ(escape_html("<script>\"a\" & 'b'</script>"),
            "&lt;script&gt;&quot;a&quot; &amp; &#39;b&#39;&lt;/script&gt;");
  EXPECT_EQ(escape_html(std::string("a\0b\x1b", 4)), "a\ufffdb\ufffd");
  EXPECT_EQ(escape_html("Fontainebleau – µm\n"), "Fontainebleau – µm\n");
}

// Ends of axes may come from anywhere: the chart is drawn, in no time, with numbers that are some.
TEST(SvgChart, AxesOfAnyNumbersAreDrawn) {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::nan("");
  for (const auto& [low, high] :
       {std::pair(1.0, 1.0), std::pair(2.0, 1.0), std::pair(nan, 1.0), std::pair(-inf, inf), std::pair(1e300, -1e300),
        std::pair(-1e308, 1e308), std::pair(0.0, 5e-324), std::pair(-1e9, 1e9)})
    for (const bool log10 : {false, true}) {
      Chart c = line_chart();
      c.x.low = c.y.low = low;
      c.x.high = c.y.high = high;
      c.x.log10 = c.y.log10 = log10;
      const std::string text = svg(c);
      EXPECT_LT(text.size(), 20000U) << low << " " << high;
      EXPECT_EQ(wrong_with_tags(text), "");
      EXPECT_FALSE(has(text, "nan") || has(text, "inf")) << low << " " << high << " " << log10;
    }
}

}  // namespace
}  // namespace karst::svg_chart_test
