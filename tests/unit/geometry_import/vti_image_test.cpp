// SPDX-License-Identifier: BSD-3-Clause
// VTK's image data in all forms that it writes: read right, or refused with the reason.
#include <gtest/gtest.h>

#include <cmath>

#include "packed.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::vti_image_test {
namespace {

using test::all_values;
using test::as_float;
using test::base64;
using test::bytes_of;
using test::bytes_of_value;
using test::error_of;
using test::has;
using test::sample_values;

/// How to write one; the parts a test wants to vary.
struct Vti {
  std::string type = "Int16", order = "LittleEndian", counts = "UInt32", compressor{}, format = "ascii",
              encoding = "raw";
  std::string extent = "0 5 0 4 0 3", data = "CellData", scalars = " Scalars=\"g\"", array_more{}, more_arrays{},
              end = "</VTKFile>\n";
  std::string body{};  ///< of the array, between its tags or appended
};

std::string vti(const Vti& o) {
  const bool appended = o.format == "appended";
  return "<?xml version=\"1.0\"?>\n<!-- by -- hand -->\n<VTKFile type=\"ImageData\" version=\"1.0\" byte_order=\"" +
         o.order + "\" header_type=\"" + o.counts + "\"" +
         (o.compressor.empty() ? "" : " compressor='" + o.compressor + "'") + ">\n<ImageData WholeExtent=\"" +
         o.extent + "\" Origin=\"0 0 0\" Spacing=\"2 2 3\">\n<Piece Extent=\"" + o.extent + "\">\n<" + o.data +
         o.scalars + ">\n" + o.more_arrays + "<DataArray type=\"" + o.type + "\" Name=\"g\" format=\"" + o.format +
         "\"" + (appended ? " offset=\"0\"" : "") + o.array_more + ">\n" + (appended ? "" : o.body) +
         "\n</DataArray>\n</" + o.data + ">\n</Piece>\n</ImageData>\n" +
         (appended ? "<AppendedData encoding=\"" + o.encoding + "\">\n  _" + o.body + "\n</AppendedData>\n" : "") +
         o.end;
}

class VtiImageTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  std::string error(const std::string& bytes) const {
    test::write_raw<char>(path("a.vti"), {}, bytes);
    return error_of([&] { all_values(*open_image(path("a.vti"))); });
  }
  std::string error(const Vti& o) const { return error(vti(o)); }

 private:
  Comm comm_ = Comm::self();
  test::SharedDirectory directory_{comm_};
};

std::string numbers_of_sample() {
  std::string text;
  for (const auto v : sample_values<std::int16_t>()) text += fmt::format("{} ", v);
  return text;
}

/// Writes one as VTK would; H is the type of its counts.
template <class T, class H>
void check(const std::string& path, const std::string& name, VoxelType type) {
  const std::vector<T> v = sample_values<T>();
  for (const bool big : {false, true})
    for (const bool packed : {false, true}) {
      Vti o{.type = name, .order = big ? "BigEndian" : "LittleEndian", .counts = sizeof(H) == 4 ? "UInt32" : "UInt64"};
      if (packed) o.compressor = "vtkZLibDataCompressor";
      const std::string bytes = bytes_of(v, big);
      const auto [head, blocks] = test::vtk_blocks<H>(bytes, 7 * sizeof(T), big);
      const std::string plain = bytes_of_value(static_cast<H>(bytes.size()), big) + bytes;
      const std::string raw = packed ? head + blocks : plain,
                        text = packed ? base64(head) + base64(blocks) : base64(plain);
      const auto expect = [&](const char* what) {
        test::write_raw<char>(path, {}, vti(o));
        const auto image = open_image(path);
        EXPECT_EQ(image->info().size, (Index{5, 4, 3}));
        EXPECT_EQ(image->info().type, type);
        EXPECT_EQ(all_values(*image), as_float(v)) << name << " " << what << " big " << big << " packed " << packed;
        EXPECT_EQ(image->info().held_whole, packed || std::string(what) != "appended raw");
      };
      o.format = "binary";
      o.body = text;
      expect("binary");
      o.format = "appended";
      o.encoding = "base64";
      expect("appended base64");
      o.encoding = "raw";
      o.body = raw;
      expect("appended raw");
    }
}

TEST_F(VtiImageTest, AllWritingsTypesAndByteOrders) {
  const std::string a = path("a.vti");
  check<std::uint8_t, std::uint32_t>(a, "UInt8", VoxelType::uint8);
  check<std::int8_t, std::uint64_t>(a, "Int8", VoxelType::int8);
  check<std::uint16_t, std::uint32_t>(a, "UInt16", VoxelType::uint16);
  check<std::int16_t, std::uint64_t>(a, "Int16", VoxelType::int16);
  check<std::uint32_t, std::uint32_t>(a, "UInt32", VoxelType::uint32);
  check<std::int32_t, std::uint64_t>(a, "Int32", VoxelType::int32);
  check<std::uint64_t, std::uint32_t>(a, "UInt64", VoxelType::uint64);
  check<std::int64_t, std::uint64_t>(a, "Int64", VoxelType::int64);
  check<float, std::uint32_t>(a, "Float32", VoxelType::float32);
  check<double, std::uint64_t>(a, "Float64", VoxelType::float64);
}

TEST_F(VtiImageTest, TheScalarsAreReadAmongOtherArrays) {
  Vti o{.body = numbers_of_sample()};
  o.more_arrays = "<DataArray type=\"Float32\" Name=\"other\" format=\"ascii\">1 2 3</DataArray>\n";
  EXPECT_EQ(error(o), "");
  EXPECT_EQ(all_values(*open_image(path("a.vti"))), as_float(sample_values<std::int16_t>()));
  EXPECT_NEAR(open_image(path("a.vti"))->info().proportions[2], 1.5, 1e-12);
  EXPECT_TRUE(has(open_image(path("a.vti"))->info().voxel_note, "has no unit"));
  o.scalars = "";
  EXPECT_TRUE(has(error(o), "contains the arrays other, g, and none is marked"));
  o.scalars = " Scalars=\"h\"";
  EXPECT_TRUE(has(error(o), "its Scalars are \"h\", but it contains other, g"));
  Vti remark{.body = numbers_of_sample() +
                     "<InformationKey name=\"RANGE\" location=\"x\"><Value>3</Value></InformationKey>"};
  EXPECT_EQ(error(remark), "");
  EXPECT_EQ(all_values(*open_image(path("a.vti"))), as_float(sample_values<std::int16_t>()));
}

TEST_F(VtiImageTest, WhatContradictsItselfIsRefused) {
  const auto with = [&](auto change) {
    Vti o{.body = numbers_of_sample()};
    change(o);
    return error(o);
  };
  EXPECT_EQ(with([](Vti&) {}), "");
  EXPECT_TRUE(has(with([](Vti& o) { o.body += " 1"; }), "too long: 60 voxels are needed, its text contains 61"));
  EXPECT_TRUE(has(with([](Vti& o) { o.body = "1 2 3"; }), "ends early"));
  EXPECT_TRUE(has(with([](Vti& o) { o.extent = "0 5 0 4 0 2"; }), "too long"));
  EXPECT_TRUE(has(with([](Vti& o) { o.extent = "0 5 0 4 3 0"; }), "a lower and an upper bound"));
  EXPECT_TRUE(has(with([](Vti& o) { o.type = "String"; }), "type \"String\""));
  EXPECT_TRUE(has(with([](Vti& o) { o.format = "asci"; }), "format \"asci\""));
  EXPECT_TRUE(has(with([](Vti& o) { o.array_more = " NumberOfComponents=\"3\""; }), "in colour (3 values"));
  EXPECT_TRUE(has(with([](Vti& o) { o.array_more = " NumberOfTuples=\"59\""; }), "but its array has 59"));
  EXPECT_TRUE(has(with([](Vti& o) { o.array_more = " type=\"Int16\""; }), "attribute is given twice"));
  EXPECT_TRUE(has(with([](Vti& o) { o.end = ""; }), "before all tags are closed"));
  EXPECT_TRUE(has(with([](Vti& o) { o.end = "</VTKFile>more"; }), "after the last tag"));
  EXPECT_TRUE(has(with([](Vti& o) { o.end = "</VTKfile>"; }), "has no opening tag"));
  EXPECT_TRUE(has(with([](Vti& o) { o.data = "PolyData"; }), "PolyData"));
  const std::string good = vti({.body = numbers_of_sample()});
  const auto edited = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    return error(bad);
  };
  EXPECT_TRUE(has(edited("type=\"ImageData\"", "type=\"PolyData\""), "is not a VTK image"));
  EXPECT_TRUE(has(edited("header_type", "header_typo"), "attribute header_typo, which is unknown in this format"));
  EXPECT_TRUE(has(edited("Spacing=\"2 2 3\"", "Spacing=\"2 0 3\""), "widths must be finite and not 0"));
  EXPECT_EQ(edited("Spacing=\"2 2 3\"", "Spacing=\"2 2 3\" Direction=\"0 -1 0 1 0 0 0 0 1\""), "");
  EXPECT_TRUE(has(edited("Spacing=\"2 2 3\"", "Spacing=\"2 2 3\" Direction=\"1 1 0 0 1 0 0 0 1\""), "sheared"));
  EXPECT_TRUE(has(edited("<Piece Extent=\"0 5 0 4 0 3\"", "<Piece Extent=\"0 5 0 4 0 2\""), "image in one piece"));
}

TEST_F(VtiImageTest, BinaryVoxelsThatAreDamagedAreRefused) {
  const std::string bytes = bytes_of(sample_values<std::int16_t>());
  const std::string plain = bytes_of_value(std::uint32_t{120}) + bytes;
  const auto with = [&](auto change) {
    Vti o{.format = "appended", .body = plain};
    change(o);
    return error(o);
  };
  EXPECT_EQ(with([](Vti&) {}), "");
  EXPECT_TRUE(has(with([](Vti& o) { o.encoding = "MET_UCHAR"; }), "encoding \"MET_UCHAR\""));
  EXPECT_TRUE(has(with([](Vti& o) { o.counts = "UInt64"; }), "120 bytes of voxels are needed; its array should have"));
  EXPECT_TRUE(has(with([](Vti& o) { o.order = "BigEndian"; }), "its array should have 2013265920"));
  EXPECT_TRUE(has(with([](Vti& o) { o.order = "Little"; }), "byte_order is \"Little\""));
  EXPECT_TRUE(has(with([](Vti& o) { o.body += "xyz"; }), "too long: "));
  EXPECT_TRUE(has(with([](Vti& o) { o.body.pop_back(); }), "instead of a line end"));
  EXPECT_TRUE(has(with([](Vti& o) { o.body.resize(o.body.size() - 2); }), "has space for"));
  EXPECT_TRUE(has(with([](Vti& o) { o.compressor = "vtkLZ4DataCompressor"; }), "vtkLZ4DataCompressor; only vtkZLib"));
  const std::string whole = vti({.format = "appended", .body = plain});
  for (std::size_t n = 0; n + 2 < whole.size(); n += 5) EXPECT_NE(error(whole.substr(0, n)), "") << "cut to " << n;
  Vti text{.format = "binary", .body = base64(plain)};
  EXPECT_EQ(error(text), "");
  text.body[9] = '*';
  EXPECT_TRUE(has(error(text), "base64 text is damaged"));
  text.body = base64(plain).substr(0, 81);
  EXPECT_TRUE(has(error(text), "stops in the middle"));
}

TEST_F(VtiImageTest, CompressedBlocksAreChecked) {
  const std::string bytes = bytes_of(sample_values<std::int16_t>());
  const auto [head, blocks] = test::vtk_blocks<std::uint32_t>(bytes, 50);
  const std::string all = head + blocks;
  Vti o{.compressor = "vtkZLibDataCompressor", .format = "appended", .body = all};
  EXPECT_EQ(error(o), "");
  for (std::size_t n = 0; n < all.size(); ++n)  // numbers of blocks and bytes, and every byte of the blocks
    for (const char mask : {'\x01', '\x80'}) {
      o.body = all;
      o.body[n] = static_cast<char>(o.body[n] ^ mask);
      if (!error(o).empty()) continue;  // else a bit between the end of a block and its check sum, which means nothing
      EXPECT_EQ(all_values(*open_image(path("a.vti"))), as_float(sample_values<std::int16_t>())) << "byte " << n;
    }
  o.body = all.substr(0, all.size() - 1);
  EXPECT_NE(error(o), "");
}

}  // namespace
}  // namespace karst::vti_image_test
