// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/read/image_file.hpp"

#include <gtest/gtest.h>
#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "packed.hpp"
#include "support/image_files.hpp"

namespace karst::image_file_test {
namespace {

using test::all_values;
using test::as_float;
using test::error_of;
using test::has;
using test::sample_values;

using ImageFileTest = test::ImageFolder;

template <class T>
void check_raw(const std::string& path, VoxelType type) {
  for (const bool big : {false, true})
    for (const std::string header : {"", "7 bytes"}) {
      std::vector<T> values = sample_values<T>();
      const std::vector<float> expected = as_float(values);
      if (big)
        for (T& v : values) {
          auto* b = reinterpret_cast<char*>(&v);
          std::reverse(b, b + sizeof(T));
        }
      test::write_raw(path, values, header);
      const auto image = open_image(path, RawLayout{{5, 4, 3}, type, big, static_cast<std::int64_t>(header.size())});
      EXPECT_EQ(all_values(*image), expected) << name_of(type) << " big " << big << " header " << header.size();
      EXPECT_EQ(image->info().format, "raw");
      EXPECT_FALSE(image->info().voxel.has_value());
    }
}

TEST_F(ImageFileTest, RawRoundTripInAllTypesAndByteOrders) {
  check_raw<std::uint8_t>(path("a.raw"), VoxelType::uint8);
  check_raw<std::int8_t>(path("a.raw"), VoxelType::int8);
  check_raw<std::uint16_t>(path("a.raw"), VoxelType::uint16);
  check_raw<std::int16_t>(path("a.raw"), VoxelType::int16);
  check_raw<std::uint32_t>(path("a.raw"), VoxelType::uint32);
  check_raw<std::int32_t>(path("a.raw"), VoxelType::int32);
  check_raw<float>(path("a.raw"), VoxelType::float32);
  check_raw<double>(path("a.raw"), VoxelType::float64);
}

TEST_F(ImageFileTest, RawErrorsNameBytes) {
  test::write_raw(path("a.raw"), sample_values<std::uint16_t>());  // 120 bytes
  const auto open = [&](Index size, std::int64_t skip = 0) {
    return error_of([&] { open_image(path("a.raw"), RawLayout{size, VoxelType::uint16, false, skip}); });
  };
  EXPECT_EQ(open({5, 4, 3}), "");
  EXPECT_TRUE(has(open({5, 4, 4}), "too short") && has(open({5, 4, 4}), "need 160 bytes, the file has 120"));
  EXPECT_TRUE(has(open({5, 4, 2}), "too long") && has(open({5, 4, 2}), "`skip_bytes = 40`"));
  EXPECT_TRUE(has(open({5, 4, 3}, 8), "need 128 bytes, the file has 120"));
  EXPECT_TRUE(has(open({5, 0, 3}), "5 x 0 x 3"));
  EXPECT_TRUE(has(open({5, -4, 3}), "at least 1"));
  EXPECT_TRUE(has(open({5, 4, 3}, -1), "`skip_bytes = -1`"));
}

TEST_F(ImageFileTest, RawFilesMayBeCompressed) {
  const std::vector<std::int16_t> values = sample_values<std::int16_t>();
  const std::string bytes(reinterpret_cast<const char*>(values.data()), values.size() * 2), z = test::gzip(bytes);
  const RawLayout layout{{5, 4, 3}, VoxelType::int16, false, 0};
  const auto write = [&](const std::string& name, const std::string& all) {
    test::write_raw<char>(path(name), {}, all);
  };
  const auto error = [&](const std::string& all, const RawLayout& what) {
    write("b.raw.gz", all);
    return error_of([&] { open_image(path("b.raw.gz"), what); });
  };
  write("a.raw.gz", z);
  const auto check = [&](const std::string& name, std::int64_t skip) {
    const auto image = open_image(path(name), RawLayout{layout.size, layout.type, false, skip});
    EXPECT_EQ(all_values(*image), as_float(values)) << name;
    EXPECT_TRUE(image->info().held_whole) << name;
  };
  check("a.raw.gz", 0);
  write("a.DAT.GZ", test::gzip(bytes.substr(0, 50)) + test::gzip(bytes.substr(50)));  // joined files
  check("a.DAT.GZ", 0);
  write("a.bin.gz", test::gzip("header" + bytes));
  check("a.bin.gz", 6);
  EXPECT_TRUE(is_image_name("rock.raw.gz") && is_image_name("rock.raw") && !is_image_name("rock.toml.gz"));
  EXPECT_TRUE(has(error_of([&] { open_image(path("a.raw.gz")); }), "needs its `size`"));

  EXPECT_TRUE(has(error(test::gzip(bytes.substr(2)), layout), "ends early"));
  EXPECT_TRUE(has(error(test::gzip(bytes + "x"), layout), "too long"));
  EXPECT_TRUE(has(error(bytes, layout), "damaged"));  // not compressed at all
  EXPECT_TRUE(has(error(z, {{50000, 40000, 3}, VoxelType::int16, false, 0}), "do not fit into"));
  for (std::size_t n = 0; n < z.size(); ++n) EXPECT_NE(error(z.substr(0, n), layout), "") << n;
  for (std::size_t n = z.size() - 8; n < z.size(); ++n) {  // check sum and length
    std::string damaged = z;
    damaged[n] = static_cast<char>(damaged[n] ^ 1);
    EXPECT_TRUE(has(error(damaged, layout), "damaged")) << n;
  }
}

TEST_F(ImageFileTest, NamesAreChecked) {
  const RawLayout layout{{5, 4, 3}, VoxelType::uint8, false, 0};
  EXPECT_TRUE(has(error_of([&] { open_image(path("none.raw"), layout); }), "none.raw: no such file"));
  EXPECT_TRUE(has(error_of([&] { open_image(path("none.tif")); }), "no such file"));
  test::write_raw(path("a.xyz"), sample_values<std::uint8_t>());
  EXPECT_TRUE(
      has(error_of([&] { open_image(path("a.xyz")); }), "cannot be determined from its first bytes or its name"));
  EXPECT_EQ(error_of([&] { open_image(path("a.xyz"), layout); }), "") << "a layout makes it a raw file";
  test::write_raw(path("a.raw"), sample_values<std::uint8_t>());
  EXPECT_TRUE(has(error_of([&] { open_image(path("a.raw")); }), "needs its `size`"));
  EXPECT_TRUE(has(error_of([&] { open_image(path("")); }), "the folder contains no slices"));
  EXPECT_TRUE(has(error_of([&] { open_image(""); }), "no file given"));
  EXPECT_TRUE(has(error_of([&] { voxel_type_named("uint12"); }), "uint8, int8, uint16"));
  EXPECT_EQ(voxel_type_named("float32"), VoxelType::float32);
  EXPECT_TRUE(describes_itself("A.TIFF") && describes_itself("a.nii.gz") && !describes_itself("a.raw"));
}

TEST_F(ImageFileTest, NotANumberIsNamedWithItsPlace) {
  std::vector<float> values = sample_values<float>();
  values[20 + 2 * 5 + 3] = std::nanf("");
  test::write_raw(path("a.raw"), values);
  const auto image = open_image(path("a.raw"), RawLayout{{5, 4, 3}, VoxelType::float32, false, 0});
  std::vector<float> plane(20);
  EXPECT_EQ(error_of([&] { image->read_plane(0, plane); }), "");
  EXPECT_TRUE(has(error_of([&] { image->read_plane(1, plane); }), "voxel (3, 2, 1) has the value nan"));
}

/// How to write a TIFF; the tags a test wants to vary.
struct Tiff {
  int nx = 37, ny = 21, nz = 3;
  int bits = 8, format = SAMPLEFORMAT_UINT, compression = COMPRESSION_NONE;
  bool tiles = false;
  int samples = 1, second_page_nx = 0;
  double per_cm = 0, per_inch = 0, per_unit = 0;
  bool one_strip = false;
  std::string description;
};

template <class T>
T tiff_value(int x, int y, int z) {
  return static_cast<T>((7 * x + 11 * y + 13 * z) % 120 - (std::numeric_limits<T>::is_signed ? 60 : 0));
}

template <class T>
void write_page(TIFF* t, const Tiff& o, int nx, int z) {
  if (o.tiles) {
    TIFFSetField(t, TIFFTAG_TILEWIDTH, 16);
    TIFFSetField(t, TIFFTAG_TILELENGTH, 32);
    std::vector<T> tile(16 * 32);
    for (int y0 = 0; y0 < o.ny; y0 += 32)
      for (int x0 = 0; x0 < nx; x0 += 16) {
        for (int n = 0; n < 16 * 32; ++n) tile[n] = tiff_value<T>(x0 + n % 16, y0 + n / 16, z);
        TIFFWriteTile(t, tile.data(), static_cast<std::uint32_t>(x0), static_cast<std::uint32_t>(y0), 0, 0);
      }
    return;
  }
  TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, o.one_strip ? o.ny : 8);
  std::vector<T> row(static_cast<std::size_t>(nx * o.samples));
  for (int y = 0; y < o.ny; ++y) {
    for (int x = 0; x < nx * o.samples; ++x) row[x] = tiff_value<T>(x, y, z);
    TIFFWriteScanline(t, row.data(), static_cast<std::uint32_t>(y));
  }
}

template <class T>
void write(const std::string& path, const Tiff& o) {
  TIFF* t = TIFFOpen(path.c_str(), "w");
  for (int z = 0; z < o.nz; ++z) {
    const int nx = z == 1 && o.second_page_nx > 0 ? o.second_page_nx : o.nx;
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, nx);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, o.ny);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, o.bits);
    TIFFSetField(t, TIFFTAG_SAMPLEFORMAT, o.format);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, o.samples);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, o.samples == 3 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_PLANARCONFIG, PLANARCONFIG_CONTIG);
    TIFFSetField(t, TIFFTAG_COMPRESSION, o.compression);
    if (!o.description.empty()) TIFFSetField(t, TIFFTAG_IMAGEDESCRIPTION, o.description.c_str());
    if (o.per_unit > 0) {
      TIFFSetField(t, TIFFTAG_RESOLUTIONUNIT, RESUNIT_NONE);
      TIFFSetField(t, TIFFTAG_XRESOLUTION, o.per_unit);
      TIFFSetField(t, TIFFTAG_YRESOLUTION, o.per_unit);
    }
    if (o.per_cm > 0 || o.per_inch > 0) {
      TIFFSetField(t, TIFFTAG_RESOLUTIONUNIT, o.per_cm > 0 ? RESUNIT_CENTIMETER : RESUNIT_INCH);
      TIFFSetField(t, TIFFTAG_XRESOLUTION, std::max(o.per_cm, o.per_inch));
      TIFFSetField(t, TIFFTAG_YRESOLUTION, std::max(o.per_cm, o.per_inch));
    }
    write_page<T>(t, o, nx, z);
    TIFFWriteDirectory(t);
  }
  TIFFClose(t);
}

template <class T>
void check_tiff(const std::string& path, Tiff o, int format, VoxelType type) {
  o.bits = 8 * static_cast<int>(sizeof(T));
  o.format = format;
  for (const int compression : {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE})
    for (const bool tiles : {false, true})
      for (const int nz : {1, 3}) {
        o.compression = compression;
        o.tiles = tiles;
        o.nz = nz;
        write<T>(path, o);
        const auto image = open_image(path);
        ASSERT_EQ(image->info().size, (Index{o.nx, o.ny, o.nz}));
        EXPECT_EQ(image->info().type, type);
        const std::vector<float> values = all_values(*image);
        std::size_t wrong = 0, n = 0;
        for (int z = 0; z < nz; ++z)
          for (int y = 0; y < o.ny; ++y)
            for (int x = 0; x < o.nx; ++x) wrong += values[n++] != static_cast<float>(tiff_value<T>(x, y, z));
        EXPECT_EQ(wrong, 0u) << name_of(type) << " compression " << compression << " tiles " << tiles;
      }
}

TEST_F(ImageFileTest, TiffRoundTripInAllTypesStripsAndTiles) {
  check_tiff<std::uint8_t>(path("a.tif"), {}, SAMPLEFORMAT_UINT, VoxelType::uint8);
  check_tiff<std::int8_t>(path("a.tif"), {}, SAMPLEFORMAT_INT, VoxelType::int8);
  check_tiff<std::uint16_t>(path("a.tif"), {}, SAMPLEFORMAT_UINT, VoxelType::uint16);
  check_tiff<std::int16_t>(path("a.tif"), {}, SAMPLEFORMAT_INT, VoxelType::int16);
  check_tiff<std::uint32_t>(path("a.tif"), {}, SAMPLEFORMAT_UINT, VoxelType::uint32);
  check_tiff<std::int32_t>(path("a.tif"), {}, SAMPLEFORMAT_INT, VoxelType::int32);
  check_tiff<float>(path("a.tif"), {}, SAMPLEFORMAT_IEEEFP, VoxelType::float32);
}

TEST_F(ImageFileTest, TiffResolutionGivesTheVoxelWidthOnlyWhenItIsReal) {
  const auto voxel = [&](const Tiff& o) {
    write<std::uint8_t>(path("a.tif"), o);
    return open_image(path("a.tif"))->info();
  };
  EXPECT_FALSE(voxel({}).voxel.has_value());
  Tiff scan;
  scan.per_cm = 2000;
  EXPECT_NEAR(voxel(scan).voxel.value_or(0), 5e-6, 1e-12);
  Tiff printing;
  printing.per_inch = 72;
  EXPECT_FALSE(voxel(printing).voxel.has_value());
  EXPECT_TRUE(has(voxel(printing).voxel_note, "for printing"));
}

TEST_F(ImageFileTest, ImageJStatesTheUnitAndTheStepBetweenPlanes) {
  const auto info = [&](const std::string& unit, double per_unit, const std::string& step) {
    Tiff o;
    o.per_unit = per_unit;
    o.description = "ImageJ=1.53t\nimages=3\nslices=3\nunit=" + unit + "\nspacing=" + step + "\nloop=false\n";
    write<std::uint8_t>(path("a.tif"), o);
    return open_image(path("a.tif"))->info();
  };
  for (const std::string unit : {"micron", "um", "\\u00B5m"})
    EXPECT_NEAR(info(unit, 0.25, "4.0").voxel.value_or(0), 4e-6, 1e-12) << unit;
  const ImageInfo flat = info("mm", 500, "0.006");
  EXPECT_FALSE(flat.voxel.has_value() || flat.cubic());
  ASSERT_TRUE(flat.spacing.has_value());
  EXPECT_NEAR((*flat.spacing)[1], 2e-6, 1e-12);
  EXPECT_NEAR((*flat.spacing)[2], 6e-6, 1e-12);
  EXPECT_NEAR(flat.proportions[2], 3, 1e-6);
  EXPECT_TRUE(has(info("furlong", 1, "1").voxel_note, "furlong"));
}

// Above 4 GiB ImageJ writes one page and all planes behind its strip.
TEST_F(ImageFileTest, PlanesOfImageJThatHaveNoPagesAreFound) {
  Tiff o;
  o.nz = 1;
  o.one_strip = true;
  o.description = "ImageJ=1.53t\nimages=3\nslices=3\n";
  write<std::uint16_t>(path("a.tif"), [&] {
    o.bits = 16;
    return o;
  }());
  const std::string one = test::bytes_of_file(path("a.tif"));
  std::string plane;
  for (int n = 0; n < o.nx * o.ny; ++n) {
    const auto v = tiff_value<std::uint16_t>(n % o.nx, n / o.nx, 0);
    plane.append(reinterpret_cast<const char*>(&v), 2);
  }
  const std::size_t strip = one.find(plane);  // the writer puts the tags behind it: they move behind all planes
  ASSERT_NE(strip, std::string::npos);
  std::string tags = one.substr(strip + plane.size());
  const auto shift = static_cast<std::uint32_t>(2 * plane.size());
  std::string file = one.substr(0, strip) + plane + plane + plane + tags;
  const auto move = [&](std::size_t at) {
    std::uint32_t offset = 0;
    std::memcpy(&offset, &file[at], 4);
    offset += shift;
    std::memcpy(&file[at], &offset, 4);
    return std::size_t{offset};
  };
  const std::size_t directory = move(4);
  std::uint16_t entries = 0;
  std::memcpy(&entries, &file[directory], 2);
  for (std::size_t e = 0; e < entries; ++e) {
    const std::size_t at = directory + 2 + 12 * e;
    std::uint16_t tag = 0;
    std::memcpy(&tag, &file[at], 2);
    if (tag == TIFFTAG_IMAGEDESCRIPTION) move(at + 8);
  }
  test::write_raw<char>(path("b.tif"), {file.begin(), file.end()});
  const auto image = open_image(path("b.tif"));
  ASSERT_EQ(image->info().size, (Index{37, 21, 3}));
  const std::vector<float> values = all_values(*image);
  for (std::size_t n = 0; n < values.size(); ++n) {
    const int m = static_cast<int>(n) % (37 * 21);
    ASSERT_EQ(values[n], static_cast<float>(tiff_value<std::uint16_t>(m % 37, m / 37, 0))) << n;
  }
}

TEST_F(ImageFileTest, TiffErrors) {
  const auto error = [&](const Tiff& o) {
    write<std::uint8_t>(path("a.tif"), o);
    return error_of([&] { open_image(path("a.tif")); });
  };
  Tiff colour;
  colour.samples = 3;
  EXPECT_TRUE(has(error(colour), "page 0 is in colour or has transparency (3 values per pixel"));
  Tiff mixed;
  mixed.second_page_nx = 40;
  EXPECT_TRUE(has(error(mixed), "page 1 is 40 x 21")) << error(mixed);
  Tiff hidden;
  hidden.description = "ImageJ=1.53t\nimages=30\nslices=30\n";
  EXPECT_TRUE(has(error(hidden), "according to ImageJ it has 30 planes")) << error(hidden);
  hidden.nz = 1;
  EXPECT_TRUE(has(error(hidden), "a.tif: ends early")) << error(hidden);
  test::write_raw<char>(path("b.tif"), {'n', 'o', 't', ' ', 'i', 't'});
  EXPECT_TRUE(has(error_of([&] { open_image(path("b.tif")); }), "cannot be read as TIFF"));
}

TEST_F(ImageFileTest, TruncatedTiffIsAnError) {
  Tiff o;
  o.compression = COMPRESSION_LZW;
  write<std::uint8_t>(path("a.tif"), o);
  const std::string whole = test::bytes_of_file(path("a.tif"));
  for (const double share : {0.2, 0.5, 0.8, 0.97}) {
    const auto kept = static_cast<std::size_t>(share * static_cast<double>(whole.size()));
    test::write_raw(path("b.tif"), std::vector<char>(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(kept)));
    const std::string text = error_of([&] {
      const auto image = open_image(path("b.tif"));
      if (image->info().size[2] == 3) all_values(*image);
    });
    EXPECT_TRUE(has(text, "b.tif: ")) << share;
  }
}

TEST_F(ImageFileTest, MetaImageNrrdAndVti) {
  const std::vector<std::int16_t> values = sample_values<std::int16_t>();
  test::write_raw(path("a.bin"), values);
  test::write_raw<char>(
      path("a.mhd"), {},
      "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nDimSize = 5 4 3\n"
      "ElementSpacing = 0.002 0.002 0.002\nElementType = MET_SHORT\nElementDataFile = a.bin\n");
  const auto meta = open_image(path("a.mhd"));
  EXPECT_EQ(meta->info().size, (Index{5, 4, 3}));
  EXPECT_EQ(all_values(*meta), as_float(values));
  EXPECT_NEAR(meta->info().voxel.value_or(0), 2e-6, 1e-15) << "MetaImage counts in millimetres";

  for (const std::string space :
       {"", "spacings: 2 2 2\n", "space dimension: 3\nspace directions: (2,0,0) (0,2,0) (0,0,2)\n"}) {
    test::write_raw(
        path("a.nrrd"), values,
        "NRRD0004\ntype: int16\ndimension: 3\nsizes: 5 4 3\n" + space + "endian: little\nencoding: raw\n\n");
    const auto nrrd = open_image(path("a.nrrd"));
    EXPECT_EQ(nrrd->info().size, (Index{5, 4, 3})) << space;
    EXPECT_EQ(all_values(*nrrd), as_float(values)) << space;
    EXPECT_FALSE(nrrd->info().voxel.has_value());
    EXPECT_EQ(has(nrrd->info().voxel_note, "has no unit"), !space.empty()) << space;
  }

  std::string numbers;
  for (const auto v : values) numbers += std::to_string(v) + " ";
  for (const std::string kind : {"Point", "Cell"}) {
    const std::string extent = kind == "Point" ? "0 4 0 3 0 2" : "0 5 0 4 0 3";
    test::write_raw<char>(
        path("a.vti"), {},
        "<?xml version=\"1.0\"?><VTKFile type=\"ImageData\" version=\"0.1\"><ImageData WholeExtent=\"" + extent +
            "\" Origin=\"0 0 0\" Spacing=\"1 1 1\"><Piece Extent=\"" + extent + "\"><" + kind +
            "Data><DataArray type=\"Int16\" Name=\"gray\" format=\"ascii\">" + numbers + "</DataArray></" + kind +
            "Data></Piece></ImageData></VTKFile>\n");
    const auto vti = open_image(path("a.vti"));
    EXPECT_EQ(vti->info().size, (Index{5, 4, 3})) << kind;
    EXPECT_EQ(all_values(*vti), as_float(values)) << kind;
  }
}

TEST_F(ImageFileTest, NiftiUsesTheUnitOfItsHeader) {
  const std::vector<std::int16_t> values = sample_values<std::int16_t>();
  const auto write_nifti = [&](char unit) {
    std::array<char, 352> header{};
    const auto put = [&](std::size_t at, auto v) { std::memcpy(&header[at], &v, sizeof v); };
    put(0, std::int32_t{348});
    const std::array<std::int16_t, 8> dim{3, 5, 4, 3, 1, 1, 1, 1};
    std::memcpy(&header[40], dim.data(), sizeof dim);
    put(70, std::int16_t{4});   // int16
    put(72, std::int16_t{16});  // bits
    for (std::size_t d = 0; d < 4; ++d) put(76 + 4 * d, d == 0 ? 1.0F : 2.5F);
    put(108, 352.0F);  // where the voxels start
    header[123] = unit;
    std::memcpy(&header[344], "n+1", 4);
    test::write_raw(path("a.nii"), values, std::string(header.begin(), header.end()));
  };
  write_nifti(3);  // micrometres
  const auto image = open_image(path("a.nii"));
  EXPECT_EQ(image->info().size, (Index{5, 4, 3}));
  EXPECT_EQ(all_values(*image), as_float(values));
  EXPECT_NEAR(image->info().voxel.value_or(0), 2.5e-6, 1e-15);
  write_nifti(0);
  EXPECT_FALSE(open_image(path("a.nii"))->info().voxel.has_value());
}

TEST_F(ImageFileTest, DamagedFilesOfOtherFormatsAreErrors) {
  for (const std::string name : {"b.mha", "b.mhd", "b.nrrd", "b.nii", "b.vti"}) {
    test::write_raw<char>(path(name), {}, "this is no image\n");
    EXPECT_TRUE(has(error_of([&] { open_image(path(name)); }), name + ": ")) << name;
  }
  const auto error = [&](const std::string& name) { return error_of([&] { all_values(*open_image(path(name))); }); };
  const std::vector<char> few(10);
  test::write_raw(path("c.nrrd"), few,
                  "NRRD0004\ntype: int16\ndimension: 3\nsizes: 5 4 3\nkinds: domain domain domain\nendian: "
                  "little\nencoding: raw\n\n");
  EXPECT_TRUE(has(error("c.nrrd"), "c.nrrd: ends early")) << error("c.nrrd");
  test::write_raw(path("c.mha"), few,
                  "ObjectType = Image\nNDims = 3\nBinaryData = True\nBinaryDataByteOrderMSB = False\nDimSize = 5 4 "
                  "3\nElementType = MET_SHORT\nElementDataFile = LOCAL\n");
  EXPECT_TRUE(has(error("c.mha"), "c.mha: ends early")) << error("c.mha");
}

}  // namespace
}  // namespace karst::image_file_test
