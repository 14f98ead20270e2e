// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/mount.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/core/error.hpp"
#include "support/errors.hpp"
#include "tests/support/plot_samples.hpp"
#include "tests/support/shared_directory.hpp"

namespace karst::plotfile_test {
namespace {

using test::plot_sample;
using test::plot_value;
using test::SharedDirectory;

/// Files in the folder of a file.
int n_files(const std::string& path) {
  int n = 0;
  for ([[maybe_unused]] const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
    ++n;
  return n;
}

/// Of all files in the folder of a file.
std::int64_t bytes_beside(const std::string& path) {
  std::int64_t bytes = 0;
  for (const auto& file : std::filesystem::directory_iterator(std::filesystem::path(path).parent_path()))
    bytes += static_cast<std::int64_t>(file.file_size());
  return bytes;
}

struct StoredBox {
  int lo[3], hi[3];
};

template <class T>
std::vector<T> read(hid_t file, const std::string& name, hid_t type) {
  const hid_t set = H5Dopen2(file, name.c_str(), H5P_DEFAULT);
  const hid_t space = H5Dget_space(set);
  std::vector<T> values(H5Sget_simple_extent_npoints(space));
  EXPECT_GE(H5Dread(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0) << name;
  H5Sclose(space);
  H5Dclose(set);
  return values;
}

std::vector<Box> read_boxes(hid_t file, const std::string& level) {
  const hid_t set = H5Dopen2(file, (level + "/boxes").c_str(), H5P_DEFAULT), type = H5Dget_type(set);
  std::vector<Box> boxes;
  for (const StoredBox& b : read<StoredBox>(file, level + "/boxes", type))
    boxes.push_back({{b.lo[0], b.lo[1], b.lo[2]}, {b.hi[0] + 1, b.hi[1] + 1, b.hi[2] + 1}});
  H5Tclose(type);
  H5Dclose(set);
  return boxes;
}

/// Component c of an array of the plotfile: its cells, cell after cell.
std::vector<std::vector<float>> read_components(hid_t file, const std::string& cell_data,
                                                std::span<const PlotArray> arrays) {
  std::vector<std::vector<float>> components;
  for (const PlotArray& a : arrays) {
    const auto values = read<float>(file, cell_data + a.name, H5T_NATIVE_FLOAT);
    const std::size_t n = a.n_components();
    for (std::size_t c = 0; c < n; ++c) {
      components.emplace_back();
      for (std::size_t i = c; i < values.size(); i += n) components.back().push_back(values[i]);
    }
  }
  return components;
}

/// Every box once, in order of size class; the values of each, for VTK and for yt.
void expect_level(hid_t file, const test::PlotSample& sample, int l) {
  const Layout& layout = sample.layouts[l];
  const std::string level = "level_" + std::to_string(l), view = "VTKHDF/Level" + std::to_string(l);
  const auto boxes = read_boxes(file, level);
  const auto owners = read<int>(file, level + "/Processors", H5T_NATIVE_INT);
  const auto values = read<float>(file, level + "/data:datatype=0", H5T_NATIVE_FLOAT);
  const auto corners = read<int>(file, view + "/AMRBox", H5T_NATIVE_INT);
  ASSERT_EQ(std::ssize(boxes), layout.n_boxes());
  const auto seen = read_components(file, view + "/CellData/", sample.plot.arrays);
  const auto hidden = read<std::uint8_t>(file, view + "/CellData/vtkGhostType", H5T_NATIVE_UINT8);
  std::vector<bool> found(boxes.size(), false);
  std::size_t v = 0, cell = 0;
  for (std::size_t b = 0; b < boxes.size(); ++b) {
    const std::int64_t at = layout.find_cell(boxes[b].lo);
    ASSERT_GE(at, 0);
    ASSERT_EQ(layout.box(at), boxes[b]);
    ASSERT_FALSE(found[at]);
    found[at] = true;
    ASSERT_EQ(owners[b], layout.owner(at));
    for (int d = 0; d < 3; ++d) {
      ASSERT_EQ(corners[6 * b + 2 * static_cast<std::size_t>(d)], boxes[b].lo[d]);
      ASSERT_EQ(corners[6 * b + 2 * static_cast<std::size_t>(d) + 1], boxes[b].hi[d] - 1);
    }
    for (std::size_t c = 0; c < seen.size(); ++c) {
      std::size_t n = cell;
      for_each_cell(boxes[b], [&](const Index& i) {
        const float want = plot_value(l, i, static_cast<int>(c));
        ASSERT_EQ(values[v++], want) << "level " << l << " box " << b << " component " << c;
        ASSERT_EQ(seen[c][n++], want) << "view of level " << l << " box " << b << " component " << c;
      });
    }
    for_each_cell(boxes[b], [&](const Index& i) { ASSERT_EQ(hidden[cell++], test::plot_hidden(i)); });
  }
}

void round_trip(const Index& cells, int box, int levels, int components, int compression, std::int64_t buffer,
                int parts = 1) {
  const Comm comm = Comm::world();
  const SharedDirectory directory(comm);
  const std::string path = directory.path() + "/plot.vtkhdf";
  auto sample = plot_sample(comm, cells, box, levels, components);
  connect(sample, comm);
  sample.plot.compression = compression;
  sample.plot.buffer_bytes = buffer;
  sample.plot.parts = parts;
  const PlotSize size = write_plotfile(comm, path, sample.plot);
  EXPECT_EQ(size.parts, std::min(parts, comm.size()));
  std::int64_t values = 0;
  for (const Layout& layout : sample.layouts)
    for (std::int64_t b = 0; b < layout.n_boxes(); ++b) values += layout.box(b).count() * components;
  EXPECT_EQ(size.box_bytes, 4 * values);
  EXPECT_EQ(size.dense_bytes, 4 * components * sample.layouts.back().domain().box().count());
  EXPECT_EQ(size.file_bytes, bytes_beside(path));
  EXPECT_EQ(n_files(path), size.parts == 1 ? 1 : 1 + size.parts);
  if (comm.rank() == 0) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    for (int l = 0; l < levels; ++l) expect_level(file, sample, l);
    H5Fclose(file);
  }
}

constexpr std::int64_t much = std::int64_t{64} << 20;

TEST(PlotfileMpi, OneLevel) { round_trip({32, 32, 32}, 8, 1, 2, 1, much); }
TEST(PlotfileMpi, ClippedInAllDirections) { round_trip({37, 22, 19}, 8, 1, 3, 1, much); }
TEST(PlotfileMpi, Levels) { round_trip({40, 24, 20}, 8, 3, 2, 1, much); }
TEST(PlotfileMpi, OneCellThick) { round_trip({45, 30, 1}, 16, 2, 2, 1, much); }
TEST(PlotfileMpi, SmallerThanABox) { round_trip({5, 3, 2}, 8, 1, 1, 1, much); }
TEST(PlotfileMpi, ManyRounds) { round_trip({37, 22, 19}, 8, 2, 2, 1, 5000); }
TEST(PlotfileMpi, Uncompressed) { round_trip({37, 22, 19}, 8, 2, 2, 0, 5000); }
// The same datasets as of one file, value by value, whatever the number of ranks and parts.
TEST(PlotfileMpi, TwoParts) { round_trip({37, 22, 19}, 8, 2, 5, 1, much, 2); }
TEST(PlotfileMpi, ThreeParts) { round_trip({37, 22, 19}, 8, 3, 5, 1, 50000, 3); }
TEST(PlotfileMpi, MorePartsThanRanks) { round_trip({40, 24, 20}, 8, 2, 2, 1, much, 100); }
TEST(PlotfileMpi, PartsUncompressed) { round_trip({37, 22, 19}, 8, 2, 4, 0, 50000, 2); }
TEST(PlotfileMpi, PartsWithoutBoxes) { round_trip({5, 3, 2}, 8, 1, 1, 1, much, 3); }

// What HDF5 takes for a pattern in names of files and datasets stays as it is.
TEST(PlotfileMpi, PartsWithPercentInNames) {
  const Comm comm = Comm::world();
  const SharedDirectory directory(comm);
  const std::string path = directory.path() + "/100%b.vtkhdf";
  auto sample = plot_sample(comm, {16, 16, 16}, 8, 1, 2);
  connect(sample, comm);
  sample.plot.arrays[0].name = "%bright %%";
  sample.plot.parts = 2;
  write_plotfile(comm, path, sample.plot);
  if (comm.rank() != 0) return;
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  expect_level(file, sample, 0);
  H5Fclose(file);
}

// The text of the Error, the same on all ranks; nothing but the old file stays.
void expect_error(const PlotDescription& plot, const std::string& path, const std::string& want) {
  const Comm comm = Comm::world();
  if (comm.rank() == 0) std::ofstream(path) << "old";
  const std::string text = test::error_of([&] { write_plotfile(comm, path, plot); });
  EXPECT_NE(text.find(want), std::string::npos) << text;
  comm.any(false);  // rank 0 has removed the temporary file before it comes here
  std::string old;
  std::ifstream(path) >> old;
  EXPECT_EQ(old, "old");
  EXPECT_EQ(n_files(path), 1);
  comm.any(false);
}

TEST(PlotfileMpi, MistakesInTheDescription) {
  const Comm comm = Comm::world();
  const SharedDirectory directory(comm);
  const std::string path = directory.path() + "/plot.vtkhdf";
  auto sample = plot_sample(comm, {16, 16, 16}, 8, 1, 2);
  connect(sample, comm);
  const auto with = [&](auto&& change) {
    PlotDescription plot = sample.plot;
    change(plot);
    return plot;
  };
  expect_error(with([](auto& p) { p.levels.clear(); }), path, "no level");
  expect_error(with([](auto& p) { p.arrays.clear(); }), path, "no array");
  expect_error(with([](auto& p) { p.arrays[1] = p.arrays[0]; }), path, "two components are named 'field_0'");
  expect_error(with([](auto& p) { p.arrays[0].name = "a/b"; }), path, "'a/b'");
  expect_error(with([](auto& p) { p.cell_width = 0; }), path, "cell width 0");
  expect_error(with([](auto& p) { p.compression = 10; }), path, "compression 10, allowed 0 to 9");
  expect_error(with([](auto& p) { p.parts = 0; }), path, "0 parts; allowed 1 or more");
  const Layout empty({{16, 16, 16}, {}}, 8, {}, std::vector<std::int64_t>(comm.size() + 1, 0));
  expect_error(with([&](auto& p) { p.levels[0] = &empty; }), path, "level 0 has no box");
}

// Without the layout of yt the file holds each value once.
TEST(PlotfileMpi, WithoutTheLayoutOfYt) {
  const Comm comm = Comm::world();
  const SharedDirectory directory(comm);
  std::array<std::int64_t, 2> bytes{};
  for (const bool chombo : {true, false}) {
    const std::string path = directory.path() + (chombo ? "/both.vtkhdf" : "/vtk.vtkhdf");
    auto sample = plot_sample(comm, {32, 32, 32}, 8, 1, 5);
    connect(sample, comm);
    sample.plot.compression = 0;
    sample.plot.chombo = chombo;
    const PlotSize size = write_plotfile(comm, path, sample.plot);
    bytes[chombo ? 0 : 1] = size.file_bytes;
    EXPECT_GT(size.file_bytes, size.box_bytes * (chombo ? 2 : 1));
    if (comm.rank() != 0) continue;
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    EXPECT_EQ(H5Lexists(file, "level_0", H5P_DEFAULT) > 0, chombo);
    EXPECT_EQ(H5Aexists(file, "num_levels") > 0, chombo);
    EXPECT_EQ(read_components(file, "VTKHDF/Level0/CellData/", sample.plot.arrays).size(), 5U);
    H5Fclose(file);
  }
  EXPECT_NEAR(static_cast<double>(bytes[1]) / static_cast<double>(bytes[0]), 0.5, 0.05);
}

TEST(PlotfileMpi, FailureOfFillOnOneRank) {
  const Comm comm = Comm::world();
  const SharedDirectory directory(comm);
  for (const auto& [compression, parts] : {std::pair(0, 1), {1, 1}, {1, 2}}) {
    auto sample = plot_sample(comm, {48, 48, 48}, 8, 2, 1);
    connect(sample, comm);
    sample.plot.compression = compression;
    sample.plot.parts = parts;
    sample.plot.buffer_bytes = 10000;
    sample.plot.fill = [fill = sample.plot.fill, &comm](int level, std::int64_t box, int c, std::span<float> values) {
      require(!(level == 1 && box == 5 && comm.rank() == comm.size() - 1), "no value in box {}", box);
      fill(level, box, c, values);
    };
    expect_error(sample.plot, directory.path() + "/plot.vtkhdf", "no value in box 5");
  }
}

TEST(PlotfileMpi, MissingDirectory) {
  const Comm comm = Comm::world();
  auto sample = plot_sample(comm, {16, 16, 16}, 8, 1, 1);
  connect(sample, comm);
  for (const int parts : {1, 2}) {
    sample.plot.parts = parts;
    const std::string text = test::error_of([&] { write_plotfile(comm, "/no/such/folder/plot.vtkhdf", sample.plot); });
    EXPECT_NE(text.find("/no/such/folder/plot.vtkhdf"), std::string::npos) << text;
    EXPECT_NE(text.find("No such file or directory"), std::string::npos) << text;
  }
}

// A disk of 4 MiB that fills up while the second level is being written.
TEST(PlotfileMpi, FullDisk) {
  const Comm comm = Comm::world();
  const SharedDirectory directory(comm);
  const bool mounted =
      !comm.any(comm.rank() == 0 && mount("tmpfs", directory.path().c_str(), "tmpfs", 0, "size=4m") != 0);
  if (!mounted) GTEST_SKIP() << "a small file system cannot be mounted here (needs root)";
  for (const auto& [compression, parts] : {std::pair(0, 1), {1, 1}, {0, 2}, {1, 2}}) {
    auto sample = plot_sample(comm, {64, 64, 64}, 16, 2, 2);
    connect(sample, comm);
    sample.plot.compression = compression;
    sample.plot.parts = parts;
    sample.plot.buffer_bytes = 100000;
    if (compression)  // values that do not compress
      sample.plot.fill = [](int, std::int64_t box, int component, std::span<float> values) {
        std::uint32_t seed = static_cast<std::uint32_t>(8 * box + component + 1);
        for (float& x : values) x = static_cast<float>(seed = seed * 1664525U + 1013904223U);
      };
    expect_error(sample.plot, directory.path() + "/plot.vtkhdf", "No space left on device");
  }
  comm.any(false);
  if (comm.rank() == 0) umount2(directory.path().c_str(), MNT_DETACH);
}

}  // namespace
}  // namespace karst::plotfile_test
