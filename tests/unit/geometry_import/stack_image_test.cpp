// SPDX-License-Identifier: BSD-3-Clause
#include <gtest/gtest.h>
#include <png.h>
#include <tiffio.h>

#include <cstdio>
#include <filesystem>

#include "geometry_import/read/readers.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::stack_image_test {
namespace {

using test::all_values;
using test::error_of;
using test::has;

constexpr int nx = 5, ny = 4;

/// Value of pixel n of slice z: all differ, those of 16 bits need both bytes.
int pixel(int n, int z, int bits) { return bits == 16 ? 270 * (n + nx * ny * z) + 7 : n + nx * ny * z; }

void write_tiff(const std::string& path, int z, int bits = 8, int width = nx) {
  TIFF* t = TIFFOpen(path.c_str(), "w");
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, width);
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, ny);
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, bits);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
  for (int y = 0; y < ny; ++y) {
    std::vector<std::uint16_t> row(width);
    auto* bytes = reinterpret_cast<std::uint8_t*>(row.data());
    for (int x = 0; x < width; ++x) {
      const int value = pixel(x + width * y, z, bits);
      if (bits == 16)
        row[x] = static_cast<std::uint16_t>(value);
      else
        bytes[x] = static_cast<std::uint8_t>(value);
    }
    TIFFWriteScanline(t, row.data(), static_cast<std::uint32_t>(y));
  }
  TIFFClose(t);
}

struct Png {
  int bits = 8, color = PNG_COLOR_TYPE_GRAY, interlace = PNG_INTERLACE_NONE;
  std::uint32_t per_metre = 0;  ///< in y half as many when the unit is unknown
  int unit = PNG_RESOLUTION_METER;
  int palette = 1;  ///< of 32 colours: 1 from black to white, -1 from white to black, 0 colours
};

void write_png(const std::string& path, int z, const Png& o = {}) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_init_io(png, file);
  png_set_IHDR(png, info, nx, ny, o.bits, o.color, o.interlace, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  if (o.per_metre > 0)
    png_set_pHYs(png, info, o.per_metre, o.unit == PNG_RESOLUTION_METER ? o.per_metre : o.per_metre / 2, o.unit);
  std::vector<png_color> palette;
  for (int n = 0; n < 32; ++n) {
    const auto gray = static_cast<png_byte>(o.palette < 0 ? 255 - 8 * n : 8 * n);
    palette.push_back({gray, gray, o.palette == 0 ? static_cast<png_byte>(3) : gray});
  }
  if (o.color == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette.data(), 32);
  const int channels = o.color == PNG_COLOR_TYPE_RGB ? 3 : 1;
  std::vector<std::vector<unsigned char>> rows(ny);
  std::vector<png_bytep> pointers;
  for (int y = 0; y < ny; ++y) {
    auto& row = rows[y];
    for (int x = 0; x < nx * channels; ++x) {
      const int value = pixel(x % nx + nx * y, z, o.bits) & (o.bits < 8 ? (1 << o.bits) - 1 : 0xffff);
      if (o.bits == 16) row.push_back(static_cast<unsigned char>(value >> 8));
      row.push_back(static_cast<unsigned char>(value & 0xff));
    }
    pointers.push_back(row.data());
  }
  png_write_info(png, info);
  png_set_packing(png);
  png_write_image(png, pointers.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  std::fclose(file);
}

class StackTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  std::string error(const std::string& name) const {
    return error_of([&] { open_image(path(name)); });
  }
  /// Opens it and says whether it is the stack of slices 0, 1, ... of so many bits.
  void expect_slices(const std::string& name, int slices, int bits) {
    const auto image = open_image(path(name));
    ASSERT_EQ(image->info().size, (Index{nx, ny, slices})) << name;
    EXPECT_EQ(image->info().type, bits == 16 ? VoxelType::uint16 : VoxelType::uint8);
    const std::vector<float> values = all_values(*image);
    for (int n = 0; n < nx * ny * slices; ++n)
      ASSERT_EQ(values[n], static_cast<float>(pixel(n, 0, bits))) << name << " voxel " << n;
  }

 private:
  Comm comm_ = Comm::self();
  test::SharedDirectory directory_{comm_};
};

TEST(ImageNames, NumbersAreOrderedAsNumbers) {
  EXPECT_TRUE(natural_less("slice2.tif", "slice10.tif"));
  EXPECT_TRUE(natural_less("a9b10", "a10b9"));
  EXPECT_TRUE(natural_less("a99999999999999999999999", "a100000000000000000000000")) << "beyond 64 bits";
  EXPECT_FALSE(natural_less("a10", "a10"));
  EXPECT_NE(natural_less("a010", "a10"), natural_less("a10", "a010")) << "one comes first";
}

TEST(ImageNames, PatternsAreMatched) {
  EXPECT_TRUE(matches("slice_*.tif", "slice_0001.tif"));
  EXPECT_FALSE(matches("slice_*.tif", "slice_0001.tiff"));
  EXPECT_TRUE(matches("a?c", "abc") && !matches("a?c", "ac"));
  EXPECT_TRUE(matches("s_%04d.png", "s_0012.png") && matches("s_%04d.png", "s_12345.png"));
  EXPECT_FALSE(matches("s_%04d.png", "s_12.png"));
  EXPECT_TRUE(matches("s%d.png", "s7.png") && !matches("s%d.png", "s.png") && !matches("s%d.png", "s7b.png"));
  EXPECT_TRUE(is_pattern("a/*.tif") && is_pattern("a/s%03d.tif") && !is_pattern("a/100%.tif"));
  EXPECT_EQ(image_name("d/slices/"), "slices");
  EXPECT_EQ(image_name("d/s_*.tif"), "s_*.tif");
  EXPECT_EQ(image_name("d/a.h5:/exchange/data"), "a.h5:/exchange/data");
  EXPECT_TRUE(describes_itself("s_*.tif") && describes_itself("a.h5:/data") && describes_itself("a.npy"));
}

TEST_F(StackTest, FoldersAndPatternsGiveTheSlicesInTheOrderOfTheirNumbers) {
  for (const int bits : {8, 16}) {
    std::filesystem::create_directory(path("t"));
    std::filesystem::create_directory(path("p"));
    for (int z = 0; z < 12; ++z) {
      write_tiff(path("t/s" + std::to_string(z + 1) + ".tif"), z, bits);
      write_png(path("p/s" + std::to_string(z + 1) + ".png"), z, {bits, PNG_COLOR_TYPE_GRAY, z % 2, 0});
    }
    test::write_raw<char>(path("t/scan.log"), {}, "no slice");
    for (const char* name : {"t", "t/", "t/s*.tif", "t/s%d.tif", "p", "p/*.png"}) expect_slices(name, 12, bits);
    const std::string format = open_image(path("t"))->info().format;
    EXPECT_EQ(format, "stack of 12 TIFF files");
    EXPECT_TRUE(has(error("t/*"), "also matches scan.log"));
    EXPECT_TRUE(has(error("t/s%04d.tif"), "there is no such file"));
  }
}

TEST_F(StackTest, ASliceIsAnImageOfOnePlane) {
  write_tiff(path("a.tif"), 0, 16);
  write_png(path("a.png"), 0, {16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7, 0});
  for (const char* name : {"a.tif", "a.png", "a*.tif", "a*.png"}) expect_slices(name, 1, 16);
}

TEST_F(StackTest, PngOfFewBitsKeepsItsValues) {
  for (const int bits : {1, 2, 4}) {
    write_png(path("a.png"), 0, {bits, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, 0});
    const std::vector<float> values = all_values(*open_image(path("a.png")));
    for (int n = 0; n < nx * ny; ++n) EXPECT_EQ(values[n], float(n % (1 << bits))) << bits;
  }
}

TEST_F(StackTest, PngStatesItsPixelsPerMetre) {
  write_png(path("a.png"), 0, {8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, 200000});
  EXPECT_NEAR(open_image(path("a.png"))->info().voxel.value_or(0), 5e-6, 1e-15);
  write_png(path("a.png"), 0, {8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, 2835});  // 72 per inch
  EXPECT_FALSE(open_image(path("a.png"))->info().voxel.has_value());
  EXPECT_TRUE(has(open_image(path("a.png"))->info().voxel_note, "for printing"));
}

// Pixels that are no squares, in no unit that is known; z is taken equal to x.
TEST_F(StackTest, PngStatesProportions) {
  write_png(path("a.png"), 0, {8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, 2, PNG_RESOLUTION_UNKNOWN});
  const ImageInfo info = open_image(path("a.png"))->info();
  EXPECT_FALSE(info.spacing.has_value());
  EXPECT_NEAR(info.proportions[1], 2, 1e-12);
  EXPECT_TRUE(info.z_assumed);
}

// The index is the label; a palette of grays says whether 0 is black or white.
TEST_F(StackTest, PngPalettesHoldLabelsOrGrayValues) {
  const auto info = [&](int way) {
    Png o{8, PNG_COLOR_TYPE_PALETTE};
    o.palette = way;
    write_png(path("a.png"), 0, o);
    const std::vector<float> values = all_values(*open_image(path("a.png")));
    for (int n = 0; n < nx * ny; ++n) EXPECT_EQ(values[n], float(n));
    return open_image(path("a.png"))->info();
  };
  EXPECT_TRUE(info(1).labels_only.empty() && !info(1).black);
  EXPECT_EQ(info(-1).black, 31);
  EXPECT_TRUE(has(info(0).labels_only, "colour palette"));
}

TEST_F(StackTest, MissingSlicesAreNamed) {
  for (const int z : {0, 10, 20, 50, 60, 80}) write_tiff(path(fmt::format("s_{:04}.tif", z)), z);
  const std::string text = error("s_*.tif");
  EXPECT_TRUE(has(text, "missing between the numbers 0 and 80: 30 (after s_0020.tif), 40 (after s_0020.tif), 70"))
      << text;
  for (const int z : {30, 40, 70}) write_tiff(path(fmt::format("s_{:04}.tif", z)), z);
  EXPECT_EQ(error("s_*.tif"), "") << "every tenth number";
  write_tiff(path("s_00010.tif"), 1);
  EXPECT_TRUE(has(error("s_*.tif"), "does not follow from their numbers")) << error("s_*.tif");
  std::filesystem::remove(path("s_00010.tif"));
  write_tiff(path("first.tif"), 1);
  EXPECT_TRUE(has(error("*.tif"), "differ in more than a number")) << error("*.tif");
}

// Names with a time before the number, as scanners write them.
TEST_F(StackTest, TheLastNumberThatDiffersCounts) {
  for (int z = 0; z < 3; ++z) write_tiff(path(fmt::format("scan_{}_{:02}_v2.tif", 150000 + 37 * z * z, z)), z);
  expect_slices("scan_*.tif", 3, 8);
}

TEST_F(StackTest, SlicesThatDifferAreErrors) {
  for (int z = 0; z < 3; ++z) write_tiff(path(fmt::format("s{}.tif", z)), z);
  write_tiff(path("s2.tif"), 2, 16);
  EXPECT_TRUE(has(error("s*.tif"), "s2.tif: is 5 x 4 pixels of uint16")) << error("s*.tif");
  write_tiff(path("s2.tif"), 2, 8, 6);
  EXPECT_TRUE(has(error("s*.tif"), "s2.tif: is 6 x 4 pixels of uint8 (TIFF), the first slice")) << error("s*.tif");
  test::write_raw<char>(path("s2.tif"), {}, "no image");
  EXPECT_TRUE(has(error("s*.tif"), "s2.tif: cannot be read as TIFF")) << error("s*.tif");
  std::filesystem::remove(path("s2.tif"));
  write_png(path("s2.png"), 2);
  EXPECT_TRUE(has(error("s?.*"), "differ in more than a number")) << error("s?.*");
}

TEST_F(StackTest, NothingToReadIsAnError) {
  std::filesystem::create_directory(path("empty"));
  EXPECT_TRUE(has(error("empty"), "the folder contains no slices (.tif, .tiff, .png)"));
  EXPECT_TRUE(has(error("empty/*.tif"), "there is no such file"));
  EXPECT_TRUE(has(error("none/*.tif"), "the folder cannot be read"));
  EXPECT_TRUE(has(error("*/a.tif"), "not folders"));
  EXPECT_TRUE(has(error_of([&] {
                    open_image(path("empty"), RawLayout{{1, 1, 1}, VoxelType::uint8, false, 0});
                  }),
                  "are for raw files"));
}

TEST_F(StackTest, ColouredAndDamagedPngAreErrors) {
  write_png(path("c.png"), 0, {8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, 0});
  EXPECT_TRUE(has(error("c.png"), "c.png: is in colour"));
  test::write_raw<char>(path("d.png"), {}, "this is no image");
  EXPECT_TRUE(has(error("d.png"), "d.png: cannot be read as PNG"));
  write_png(path("a.png"), 0, {16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, 0});
  const std::string whole = test::bytes_of_file(path("a.png"));
  for (std::size_t kept = 8; kept < whole.size(); kept += 7) {
    test::write_raw<char>(path("b.png"), {whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept)});
    EXPECT_TRUE(has(error_of([&] { all_values(*open_image(path("b.png"))); }), "b.png: ")) << kept;
  }
}

TEST_F(StackTest, ASliceThatChangesWhileItIsReadIsAnError) {
  for (int z = 0; z < 3; ++z) write_png(path(fmt::format("s{}.png", z)), z);
  const auto image = open_image(path("s*.png"));
  write_png(path("s1.png"), 1, {16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, 0});
  EXPECT_TRUE(has(error_of([&] { all_values(*image); }), "s1.png: has changed"));
}

}  // namespace
}  // namespace karst::stack_image_test
