// SPDX-License-Identifier: BSD-3-Clause
// TIFF and HDF5 files that their libraries read without a word, and in which voxels are missing or others than written.
#include <gtest/gtest.h>
#include <hdf5.h>
#include <tiffio.h>

#include <array>
#include <cstring>

#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::damaged_image_test {
namespace {

using test::all_values;
using test::error_of;
using test::has;

class DamagedImageTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  std::string error(const std::string& name) const {
    return error_of([&] { all_values(*open_image(path(name))); });
  }
  std::string error(const std::string& name, const std::string& bytes) const {
    test::write_raw<char>(path(name), {}, bytes);
    return error(name);
  }

 private:
  Comm comm_ = Comm::self();
  test::SharedDirectory directory_{comm_};
};

/// Three pages of 40 x 30 values in two strips each.
std::string tiff(const std::string& path, int compression) {
  TIFF* t = TIFFOpen(path.c_str(), "w");
  std::vector<std::uint16_t> row(40);
  for (int z = 0; z < 3; ++z) {
    TIFFSetField(t, TIFFTAG_IMAGEWIDTH, 40);
    TIFFSetField(t, TIFFTAG_IMAGELENGTH, 30);
    TIFFSetField(t, TIFFTAG_BITSPERSAMPLE, 16);
    TIFFSetField(t, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(t, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(t, TIFFTAG_COMPRESSION, compression);
    TIFFSetField(t, TIFFTAG_ROWSPERSTRIP, 15);
    for (std::uint32_t y = 0; y < 30; ++y) {
      for (std::size_t x = 0; x < 40; ++x) row[x] = static_cast<std::uint16_t>(7919 * (x + 40 * y) * (1 + x * y) + 13u);
      TIFFWriteScanline(t, row.data(), y);
    }
    TIFFWriteDirectory(t);
  }
  TIFFClose(t);
  return test::bytes_of_file(path);
}

std::uint32_t number_at(const std::string& bytes, std::size_t at, std::size_t width) {
  std::uint32_t value = 0;
  std::memcpy(&value, &bytes[at], width);
  return value;
}

/// Where the value of a tag is in the first directory of a little-endian file.
std::size_t place_of(const std::string& bytes, std::uint32_t tag) {
  const std::size_t directory = number_at(bytes, 4, 4), entries = number_at(bytes, directory, 2);
  for (std::size_t n = 0; n < entries; ++n)
    if (number_at(bytes, directory + 2 + 12 * n, 2) == tag) return directory + 2 + 12 * n;
  return 0;
}

TEST_F(DamagedImageTest, TiffWithoutSomeOfItsPagesIsRefused) {
  std::string bytes = tiff(path("a.tif"), COMPRESSION_NONE);
  ASSERT_EQ(error("a.tif"), "");
  const std::size_t directory = number_at(bytes, 4, 4), link = directory + 2 + 12 * number_at(bytes, directory, 2);
  bytes.replace(link, 4, std::string(4, '\0'));
  EXPECT_TRUE(has(error("b.tif", bytes), "belong to none of its 1 pages")) << error("b.tif");
}

TEST_F(DamagedImageTest, TiffStripsAtWrongPlacesAreRefused) {
  const std::string bytes = tiff(path("a.tif"), COMPRESSION_NONE);
  const std::size_t offsets = number_at(bytes, place_of(bytes, TIFFTAG_STRIPOFFSETS) + 8, 4);
  std::string moved = bytes;
  moved[offsets] = static_cast<char>(moved[offsets] ^ 0x20);
  EXPECT_TRUE(has(error("b.tif", moved), "belong to two of its strips")) << error("b.tif");
  std::string twice = bytes;
  twice.replace(place_of(bytes, TIFFTAG_ROWSPERSTRIP), 2, twice.substr(place_of(bytes, TIFFTAG_IMAGEWIDTH), 2));
  EXPECT_NE(error("b.tif", twice), "");
  std::string taller = bytes;  // rows that no strip holds
  taller[place_of(bytes, TIFFTAG_ROWSPERSTRIP) + 8] = 16;
  taller[place_of(bytes, TIFFTAG_IMAGELENGTH) + 8] = 31;
  EXPECT_NE(error("b.tif", taller), "");
}

TEST_F(DamagedImageTest, CheckSumsOfDeflatedTiffAreLookedAt) {
  const std::string bytes = tiff(path("a.tif"), COMPRESSION_ADOBE_DEFLATE);
  ASSERT_EQ(error("a.tif"), "");
  const std::size_t first = number_at(bytes, number_at(bytes, place_of(bytes, TIFFTAG_STRIPOFFSETS) + 8, 4), 4),
                    length = number_at(bytes, place_of(bytes, TIFFTAG_STRIPBYTECOUNTS) + 8, 2);  // two short ones fit
  for (std::size_t n = 1; n <= 4; ++n) {
    std::string flipped = bytes;
    flipped[first + length - n] = static_cast<char>(flipped[first + length - n] ^ 1);
    EXPECT_TRUE(has(error("b.tif", flipped), "is damaged")) << n << ": " << error("b.tif");
  }
}

struct Hdf5 {
  bool chunks = false, written = true;
  hid_t type = H5T_STD_U16LE;
};

void write(const std::string& path, const Hdf5& o) {
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
              made = H5Pcreate(H5P_DATASET_CREATE);
  const std::array<hsize_t, 3> size{4, 5, 6}, chunk{2, 5, 6}, start{0, 0, 0};
  if (o.chunks) H5Pset_chunk(made, 3, chunk.data());
  const hid_t space = H5Screate_simple(3, size.data(), nullptr), some = H5Screate_simple(3, chunk.data(), nullptr);
  const hid_t data = H5Dcreate2(file, "gray", o.type, space, H5P_DEFAULT, made, H5P_DEFAULT);
  const std::vector<std::uint16_t> values(120, 7);
  if (o.written) {
    H5Dwrite(data, H5T_NATIVE_UINT16, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  } else if (o.chunks) {
    H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, chunk.data(), nullptr);
    H5Dwrite(data, H5T_NATIVE_UINT16, some, space, H5P_DEFAULT, values.data());
  }
  for (const hid_t s : {space, some}) H5Sclose(s);
  H5Dclose(data);
  H5Pclose(made);
  H5Fclose(file);
}

TEST_F(DamagedImageTest, Hdf5VoxelsThatWereNeverWrittenAreMissed) {
  write(path("a.h5"), {});
  EXPECT_EQ(error("a.h5"), "");
  write(path("a.h5"), {.chunks = true});
  EXPECT_EQ(error("a.h5"), "");
  write(path("a.h5"), {.chunks = true, .written = false});
  EXPECT_TRUE(has(error("a.h5"), "1 of its 2 chunks were never written")) << error("a.h5");
  write(path("a.h5"), {.written = false});
  EXPECT_TRUE(has(error("a.h5"), "need 240 bytes, 0 were written")) << error("a.h5");
}

TEST_F(DamagedImageTest, Hdf5OfAnotherLengthOrWithOddNumbersIsRefused) {
  write(path("a.h5"), {});
  const std::string bytes = test::bytes_of_file(path("a.h5"));
  EXPECT_TRUE(has(error("b.h5", bytes + "more"),
                  fmt::format("has {} bytes, but {} according to its header", bytes.size() + 4, bytes.size())));
  EXPECT_NE(error("b.h5", bytes.substr(0, bytes.size() - 1)), "");
  const hid_t twelve = H5Tcopy(H5T_STD_U16LE);
  H5Tset_precision(twelve, 12);
  write(path("c.h5"), {.type = twelve});
  H5Tclose(twelve);
  EXPECT_TRUE(has(error("c.h5"), "numbers of 12 bits from bit 0 on in 2 bytes")) << error("c.h5");
}

}  // namespace
}  // namespace karst::damaged_image_test
