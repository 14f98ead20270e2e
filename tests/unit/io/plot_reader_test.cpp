// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_reader.hpp"

#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <functional>

#include "io/hdf5_handle.hpp"
#include "support/errors.hpp"
#include "tests/support/plot_samples.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::plot_reader_test {
namespace {

TEST(PlotReaderMpi, ReadsWhatWasWritten) {
  const Comm comm = Comm::world();
  const test::SharedDirectory folder(comm);
  test::PlotSample sample = test::plot_sample(comm, {36, 40, 19}, 8, 2, 4);
  test::connect(sample, comm);
  const std::string path = folder.path() + "/plot.vtkhdf";
  write_plotfile(comm, path, sample.plot);
  const PlotReader reader(path);
  EXPECT_EQ(reader.components(), (std::vector<std::string>{"field_0", "vector_x", "vector_y", "vector_z"}));
  EXPECT_EQ(reader.unit(0), "Pa");
  EXPECT_EQ(reader.unit(3), "m/s");
  EXPECT_EQ(reader.title(), "sample");
  EXPECT_EQ(reader.time(), 0.125);
  EXPECT_EQ(reader.cells(), (Index{36, 40, 19}));
  EXPECT_EQ(reader.cell_width(), 2.5e-6);
  ASSERT_EQ(reader.n_levels(), 2);
  for (int l = 0; l < 2; ++l) {
    const auto& boxes = reader.boxes(l);
    EXPECT_EQ(std::ssize(boxes), sample.layouts[l].n_boxes());
    for (std::size_t b = 0; b < boxes.size(); ++b) {
      std::vector<float> values(boxes[b].count());
      reader.read(l, b, 2, values);
      std::size_t n = 0;
      for_each_cell(boxes[b], [&](const Index& c) { ASSERT_EQ(values[n++], test::plot_value(l, c, 2)); });
      std::vector<std::uint8_t> hidden(values.size());
      reader.read_hidden(l, b, hidden);
      n = 0;
      for_each_cell(boxes[b], [&](const Index& c) { ASSERT_EQ(hidden[n++], test::plot_hidden(c)); });
    }
  }
}

// Values of a plotfile in parts are there wherever all its files lie together, and through a link to it; no zeros are
// taken for values where a part is missing, cut short or of another plotfile.
TEST(PlotReaderMpi, Parts) {
  namespace fs = std::filesystem;
  const Comm comm = Comm::world();
  const test::SharedDirectory folder(comm);
  const fs::path place(folder.path());
  test::PlotSample sample = test::plot_sample(comm, {36, 40, 19}, 8, 2, 4);
  test::connect(sample, comm);
  sample.plot.parts = 2;
  for (const char* name : {"first", "second"}) {
    if (comm.rank() == 0) fs::create_directory(place / name);
    comm.any(false);
    write_plotfile(comm, place / name / "plot.vtkhdf", sample.plot);
  }
  if (comm.rank() != 0 || comm.size() == 1) return;
  const fs::path moved = place / "moved", plot = moved / "plot.vtkhdf";
  fs::rename(place / "first", moved);
  fs::create_symlink(plot, place / "link.vtkhdf");
  for (const fs::path& path : {plot, place / "link.vtkhdf"}) {
    const PlotReader reader(path);
    for (int l = 0; l < 2; ++l)
      for (std::size_t b = 0; b < reader.boxes(l).size(); ++b) {
        std::vector<float> values(reader.boxes(l)[b].count());
        reader.read(l, b, 3, values);
        std::size_t n = 0;
        for_each_cell(reader.boxes(l)[b], [&](const Index& c) { ASSERT_EQ(values[n++], test::plot_value(l, c, 3)); });
      }
  }
  const auto error = [&] { return test::error_of([&] { const PlotReader reader(plot); }); };
  const fs::path part = moved / "plot.vtkhdf.part2";
  fs::copy_file(place / "second/plot.vtkhdf.part2", part, fs::copy_options::overwrite_existing);
  EXPECT_NE(error().find("plot.vtkhdf.part2 is a part of another plotfile"), std::string::npos) << error();
  fs::resize_file(part, 1000);
  EXPECT_NE(error().find("plot.vtkhdf.part2"), std::string::npos) << error();
  fs::remove(part);
  EXPECT_NE(error().find("2 parts, of which " + part.string() + " is missing; put plot.vtkhdf.part1 to plot.vtkhdf"),
            std::string::npos)
      << error();
}

TEST(PlotReader, OtherFilesAreRefused) {
  const Comm comm = Comm::self();
  const test::SharedDirectory folder(comm);
  const auto error = [](const std::string& path) { return test::error_of([&] { const PlotReader reader(path); }); };
  EXPECT_NE(error(folder.path() + "/none.vtkhdf").find("there is no such file"), std::string::npos);
  const std::string text = folder.path() + "/text.vtkhdf";
  std::ofstream(text) << "no HDF5";
  EXPECT_NE(error(text).find("text.vtkhdf"), std::string::npos);
}

/// What a damaged file, or one of another program, may say where numbers should stand.
TEST(PlotReader, WhatStandsInTheWrongPlaceIsRefused) {
  const Comm comm = Comm::self();
  const test::SharedDirectory folder(comm);
  const std::string path = folder.path() + "/plot.vtkhdf";
  test::PlotSample sample = test::plot_sample(comm, {16, 8, 8}, 8, 1, 4);
  test::connect(sample, comm);
  const auto error_after = [&](const std::function<void(hid_t)>& damage) {
    write_plotfile(comm, path, sample.plot);
    {
      const hdf5::Quiet quiet;
      const hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
      damage(file);
    }
    return test::error_of([&] { const PlotReader reader(path); });
  };
  const auto group = [](hid_t file, const char* name) {
    return hdf5::Handle(H5Gopen2(file, name, H5P_DEFAULT), H5Gclose);
  };
  EXPECT_EQ(error_after([](hid_t) {}), "");
  EXPECT_NE(error_after([&](hid_t file) {
              H5Adelete(file, "domain_cells");
              hdf5::put_text(file, "domain_cells", "16 x 8 x 8", path);
            }).find("domain_cells is not as in"),
            std::string::npos);
  EXPECT_NE(error_after([&](hid_t file) {
              const hdf5::Handle level = group(file, "VTKHDF/Level0");
              H5Adelete(level, "Spacing");
              hdf5::put_number(level, "Spacing", 1e-6, path);  // one number instead of three
            }).find("Spacing is not as in"),
            std::string::npos);
  const auto replace_boxes = [&](hid_t file, std::array<int, 12> corners) {
    const hdf5::Handle boxes(H5Dopen2(file, "VTKHDF/Level0/AMRBox", H5P_DEFAULT), H5Dclose);
    H5Dwrite(boxes, H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, corners.data());
  };
  EXPECT_NE(error_after([&](hid_t file) {
              replace_boxes(file, {0, 7, 0, 7, 7, 0, 8, 15, 0, 7, 0, 7});
            }).find("reaches from 7 to 0 along z"),
            std::string::npos);
  EXPECT_NE(error_after([&](hid_t file) {
              replace_boxes(file, {0, 2000000000, 0, 7, 0, 7, 8, 15, 0, 7, 0, 7});
            }).find("reaches from 0 to 2000000000 along x"),
            std::string::npos);
  EXPECT_NE(error_after([&](hid_t file) {
              replace_boxes(file, {0, 7, 0, 7, 0, 3, 8, 15, 0, 7, 0, 7});
            }).find("has not one row per cell"),
            std::string::npos);
}

}  // namespace
}  // namespace karst::plot_reader_test
