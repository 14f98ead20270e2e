// SPDX-License-Identifier: BSD-3-Clause
#include "geometry_import/import.hpp"
#include "geometry_import/report/import_json.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/deck/deck.hpp"
#include "geometry_import/file/geometry_file.hpp"
#include "geometry_import/voxels/level_set.hpp"
#include "geometry_import/wall/wall_faces.hpp"
#include "image_generator/ct_image.hpp"
#include "image_generator/packing.hpp"
#include "image_generator/random_numbers.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::import_test {
namespace {

using test::error_of;
using test::has;

/// A packing of spheres of 4 voxels, solid 1, pore 0, one voxel a byte. Rank 0 writes. Collective.
ImportOptions segmented_packing(const Comm& comm, const std::string& path, const Index& size) {
  if (comm.rank() == 0) {
    std::vector<std::uint8_t> phase;
    for (const float f : solid_fraction(size, random_packing({size, 4, 0.4, 3}))) phase.push_back(f > 0.5F);
    test::write_raw(path, phase);
  }
  comm.any(false);
  ImportOptions o;
  o.file = path;
  o.size = size;
  o.type = VoxelType::uint8;
  o.voxel = 2e-6;
  o.pore = 0;
  return o;
}

TEST(ImportMpi, FilesAreTheSameForAnyNumberOfRanks) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const std::string own = directory.path() + "/" + std::to_string(comm.rank()) + ".h5";
  const Index size{28, 24, 100};
  ImportOptions segmented = segmented_packing(comm, directory.path() + "/a.raw", size);
  ImportOptions gray;
  gray.file = directory.path() + "/a.tif";
  // Grains of 6 voxels: of 4 and blurred, they come out with a porosity of 0.43 (decision 014).
  write_tiff(comm, gray.file, size, ct_image(size, solid_fraction(size, random_packing({size, 6, 0.4, 3})), {}), 8,
             TiffCompression::lzw, 2e-6);
  for (const ImportOptions& o : {segmented, gray}) {
    const ImportReport all = import_image(comm, o, directory.path() + "/all.h5");
    const ImportReport alone = import_image(Comm::self(), o, own);
    EXPECT_TRUE(test::bytes_of_file(own) == test::bytes_of_file(directory.path() + "/all.h5")) << o.file;
    EXPECT_EQ(all.level_set_porosity, alone.level_set_porosity);
    EXPECT_NEAR(all.porosity, 0.4, 0.02);
    comm.any(false);
  }
}

// The layers hold what the whole image at once gives, bit by bit: every layer has the planes around it that it needs.
TEST(ImportMpi, LayersGiveTheLevelSetOfTheWholeImage) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const Index size{16, 20, 100};
  const ImageWindow all{size, 0, size[2]};
  std::vector<std::uint8_t> phase(all.count(), 1);
  const Sphere sphere{{8, 10, 40}, 6};
  const std::vector<float> solid = solid_fraction(size, {&sphere, 1});
  for (std::size_t n = 0; n < phase.size(); ++n) phase[n] = solid[n] > 0.5F ? 0 : 1;
  ImportOptions o;
  o.file = directory.path() + "/a.raw";
  o.size = size;
  o.type = VoxelType::uint8;
  o.voxel = 1e-6;
  o.pore = 1;
  if (comm.rank() == 0) test::write_raw(o.file, phase);
  comm.any(false);
  const ImportReport report = import_image(comm, o, directory.path() + "/out.h5");
  std::vector<float> expected(all.count()), phi(all.count());
  segmented_level_set(all, phase, segmented_smoothing, static_cast<float>(report.shift), all, expected);
  GeometryFile(directory.path() + "/out.h5").read_block({}, size, phi.data());
  EXPECT_TRUE(phi == expected);

  o.pore.reset();  // and a gray image
  std::vector<std::uint8_t> gray;
  for (const float f : solid) gray.push_back(static_cast<std::uint8_t>(std::round(20 + 200 * f)));
  comm.any(false);
  if (comm.rank() == 0) test::write_raw(o.file, gray);
  comm.any(false);
  o.threshold = 120;
  o.smoothing = 2;
  const ImportReport made = import_image(comm, o, directory.path() + "/out.h5");
  std::vector<float> whole(gray.begin(), gray.end());
  smooth(all, 2, whole);
  gray_level_set(whole, {120, made.gradient, false}, whole);
  GeometryFile(directory.path() + "/out.h5").read_block({}, size, phi.data());
  EXPECT_TRUE(phi == whole);
}

TEST(ImportMpi, ErrorsAreTheSameOnAllRanksAndLeaveNoFile) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const ImportOptions good = segmented_packing(comm, directory.path() + "/a.raw", {16, 16, 100});
  const std::string output = directory.path() + "/out.h5";
  const auto error = [&](const std::function<void(ImportOptions&)>& change) {
    ImportOptions o = good;
    change(o);
    std::string text = error_of([&] { import_image(comm, o, output); });
    std::string first = text;
    comm.broadcast(first);
    EXPECT_EQ(text, first);
    EXPECT_FALSE(std::filesystem::exists(output));
    return text;
  };
  EXPECT_TRUE(has(error([](auto& o) { o.voxel = 0; }), "does not contain the voxel width"));
  EXPECT_TRUE(has(error([](auto& o) { o.voxel = -1; }), "voxel = -1 (m) given; a width must be positive"));
  EXPECT_TRUE(has(error([](auto& o) { o.type.reset(), o.size[2] = 50; }), "needs its type"));
  EXPECT_TRUE(
      has(error([](auto& o) { o.type.reset(), o.size[2] = 101; }), "no whole number of bytes for each: are size"));
  EXPECT_TRUE(has(error([](auto& o) { o.size = {}; }), "needs its size"));
  EXPECT_TRUE(has(error([](auto& o) { o.size[2] = 101; }), "too short"));
  EXPECT_TRUE(has(error([](auto& o) { o.file += "x"; }), "no such file"));
  EXPECT_TRUE(has(error([](auto& o) { o.threshold = 1; }), "pore and threshold given"));
  EXPECT_TRUE(has(error([](auto& o) { o.pore_above = true; }), "pore and pore_above given"));
  EXPECT_TRUE(has(error([](auto& o) { o.pore = 1e9; }), "below 2^24"));
  EXPECT_TRUE(has(error([](auto& o) { o.smoothing = -1; }), "smoothing = -1"));
  EXPECT_TRUE(has(error([](auto& o) { o.pore = 7; }), "no voxel has the value pore = 7 (values are from 0 to 1)"));
  EXPECT_TRUE(has(error([](auto& o) { o.pore.reset(); }), "contains only the values 0 ("));
  const auto threshold = [](ImportOptions& o) { o.pore.reset(), o.threshold = 200; };
  EXPECT_TRUE(has(error(threshold), "all voxels are pore (values are from 0 to 1"));
  ImportOptions bytes = good;  // one byte per voxel needs no type
  bytes.type.reset();
  EXPECT_EQ(import_image(comm, bytes, output).type, VoxelType::uint8);
}

// One rank meets a value that is not a number; the others must not wait for it.
TEST(ImportMpi, AnErrorOnOneRankEndsAll) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  ImportOptions o;
  o.file = directory.path() + "/a.raw";
  o.size = {8, 8, 128};
  o.type = VoxelType::float32;
  o.voxel = 1e-6;
  if (comm.rank() == 0) {
    std::vector<float> values(8 * 8 * 128);
    for (std::size_t n = 0; n < values.size(); ++n) values[n] = static_cast<float>(n % 8);
    values[8 * 8 * 100] = std::nanf("");
    test::write_raw(o.file, values);
  }
  comm.any(false);
  const std::string text = error_of([&] { import_image(comm, o, directory.path() + "/out.h5"); });
  EXPECT_TRUE(has(text, "voxel (0, 0, 100) has the value nan")) << text;
}

TEST(Import, AllOneValueIsAnError) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  ImportOptions o;
  o.file = directory.path() + "/a.raw";
  o.size = {4, 4, 4};
  o.type = VoxelType::uint8;
  o.voxel = 1e-6;
  test::write_raw(o.file, std::vector<std::uint8_t>(64, 9));
  EXPECT_TRUE(
      has(error_of([&] { import_image(comm, o, directory.path() + "/out.h5"); }), "all voxels have the value 9"));
}

TEST(Import, InvertedImagesGiveTheSameWalls) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const Index size{40, 40, 40};
  std::vector<float> solid = solid_fraction(size, random_packing({size, 10, 0.4, 3}));
  std::vector<std::uint8_t> gray, inverse;
  for (const float f : solid) {
    gray.push_back(static_cast<std::uint8_t>(std::round(50 + 100 * f)));
    inverse.push_back(static_cast<std::uint8_t>(200 - gray.back()));
  }
  test::write_raw(directory.path() + "/a.raw", gray);
  test::write_raw(directory.path() + "/b.raw", inverse);
  std::vector<std::vector<float>> phi(2, std::vector<float>(gray.size()));
  for (const bool above : {false, true}) {
    ImportOptions o;
    o.file = directory.path() + (above ? "/b.raw" : "/a.raw");
    o.size = size;
    o.type = VoxelType::uint8;
    o.voxel = 1e-6;
    o.threshold = 100.25;
    if (above) o.threshold = 99.75;
    o.pore_above = above;
    import_image(comm, o, directory.path() + "/out.h5");
    GeometryFile(directory.path() + "/out.h5").read_block({}, size, phi[above ? 1 : 0].data());
  }
  for (std::size_t n = 0; n < gray.size(); ++n) ASSERT_NEAR(phi[0][n], phi[1][n], 1e-3);
}

TEST(Import, ReportAndProvenanceAreJson) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const ImportOptions o = segmented_packing(comm, directory.path() + "/a \"b\".raw", {32, 32, 32});
  const ImportReport report = import_image(comm, o, directory.path() + "/out.h5");
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["file"], "a \"b\".raw");
  EXPECT_EQ(json["voxels"][2], 32);
  EXPECT_EQ(json["porosity"], report.porosity);
  EXPECT_TRUE(json["threshold"].is_null());
  EXPECT_TRUE(json.contains("seconds"));
  const GeometryFile file(directory.path() + "/out.h5");
  const auto made = nlohmann::json::parse(file.info().provenance);
  EXPECT_EQ(made["raw"]["endian"], "little");
  EXPECT_FALSE(made.contains("seconds")) << "nothing that differs from run to run";
  EXPECT_TRUE(std::isnan(file.info().threshold));
  EXPECT_EQ(file.info().porosity, report.porosity);
}

// What the import warned of, and the widths of the throats, are in the file for those who use it.
TEST(Import, WarningsTravelInTheFile) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  ImportOptions o = segmented_packing(comm, directory.path() + "/a.raw", {32, 32, 32});
  o.voxel = 2e-3;
  const ImportReport report = import_image(comm, o, directory.path() + "/out.h5");
  ASSERT_GE(report.warnings.size(), 2U);
  EXPECT_TRUE(has(report.warnings[0], "2.00 mm wide") && has(report.warnings[0], "metres")) << report.warnings[0];
  EXPECT_TRUE(has(report.warnings[1], "of the throats are narrower")) << report.warnings[1];
  const GeometryFile file(directory.path() + "/out.h5");
  EXPECT_EQ(file.info().found.warnings, report.warnings);
  const ThroatWidths& throats = file.info().found.throats;
  EXPECT_EQ(throats.count, report.statistics.throats);
  EXPECT_EQ(throats.median, report.statistics.throat_size.median);
  EXPECT_EQ(throats.tenth, report.statistics.throat_size.tenth);
  EXPECT_LT(throats.tenth, 3.0);
}

// Porosity of the wall, noise and all, against that of the spheres: 1 % at 12 voxels per radius.
TEST(Import, GeneratedImagesGiveTheTruePorosity) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const Index size{56, 56, 56};
  const std::vector<float> solid = solid_fraction(size, random_packing({size, 12, 0.38, 1}));
  double truth = 1;
  for (const float f : solid) truth -= static_cast<double>(f) / static_cast<double>(solid.size());
  for (const int bits : {8, 16}) {
    CtOptions ct;
    ct.bits = bits;
    ImportOptions o;
    o.file = directory.path() + "/a.tif";
    write_tiff(comm, o.file, size, ct_image(size, solid, ct), bits, TiffCompression::deflate, 2e-6);
    const ImportReport report = import_image(comm, o, directory.path() + "/out.h5");
    EXPECT_NEAR(report.level_set_porosity / truth, 1, 0.01) << bits;
    EXPECT_NEAR(report.voxel, 2e-6, 1e-12);
    EXPECT_TRUE(report.voxel_from_file);
  }
}

/// Unpacks a real image from shared/data beside the project (or the folder KARST_TEST_DATA); "" when it is not there.
std::string shared_image(const std::string& name, std::size_t voxels, const std::string& to) {
  const char* folder = std::getenv("KARST_TEST_DATA");
  const auto beside = std::filesystem::path(__FILE__).parent_path() / "../../../../shared/data";
  const std::string path = (folder ? std::filesystem::path(folder) : beside) / name;
  gzFile in = gzopen(path.c_str(), "rb");
  if (!in) return "";
  std::vector<char> bytes(voxels);
  const bool whole = std::filesystem::exists(path) &&
                     gzread(in, bytes.data(), static_cast<unsigned>(voxels)) == static_cast<int>(voxels);
  gzclose(in);
  if (!whole) return "";
  test::write_raw(to, bytes);
  return to;
}

// Porosity of the voxels as published with the images, and that of the wall within 1 % of it.
TEST(Import, RocksKeepTheirPorosity) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  struct Rock {
    std::string name;
    int n;
    double voxel, porosity;
  };
  for (const Rock& r : {Rock{"ketton_128.raw.gz", 128, 5.3e-6, 0.1832}, Rock{"berea_110.raw.gz", 110, 1e-6, 0.1779}}) {
    const auto voxels = static_cast<std::size_t>(r.n) * static_cast<std::size_t>(r.n) * static_cast<std::size_t>(r.n);
    ImportOptions o;
    o.file = shared_image(r.name, voxels, directory.path() + "/rock.raw");
    if (o.file.empty()) GTEST_SKIP() << r.name << " is not there (folder in KARST_TEST_DATA)";
    o.size = Index::all(r.n);
    o.type = VoxelType::uint8;
    o.voxel = r.voxel;
    o.pore = 0;
    const ImportReport report = import_image(comm, o, directory.path() + "/rock.h5");
    EXPECT_NEAR(report.porosity, r.porosity, 5e-5) << r.name;
    EXPECT_NEAR(report.level_set_porosity / report.porosity, 1, 0.002) << r.name;
  }
}

// Smoothing alone takes 3 to 5 % of the pore space of such an image; the shift gives it back.
TEST(Import, RandomImagesKeepTheirPorosity) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const int n = 48;
  const RandomNumbers random(4, 0);
  std::vector<float> noise(n * n * n);
  for (std::size_t i = 0; i < noise.size(); ++i) noise[i] = static_cast<float>(random.normal(i));
  gaussian({Index::all(n), 0, n}, 2.0, noise);
  std::vector<float> sorted = noise;
  std::sort(sorted.begin(), sorted.end());
  for (const double porosity : {0.2, 0.8}) {
    const float limit = sorted[static_cast<std::size_t>(porosity * static_cast<double>(sorted.size()))];
    std::vector<std::uint8_t> phase;
    for (const float v : noise) phase.push_back(v < limit ? 3 : 8);
    ImportOptions o;
    o.file = directory.path() + "/a.raw";
    o.size = Index::all(n);
    o.type = VoxelType::uint8;
    o.voxel = 1e-6;
    o.pore = 3;
    test::write_raw(o.file, phase);
    const ImportReport report = import_image(comm, o, directory.path() + "/out.h5");
    EXPECT_NEAR(report.porosity, porosity, 1e-4);
    EXPECT_NEAR(report.level_set_porosity / report.porosity, 1, 0.0011) << report.shift;
    EXPECT_GT(std::abs(report.shift), 0.01) << "the case must need it";
  }
}

TEST(ImportOptions, AreReadFromTheDeck) {
  Reader in = Reader::from_text(
      "[geometry.import]\nsize = [3, 4, 5]\ntype = \"int16\"\nendian = \"big\"\nskip_bytes = 12\nvoxel = 5.3e-6\npore "
      "= 0\nsmoothing = 0.5\n");
  ImportOptions o;
  read(in, o);
  in.finish();
  EXPECT_EQ(o.size, (Index{3, 4, 5}));
  EXPECT_EQ(o.type, VoxelType::int16);
  EXPECT_TRUE(o.big_endian);
  EXPECT_EQ(o.skip_bytes, 12);
  EXPECT_EQ(o.voxel, 5.3e-6);
  EXPECT_EQ(o.pore, 0.0);
  EXPECT_FALSE(o.threshold.has_value());
  EXPECT_EQ(o.smoothing, 0.5);
  Reader again = Reader::from_text(in.echo());
  ImportOptions same;
  read(again, same);
  again.finish();
  EXPECT_EQ(same.pore, o.pore);
  EXPECT_FALSE(same.threshold.has_value());
  EXPECT_EQ(same.smoothing, o.smoothing);
  EXPECT_EQ(same.type, o.type);
}

TEST(ImportOptions, AbsentKeysKeepTheirDefaultsAndWrongOnesAreNamed) {
  Reader none = Reader::from_text("");
  ImportOptions o;
  read(none, o);
  none.finish();
  EXPECT_FALSE(o.type || o.pore || o.threshold || o.smoothing);
  Reader bad = Reader::from_text("[geometry.import]\ntype = \"uint12\"\nsize = [0, 1, 1]\nvoxle = 1e-6\n");
  ImportOptions other;
  read(bad, other);
  const std::string text = error_of([&] { bad.finish(); });
  EXPECT_TRUE(has(text, "uint12") && has(text, "geometry.import.size") && has(text, "geometry.import.voxel")) << text;
}

}  // namespace
}  // namespace karst::import_test
