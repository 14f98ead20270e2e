// SPDX-License-Identifier: BSD-3-Clause
// NumPy and HDF5 arrays, MetaImage and NRRD with plain voxels.
#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "base/comm/memory.hpp"
#include "support/image_files.hpp"

namespace karst::array_image_test {
namespace {

using test::all_values;
using test::as_float;
using test::error_of;
using test::has;
using test::sample_values;

class ArrayImageTest : public test::ImageFolder {
 protected:
  std::string error(const std::string& name) const {
    return error_of([&] { all_values(*open_image(path(name))); });
  }
};

template <class T>
std::vector<T> swapped(std::vector<T> values) {
  for (T& v : values) {
    auto* b = reinterpret_cast<char*>(&v);
    std::reverse(b, b + sizeof(T));
  }
  return values;
}

/// Header of a .npy file as numpy.lib.format describes it, padded to 64 bytes.
std::string npy(const std::string& descr, const std::string& shape = "(3, 4, 5)", const std::string& order = "False",
                int version = 1) {
  std::string dict = "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
  const std::size_t front = version > 1 ? 12 : 10;
  dict.append(63 - (front + dict.size()) % 64, ' ');
  dict += '\n';
  std::string text = "\x93NUMPY";
  text += {static_cast<char>(version), '\0'};
  for (std::size_t b = 0; b < front - 8; ++b) text += static_cast<char>(dict.size() >> 8 * b & 0xff);
  return text + dict;
}

template <class T>
void check_npy(const std::string& path, const std::string& code, VoxelType type) {
  const std::vector<T> values = sample_values<T>();
  for (int version = 1; version <= 3; ++version)
    for (const char order : {'<', '>', '|', '='}) {
      if (sizeof(T) > 1 && order == '|') continue;
      const std::string descr = std::string("'") + order + code + "'";
      test::write_raw(path, order == '>' ? swapped(values) : values, npy(descr, "(3, 4, 5)", "False", version));
      const auto image = open_image(path);
      ASSERT_EQ(image->info().size, (Index{5, 4, 3}));
      EXPECT_EQ(image->info().type, type);
      EXPECT_EQ(all_values(*image), as_float(values)) << descr << " version " << version;
    }
}

TEST_F(ArrayImageTest, NumPyOfAllTypesByteOrdersAndVersions) {
  check_npy<std::uint8_t>(path("a.npy"), "u1", VoxelType::uint8);
  check_npy<std::int8_t>(path("a.npy"), "i1", VoxelType::int8);
  check_npy<std::uint16_t>(path("a.npy"), "u2", VoxelType::uint16);
  check_npy<std::int16_t>(path("a.npy"), "i2", VoxelType::int16);
  check_npy<std::uint32_t>(path("a.npy"), "u4", VoxelType::uint32);
  check_npy<std::int32_t>(path("a.npy"), "i4", VoxelType::int32);
  check_npy<std::uint64_t>(path("a.npy"), "u8", VoxelType::uint64);
  check_npy<std::int64_t>(path("a.npy"), "i8", VoxelType::int64);
  check_npy<float>(path("a.npy"), "f4", VoxelType::float32);
  check_npy<double>(path("a.npy"), "f8", VoxelType::float64);
  check_npy<std::uint8_t>(path("a.npy"), "b1", VoxelType::uint8);
  test::write_raw(path("a.npy"), sample_values<std::uint8_t>(), npy("'|u1'", "(12, 5)"));
  EXPECT_EQ(open_image(path("a.npy"))->info().size, (Index{5, 12, 1})) << "two axes are a plane";
}

TEST_F(ArrayImageTest, NumPyErrors) {
  const std::vector<std::uint16_t> values = sample_values<std::uint16_t>();
  const auto text = [&](const std::string& header) {
    test::write_raw(path("a.npy"), values, header);
    return error("a.npy");
  };
  EXPECT_EQ(text(npy("'<u2'")), "");
  EXPECT_TRUE(has(text(npy("'<u2'", "(3, 4, 5)", "True")), "Fortran order"));
  EXPECT_TRUE(has(text(npy("'<f2'")), "of type '<f2'"));
  EXPECT_TRUE(has(text(npy("'<c8'")), "of type '<c8'"));
  EXPECT_TRUE(has(text(npy("[('a', '<u2')]")), "of type [('a'"));
  EXPECT_TRUE(has(text(npy("'<u2'", "(60,)")), "its shape is (60,)"));
  EXPECT_TRUE(has(text(npy("'<u2'", "(3, 0, 5)")), "1 to"));
  EXPECT_TRUE(has(text(npy("'<u2'", "(3, 4, 6)")), "ends early"));
  EXPECT_TRUE(has(text(npy("'<u2'", "(3, 4, 4)")), "too long"));
  EXPECT_TRUE(has(text(npy("'<u2'", "(2147483647, 2147483647, 2147483647)")), "ends early"));
  EXPECT_TRUE(has(text("this is no NumPy file"), "is not a NumPy file"));
  EXPECT_TRUE(has(text("\x93NUMPY\x07" + std::string(80, '\0')), "version 7"));
  EXPECT_TRUE(has(text("\x93NUMPY\x01" + std::string(1, '\0') + "\xff\xff{}"), "ends in its header"));
}

template <class T>
void write_data(hid_t file, const std::string& name, const std::vector<hsize_t>& size, hid_t in_file, hid_t in_memory,
                const std::vector<T>& values, const std::vector<hsize_t>& chunk = {}) {
  const hid_t links = H5Pcreate(H5P_LINK_CREATE), made = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_create_intermediate_group(links, 1);
  if (!chunk.empty()) {
    H5Pset_chunk(made, static_cast<int>(chunk.size()), chunk.data());
    H5Pset_deflate(made, 4);
  }
  const hid_t space = H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr);
  const hid_t data = H5Dcreate2(file, name.c_str(), in_file, space, links, made, H5P_DEFAULT);
  if (!values.empty()) H5Dwrite(data, in_memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  H5Dclose(data);
  H5Sclose(space);
  H5Pclose(links);
  H5Pclose(made);
}

hid_t new_file(const std::string& path) { return H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT); }

template <class T>
void check_hdf5(const std::string& path, hid_t little, hid_t big, hid_t native, VoxelType type) {
  const std::vector<T> values = sample_values<T>();
  for (const hid_t in_file : {little, big})
    for (const std::vector<hsize_t>& chunk : {std::vector<hsize_t>{}, std::vector<hsize_t>{2, 3, 2}}) {
      const hid_t file = new_file(path);
      write_data(file, "/exchange/data", {3, 4, 5}, in_file, native, values, chunk);
      write_data(file, "/angles", {60}, in_file, native, values);
      H5Fclose(file);
      for (const std::string name : {":/exchange/data", ":exchange/data", ""}) {
        const auto image = open_image(path + name);
        ASSERT_EQ(image->info().size, (Index{5, 4, 3}));
        EXPECT_EQ(image->info().type, type);
        EXPECT_EQ(all_values(*image), as_float(values)) << name_of(type) << " chunks " << chunk.size();
      }
    }
}

TEST_F(ArrayImageTest, Hdf5OfAllTypesWithAndWithoutChunks) {
  const std::string a = path("a.h5");
  check_hdf5<std::uint8_t>(a, H5T_STD_U8LE, H5T_STD_U8BE, H5T_NATIVE_UINT8, VoxelType::uint8);
  check_hdf5<std::int8_t>(a, H5T_STD_I8LE, H5T_STD_I8BE, H5T_NATIVE_INT8, VoxelType::int8);
  check_hdf5<std::uint16_t>(a, H5T_STD_U16LE, H5T_STD_U16BE, H5T_NATIVE_UINT16, VoxelType::uint16);
  check_hdf5<std::int16_t>(a, H5T_STD_I16LE, H5T_STD_I16BE, H5T_NATIVE_INT16, VoxelType::int16);
  check_hdf5<std::uint32_t>(a, H5T_STD_U32LE, H5T_STD_U32BE, H5T_NATIVE_UINT32, VoxelType::uint32);
  check_hdf5<std::int32_t>(a, H5T_STD_I32LE, H5T_STD_I32BE, H5T_NATIVE_INT32, VoxelType::int32);
  check_hdf5<std::uint64_t>(a, H5T_STD_U64LE, H5T_STD_U64BE, H5T_NATIVE_UINT64, VoxelType::uint64);
  check_hdf5<std::int64_t>(a, H5T_STD_I64LE, H5T_STD_I64BE, H5T_NATIVE_INT64, VoxelType::int64);
  check_hdf5<float>(a, H5T_IEEE_F32LE, H5T_IEEE_F32BE, H5T_NATIVE_FLOAT, VoxelType::float32);
  check_hdf5<double>(a, H5T_IEEE_F64LE, H5T_IEEE_F64BE, H5T_NATIVE_DOUBLE, VoxelType::float64);
}

TEST_F(ArrayImageTest, Hdf5StatesItsVoxelsInMicrometres) {
  const hid_t file = new_file(path("a.h5"));
  write_data(file, "gray", {3, 4, 5}, H5T_STD_U8LE, H5T_NATIVE_UINT8, sample_values<std::uint8_t>());
  const std::array<double, 3> zyx{6, 2, 2};
  const hsize_t three = 3;
  const hid_t data = H5Dopen2(file, "gray", H5P_DEFAULT), space = H5Screate_simple(1, &three, nullptr);
  const hid_t attribute = H5Acreate2(data, "element_size_um", H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT);
  H5Awrite(attribute, H5T_NATIVE_DOUBLE, zyx.data());
  H5Aclose(attribute);
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
  const auto image = open_image(path("a.h5"));
  ASSERT_TRUE(image->info().spacing.has_value());
  EXPECT_NEAR((*image->info().spacing)[0], 2e-6, 1e-15);
  EXPECT_NEAR((*image->info().spacing)[2], 6e-6, 1e-15);
  EXPECT_FALSE(image->info().cubic());
}

TEST_F(ArrayImageTest, Hdf5ErrorsListTheDataSets) {
  hid_t file = new_file(path("a.h5"));
  const std::vector<std::uint8_t> values = sample_values<std::uint8_t>();
  write_data(file, "/s/gray", {3, 4, 5}, H5T_STD_U8LE, H5T_NATIVE_UINT8, values);
  write_data(file, "/s/label", {3, 4, 5}, H5T_STD_U8LE, H5T_NATIVE_UINT8, values);
  write_data(file, "/odd", {3, 4, 5}, H5T_C_S1, H5T_C_S1, values);
  write_data(file, "/line", {60}, H5T_STD_U8LE, H5T_NATIVE_UINT8, values);
  write_data(file, "/none", {0, 4, 5}, H5T_STD_U8LE, H5T_NATIVE_UINT8, std::vector<std::uint8_t>{});
  H5Fclose(file);
  EXPECT_TRUE(has(error("a.h5"), "specify the data set") && has(error("a.h5"), "/s/gray (3 x 4 x 5)")) << error("a.h5");
  EXPECT_EQ(error("a.h5:/s/gray"), "");
  EXPECT_TRUE(has(error("a.h5:/s/grey"), "has no data set /s/grey; it has") && has(error("a.h5:/x"), "/s/label"));
  EXPECT_TRUE(has(error("a.h5:/s"), "has no data set /s")) << "a group";
  EXPECT_TRUE(has(error("a.h5:/odd"), "of 1 bytes and HDF5 class 3")) << error("a.h5:/odd");
  EXPECT_TRUE(has(error("a.h5:/line"), "has 1 dimensions"));
  EXPECT_TRUE(has(error("a.h5:/none"), "0 entries"));
  file = new_file(path("e.h5"));
  H5Fclose(file);
  EXPECT_TRUE(has(error("e.h5"), "the file contains no data set"));
  test::write_raw<char>(path("b.h5"), {}, "this is no HDF5 file");
  EXPECT_TRUE(has(error("b.h5"), "b.h5: cannot open it as HDF5"));
  EXPECT_TRUE(has(error("c.h5:/data"), "c.h5: no such file"));
}

constexpr const char* meta =
    "ObjectType = Image\nNDims = 3\nBinaryData = True\nCompressedData = False\nDimSize = 5 4 3\n";

TEST_F(ArrayImageTest, MetaImageWithPlainVoxelsIsReadByPlanes) {
  const std::vector<float> expected = as_float(sample_values<std::int32_t>());
  for (const bool big : {false, true}) {
    const auto values = big ? swapped(sample_values<std::int32_t>()) : sample_values<std::int32_t>();
    const std::string order = std::string("BinaryDataByteOrderMSB = ") + (big ? "True" : "False") + "\n";
    test::write_raw(path("a.mha"), values, meta + order + "ElementType = MET_INT\nElementDataFile = LOCAL\n");
    test::write_raw(path("a.raw"), values, "12 bytes now");
    for (const std::string skip : {"12", "-1"})
      for (const std::string name : {"a.mha", "b.mhd"}) {
        test::write_raw<char>(path("b.mhd"), {},
                              meta + order + "HeaderSize = " + skip +
                                  "\nElementType = MET_INT\nElementSpacing = 2 2 3\nElementDataFile = a.raw\n");
        const auto image = open_image(path(name));
        EXPECT_EQ(image->info().size, (Index{5, 4, 3}));
        EXPECT_FALSE(image->info().held_whole);
        EXPECT_EQ(all_values(*image), expected) << name << " big " << big << " skip " << skip;
        EXPECT_EQ(image->info().cubic(), name == "a.mha");
      }
  }
  EXPECT_NEAR((*open_image(path("b.mhd"))->info().spacing)[2], 3e-3, 1e-12) << "millimetres";
}

TEST_F(ArrayImageTest, MetaImageOfTextIsHeldWhole) {
  std::string numbers;
  for (const auto v : sample_values<std::int16_t>()) numbers += std::to_string(v) + " ";
  test::write_raw<char>(path("a.mha"), {},
                        "ObjectType = Image\nNDims = 3\nBinaryData = False\nDimSize = 5 4 3\nElementType = "
                        "MET_SHORT\nElementDataFile = LOCAL\n" +
                            numbers);
  const auto image = open_image(path("a.mha"));
  EXPECT_TRUE(image->info().held_whole);
  EXPECT_EQ(all_values(*image), as_float(sample_values<std::int16_t>()));
}

TEST_F(ArrayImageTest, MetaImageErrors) {
  const std::string plain = meta + std::string("ElementType = MET_SHORT\n");
  test::write_raw<char>(path("a.mhd"), {}, plain + "ElementDataFile = none.raw\n");
  EXPECT_TRUE(has(error("a.mhd"), "its data file none.raw cannot be read"));
  test::write_raw(path("a.raw"), sample_values<std::int32_t>());
  test::write_raw<char>(path("a.mhd"), {}, plain + "ElementDataFile = a.raw\n");
  EXPECT_TRUE(has(error("a.mhd"), "a.raw: too long")) << "twice the bytes";
  test::write_raw<char>(path("a.mhd"), {}, plain + "ElementSpacing = 1 0 1\nElementDataFile = a.raw\n");
  EXPECT_TRUE(has(error("a.mhd"), "widths must be finite and not 0"));
}

TEST_F(ArrayImageTest, NrrdWithPlainVoxelsIsReadByPlanes) {
  const std::vector<float> expected = as_float(sample_values<std::int16_t>());
  const std::string head = "NRRD0005\n# by hand\ntype: short\ndimension: 3\nsizes: 5 4 3\n";
  for (const bool big : {false, true}) {
    const auto values = big ? swapped(sample_values<std::int16_t>()) : sample_values<std::int16_t>();
    const std::string rest = std::string("encoding: raw\nendian: ") + (big ? "big" : "little") + "\nkey:=value: x\n";
    test::write_raw(path("a.nrrd"), values, head + "spacings: 2 2 2\nunits: \"um\" \"um\" \"um\"\n" + rest + "\n");
    EXPECT_EQ(all_values(*open_image(path("a.nrrd"))), expected);
    EXPECT_NEAR(open_image(path("a.nrrd"))->info().voxel.value_or(0), 2e-6, 1e-15);
    test::write_raw(path("a.raw"), values, "12 bytes now");
    for (const std::string skip : {"12", "-1"}) {
      test::write_raw<char>(path("a.nhdr"), {},
                            head + rest +
                                "space: left-posterior-superior\nspace directions: (0,0,2) (1.2,-1.6,0) (4,3,0)\n" +
                                "space units: \"mm\" \"mm\" \"mm\"\nbyte skip: " + skip + "\ndata file: a.raw\n");
      const auto image = open_image(path("a.nhdr"));
      EXPECT_FALSE(image->info().held_whole);
      EXPECT_EQ(all_values(*image), expected) << "big " << big << " skip " << skip;
      EXPECT_NEAR(image->info().proportions[2], 2.5, 1e-12) << "length of (4, 3, 0)";
    }
  }
  test::write_raw<char>(path("a.nhdr"), {}, head + "encoding: raw\ndata file: none.raw\n");
  EXPECT_TRUE(has(error("a.nhdr"), "its data file none.raw"));
}

TEST_F(ArrayImageTest, WhatFloatLosesIsStated) {
  EXPECT_EQ(rounding_note(VoxelType::uint16, 0, 65535), "");
  EXPECT_EQ(rounding_note(VoxelType::int32, -16777216, 16777216), "");
  EXPECT_TRUE(has(rounding_note(VoxelType::int32, -16777218, 0), "rounded to 24 binary digits"));
  EXPECT_TRUE(has(rounding_note(VoxelType::float64, 0, 1), "rounded to 24 binary digits"));
}

// 1 GiB of zeros that take no room on the disk.
TEST_F(ArrayImageTest, APlaneOfALargeImageNeedsTheMemoryOfAPlane) {
  { std::ofstream(path("a.raw"), std::ios::binary).put('\0'); }
  std::filesystem::resize_file(path("a.raw"), std::uintmax_t{1} << 30);
  const std::int64_t before = arena::peak_resident_set();
  const auto image = open_image(path("a.raw"), RawLayout{Index::all(1024), VoxelType::uint8, false, 0});
  std::vector<float> plane(std::size_t{1} << 20);
  for (const int z : {0, 511, 1023}) image->read_plane(z, plane);
  EXPECT_LT(arena::peak_resident_set() - before, 16 << 20) << "a plane as float: 4 MiB, as it is in the file: 1 MiB";
}

}  // namespace
}  // namespace karst::array_image_test
