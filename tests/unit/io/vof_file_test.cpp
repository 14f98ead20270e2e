// SPDX-License-Identifier: BSD-3-Clause
#include "io/vof_file.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "base/core/error.hpp"
#include "grid/vof_loops.hpp"
#include "support/errors.hpp"
#include "support/first_ranks.hpp"
#include "support/geometry_cases.hpp"
#include "support/shared_directory.hpp"

namespace karst::vof_file_test {
namespace {

namespace fs = std::filesystem;

/// Its narrow gaps leave several pieces of fluid in one cell.
std::unique_ptr<LevelSet> spheres() { return test::packing(120, 0.1, 1.0, false); }

/// Places of the VoFs of a geometry that no finer level covers, and values that say which VoF they belong to.
struct Sample {
  Sample(const Comm& comm, int box, int levels = 2)
      : geometry([&] {
          GridOptions grid = test::grid_of(24, levels);
          grid.box = box;
          return build_geometry(comm, grid, *spheres(), KeepPores::all, ControlVolumes::pieces);
        }()) {
    for (const LevelGeometry& level : geometry.levels) places.levels.push_back(&level.graph);
    for (int l = 0; l < static_cast<int>(geometry.levels.size()); ++l) {
      const LevelGraph& graph = geometry.levels[l].graph;
      rows.emplace_back();
      for (int b = 0; b < graph.n_local(); ++b) {
        const BoxGraph part = graph.box(b);
        rows.back().emplace_back();
        int before = -1, piece = 0;
        for_each_vof(part, [&](int, int offset) {
          piece = offset == before ? piece + 1 : 0;
          before = offset;
          most_pieces = std::max(most_pieces, piece + 1);
          const Index cell = part.cells.cell(offset);
          const bool covered = l + 1 < geometry.grid.n_levels() && geometry.grid.cell_is_refined(l, cell);
          rows.back().back().push_back(covered ? -1 : std::ssize(value));
          if (!covered) value.push_back(value_of(l, cell, piece));
        });
      }
    }
    places.row = [this](int l, int b, int vof) { return rows[l][b][vof]; };
  }
  Sample(const Sample&) = delete;
  Sample& operator=(const Sample&) = delete;

  /// All bits of a double are in use.
  static double value_of(int level, const Index& cell, int piece) {
    return std::sin(1.0 + cell[0] + 100.0 * cell[1] + 1e4 * cell[2] + 1e6 * level) + piece;
  }

  Geometry geometry;
  VofPlaces places;
  std::vector<std::vector<std::vector<std::int64_t>>> rows;  // per level, box, VoF
  std::vector<double> value;
  int most_pieces = 0;
};

/// True of about a third of the values, whichever rank has them.
bool is_third(double value) { return std::bit_cast<std::uint64_t>(value) % 3 == 0; }

/// Two quantities: the values, and three components of them in single precision.
void write(const Comm& comm, const std::string& path, const Sample& sample) {
  std::vector<float> three;
  for (const double v : sample.value)
    for (int c = 0; c < 3; ++c) three.push_back(static_cast<float>(v + c));
  // A table of all, and one of every third.
  VofPlaces few = sample.places;
  few.row = [&](int l, int b, int vof) {
    const std::int64_t row = sample.places.row(l, b, vof);
    return row >= 0 && is_third(sample.value[row]) ? row : -1;
  };
  const std::array tables{VofTable{"all",
                                   sample.places,
                                   {{"pressure", 1, std::span<const double>(sample.value)},
                                    {"velocity", 3, std::span<const float>(three)}}},
                          VofTable{"some", few, {{"pressure", 1, std::span<const double>(sample.value)}}}};
  write_vof_file(comm, path, "what it is", tables);
}

/// Number of values that are not, bit for bit, those of the VoFs.
std::int64_t wrong_values(const VofFile& file, const Sample& sample) {
  std::vector<double> value(sample.value.size());
  std::vector<float> three(3 * value.size());
  file.read("all", "pressure", sample.places, 1, std::span<double>(value));
  file.read("all", "velocity", sample.places, 3, std::span<float>(three));
  std::int64_t wrong = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    wrong += std::bit_cast<std::uint64_t>(value[i]) != std::bit_cast<std::uint64_t>(sample.value[i]) ? 1 : 0;
    for (std::size_t c = 0; c < 3; ++c)
      wrong += three[3 * i + c] != static_cast<float>(sample.value[i] + static_cast<double>(c)) ? 1 : 0;
  }
  return wrong;
}

/// Of the table of some: VoFs that are in it and should not, or the other way round, and wrong values.
std::int64_t wrong_of_some(const VofFile& file, const Sample& sample) {
  const std::vector<std::int64_t> found = file.vofs_in("some", sample.places.levels);
  std::vector<std::int64_t> wanted;
  std::int64_t place = 0, wrong = 0;
  VofPlaces places = sample.places;
  for (std::size_t l = 0; l < sample.rows.size(); ++l)
    for (std::size_t b = 0; b < sample.rows[l].size(); ++b)
      for (const std::int64_t row : sample.rows[l][b]) {
        if (row >= 0 && is_third(sample.value[row])) wanted.push_back(place);
        ++place;
      }
  EXPECT_EQ(found, wanted);
  std::vector<double> value(sample.value.size(), 0.0);
  places.row = [&](int l, int b, int vof) {
    const std::int64_t row = sample.rows[l][b][vof];
    return row >= 0 && is_third(sample.value[row]) ? row : -1;
  };
  file.read("some", "pressure", places, 1, std::span<double>(value));
  for (std::size_t i = 0; i < value.size(); ++i)
    wrong += value[i] != (is_third(sample.value[i]) ? sample.value[i] : 0.0) ? 1 : 0;
  return wrong;
}

TEST(VofFileMpi, ValuesComeBackBitForBitOnAnyNumberOfRanks) {
  const Comm comm = Comm::world();
  const test::SharedDirectory folder(comm);
  const std::string path = folder.path() + "/values.h5";
  {
    const Sample sample(comm, 8);
    EXPECT_GT(comm.max(std::int64_t{sample.most_pieces}), 1);
    write(comm, path, sample);
  }
  for (int n = 1; n <= comm.size(); ++n) {
    const test::FirstRanks some(comm, n);
    if (!some.is_in()) continue;
    const Sample sample(some.comm(), 8);
    const VofFile file(path);
    EXPECT_EQ(file.text(), "what it is");
    EXPECT_EQ(wrong_values(file, sample), 0) << n << " ranks";
    EXPECT_EQ(wrong_of_some(file, sample), 0) << n << " ranks";
  }
}

TEST(VofFileMpi, BoxesMayBeOthers) {
  const Comm comm = Comm::world();
  const test::SharedDirectory folder(comm);
  for (const auto& [from, to] : {std::pair{8, 16}, {16, 8}}) {
    const std::string path = folder.path() + "/values.h5";
    write(comm, path, Sample(comm, from, 1));
    const Sample other(comm, to, 1);
    EXPECT_EQ(wrong_values(VofFile(path), other), 0) << "boxes of " << from << " read as " << to;
    comm.any(false);  // all have read
  }
}

TEST(VofFileMpi, WhatDoesNotFitIsSaid) {
  const Comm comm = Comm::world();
  const test::SharedDirectory folder(comm);
  const std::string path = folder.path() + "/values.h5";
  Sample sample(comm, 8, 1);
  write(comm, path, sample);
  std::vector<double> value(3 * sample.value.size());
  const auto error = [&](const std::string& name, int components, const VofPlaces& places) {
    return test::error_of([&] { VofFile(path).read("all", name, places, components, std::span<double>(value)); });
  };
  EXPECT_PRED2(test::has,
               test::error_of([&] { VofFile(path).read("some", "pressure", sample.places, 1, std::span(value)); }),
               "contains no pressure of fragment");
  EXPECT_NE(error("temperature", 1, sample.places).find("open temperature"), std::string::npos);
  EXPECT_NE(error("velocity", 1, sample.places).find("velocity has 3 components, 1 are expected"), std::string::npos);
  const Geometry wider = build_geometry(comm, test::grid_of(16, 1), *spheres(), KeepPores::all, ControlVolumes::pieces);
  EXPECT_NE(error("pressure", 1, {{&wider.levels[0].graph}, sample.places.row}).find("belongs to another grid"),
            std::string::npos);
  EXPECT_NE(test::error_of([&] { VofFile(folder.path() + "/none.h5"); }).find("No such file"), std::string::npos);
}

struct WrittenFile {
  WrittenFile() { write(comm, path, sample); }
  Comm comm = Comm::world();
  test::SharedDirectory folder{comm};
  std::string path = folder.path() + "/values.h5";
  Sample sample{comm, 8, 1};
};

TEST(VofFileMpi, AFileCutShortIsNotRead) {
  const WrittenFile written;
  const auto& [comm, folder, path, sample] = written;
  if (comm.rank() == 0) fs::resize_file(path, fs::file_size(path) - 1000);
  comm.any(false);
  EXPECT_NE(test::error_of([&] { VofFile file(path); }).find("cannot open the file"), std::string::npos);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

/// One bit of a file the other way round.
void flip(const std::string& path, std::int64_t byte, int bit) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(byte);
  const int was = file.get();
  file.seekp(byte);
  file.put(static_cast<char>(was ^ (1 << bit)));
}

TEST(VofFileMpi, ABitThatIsNotWhatWasWrittenIsFound) {
  const WrittenFile written;
  const auto& [comm, folder, path, sample] = written;
  check_vof_file(comm, path);
  const auto bytes = static_cast<std::int64_t>(fs::file_size(path));
  const auto flip_together = [&](std::int64_t byte, int bit) {
    if (comm.rank() == 0) flip(path, byte, bit);
    comm.any(false);
  };
  const auto expect_found = [&](std::int64_t byte, int bit) {
    flip_together(byte, bit);
    EXPECT_PRED2(test::has, test::error_of([&] { check_vof_file(comm, path); }), "is damaged")
        << "bit " << bit << " of byte " << byte;
    flip_together(byte, bit);
  };
  // The line in front, every bit of it (one of a letter makes it a capital); the rest of that block is nothing.
  std::string line;
  std::getline(std::ifstream(path, std::ios::binary), line);
  for (std::int64_t byte = 0; byte <= std::ssize(line); ++byte)
    for (int bit = 0; bit < 8; ++bit) expect_found(byte, bit);
  int tried = 0;
  for (std::int64_t byte = 512; byte < bytes; byte += 1 + bytes / 300) expect_found(byte, tried++ % 8);
  check_vof_file(comm, path);
  if (comm.rank() == 0) fs::resize_file(path, fs::file_size(path) - 1);
  comm.any(false);
  EXPECT_PRED2(test::has, test::error_of([&] { check_vof_file(comm, path); }), "is damaged: ");
}

TEST(VofFileMpi, AnOlderFileStaysWhenANewOneCannotBeWritten) {
  const WrittenFile written;
  const auto& [comm, folder, path, sample] = written;
  const std::vector<double> few(sample.value.begin(),
                                sample.value.begin() + (comm.rank() == 0 ? 1 : std::ssize(sample.value)));
  const std::array tables{VofTable{"all", sample.places, {{"pressure", 1, std::span<const double>(few)}}}};
  EXPECT_PRED2(test::has, test::error_of([&] { write_vof_file(comm, path, "", tables); }), "too few");
  EXPECT_EQ(wrong_values(VofFile(path), sample), 0);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace karst::vof_file_test
