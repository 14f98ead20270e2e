// SPDX-License-Identifier: BSD-3-Clause
// TIFF as its author meant it: what tags and descriptions say about planes, brightness, orientation and widths.
#include <gtest/gtest.h>
#include <tiffio.h>

#include <array>
#include <filesystem>

#include "geometry_import/import.hpp"
#include "packed.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::tiff_meaning_test {
namespace {

using test::all_values;
using test::error_of;
using test::has;

/// Tags of a page that a test wants to vary.
struct Tags {
  int nx = 5, ny = 4, nz = 6;
  int bits = 8, photometric = PHOTOMETRIC_MINISBLACK, orientation = 0, subfile = 0, depth = 0, tile_depth = 0;
  double per_x = 0, per_y = 0;  ///< resolution
  int unit = RESUNIT_NONE;
  std::string description;
  const char* mode = "w";
};

int value_at(int x, int y, int z) { return 1 + x + 5 * y + 20 * z; }

void set_tags(TIFF* t, const Tags& o) {
  TIFFSetField(t, TIFFTAG_IMAGEWIDTH, o.nx);
  TIFFSetField(t, TIFFTAG_IMAGELENGTH, o.ny);
  TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, o.bits);
  TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
  TIFFSetField(t, TIFFTAG_PHOTOMETRIC, o.photometric);
  TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, o.ny);
  if (o.orientation > 0) TIFFSetField(t, TIFFTAG_ORIENTATION, o.orientation);
  if (o.subfile > 0) TIFFSetField(t, TIFFTAG_SUBFILETYPE, o.subfile);
  if (!o.description.empty()) TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, o.description.c_str());
  if (o.per_x > 0) {
    TIFFSetField(t, TIFFTAG_RESOLUTIONUNIT, o.unit);
    TIFFSetField(t, TIFFTAG_XRESOLUTION, o.per_x);
    TIFFSetField(t, TIFFTAG_YRESOLUTION, o.per_y > 0 ? o.per_y : o.per_x);
  }
}

/// Pages z = first, first + 1, ... with value_at(); pixels of fewer than 8 bits hold its lowest ones.
void write(const std::string& path, const Tags& o, int first = 0, int pages = -1) {
  TIFF* t = TIFFOpen(path.c_str(), o.mode);
  for (int z = first; z < first + (pages < 0 ? o.nz : pages); ++z) {
    set_tags(t, o);
    if (o.photometric == PHOTOMETRIC_PALETTE) {
      std::vector<std::uint16_t> red(256), blue(256);
      for (std::size_t n = 0; n < 256; ++n) red[n] = static_cast<std::uint16_t>(257 * n), blue[n] = 7;
      TIFFSetField(t, TIFFTAG_COLORMAP, red.data(), red.data(), o.unit == RESUNIT_NONE ? red.data() : blue.data());
    }
    for (int y = 0; y < o.ny; ++y) {
      std::vector<std::uint8_t> row(2 * o.nx);
      for (int x = 0; x < o.nx; ++x) {
        const int v = value_at(x, y, z);
        if (o.bits == 16)
          row[2 * x] = static_cast<std::uint8_t>(v & 255), row[2 * x + 1] = static_cast<std::uint8_t>(v >> 8);
        if (o.bits == 8) row[x] = static_cast<std::uint8_t>(v);
        if (o.bits < 8)
          row[x * o.bits / 8] = static_cast<std::uint8_t>(row[x * o.bits / 8] | (v & ((1 << o.bits) - 1))
                                                                                    << (8 - o.bits - x * o.bits % 8));
      }
      TIFFWriteScanline(t, row.data(), static_cast<std::uint32_t>(y));
    }
    TIFFWriteDirectory(t);
  }
  TIFFClose(t);
}

class TiffMeaning : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  ImageInfo info(const Tags& o) const {
    write(path("a.tif"), o);
    return open_image(path("a.tif"))->info();
  }
  std::vector<float> values(const Tags& o) const {
    write(path("a.tif"), o);
    return all_values(*open_image(path("a.tif")));
  }
  std::string error(const Tags& o) const {
    write(path("a.tif"), o);
    return error_of([&] { open_image(path("a.tif")); });
  }
  static Tags imagej(const std::string& lines, double per_unit = 0.1) {
    Tags o;
    o.per_x = per_unit;
    o.description = "ImageJ=1.54f\n" + lines;
    return o;
  }
  static Tags ome(const std::string& pixels, const std::string& inside = "") {
    Tags o;
    o.description =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!-- a comment --><OME xmlns=\"http://www.openmicroscopy.org"
        "/Schemas/OME/2016-06\" UUID=\"urn:uuid:1\"><Image ID=\"Image:0\"><Pixels SizeX=\"5\" SizeY=\"4\" " +
        pixels + ">" + inside + "</Pixels></Image></OME>";
    return o;
  }

  Comm comm_ = Comm::self();
  test::SharedDirectory directory_{comm_};
};

void expect_widths(const ImageInfo& info, const Vec3& widths) {
  ASSERT_TRUE(info.spacing.has_value()) << info.voxel_note;
  for (int d = 0; d < 3; ++d) EXPECT_NEAR((*info.spacing)[d] / widths[d], 1, 1e-6) << "xyz"[d];
}

TEST_F(TiffMeaning, MoreThanOneOfSlicesChannelsAndTimesIsRefusedWithTheCounts) {
  const std::string two = error(imagej("images=6\nchannels=2\nslices=3\nhyperstack=true\nmode=grayscale\n"));
  EXPECT_TRUE(has(two, "3 slices, 2 channels, 1 frames (ImageJ)")) << two;
  EXPECT_TRUE(has(error(imagej("images=6\nslices=2\nframes=3\n")), "2 slices, 1 channels, 3 frames"));
  EXPECT_TRUE(has(error(imagej("images=6\nchannels=3\nframes=2\n")), "1 slices, 3 channels, 2 frames"));
  EXPECT_TRUE(has(error(ome("SizeZ=\"3\" SizeC=\"2\" SizeT=\"1\"")), "3 slices, 2 channels, 1 times (OME"));
  EXPECT_TRUE(has(error(ome("SizeZ=\"1\" SizeC=\"2\" SizeT=\"3\"")), "1 slices, 2 channels, 3 times"));
  Tags shaped;
  shaped.description = "{\"shape\": [2, 3, 4, 5], \"axes\": \"CZYX\"}";
  EXPECT_TRUE(has(error(shaped), "an array of 2 x 3 x 4 x 5 entries"));
}

// One axis of several entries is the volume, whatever its name.
TEST_F(TiffMeaning, OneAxisOfPlanesIsTheVolume) {
  for (const char* axis : {"slices", "channels", "frames"})
    EXPECT_EQ(info(imagej(fmt::format("images=6\n{}=6\n", axis))).size, (Index{5, 4, 6})) << axis;
  for (const char* counts :
       {"SizeZ=\"6\" SizeC=\"1\" SizeT=\"1\"", "SizeZ=\"1\" SizeC=\"6\" SizeT=\"1\"", "SizeT=\"6\""})
    EXPECT_EQ(info(ome(counts)).size, (Index{5, 4, 6})) << counts;
  Tags shaped;
  for (const char* shape : {"[6, 4, 5]", "[1, 6, 4, 5]", "[6, 1, 4, 5, 1]"}) {
    shaped.description = fmt::format("{{\"shape\": {}}}", shape);
    EXPECT_EQ(info(shaped).size, (Index{5, 4, 6})) << shape;
  }
  shaped.description = "{\"shape\": \"none\"}";
  EXPECT_EQ(info(shaped).size, (Index{5, 4, 6})) << "no shape: nothing is known";
}

// The sign of ImageJ's step is its direction; y and z may have units of their own.
TEST_F(TiffMeaning, ImageJStatesTheStepWithASignAndUnitsOfItsOwn) {
  expect_widths(info(imagej("images=6\nslices=6\nspacing=-20.0\nunit=um\n")), {10e-6, 10e-6, 20e-6});
  expect_widths(info(imagej("images=6\nslices=6\nspacing=0.02\nunit=\\u00B5m\nzunit=mm\n")), {10e-6, 10e-6, 20e-6});
  Tags y = imagej("images=6\nslices=6\nspacing=20\nunit=micron\nyunit=nm\n");
  y.per_y = 2.5e-4;
  expect_widths(info(y), {10e-6, 4e-6, 20e-6});
  EXPECT_FALSE(info(y).z_assumed);
  const ImageInfo flat = info(imagej("images=6\nslices=6\nunit=um\n"));
  expect_widths(flat, {10e-6, 10e-6, 10e-6});
  EXPECT_TRUE(flat.z_assumed);
  const ImageInfo unknown = info(imagej("images=6\nslices=6\nspacing=20\nunit=um\nzunit=furlong\n"));
  EXPECT_TRUE(unknown.z_assumed);
  ASSERT_EQ(unknown.notes.size(), 1u);
  EXPECT_TRUE(has(unknown.notes[0], "furlong"));
  Tags tags = imagej("images=6\nslices=6\nspacing=0.002\n", 1000);  // no unit: that of the tags holds for z, too
  tags.unit = RESUNIT_CENTIMETER;
  expect_widths(info(tags), {10e-6, 10e-6, 20e-6});
  EXPECT_NEAR(info(imagej("images=6\nslices=6\nspacing=3\n", 1)).proportions[2], 3, 1e-6)
      << "pixels: proportions alone";
}

TEST_F(TiffMeaning, OmeStatesWidthsWithUnits) {
  const std::string planes = "SizeZ=\"6\" ", x = "PhysicalSizeX=\"10\" PhysicalSizeY=\"10.0\" ";
  expect_widths(info(ome(planes + x + "PhysicalSizeZ=\"20\"")), {10e-6, 10e-6, 20e-6});
  expect_widths(info(ome(planes + x + "PhysicalSizeZ=\"-20\" PhysicalSizeZUnit=\"&#181;m\"")), {10e-6, 10e-6, 20e-6});
  expect_widths(info(ome(planes + "PhysicalSizeX=\"0.01\" PhysicalSizeXUnit=\"mm\" PhysicalSizeY=\"10000\" "
                                  "PhysicalSizeYUnit=\"nm\" PhysicalSizeZ=\"20\" PhysicalSizeZUnit=\"µm\"")),
                {10e-6, 10e-6, 20e-6});
  const ImageInfo flat = info(ome(planes + x));
  expect_widths(flat, {10e-6, 10e-6, 10e-6});
  EXPECT_TRUE(flat.z_assumed);
  Tags tags = ome(planes + "PhysicalSizeX=\"0\" PhysicalSizeZ=\"20\"");  // no width: that of the tags
  tags.per_x = 1000;
  tags.unit = RESUNIT_CENTIMETER;
  expect_widths(info(tags), {10e-6, 10e-6, 20e-6});
  EXPECT_TRUE(has(
      info(ome(planes + "PhysicalSizeX=\"1\" PhysicalSizeXUnit=\"reference frame\" PhysicalSizeY=\"1\"")).voxel_note,
      "reference frame"));
}

// OME names the page of each plane: planes may be in another order than pages.
TEST_F(TiffMeaning, OmeNamesThePageOfEachPlane) {
  std::string turned;
  for (int z = 0; z < 6; ++z) turned += fmt::format("<TiffData FirstZ=\"{}\" IFD=\"{}\"/>", z, 5 - z);
  write(path("a.tif"), ome("SizeZ=\"6\"", turned));
  const std::vector<float> v = all_values(*open_image(path("a.tif")));
  for (int z = 0; z < 6; ++z) EXPECT_EQ(v[20 * z], float(value_at(0, 0, 5 - z))) << z;
  EXPECT_EQ(info(ome("SizeZ=\"6\"", "<TiffData/>")).size, (Index{5, 4, 6}));
  EXPECT_EQ(info(ome("SizeZ=\"2\"", "<TiffData IFD=\"1\" PlaneCount=\"2\"/>")).size, (Index{5, 4, 2}));
  EXPECT_TRUE(has(error(ome("SizeZ=\"6\"", "<TiffData IFD=\"0\"/>")), "has no page for plane 1 of 6"));
  EXPECT_TRUE(has(error(ome("SizeT=\"6\"", turned)), "FirstZ 1 and SizeZ 1"));
  EXPECT_TRUE(has(error(ome("SizeZ=\"9\"")), "says 9 planes on pages up to 8; the file has 6 pages"));
  const std::string elsewhere =
      "<TiffData FirstZ=\"0\" PlaneCount=\"6\"><UUID FileName=\"b.tif\">urn:uuid:2</UUID></TiffData>";
  EXPECT_TRUE(has(error(ome("SizeZ=\"6\"", elsewhere)), "planes are in other files (b.tif)"));
  const std::string renamed = "<TiffData PlaneCount=\"6\"><UUID FileName=\"b.tif\">urn:uuid:1</UUID></TiffData>";
  EXPECT_EQ(error(ome("SizeZ=\"6\"", renamed)), "") << "its own UUID: the file has another name now";
  Tags broken = ome("SizeZ=\"6\"");
  broken.description.resize(broken.description.size() - 6);
  EXPECT_TRUE(has(error(broken), "its XML is damaged"));
}

// Signed 16 bit of ImageJ: stored shifted by 32768.
TEST_F(TiffMeaning, ImageJCalibratesValues) {
  Tags o = imagej("images=6\nslices=6\ncf=0\nc0=-32768.0\nc1=1.0\nvunit=gray value\n");
  o.bits = 16;
  EXPECT_EQ(values(o)[7], float(value_at(2, 1, 0) - 32768));
  const ImageInfo i = info(o);
  EXPECT_EQ(i.type, VoxelType::int16);
  ASSERT_EQ(i.notes.size(), 1u);
  EXPECT_TRUE(has(i.notes[0], "-32768 + 1 times"));
  o.description = "ImageJ=1.54f\nimages=6\nslices=6\ncf=0\nc0=5\nc1=0.5\n";
  EXPECT_EQ(values(o)[7], 5 + 0.5F * float(value_at(2, 1, 0)));
  o.description = "ImageJ=1.54f\nimages=6\nslices=6\ncf=3\nc0=5\nc1=0.5\n";
  EXPECT_EQ(values(o)[7], float(value_at(2, 1, 0)));
  EXPECT_TRUE(has(info(o).notes.at(0), "is not applied"));
}

// Row 0 and column 0 of the stored pixels are at the sides that the tag names.
TEST_F(TiffMeaning, OrientationsPutPixelsWhereTheyBelong) {
  for (int o = ORIENTATION_TOPLEFT; o <= ORIENTATION_LEFTBOT; ++o) {
    Tags tags;
    tags.orientation = o;
    tags.per_x = 1000;
    tags.per_y = 500;
    tags.unit = RESUNIT_CENTIMETER;
    const std::vector<float> v = values(tags);
    const ImageInfo i = info(tags);
    const bool turned = o >= ORIENTATION_LEFTTOP, right = o == 2 || o == 3 || o == 6 || o == 7,
               bottom = o == 3 || o == 4 || o == 7 || o == 8;
    ASSERT_EQ(i.size, turned ? (Index{4, 5, 6}) : (Index{5, 4, 6})) << o;
    EXPECT_NEAR((*i.spacing)[turned ? 1 : 0], 10e-6, 1e-12) << o;
    EXPECT_NEAR(i.proportions[1], turned ? 0.5 : 2, 1e-6) << o;
    const int nx = i.size[0], ny = i.size[1];
    for (int y = 0; y < ny; ++y)
      for (int x = 0; x < nx; ++x) {
        const int across = right ? nx - 1 - x : x, down = bottom ? ny - 1 - y : y;
        EXPECT_EQ(v[x + nx * y], float(turned ? value_at(down, across, 0) : value_at(across, down, 0))) << o;
      }
    EXPECT_EQ(i.notes.empty(), o == ORIENTATION_TOPLEFT);
  }
}

TEST_F(TiffMeaning, PixelsOfFewBitsKeepTheirValues) {
  for (const int bits : {1, 2, 4}) {
    Tags o;
    o.bits = bits;
    o.nx = 13;
    const std::vector<float> v = values(o);
    for (int n = 0; n < 13 * 4 * 6; ++n)
      ASSERT_EQ(v[n], float(value_at(n % 13, n / 13 % 4, n / 52) & ((1 << bits) - 1))) << bits << " " << n;
    EXPECT_EQ(info(o).type, VoxelType::uint8);
  }
}

/// A volume in one page: SGI's ImageDepth, with tiles of several planes.
void write_volume(const std::string& path, int depth, int tile_depth, int pages = 1, bool zlib = false) {
  TIFF* t = TIFFOpen(path.c_str(), "w");
  for (int p = 0; p < pages; ++p) {
    Tags o;
    o.nx = 20;
    o.ny = 18;
    set_tags(t, o);
    TIFFSetField(t, TIFFTAG_IMAGEDEPTH, depth);
    if (tile_depth == 0) {  // strips: libtiff itself writes those of the first plane alone
      TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, o.ny);
      std::vector<std::uint8_t> plane(20 * 18, 7);
      TIFFWriteEncodedStrip(t, 0, plane.data(), static_cast<tmsize_t>(plane.size()));
      TIFFWriteDirectory(t);
      continue;
    }
    TIFFSetField(t, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(t, TIFFTAG_TILELENGTH, 16);
    TIFFSetField(t, TIFFTAG_TILEDEPTH, tile_depth);
    TIFFSetField(t, TIFFTAG_COMPRESSION, zlib ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE);
    std::vector<std::uint8_t> tile(16 * 16 * tile_depth);
    for (int z = 0; z < depth; z += tile_depth)
      for (int y = 0; y < o.ny; y += 16)
        for (int x = 0; x < o.nx; x += 16) {
          for (int n = 0; n < static_cast<int>(tile.size()); ++n)
            tile[n] = static_cast<std::uint8_t>(3 * (x + n % 16) + 5 * (y + n / 16 % 16) + 7 * (z + n / 256));
          const std::uint32_t number = TIFFComputeTile(t, static_cast<std::uint32_t>(x), static_cast<std::uint32_t>(y),
                                                       static_cast<std::uint32_t>(z), 0);
          const std::string bytes(tile.begin(), tile.end()), packed = zlib ? test::zlib(bytes) : bytes;
          TIFFWriteRawTile(t, number, const_cast<char*>(packed.data()), static_cast<tmsize_t>(packed.size()));
        }
    TIFFWriteDirectory(t);
  }
  TIFFClose(t);
}

TEST_F(TiffMeaning, APageMayBeAVolume) {
  for (const int tile_depth : {1, 4, 16, -4}) {  // below 0: compressed
    write_volume(path("v.tif"), 10, std::abs(tile_depth), 1, tile_depth < 0);
    const auto image = open_image(path("v.tif"));
    ASSERT_EQ(image->info().size, (Index{20, 18, 10})) << tile_depth;
    const std::vector<float> v = all_values(*image);
    for (int n = 0; n < 3600; ++n)
      ASSERT_EQ(v[n], float(static_cast<std::uint8_t>(3 * (n % 20) + 5 * (n / 20 % 18) + 7 * (n / 360)))) << tile_depth;
  }
  write_volume(path("v.tif"), 10, 4, 2);
  EXPECT_TRUE(has(error_of([&] { open_image(path("v.tif")); }), "2 pages of 10 planes each"));
  write_volume(path("v.tif"), 10, 0);
  EXPECT_TRUE(has(error_of([&] { open_image(path("v.tif")); }), "ends early")) << "strips of one plane of ten";
}

TEST_F(TiffMeaning, SmallerCopiesAndMasksAreLeftOut) {
  write(path("a.tif"), {});
  Tags thumbnail;
  thumbnail.nx = 2;
  thumbnail.ny = 2;
  thumbnail.mode = "a";
  for (const int kind : {FILETYPE_REDUCEDIMAGE, FILETYPE_MASK}) {
    thumbnail.subfile = kind;
    write(path("a.tif"), thumbnail, 0, 1);
  }
  const auto image = open_image(path("a.tif"));
  EXPECT_EQ(image->info().size, (Index{5, 4, 6}));
  ASSERT_EQ(image->info().notes.size(), 1u);
  EXPECT_TRUE(has(image->info().notes[0], "2 of its 8 pages"));
  thumbnail.subfile = 0;
  write(path("a.tif"), thumbnail, 0, 1);
  EXPECT_TRUE(has(error_of([&] { open_image(path("a.tif")); }), "page 8 is 2 x 2"));
}

TEST_F(TiffMeaning, AColourPaletteMakesLabels) {
  Tags o;
  o.photometric = PHOTOMETRIC_PALETTE;
  EXPECT_EQ(info(o).labels_only, "") << "a palette from black to white";
  EXPECT_EQ(values(o)[7], float(value_at(2, 1, 0)));
  o.unit = RESUNIT_INCH;  // yellow
  EXPECT_TRUE(has(info(o).labels_only, "indices of a colour palette"));
  EXPECT_EQ(values(o)[7], float(value_at(2, 1, 0))) << "the index is the label";
}

TEST_F(TiffMeaning, WhereZeroIsWhiteTheBlackValueIsKnown) {
  Tags o;
  o.photometric = PHOTOMETRIC_MINISWHITE;
  EXPECT_EQ(info(o).black, 255);
  EXPECT_EQ(values(o)[7], float(value_at(2, 1, 0))) << "values are those stored";
  o.bits = 1;
  EXPECT_EQ(info(o).black, 1);
  // Pages, or slices, of both kinds: all to the one in which 0 is black.
  write(path("m.tif"), {}, 0, 3);
  Tags white;
  white.photometric = PHOTOMETRIC_MINISWHITE;
  white.mode = "a";
  write(path("m.tif"), white, 3, 3);
  const auto mixed = open_image(path("m.tif"));
  EXPECT_FALSE(mixed->info().black.has_value());
  EXPECT_TRUE(has(mixed->info().notes.at(0), "in 3 of the 6 pages 0 is white"));
  EXPECT_EQ(all_values(*mixed)[2 * 20 + 7], float(value_at(2, 1, 2)));
  EXPECT_EQ(all_values(*mixed)[3 * 20 + 7], float(255 - value_at(2, 1, 3)));
  std::filesystem::create_directory(path("s"));
  white.mode = "w";
  for (int z = 0; z < 6; ++z) write(path(fmt::format("s/s{}.tif", z)), z % 2 == 0 ? Tags{} : white, z, 1);
  const auto stack = open_image(path("s"));
  EXPECT_TRUE(has(stack->info().notes.at(0), "in 3 of the 6 slices 0 is white"));
  EXPECT_EQ(all_values(*stack)[2 * 20 + 7], float(value_at(2, 1, 2)));
  EXPECT_EQ(all_values(*stack)[3 * 20 + 7], float(255 - value_at(2, 1, 3)));
}

TEST_F(TiffMeaning, WidthsThatDifferMuchAreAskedAbout) {
  EXPECT_EQ(info(imagej("images=6\nslices=6\nspacing=199\nunit=um\n")).width_doubt, "");
  EXPECT_TRUE(
      has(info(imagej("images=6\nslices=6\nspacing=201\nunit=um\n")).width_doubt, "20.1 times as long as wide"));
  // Slices that state other widths than the first.
  Tags o;
  o.per_x = 1000;
  o.unit = RESUNIT_CENTIMETER;
  for (int z = 0; z < 3; ++z) {
    if (z == 2) o.per_x = 2000;
    write(path(fmt::format("w{}.tif", z)), o, z, 1);
  }
  EXPECT_TRUE(has(open_image(path("w*.tif"))->info().width_doubt, "have different pixel widths"));
}

}  // namespace
}  // namespace karst::tiff_meaning_test
