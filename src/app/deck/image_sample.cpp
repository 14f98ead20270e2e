// SPDX-License-Identifier: BSD-3-Clause
#include "app/deck/image_sample.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <numbers>
#include <optional>

#include "base/core/error.hpp"
#include "base/core/wall_clock.hpp"

namespace karst {

namespace {

namespace fs = std::filesystem;

constexpr int block_width = 96;         ///< voxels of the file
constexpr double enough_seconds = 2.5;  ///< after which no further block is imported
constexpr std::uintmax_t large_file = std::uintmax_t{64} << 20;
/// Corners of a tetrahedron: no two blocks share a plane, row or column of the image.
constexpr std::array<std::array<double, 3>, 4> places{
    {{0.3, 0.3, 0.3}, {0.7, 0.7, 0.35}, {0.65, 0.35, 0.7}, {0.35, 0.65, 0.65}}};

ImportOptions options_of_block(const Config& config, const ImageExtent& extent, const std::array<double, 3>& place) {
  ImportOptions options = import_options(config);
  for (int d = 0; d < 3; ++d) {
    const int width = std::min(block_width, extent.size[d]);
    const double room = extent.size[d] - width;
    options.prepare.crop_low[d] = extent.low[d] + static_cast<int>(place[d] * room);
    options.prepare.crop_high[d] = options.prepare.crop_low[d] + width;
  }
  options.prepare.cylinder = false;
  options.specks = options.holes = 0;
  options.keep = KeepClusters::all;
  return options;
}

/// Of the whole image, in the order of the axes after preparation.
Index prepared_size(const ImportOptions& options, const ImageExtent& extent, const Index& block_voxels) {
  Index voxels;
  for (int d = 0; d < 3; ++d) {
    const int from = options.prepare.axes[d];
    const double block = options.prepare.crop_high[from] - options.prepare.crop_low[from];
    voxels[d] = static_cast<int>(std::lround(block_voxels[d] * (extent.size[from] / block)));
  }
  return voxels;
}

Source source_of_block(const Config& config, const GridOptions& grid, const std::string& path) {
  auto file = std::make_shared<const GeometryFile>(path);
  Source source;
  source.grid = grid;
  source.grid.periodic = {};
  ImageSource image = image_of(file, config.geometry.wall_shift, source.grid);
  for (int d = 0; d < 3; ++d) {
    source.grid.cells[d] = std::max(1, static_cast<int>(image.voxels[d] * image.voxel + 1e-6));
    source.grid.size[d] = source.grid.cells[d] * grid.cell_width();
  }
  source.level_set = std::make_unique<ImageLevelSet>(std::move(image));
  source.image = std::move(file);
  return source;
}

}  // namespace

TemporaryFile::TemporaryFile(const Comm& comm) {
  static int made = 0;  // of this process
  std::error_code problem;
  if (comm.rank() == 0)
    path_ = (fs::temp_directory_path(problem) / fmt::format("karst-check-{}-{}.h5", ::getpid(), made++)).string();
  comm.broadcast(path_);
  if (comm.rank() == 0) on_signals_.add(path_);
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  fs::remove(path_, ignored);
}

bool takes_all_memory(const Config& config) {
  const std::string path = image_path(config), extension = fs::path(path).extension().string();
  std::error_code problem;
  const std::uintmax_t bytes = fs::file_size(path, problem);
  constexpr std::array<const char*, 7> one_piece{".mha", ".nrrd", ".nhdr", ".mhd", ".gz", ".vti", ".hdr"};
  return !problem && bytes > large_file && std::ranges::count(one_piece, extension) > 0;
}

ImageExtent image_extent(const Config& config) {
  const ImportOptions options = import_options(config);
  const Index size = open_image(options)->info().size;
  ImageExtent extent;
  for (int d = 0; d < 3; ++d) {
    extent.low[d] = std::clamp(options.prepare.crop_low[d], 0, size[d] - 1);
    const int high = options.prepare.crop_high[d] > 0 ? std::min(options.prepare.crop_high[d], size[d]) : size[d];
    extent.size[d] = std::max(1, high - extent.low[d]);
  }
  return extent;
}

ImageSample sample_image(const Comm& comm, const Config& config, const ImageExtent& extent) {
  ImageSample sample;
  double seconds = 0.0, voxels = 0.0;
  std::optional<Error> failure;
  for (const auto& place : places) {
    if (comm.max(seconds) > enough_seconds) break;
    const ImportOptions options = options_of_block(config, extent, place);
    auto file = std::make_unique<TemporaryFile>(comm);
    const WallClock clock;
    try {
      const ImportReport report = import_image(comm, options, file->path());
      const Index& n = report.voxels;
      voxels += static_cast<double>(n[0]) * n[1] * n[2];
      if (sample.blocks.empty()) {
        GeometryInfo whole;
        sample.voxels = whole.voxels = prepared_size(options, extent, n);
        whole.voxel = report.voxel;
        sample.grid = complete_grid(config, whole);
      }
      sample.blocks.push_back({source_of_block(config, sample.grid, file->path()), std::move(file)});
    } catch (const Error& e) {  // the same on all ranks
      failure = e;
    }
    seconds += clock.seconds();
  }
  if (sample.blocks.empty() && failure) throw *failure;
  sample.seconds_per_voxel = comm.max(seconds) / std::max(1.0, voxels);
  if (config.import.prepare.cylinder) sample.share = std::numbers::pi / 4;
  return sample;
}

}  // namespace karst
