// SPDX-License-Identifier: BSD-3-Clause
// Imports of images that say something about themselves beyond their voxels.
#include <gtest/gtest.h>
#include <tiffio.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "geometry_import/file/geometry_file.hpp"
#include "geometry_import/import.hpp"
#include "geometry_import/report/import_json.hpp"
#include "image_generator/random_numbers.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::import_meaning_test {
namespace {

using test::error_of;
using test::has;

constexpr int n = 40;

/// A bright ball in a dark pore, with noise; `white`: stored the other way round, and marked so.
void write_ball(const std::string& path, bool white, const char* description = "", int photometric = -1) {
  TIFF* t = TIFFOpen(path.c_str(), "w");
  const RandomNumbers random(3, 0);
  for (int z = 0; z < n; ++z) {
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, n);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, n);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 8);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC,
                 photometric >= 0 ? photometric
                 : white          ? PHOTOMETRIC_MINISWHITE
                                  : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_RESOLUTIONUNIT, RESUNIT_CENTIMETER);
    TIFFSetField(t, TIFFTAG_XRESOLUTION, 1000.0);
    TIFFSetField(t, TIFFTAG_YRESOLUTION, 1000.0);
    if (photometric == PHOTOMETRIC_PALETTE) {
      std::vector<std::uint16_t> red(256, 1), green(256, 2);
      TIFFSetField(t, TIFFTAG_COLORMAP, red.data(), green.data(), red.data());
    }
    if (*description != '\0') TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, description);
    for (int y = 0; y < n; ++y) {
      std::vector<std::uint8_t> row(n);
      for (int x = 0; x < n; ++x) {
        const double r = std::hypot(x + 0.5 - 0.5 * n, y + 0.5 - 0.5 * n, z + 0.5 - 0.5 * n);
        const double ball = std::clamp(12.0 - r + 0.5, 0.0, 1.0);
        const double g = 60 + 120 * ball + 4 * random.normal(static_cast<std::uint64_t>(x + n * (y + n * z)));
        row[x] = static_cast<std::uint8_t>(white ? 255 - std::lround(g) : std::lround(g));
      }
      TIFFWriteScanline(t, row.data(), static_cast<std::uint32_t>(y));
    }
    TIFFWriteDirectory(t);
  }
  TIFFClose(t);
}

class ImportMeaning : public testing::Test {
 protected:
  ImportReport import(const ImportOptions& o, std::vector<float>* phi = nullptr) const {
    const std::string out = directory_.path() + "/out.h5";
    ImportReport report = import_image(comm_, o, out);
    if (phi) phi->resize(n * n * n), GeometryFile(out).read_block({}, {n, n, n}, phi->data());
    return report;
  }
  ImportOptions options(bool white, const char* description = "", int photometric = -1) const {
    ImportOptions o;
    o.file = directory_.path() + "/a.tif";
    write_ball(o.file, white, description, photometric);
    return o;
  }

  Comm comm_ = Comm::self();
  test::SharedDirectory directory_{comm_};
};

// The same picture stored with 0 as white gives the same pores, by every method, and the same page.
TEST_F(ImportMeaning, WhereZeroIsWhiteDarkPoresHaveTheLargeValues) {
  const std::vector<std::function<void(ImportOptions&)>> methods{
      [](auto&) {}, [](auto& o) { o.segment = SegmentBy::otsu; }, [](auto& o) { o.segment = SegmentBy::edges; },
      [](auto& o) {
        o.segment = SegmentBy::multi_otsu, o.classes = 2, o.names = {"pore", "quartz"};
      }};
  for (std::size_t m = 0; m < methods.size(); ++m) {
    std::array<std::vector<float>, 2> phi;
    std::array<ImportReport, 2> report;
    for (const bool white : {false, true}) {
      ImportOptions o = options(white);
      o.pictures = true;
      methods[m](o);
      report[white] = import(o, &phi[white]);
    }
    EXPECT_NEAR(report[0].level_set_porosity, 1 - 4.0 / 3 * M_PI * std::pow(12.0 / n, 3), 0.004) << m;
    EXPECT_NEAR(report[0].level_set_porosity, report[1].level_set_porosity, 2e-4) << m;
    EXPECT_EQ(report[0].pore_above, false);
    EXPECT_EQ(report[1].pore_above, true);
    EXPECT_EQ(report[0].phases[0].name, report[1].phases[0].name);
    int told = 0;
    for (const std::string& w : report[1].warnings) told += has(w, "according to the file 0 is white: dark pores have");
    EXPECT_EQ(told, 1) << m;
    const auto &a = report[0].pictures.slices[2].gray, &b = report[1].pictures.slices[2].gray;
    ASSERT_EQ(a.size(), b.size());
    for (std::size_t p = 0; p < a.size(); ++p) ASSERT_NEAR(a[p], b[p], 1.01) << "the page shows it as it is meant";
    EXPECT_NEAR(report[0].pictures.black, 255 - report[1].pictures.black, 1e-9);
  }
}

// Who says where the pore is, is asked nothing; labels are named as they are stored.
TEST_F(ImportMeaning, WhatIsSaidOfPoresHoldsForStoredValues) {
  ImportOptions o = options(true);
  o.pore_above = false;
  EXPECT_NEAR(import(o).level_set_porosity, 4.0 / 3 * M_PI * std::pow(12.0 / n, 3), 0.004);
  ImportOptions labels = options(true);
  labels.label_values = {195};
  labels.pore = 195;
  labels.label_values.clear();
  const ImportReport report = import(labels);
  EXPECT_EQ(report.pore, 195);
  EXPECT_TRUE(has(report.warnings.at(0), "values are given and reported as stored")) << report.warnings.at(0);
}

TEST_F(ImportMeaning, ColoursOfAPaletteNeedNames) {
  ImportOptions o = options(false, "", PHOTOMETRIC_PALETTE);
  EXPECT_TRUE(has(error_of([&] { import(o); }), "indices of a colour palette")) << error_of([&] { import(o); });
  EXPECT_TRUE(has(error_of([&] { import(o); }), "pore = VALUE"));
  o.pore = 60;
  EXPECT_EQ(error_of([&] { import(o); }), "");
}

TEST_F(ImportMeaning, WhatIsTakenForZIsTold) {
  const ImportReport flat = import(options(false));
  EXPECT_TRUE(flat.z_assumed && flat.voxel_from_file);
  EXPECT_EQ(nlohmann::json::parse(to_json(flat))["z_assumed"], true);
  ImportOptions given = options(false);
  given.voxel = 10e-6;
  EXPECT_FALSE(import(given).z_assumed) << "the width given holds for all three";
  EXPECT_FALSE(import(options(false, "ImageJ=1.54f\nimages=40\nslices=40\nunit=cm\nspacing=-0.001\n")).z_assumed);
}

// A step between planes that is 30 times the width of pixels is more likely a wrong unit than a scan.
TEST_F(ImportMeaning, WidthsThatDifferMuchHaveToBeConfirmed) {
  ImportOptions o = options(false, "ImageJ=1.54f\nimages=40\nslices=40\nunit=cm\nspacing=0.03\n");
  const std::string text = error_of([&] { import(o); });
  EXPECT_TRUE(has(text, "30 times as long as wide")) << text;
  EXPECT_TRUE(has(text, "spacing = [1e-05, 1e-05, 0.0003]")) << text;
  o.voxel = 10e-6;
  EXPECT_TRUE(has(error_of([&] { import(o); }), "30 times as long as wide")) << "proportions would still be the file's";
  o.voxel = 0;
  o.spacing = {10e-6, 10e-6, 10e-6};
  EXPECT_EQ(error_of([&] { import(o); }), "");
}

}  // namespace
}  // namespace karst::import_meaning_test
