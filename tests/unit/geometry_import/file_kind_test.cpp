// SPDX-License-Identifier: BSD-3-Clause
// What a file is, its first bytes say: formats under other names are read, others refused by name, text is no voxels.
#include "geometry_import/read/file_kind.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <array>
#include <filesystem>

#include "packed.hpp"
#include "support/image_files.hpp"

namespace karst::file_kind_test {
namespace {

using test::all_values;
using test::as_float;
using test::error_of;
using test::has;
using test::sample_values;

class FileKindTest : public test::ImageFolder {
 protected:
  void write(const std::string& name, const std::string& bytes) const { test::write_raw<char>(path(name), {}, bytes); }
  /// The message; empty when it is read.
  std::string error(const std::string& name, const std::optional<RawLayout>& layout = {}) const {
    return error_of([&] { all_values(*open_image(path(name), layout)); });
  }
  const std::vector<std::uint8_t> values_ = sample_values<std::uint8_t>();
  const std::string voxels_ = test::bytes_of(values_);
};

const RawLayout layout{{5, 4, 3}, VoxelType::uint8, false, 0};

void write_hdf5(const std::string& path, const std::vector<std::uint8_t>& values, hsize_t user_block) {
  const hid_t made = H5Pcreate(H5P_FILE_CREATE);
  H5Pset_userblock(made, user_block);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, made, H5P_DEFAULT);
  const std::array<hsize_t, 3> size{3, 4, 5};
  const hid_t space = H5Screate_simple(3, size.data(), nullptr);
  const hid_t data = H5Dcreate2(file, "rock", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
  H5Dwrite(data, H5T_NATIVE_UINT8, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(data);
  H5Sclose(space);
  H5Fclose(file);
  H5Pclose(made);
}

// NetCDF-4 and MATLAB 7.3, with its block of 512 bytes in front, are HDF5.
TEST_F(FileKindTest, FormatsAreReadUnderOtherNames) {
  write_hdf5(path("rock.nc"), values_, 0);
  write_hdf5(path("rock.mat"), values_, 512);
  const std::string nrrd = "NRRD0004\ntype: uint8\ndimension: 3\nsizes: 5 4 3\nencoding: raw\n\n" + voxels_;
  write("nrrd.raw", nrrd);
  write("nrrd.tif", nrrd);
  write("meta.dat",
        "ObjectType = Image\nNDims = 3\nDimSize = 5 4 3\nElementType = MET_UCHAR\nElementDataFile = LOCAL\n" + voxels_);
  for (const std::string name : {"rock.nc", "rock.mat", "rock.nc:/rock", "nrrd.raw", "nrrd.tif", "meta.dat"}) {
    EXPECT_EQ(error(name), "") << name;
    EXPECT_EQ(all_values(*open_image(path(name))), as_float(values_)) << name;
    EXPECT_TRUE(is_image_name(path(name))) << name;
    EXPECT_TRUE(has(error(name, layout), "its format contains size and type")) << name;
  }
  write("packed.raw", test::gzip(voxels_));
  EXPECT_EQ(all_values(*open_image(path("packed.raw"), layout)), as_float(values_)) << "gzip without .gz";
}

TEST_F(FileKindTest, OtherKindsAreRefusedByName) {
  const std::string zeros(600, '\0');
  const std::vector<std::pair<std::string, std::string>> kinds{
      {std::string("BZh91AY&SY") + zeros, "compressed by bzip2"},
      {std::string("PK\x03\x04") + zeros, "a zip archive"},
      {std::string("\xfd"
                   "7zXZ\0",
                   6) +
           zeros,
       "compressed by xz"},
      {std::string(128, '\0') + "DICM" + zeros, "a DICOM file"},
      {"# AmiraMesh BINARY-LITTLE-ENDIAN 2.1\n" + zeros, "an AmiraMesh file"},
      {"MATLAB 5.0 MAT-file, Platform: GLNXA64" + zeros, "a MATLAB file before version 7.3"},
      {std::string("CDF\x01") + zeros, "a classic NetCDF file"},
      {"# vtk DataFile Version 3.0\n" + zeros, "a legacy VTK file"},
      {"P5\n5 12\n255\n" + voxels_, "a Netpbm image"},
      {std::string("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") + zeros, "Zeiss Xradia"},
      {std::string("BM\x74\x02\0\0", 6) + zeros + std::string(22, '\0'), "a BMP file"},
      {std::string("\xff\xd8\xff\xe0") + zeros, "a JPEG file"}};
  const RawLayout many{{10, 10, 6}, VoxelType::uint8, false, 0};
  for (const auto& [bytes, name] : kinds)
    for (const std::string file : {"a.raw", "a.tif", "a.xyz"}) {
      write(file, bytes);
      EXPECT_TRUE(has(error(file), name)) << file << ": " << error(file);
      EXPECT_TRUE(has(error(file, many), file == "a.tif" ? "contains size and type" : name))
          << file << ": " << error(file, many);
      EXPECT_FALSE(has(error(file, many), "skip_bytes = ")) << file;
    }
  write("a.gz", test::gzip(zeros));
  EXPECT_TRUE(has(error("a.gz"), "compressed by gzip"));
  // Who names the header of such a file means its voxels.
  write("a.am", "# AmiraMesh BINARY-LITTLE-ENDIAN 2.1\n@1\n" + voxels_);
  EXPECT_EQ(error("a.am", RawLayout{{5, 4, 3}, VoxelType::uint8, false, 40}), "");
}

TEST_F(FileKindTest, TextIsNoVoxels) {
  std::string lines;
  for (int n = 0; n < 30; ++n) lines += fmt::format("{}\n", n % 2);
  for (const std::string name : {"a.dat", "a.raw", "a.xyz"}) {
    write(name, lines);
    const std::string exact = error(name, layout);  // 60 bytes: as many as the voxels
    EXPECT_TRUE(has(exact, "are text") && has(exact, "numpy.save")) << exact;
    const std::string longer = error(name, RawLayout{{5, 4, 1}, VoxelType::uint8, false, 0});
    EXPECT_TRUE(has(longer, "are text") && !has(longer, "skip_bytes")) << longer;
    EXPECT_TRUE(has(error(name, RawLayout{{5, 4, 1}, VoxelType::uint8, false, 40}), "are text"));
  }
  write("t.raw.gz", test::gzip(lines));
  EXPECT_TRUE(has(error("t.raw.gz", layout), "contains compressed text"));
  write("t.mhd", "ObjectType = Image\nNDims = 3\nDimSize = 5 4 3\nElementType = MET_UCHAR\nElementDataFile = a.dat\n");
  EXPECT_TRUE(has(error("t.mhd"), "are text")) << error("t.mhd");
  EXPECT_TRUE(is_text("0 1 0 1 0 1") && is_text("# voxel 5 \xc2\xb5m, porosity, and more words to read\n0 1\n") &&
              is_text("010101"));
  EXPECT_FALSE(is_text(""));
  EXPECT_FALSE(is_text(std::string_view("\0\1\0\1", 4)));
  EXPECT_FALSE(is_text("ABBABABCCABD")) << "gray values of a narrow range";
  EXPECT_FALSE(is_text("((\n(((\n\n(((\n(")) << "labels 10 and 40";
  for (const char other : {'2', 'd', 'A', ' '})  // voxels of runs of two labels: 10, and one that is a letter
    for (const char first : {'\n', ' '}) {
      std::string runs;
      for (int n = 0; n < 40; ++n) runs += std::string(static_cast<std::size_t>(3 + n % 7), n % 2 == 0 ? first : other);
      EXPECT_FALSE(is_text(runs)) << int{first} << " " << int{other};
    }
  EXPECT_FALSE(is_text("dddd(((((dddd\ndddd(((((ddd\n")) << "values 40, 100, and a 10 here and there";
  EXPECT_TRUE(is_text("0 1 0 1\r\n1 0 0 1\r\n\r\n0 0 0 0\r\n"));
}

TEST_F(FileKindTest, AFolderWithoutSlicesSaysWhatItHolds) {
  std::filesystem::create_directory(path("d"));
  write("d/one.jpg", "\xff\xd8\xff");
  EXPECT_TRUE(has(error("d"), "contains no slices (.tif, .tiff, .png), but one.jpg, which is a JPEG file"));
  EXPECT_FALSE(is_read_by_python(path("d")));
  write("d/IM1", std::string(128, '\0') + "DICM");
  EXPECT_TRUE(has(error("d"), "a folder of DICOM slices: only `karst import` reads it"));
  EXPECT_TRUE(is_read_by_python(path("d")) && is_image_name(path("d")));
  EXPECT_EQ(split_array(path("d") + ":1.2.3").second, "1.2.3");
  write("d/.zarray", "{}");
  EXPECT_TRUE(has(error("d"), "a Zarr folder"));
  write("e.am", "# Avizo BINARY-LITTLE-ENDIAN 2.1\n");
  EXPECT_TRUE(is_read_by_python(path("e.am")) && image_exists(path("e.am:Labels")));
}

}  // namespace
}  // namespace karst::file_kind_test
