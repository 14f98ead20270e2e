// SPDX-License-Identifier: BSD-3-Clause
// Images made of others or held whole: voxels that were compressed or text, scaled values, a file for each plane.
#include <algorithm>
#include <bit>
#include <set>

#include "base/core/error.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

class HeldImage : public ImageFile {
 public:
  HeldImage(ImageInfo description, std::vector<char> native)
      : ImageFile(std::move(description)), native_(std::move(native)) {}

 private:
  void load_plane(int z, std::span<float> values) override {
    const std::size_t bytes = values.size() * bytes_of(info().type);
    to_float(native_.data() + z * bytes, info().type, values);
  }
  std::vector<char> native_;
};

class ScaledImage : public ImageFile {
 public:
  ScaledImage(ImageInfo description, std::unique_ptr<ImageFile> stored, double slope, double intercept)
      : ImageFile(std::move(description)), stored_(std::move(stored)), slope_(slope), intercept_(intercept) {}

 private:
  void load_plane(int z, std::span<float> values) override {
    stored_->read_plane(z, values);
    for (float& v : values) v = static_cast<float>(slope_ * double{v} + intercept_);
  }
  std::unique_ptr<ImageFile> stored_;
  double slope_, intercept_;
};

class PlaneFiles : public ImageFile {
 public:
  PlaneFiles(ImageInfo description, std::vector<std::string> files, const RawLayout& layout)
      : ImageFile(std::move(description)), files_(std::move(files)), layout_(layout) {}

 private:
  void load_plane(int z, std::span<float> values) override {
    open_voxels(info(), files_[z], layout_, BehindVoxels::nothing)->read_plane(0, values);
  }
  std::vector<std::string> files_;
  RawLayout layout_;  ///< of one plane
};

}  // namespace

void to_native(std::span<char> values, VoxelType type, bool big_endian) {
  const std::size_t width = bytes_of(type);
  if (width == 1 || big_endian == (std::endian::native == std::endian::big)) return;
  for (std::size_t i = 0; i < values.size(); i += width) std::reverse(&values[i], &values[i] + width);
}

std::unique_ptr<ImageFile> hold_voxels(ImageInfo info, const RawLayout& layout, std::vector<char> voxels) {
  const std::int64_t needed = voxel_bytes(layout);
  const auto found = static_cast<std::int64_t>(voxels.size());
  require(found == needed, "{}: {} x {} x {} voxels of {} need {} bytes, it has {}", info.path, layout.size[0],
          layout.size[1], layout.size[2], name_of(layout.type), needed, found);
  to_native(voxels, layout.type, layout.big_endian);
  info.size = layout.size;
  info.type = layout.type;
  info.held_whole = true;
  return std::make_unique<HeldImage>(std::move(info), std::move(voxels));
}

std::unique_ptr<ImageFile> scale_values(std::unique_ptr<ImageFile> stored, double slope, double intercept,
                                        VoxelType type, const std::string& note) {
  ImageInfo info = stored->info();
  info.type = type;
  if (!note.empty()) info.notes.push_back(note);
  if (info.black) info.black = slope * *info.black + intercept;
  return std::make_unique<ScaledImage>(std::move(info), std::move(stored), slope, intercept);
}

std::unique_ptr<ImageFile> open_plane_files(ImageInfo info, const std::vector<std::string>& files, RawLayout layout) {
  require(static_cast<std::int64_t>(files.size()) == layout.size[2],
          "{}: has {} planes but {} data files; one per plane is needed", info.path, layout.size[2], files.size());
  require(std::set<std::string>(files.begin(), files.end()).size() == files.size(),
          "{}: has a data file twice in its list; one per plane is needed", info.path);
  info.size = layout.size;
  info.type = layout.type;
  layout.size[2] = 1;
  for (const std::string& file : files) open_voxels(info, file, layout, BehindVoxels::nothing);
  return std::make_unique<PlaneFiles>(std::move(info), files, layout);
}

}  // namespace karst
