// SPDX-License-Identifier: BSD-3-Clause
// Imports with everything that prepares an image.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/deck/deck.hpp"
#include "geometry_import/file/geometry_file.hpp"
#include "geometry_import/import.hpp"
#include "geometry_import/report/import_json.hpp"
#include "image_generator/random_numbers.hpp"
#include "import_cases.hpp"
#include "support/image_files.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::import_prepare_test {
namespace {

using test::error_of;
using test::has;

/// A sphere of gray value 150 in a pore of 50 with noise, uint16. Rank 0 writes. Collective.
ImportOptions noisy_sphere(const Comm& comm, const std::string& path, const Index& n) {
  if (comm.rank() == 0) {
    const RandomNumbers random(2, 0);
    std::vector<std::uint16_t> gray;
    for (int k = 0; k < n[2]; ++k)
      for (int j = 0; j < n[1]; ++j)
        for (int i = 0; i < n[0]; ++i) {
          const double r = std::hypot(i + 0.5 - 0.5 * n[0], j + 0.5 - 0.5 * n[1], k + 0.5 - 0.5 * n[2]);
          const double g = (r < 0.3 * n[0] ? 150 : 50) + 8 * random.normal(gray.size());
          gray.push_back(static_cast<std::uint16_t>(std::lround(std::max(g, 0.0))));
        }
    test::write_raw(path, gray);
  }
  comm.any(false);
  ImportOptions o;
  o.file = path;
  o.size = n;
  o.type = VoxelType::uint16;
  return o;
}

TEST(ImportPrepareMpi, FilesAreTheSameForAnyNumberOfRanksWithEverythingOn) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  ImportOptions o = noisy_sphere(comm, directory.path() + "/a.raw", {44, 40, 36});
  o.spacing = {1e-6, 1.1e-6, 1.3e-6};
  o.prepare.crop_low = {1, 0, 2};
  o.prepare.crop_high = {43, 39, 0};
  o.prepare.flip = {true, false, true};
  o.prepare.axes = {2, 0, 1};
  o.prepare.beam_hardening = true;
  o.prepare.cylinder = true;
  for (const Denoise d : {Denoise::median, Denoise::gaussian, Denoise::bilateral}) {
    o.prepare.denoise = d;
    const std::string own = directory.path() + "/" + std::to_string(comm.rank()) + ".h5";
    const ImportReport all = import_image(comm, o, directory.path() + "/all.h5");
    const ImportReport alone = import_image(Comm::self(), o, own);
    EXPECT_TRUE(test::bytes_of_file(own) == test::bytes_of_file(directory.path() + "/all.h5")) << static_cast<int>(d);
    EXPECT_EQ(all.prepared, alone.prepared);
    EXPECT_EQ(all.prepared.size(), 7U);  // crop, two flips, axes, resampling, trend, noise
    EXPECT_EQ(all.voxels, (Index{44, 42, 42}));
    comm.any(false);
  }
  for (const auto& entry : std::filesystem::directory_iterator(directory.path()))
    EXPECT_FALSE(has(entry.path().string(), "scratch")) << entry.path();
}

TEST(ImportPrepareMpi, LabelsAreTheSameForAnyNumberOfRanks) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  ImportOptions o;
  o.file = directory.path() + "/a.raw";
  o.size = {24, 24, 40};
  o.type = VoxelType::uint8;
  o.voxel = 1e-6;
  o.pore = 3;
  o.prepare.axes = {2, 1, 0};
  o.prepare.resample = 0.8e-6;
  o.prepare.cylinder = true;
  if (comm.rank() == 0) {
    std::vector<std::uint8_t> label;
    for (int m = 0; m < 24 * 24 * 40; ++m) label.push_back((m % 24) / 6 % 2 == 0 ? 3 : m / 576 < 20 ? 1 : 2);
    test::write_raw(o.file, label);
  }
  comm.any(false);
  const std::string own = directory.path() + "/" + std::to_string(comm.rank()) + ".h5";
  const ImportReport all = import_image(comm, o, directory.path() + "/all.h5");
  import_image(Comm::self(), o, own);
  EXPECT_TRUE(test::bytes_of_file(own) == test::bytes_of_file(directory.path() + "/all.h5"));
  EXPECT_EQ(all.voxels, (Index{50, 30, 30}));
}

TEST(ImportPrepareMpi, ErrorsAreTheSameOnAllRanksAndLeaveNothing) {
  const Comm comm = Comm::world();
  const test::SharedDirectory directory(comm);
  const ImportOptions good = noisy_sphere(comm, directory.path() + "/a.raw", {20, 20, 20});
  const auto error = [&](const std::function<void(ImportOptions&)>& change) {
    ImportOptions o = good;
    change(o);
    const std::string text = test::import_error(comm, o, directory.path() + "/out.h5");
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
    return text;
  };
  EXPECT_TRUE(has(error([](auto&) {}), "does not contain the voxel width"));
  EXPECT_TRUE(has(error([](auto& o) { o.voxel = 1, o.spacing = {1, 1, 1}; }), "only one of them is allowed"));
  EXPECT_TRUE(has(error([](auto& o) { o.spacing = {1, -1, 1}; }), "widths must be positive"));
  EXPECT_TRUE(has(error([](auto& o) { o.voxel = 1, o.prepare.crop_high = {30, 0, 0}; }), "crop to voxels"));
  EXPECT_TRUE(has(error([](auto& o) { o.voxel = 1, o.prepare.sample_radius = 4; }), "sample = cylinder"));
}

// A sphere of radius 0.3 n inside a cylinder of radius 0.4 n: the porosity is that of the cylinder, the file holds
// solid outside, and gray values there do not touch the threshold.
TEST(ImportPrepare, StatisticsAreOfTheSample) {
  const Comm comm = Comm::self();
  const test::SharedDirectory directory(comm);
  const int n = 60;
  ImportOptions o = noisy_sphere(comm, directory.path() + "/a.raw", Index::all(n));
  o.voxel = 1e-6;
  o.prepare.cylinder = true;
  o.prepare.sample_radius = 24;
  const ImportReport report = import_image(comm, o, directory.path() + "/out.h5");
  const double pi = std::acos(-1.0), truth = 1 - 4.0 / 3 * 18 * 18 * 18 / (24.0 * 24 * n);
  EXPECT_NEAR(report.level_set_porosity, truth, 0.003);
  EXPECT_NEAR(report.porosity, truth, 0.003);
  EXPECT_NEAR(report.sample_share, pi * 24 * 24 / (n * n), 0.003);
  EXPECT_NEAR(report.threshold, 100, 1.5);
  // A run, whose cross-section is that of the image, is told: π 24² / 60² = 0.503.
  const auto of_cylinder = [](const std::string& w) { return has(w, "a cylinder in 50.3 % of the cross-section"); };
  EXPECT_EQ(std::ranges::count_if(report.warnings, of_cylinder), 1) << testing::PrintToString(report.warnings);
  std::vector<float> phi(n * n * n);
  GeometryFile(directory.path() + "/out.h5").read_block({}, Index::all(n), phi.data());
  const std::vector<float> inside = SampleCylinder{30, 30, 24}.distance(Index::all(n));
  for (std::size_t m = 0; m < phi.size(); ++m) {
    ASSERT_TRUE(inside[m % inside.size()] > 0 || phi[m] < 0);
    ASSERT_LE(phi[m], std::max(inside[m % inside.size()], 0.2F) + 1e-3F);
  }
  const auto json = nlohmann::json::parse(to_json(report));
  EXPECT_EQ(json["sample"]["radius_voxels"], 24.0);
  EXPECT_EQ(json["file_voxels"][0], n);

  ImportOptions bright = o;  // the same with a bright tube wall around the sample
  std::vector<std::uint16_t> gray(phi.size());
  std::ifstream(o.file, std::ios::binary).read(reinterpret_cast<char*>(gray.data()), std::ssize(gray) * 2);
  for (std::size_t m = 0; m < gray.size(); ++m)
    if (inside[m % inside.size()] <= 0) gray[m] = 60000;
  bright.file = directory.path() + "/b.raw";
  test::write_raw(bright.file, gray);
  const ImportReport same = import_image(comm, bright, directory.path() + "/out.h5");
  EXPECT_EQ(same.threshold, report.threshold);
  EXPECT_EQ(same.largest, report.largest);
}

TEST(ImportPrepare, KeysAreReadFromTheDeck) {
  const std::string deck =
      "[geometry.import]\nspacing = [1e-6, 2e-6, 3e-6]\ncrop_low = [1, 0, 2]\ncrop_high = [5, 0, 0]\nflip = [true, "
      "false, true]\naxes = \"zxy\"\nresample = 2e-6\nbeam_hardening = true\ndenoise = \"bilateral\"\ndenoise_width = "
      "1.5\ndenoise_step = 40\nsample = \"cylinder\"\nsample_center = [30, 31.5]\nsample_radius = 20\n";
  Reader in = Reader::from_text(deck);
  ImportOptions o;
  read(in, o);
  in.finish();
  Reader echoed = Reader::from_text(in.echo());
  ImportOptions same;
  read(echoed, same);
  echoed.finish();
  for (const ImportOptions& r : {o, same}) {
    EXPECT_EQ(r.spacing, (Vec3{1e-6, 2e-6, 3e-6}));
    EXPECT_EQ(r.prepare.crop_low, (Index{1, 0, 2}));
    EXPECT_EQ(r.prepare.crop_high, (Index{5, 0, 0}));
    EXPECT_EQ(r.prepare.flip, (std::array{true, false, true}));
    EXPECT_EQ(r.prepare.axes, (Index{2, 0, 1}));
    EXPECT_EQ(r.prepare.resample, 2e-6);
    EXPECT_TRUE(r.prepare.beam_hardening && r.prepare.cylinder);
    EXPECT_EQ(r.prepare.denoise, Denoise::bilateral);
    EXPECT_EQ(r.prepare.width, 1.5);
    EXPECT_EQ(r.prepare.step, 40.0);
    EXPECT_EQ(r.prepare.sample_center, (std::vector<double>{30, 31.5}));
    EXPECT_EQ(r.prepare.sample_radius, 20.0);
  }
  Reader bad = Reader::from_text("[geometry.import]\naxes = \"xxy\"\ndenoise_width = 9\ncrop_low = [-1, 0, 0]\n");
  read(bad, o);
  const std::string text = error_of([&] { bad.finish(); });
  EXPECT_TRUE(has(text, "xxy") && has(text, "denoise_width") && has(text, "crop_low")) << text;
}

}  // namespace
}  // namespace karst::import_prepare_test
