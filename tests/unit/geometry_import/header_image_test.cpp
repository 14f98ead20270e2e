// SPDX-License-Identifier: BSD-3-Clause
// MetaImage, NRRD and NIfTI in all their forms: read right, or refused with the reason.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "packed.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::header_image_test {
namespace {

using test::all_values;
using test::as_float;
using test::bytes_of;
using test::bytes_of_value;
using test::error_of;
using test::gzip;
using test::has;
using test::sample_values;

template <class T>
std::string text_of(const std::vector<T>& values) {
  std::string text;
  for (const T v : values) text += fmt::format("{} ", v);
  return text;
}

class HeaderImageTest : public testing::Test {
 protected:
  std::string path(const std::string& name) const { return directory_.path() + "/" + name; }
  void write(const std::string& name, const std::string& bytes) const { test::write_raw<char>(path(name), {}, bytes); }
  std::vector<float> values(const std::string& name) const { return all_values(*open_image(path(name))); }
  /// The message about a file; empty when it is read.
  std::string error(const std::string& name, const std::string& bytes) const {
    write(name, bytes);
    return error_of([&] { values(name); });
  }

 private:
  Comm comm_ = Comm::self();
  test::SharedDirectory directory_{comm_};
};

std::string nrrd(const std::string& type, const std::string& encoding, const std::string& more = "") {
  return "NRRD0004\ntype: " + type + "\ndimension: 3\nsizes: 5 4 3\n" + more + "encoding: " + encoding + "\n\n";
}

/// Every encoding of NRRD gives the same voxels.
template <class T>
void check_nrrd(const std::string& path, const std::string& name, VoxelType type) {
  const std::vector<T> v = sample_values<T>();
  for (const bool big : {false, true}) {
    const std::string order = std::string("endian: ") + (big ? "big\n" : "little\n"), bytes = bytes_of(v, big);
    for (const auto& [encoding, body] :
         {std::pair{"raw", bytes}, std::pair{"gzip", gzip(bytes)},
          std::pair{"gz", gzip(bytes.substr(0, 7)) + gzip(bytes.substr(7))}, std::pair{"ascii", text_of(v)},
          std::pair{"text", text_of(v)}, std::pair{"txt", text_of(v)}, std::pair{"hex", test::hex(bytes)}}) {
      test::write_raw<char>(path, {}, nrrd(name, encoding, order) + body);
      const auto image = open_image(path);
      EXPECT_EQ(image->info().type, type);
      EXPECT_EQ(image->info().size, (Index{5, 4, 3}));
      EXPECT_EQ(image->info().held_whole, std::string(encoding) != "raw");
      EXPECT_EQ(all_values(*image), as_float(v)) << name << " " << encoding << " big " << big;
    }
  }
}

TEST_F(HeaderImageTest, NrrdInAllEncodingsTypesAndByteOrders) {
  const std::string a = path("a.nrrd");
  check_nrrd<std::uint8_t>(a, "unsigned char", VoxelType::uint8);
  check_nrrd<std::int8_t>(a, "int8", VoxelType::int8);
  check_nrrd<std::uint16_t>(a, "ushort", VoxelType::uint16);
  check_nrrd<std::int16_t>(a, "Short", VoxelType::int16);
  check_nrrd<std::uint32_t>(a, "uint", VoxelType::uint32);
  check_nrrd<std::int32_t>(a, "signed int", VoxelType::int32);
  check_nrrd<std::uint64_t>(a, "unsigned long long", VoxelType::uint64);
  check_nrrd<std::int64_t>(a, "longlong", VoxelType::int64);
  check_nrrd<float>(a, "float", VoxelType::float32);
  check_nrrd<double>(a, "double", VoxelType::float64);
}

TEST_F(HeaderImageTest, NrrdWithItsVoxelsElsewhere) {
  const std::vector<std::uint8_t> v = sample_values<std::uint8_t>();
  const std::string bytes = bytes_of(v);
  const std::string head = "NRRD0005\ntype: uint8\ndimension: 3\nsizes: 5 4 3\n";
  write("lines.txt", "one\ntwo\n" + text_of(v));
  write("a.nhdr", head + "encoding: txt\nline skip: 2\ndata file: lines.txt\n");
  EXPECT_EQ(values("a.nhdr"), as_float(v));
  write("all.gz", gzip("skipped" + bytes));
  write("b.nhdr", head + "encoding: gzip\nbyteskip: 7\ndatafile: all.gz\n");
  EXPECT_EQ(values("b.nhdr"), as_float(v)) << "bytes are skipped in what comes out";
  std::string list;
  for (std::size_t z = 0; z < 3; ++z) {
    write(fmt::format("p{:02}.raw", 3 * z), bytes.substr(20 * z, 20));
    list += fmt::format("p{:02}.raw\n", 3 * z);
  }
  write("c.nhdr", head + "encoding: raw\ndata file: LIST\n" + list);
  write("d.nhdr", head + "encoding: raw\ndata file: p%02d.raw 0 6 3\n");
  EXPECT_EQ(values("c.nhdr"), as_float(v));
  EXPECT_EQ(values("d.nhdr"), as_float(v));
  EXPECT_TRUE(has(error("e.nhdr", head + "encoding: raw\ndata file: p%02d.raw 0 3 3\n"), "has 3 planes but 2"));
  write("p03.raw", bytes.substr(0, 19));
  EXPECT_TRUE(has(error_of([&] { values("d.nhdr"); }), "p03.raw: ends early"));
}

TEST_F(HeaderImageTest, NrrdThatContradictsItselfIsRefused) {
  const std::vector<std::uint16_t> v = sample_values<std::uint16_t>();
  const std::string bytes = bytes_of(v), good = nrrd("uint16", "raw", "endian: little\n");
  ASSERT_EQ(error("a.nrrd", good + bytes), "");
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string bad = good;
    bad.replace(bad.find(from), from.size(), to);
    return error("a.nrrd", bad + bytes);
  };
  EXPECT_TRUE(has(with("sizes: 5 4 3\n", ""), "has no field \"sizes\""));
  EXPECT_TRUE(has(with("sizes: 5 4 3", "True: 5 4 3"), "field \"True\", which is unknown in this format"));
  EXPECT_TRUE(has(with("sizes: 5 4 3", "sizes: 5 4 3\nsizes: 5 4 3"), "\"sizes\" twice"));
  EXPECT_TRUE(has(with("5 4 3", "5 4"), "3 numbers are needed"));
  EXPECT_TRUE(has(with("5 4 3", "5 4 3x"), "3 numbers are needed"));
  EXPECT_TRUE(has(with("5 4 3", "5 -4 3"), "all sizes must be 1 to"));
  EXPECT_TRUE(has(with("5 4 3", "5 4 2"), "too long"));
  const std::string counted = fmt::format("need {} bytes, the file has {}", good.size() + 160, good.size() + 120);
  EXPECT_TRUE(has(with("5 4 3", "5 4 4"), counted)) << counted;
  EXPECT_TRUE(has(with("5 4 3", "2147483647 2147483647 2147483647"), "ends early"));
  EXPECT_TRUE(has(with("dimension: 3", "dimension: 4"), "has 4 dimensions"));
  EXPECT_TRUE(has(with("endian: little\n", ""), "add endian: little"));
  EXPECT_TRUE(has(with("little", "middle"), "endian is \"middle\""));
  EXPECT_TRUE(has(with("uint16", "uint12"), "type is \"uint12\""));
  EXPECT_TRUE(has(with("raw", "bzip2"), "encoding is \"bzip2\"; raw, gzip"));
  EXPECT_TRUE(has(with("NRRD0004", "NRRD0009"), "is not an NRRD file"));
  EXPECT_TRUE(has(with("endian", "kinds: 3-color domain domain\nendian"), "kind \"3-color\" (colour, vector or time)"));
  EXPECT_TRUE(has(with("endian", "spacings: 1 0 1\nendian"), "widths must be finite and not 0"));
  EXPECT_TRUE(has(with("endian", "spacings: 1 1 1\nunits: \"mm\" \"um\" \"mm\"\nendian"), "different units"));
  const std::string space = "space dimension: 3\nspace directions: ";
  EXPECT_EQ(with("endian", space + "(2,0,0) (0,2,0) (0,0,2)\nendian"), "");
  EXPECT_TRUE(has(with("endian", space + "(2,0,0) (0,2,0\n(0,0,2)\nendian"), "of its header") ||
              has(with("endian", space + "(2,0,0) (0,2,0\n(0,0,2)\nendian"), "has the line"));
  EXPECT_TRUE(has(with("endian", space + "(2,0,0) (0,2,0\nendian"), "3 vectors like (1,0,0)"));
  EXPECT_TRUE(has(with("endian", space + "(2,0,0) (1,2,0) (0,0,2)\nendian"), "sheared"));
  EXPECT_TRUE(has(error("a.nrrd", good.substr(0, good.size() - 1)), "ends in its header"));
}

TEST_F(HeaderImageTest, TextOfAnotherLengthOrTypeIsRefused) {
  const std::string head = nrrd("uint8", "ascii"), numbers = text_of(sample_values<std::uint8_t>());
  EXPECT_EQ(error("a.nrrd", head + numbers), "");
  EXPECT_TRUE(has(error("a.nrrd", head + numbers + "7"), "too long: 60 voxels are needed, its text contains 61"));
  EXPECT_TRUE(has(error("a.nrrd", head + numbers.substr(3)), "ends early"));
  EXPECT_TRUE(has(error("a.nrrd", head + "256 " + numbers.substr(2)), "value 0 of the voxels is \"256\""));
  EXPECT_TRUE(has(error("a.nrrd", head + "1.5 " + numbers.substr(2)), "is \"1.5\", which is not a number of its type"));
  EXPECT_TRUE(has(error("a.nrrd", nrrd("uint8", "hex") + "0"), "odd number"));
  EXPECT_TRUE(has(error("a.nrrd", nrrd("uint8", "hex") + "zz"), "not a hexadecimal digit"));
}

TEST_F(HeaderImageTest, CompressedVoxelsAreCheckedToTheLastByte) {
  const std::string bytes = bytes_of(sample_values<std::uint8_t>()), z = gzip(bytes), head = nrrd("uint8", "gzip");
  EXPECT_EQ(error("a.nrrd", head + z), "");
  for (std::size_t n = 0; n < z.size(); ++n) EXPECT_NE(error("a.nrrd", head + z.substr(0, n)), "") << "cut to " << n;
  for (std::size_t n = 10; n < z.size(); ++n) {  // behind the header of gzip, which holds a date
    std::string flipped = z;
    flipped[n] = static_cast<char>(flipped[n] ^ 4);
    EXPECT_NE(error("a.nrrd", head + flipped), "") << "byte " << n;
  }
  EXPECT_TRUE(has(error("a.nrrd", head + z + "more"), "damaged after 60 bytes"));
  EXPECT_TRUE(has(error("a.nrrd", head + gzip(bytes + "more")), "too long"));
  EXPECT_TRUE(has(error("a.nrrd", head + gzip(bytes.substr(1))), "ends early"));
  std::string large = head;
  large.replace(large.find("5 4 3"), 5, "5000 4000 3000");
  EXPECT_TRUE(has(error("a.nrrd", large + z), "do not fit into")) << "no memory is taken for it";
}

std::string meta(const std::string& type, const std::string& more = "") {
  return "ObjectType = Image\nNDims = 3\nDimSize = 5 4 3\n" + more + "ElementType = " + type + "\n";
}

TEST_F(HeaderImageTest, MetaImageCompressedAsTextAndInSeveralFiles) {
  const std::vector<std::int16_t> v = sample_values<std::int16_t>();
  const std::string order = "ElementByteOrderMSB = False\n", bytes = bytes_of(v), z = test::zlib(bytes);
  const std::string local = "ElementDataFile = LOCAL\n", packed = order + "CompressedData = True\n";
  write("a.mha", meta("MET_SHORT", packed + fmt::format("CompressedDataSize = {}\n", z.size())) + local + z);
  write("b.mha", meta("MET_SHORT", "BinaryData = False\n") + local + text_of(v));
  write("c.zraw", z);
  write("c.mhd", meta("MET_SHORT", packed) + "ElementDataFile = c.zraw\n");
  std::string list = "ElementDataFile = LIST\n";
  for (std::size_t p = 0; p < 3; ++p) {
    write(fmt::format("s{}.raw", p + 1), "head" + bytes.substr(40 * p, 40));
    list += fmt::format("s{}.raw\n", p + 1);
  }
  write("d.mhd", meta("MET_SHORT", order + "HeaderSize = 4\n") + list);
  write("e.mhd", meta("MET_SHORT", order + "HeaderSize = 4\n") + "ElementDataFile = s%d.raw 1 3 1\n");
  for (const std::string dimension : {" 2", " 2D"})  // of the files: a plane each
    write("g" + dimension.substr(1) + ".mhd", meta("MET_SHORT", order + "HeaderSize = 4\n") + "ElementDataFile = LIST" +
                                                  dimension + list.substr(list.find('\n')));
  EXPECT_TRUE(has(error("h.mhd", meta("MET_SHORT", order) + "ElementDataFile = LIST 3D\ns1.raw\n"), "LIST 3D"));
  for (const char* name : {"a.mha", "b.mha", "c.mhd", "d.mhd", "e.mhd", "g2.mhd", "g2D.mhd"})
    EXPECT_EQ(values(name), as_float(v)) << name;
  write("f.mha",
        meta("MET_SHORT", order + "ElementToIntensityFunctionSlope = 2\nElementToIntensityFunctionOffset = -7\n") +
            local + bytes);
  EXPECT_EQ(values("f.mha")[3], 2 * static_cast<float>(v[3]) - 7);
  EXPECT_TRUE(has(open_image(path("f.mha"))->info().notes.at(0), "-7 + 2 times the stored values"));
}

TEST_F(HeaderImageTest, MetaImageThatContradictsItselfIsRefused) {
  const std::string bytes = bytes_of(sample_values<std::int16_t>()), local = "ElementDataFile = LOCAL\n";
  const std::string order = "ElementByteOrderMSB = False\n";
  const auto with = [&](const std::string& more, const std::string& type = "MET_SHORT") {
    return error("a.mha", meta(type, more) + local + bytes);
  };
  EXPECT_EQ(with(order), "");
  EXPECT_EQ(with(order + "My note = 17\n"), "") << "programs add keys of their own";
  EXPECT_TRUE(has(with(""), "add ElementByteOrderMSB = False"));
  EXPECT_TRUE(has(with(order + order), "ElementByteOrderMSB twice"));
  EXPECT_TRUE(has(with(order + "BinaryDataByteOrderMSB = True\n"), "contradict"));
  EXPECT_TRUE(has(with(order + "ElementSpacin = 1 1 1\n"), "did you mean ElementSpacing?"));
  EXPECT_TRUE(has(with(order + "CompressedData = Maybe\n"), "True and False"));
  EXPECT_TRUE(has(with(order + "CenterOfRotation = 20\n"), "CenterOfRotation is \"20\"; 3 numbers are needed"));
  EXPECT_TRUE(has(with(order + "CompressedData = True\n"), "damaged"));
  EXPECT_TRUE(
      has(with(order + "CompressedData = True\nCompressedDataSize = 7\n"), "its header says 7 compressed bytes"));
  EXPECT_TRUE(has(with(order + "BinaryData = False\n"), "of the voxels is") ||
              has(with(order + "BinaryData = False\n"), "text"));
  EXPECT_TRUE(has(with(order + "HeaderSize = 3\n"), "HeaderSize is 3"));
  EXPECT_TRUE(has(with(order + "HeaderSize = -2\n"), "HeaderSize is -2"));
  EXPECT_TRUE(has(with(order + "ElementNumberOfChannels = 3\n"), "in colour"));
  EXPECT_TRUE(has(with(order + "DistanceUnits = furlong\n"), "DistanceUnits"));
  EXPECT_TRUE(has(with(order, "MET_CHAR"), "too long"));
  EXPECT_TRUE(has(with(order, "MET_FLOAT"), "ends early"));
  EXPECT_TRUE(has(with(order, "MET_STRING"), "ElementType is \"MET_STRING\""));
  EXPECT_TRUE(has(error("a.mha", "False = Image\nNDims = 9223372036854775807 16 16\n" + local), "NDims is"));
  EXPECT_TRUE(has(error("a.mha", meta("MET_SHORT", order)), "no ElementDataFile"));
}

// The sign of a width is a direction; directions that are not at right angles shear the voxels.
TEST_F(HeaderImageTest, WidthsAreMagnitudesAndDirectionsAreLookedAt) {
  const std::string bytes = bytes_of(sample_values<std::uint8_t>()), local = "ElementDataFile = LOCAL\n";
  const auto info = [&](const std::string& name, const std::string& head) {
    write(name, head + bytes);
    return open_image(path(name))->info();
  };
  const ImageInfo negative = info("a.mha", meta("MET_UCHAR", "ElementSpacing = 0.002 -0.002 0.004\n") + local);
  ASSERT_TRUE(negative.spacing.has_value());
  EXPECT_NEAR((*negative.spacing)[1], 2e-6, 1e-12);
  EXPECT_NEAR(
      info("b.nrrd", nrrd("uint8", "raw", "spacings: -2 2 -2\nunits: \"um\" \"um\" \"um\"\n")).voxel.value_or(0), 2e-6,
      1e-12);
  const std::string oblique =
      "space: scanner-xyz\nspace directions: (0,-1.2,1.6) (2,0,0) (0,1.6,1.2)\nspace units: "
      "\"um\" \"um\" \"um\"\n";
  EXPECT_NEAR(info("b.nrrd", nrrd("uint8", "raw", oblique)).voxel.value_or(0), 2e-6, 1e-12);
  const std::string widths = "ElementSpacing = 0.002 0.002 0.002\n";
  EXPECT_EQ(info("a.mha", meta("MET_UCHAR", widths + "TransformMatrix = 0 -1 0 1 0 0 0 0 1\n") + local).width_doubt,
            "");
  EXPECT_TRUE(
      has(info("a.mha", meta("MET_UCHAR", widths + "TransformMatrix = 2 0 0 0 1 0 0 0 1\n") + local).width_doubt,
          "2 times that"));
  EXPECT_TRUE(has(error("a.mha", meta("MET_UCHAR", widths + "TransformMatrix = 1 0.5 0 0 1 0 0 0 1\n") + local + bytes),
                  "sheared"));
  const ImageInfo both = info("a.mha", meta("MET_UCHAR", widths + "ElementSize = 0.001 0.001 0.001\n") + local);
  EXPECT_NEAR(both.voxel.value_or(0), 2e-6, 1e-12);
  EXPECT_TRUE(has(both.notes.at(0), "not its ElementSize"));
  EXPECT_NEAR(info("a.mha", meta("MET_UCHAR", "ElementSize = 0.002 0.002 0.002\n") + local).voxel.value_or(0), 2e-6,
              1e-12);
}

struct Nifti {
  int version = 1;
  bool big = false, one_file = true;
  std::int16_t datatype = 4, bits = 16;
  std::array<std::int64_t, 5> dim{3, 5, 4, 3, 1};
  double slope = 0, intercept = 0, offset = 352;
  char unit = 3;
  std::array<double, 9> sform{};  ///< rows; all 0: none
  double width = 2.5;
};

std::string nifti(const Nifti& o) {
  const bool first = o.version == 1;
  std::string h(first ? 348 : 540, '\0');
  const auto put = [&](std::size_t at, auto v) { h.replace(at, sizeof v, bytes_of_value(v, o.big)); };
  const auto real = [&](std::size_t n, std::size_t at_1, std::size_t at_2, double v) {
    first ? put(at_1 + 4 * n, static_cast<float>(v)) : put(at_2 + 8 * n, v);
  };
  put(0, static_cast<std::int32_t>(h.size()));
  for (std::size_t d = 0; d < 5; ++d)
    first ? put(40 + 2 * d, static_cast<std::int16_t>(o.dim[d])) : put(16 + 8 * d, o.dim[d]);
  put(first ? 70 : 12, o.datatype);
  put(first ? 72 : 14, o.bits);
  for (std::size_t d = 1; d < 4; ++d) real(d, 76, 104, o.width);
  if (o.sform != std::array<double, 9>{}) first ? put(254, std::int16_t{1}) : put(348, std::int32_t{1});
  for (std::size_t n = 0; n < 9; ++n) real(n / 3 * 4 + n % 3, 280, 400, o.sform[n]);
  if (first) {
    put(108, static_cast<float>(o.offset));
    h[123] = o.unit;
    h.replace(344, 4, std::string(o.one_file ? "n+1\0" : "ni1\0", 4));
  } else {
    put(168, static_cast<std::int64_t>(o.offset));
    put(500, std::int32_t{o.unit});
    h.replace(4, 8, std::string(o.one_file ? "n+2\0\r\n\x1a\n" : "ni2\0\r\n\x1a\n", 8));
  }
  real(0, 112, 176, o.slope);
  real(0, 116, 184, o.intercept);
  if (o.one_file) h.resize(static_cast<std::size_t>(o.offset), '\0');
  return h;
}

TEST_F(HeaderImageTest, NiftiOfBothVersionsByteOrdersPackedAndInTwoFiles) {
  const std::vector<std::int16_t> v = sample_values<std::int16_t>();
  for (const int version : {1, 2})
    for (const bool big : {false, true}) {
      const std::string bytes = bytes_of(v, big);
      Nifti o{.version = version, .big = big};
      o.offset = 560;
      write("a.nii", nifti(o) + bytes);
      write("b.nii.gz", gzip(nifti(o) + bytes));
      o.one_file = false;
      o.offset = 0;
      write("c.hdr", nifti(o));
      write("c.img", bytes);
      for (const char* name : {"a.nii", "b.nii.gz", "c.hdr"}) {
        const auto image = open_image(path(name));
        EXPECT_EQ(all_values(*image), as_float(v)) << name << " version " << version << " big " << big;
        EXPECT_NEAR(image->info().voxel.value_or(0), 2.5e-6, 1e-15) << name;
        EXPECT_EQ(image->info().held_whole, std::string(name) == "b.nii.gz");
      }
    }
  Nifti scaled;
  scaled.slope = 0.5;
  scaled.intercept = 100;
  write("d.nii", nifti(scaled) + bytes_of(v));
  EXPECT_EQ(values("d.nii")[7], 0.5F * static_cast<float>(v[7]) + 100);
  EXPECT_EQ(open_image(path("d.nii"))->info().type, VoxelType::float32);
  scaled.slope = std::nan("");
  write("d.nii", nifti(scaled) + bytes_of(v));
  EXPECT_EQ(values("d.nii"), as_float(v)) << "no number says that nothing is scaled";
}

// pixdim and sform state widths, in either version; names do not tell whether gzip was at work.
TEST_F(HeaderImageTest, NiftiStatesItsWidthsTwice) {
  const std::string bytes = bytes_of(sample_values<std::int16_t>());
  for (const int version : {1, 2}) {
    Nifti o{.version = version};
    o.offset = 560;
    const auto doubt = [&] {
      write("a.nii", nifti(o) + bytes);
      return open_image(path("a.nii"))->info().width_doubt;
    };
    o.sform = {0, -2.5, 0, 2.5, 0, 0, 0, 0, 2.5};
    EXPECT_EQ(doubt(), "");
    o.sform[8] = 5;
    EXPECT_TRUE(has(doubt(), "widths are 2.5 in z, but according to its sform 2 times that")) << version;
    o.sform = {2.5, 2.5, 0, 0, 2.5, 0, 0, 0, 2.5};
    EXPECT_TRUE(has(error("a.nii", nifti(o) + bytes), "sheared")) << version;
    o.sform = {};
    o.width = -2.5;
    write("a.nii", nifti(o) + bytes);
    EXPECT_NEAR(open_image(path("a.nii"))->info().voxel.value_or(0), 2.5e-6, 1e-12);
    write("packed.nii", gzip(nifti(o) + bytes));
    write("plain.nii.gz", nifti(o) + bytes);
    for (const char* name : {"packed.nii", "plain.nii.gz"})
      EXPECT_EQ(values(name), as_float(sample_values<std::int16_t>())) << name;
  }
}

TEST_F(HeaderImageTest, NiftiThatContradictsItselfIsRefused) {
  const std::string bytes = bytes_of(sample_values<std::int16_t>());
  const auto with = [&](auto change) {
    Nifti o;
    change(o);
    return error("a.nii", nifti(o) + bytes);
  };
  EXPECT_EQ(with([](Nifti&) {}), "");
  EXPECT_TRUE(has(with([](Nifti& o) { o.bits = 8; }), "datatype 4 (int16) with 8 bits"));
  EXPECT_TRUE(has(with([](Nifti& o) { o.datatype = 128; }), "datatype 128"));
  EXPECT_TRUE(has(with([](Nifti& o) { o.dim[0] = 9; }), "has 9 dimensions"));
  EXPECT_TRUE(has(with([](Nifti& o) { o.dim[2] = -4; }), "-4 voxels in dimension 2"));
  EXPECT_TRUE(has(with([](Nifti& o) { o.dim[3] = 2; }), "too long"));
  EXPECT_TRUE(has(with([](Nifti& o) { o.dim[3] = 4; }), "need 512 bytes, the file has 472"));
  EXPECT_TRUE(has(with([](Nifti& o) { o.dim = {4, 5, 4, 1, 3}; }), "3 entries in dimension 4"));
  EXPECT_TRUE(has(with([](Nifti& o) { o.unit = 5; }), "code 5"));
  EXPECT_TRUE(has(with([](Nifti& o) { o.slope = HUGE_VAL; }), "both must be finite"));
  Nifti o;
  std::string half = nifti(o) + bytes;
  half.replace(108, 4, bytes_of_value(352.5F));
  EXPECT_TRUE(has(error("a.nii", half), "byte 352.5"));
  std::string marked = nifti(o) + bytes;
  marked[345] = 'x';
  EXPECT_TRUE(has(error("a.nii", marked), "magic string is missing"));
  EXPECT_TRUE(has(error("a.nii", "short"), "a.nii: "));
  o.one_file = false;
  EXPECT_TRUE(has(error("b.hdr", nifti(o)), "its data file b.img"));
}

}  // namespace
}  // namespace karst::header_image_test
