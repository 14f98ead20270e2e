// SPDX-License-Identifier: BSD-3-Clause
// Raw images: a header to skip, then the voxels, x fastest.
#include <algorithm>
#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/error.hpp"
#include "geometry_import/readers.hpp"

namespace karst {
namespace {

ImageInfo describe(const std::string& path, const RawLayout& layout) {
  ImageInfo info;
  info.path = path;
  info.format = "raw";
  info.size = layout.size;
  info.type = layout.type;
  return info;
}

class RawImage : public ImageFile {
 public:
  RawImage(const std::string& path, const RawLayout& layout)
      : ImageFile(describe(path, layout)), layout_(layout), file_(path, std::ios::binary) {
    require(file_.is_open(), "{}: cannot be opened for reading ({})", path, std::strerror(errno));
    plane_bytes_ = std::int64_t{layout.size[0]} * layout.size[1] * bytes_of(layout.type);
    plane_.resize(static_cast<std::size_t>(plane_bytes_));
  }

 private:
  void load_plane(int z, std::span<float> values) override {
    file_.clear();
    file_.seekg(layout_.skip_bytes + z * plane_bytes_);
    file_.read(plane_.data(), plane_bytes_);
    require(file_.gcount() == plane_bytes_, "{}: reading plane {} gave {} of {} bytes", info().path, z, file_.gcount(),
            plane_bytes_);
    if (layout_.big_endian != (std::endian::native == std::endian::big)) {
      const auto width = static_cast<std::size_t>(bytes_of(layout_.type));
      for (std::size_t i = 0; i < plane_.size(); i += width) std::reverse(&plane_[i], &plane_[i] + width);
    }
    to_float(plane_.data(), layout_.type, values);
  }

  RawLayout layout_;
  std::ifstream file_;
  std::int64_t plane_bytes_ = 0;
  std::vector<char> plane_;
};

}  // namespace

std::unique_ptr<ImageFile> open_raw(const std::string& path, const RawLayout& layout) {
  const Index n = layout.size;
  require(n[0] > 0 && n[1] > 0 && n[2] > 0, "{}: size {} x {} x {} given; all three must be at least 1", path, n[0],
          n[1], n[2]);
  require(layout.skip_bytes >= 0, "{}: skip_bytes {} given; it cannot be negative", path, layout.skip_bytes);
  std::error_code failure;
  const auto found = static_cast<std::int64_t>(std::filesystem::file_size(path, failure));
  require(!failure, "{}: cannot be read ({})", path, failure.message());
  const std::int64_t voxels = std::int64_t{n[0]} * n[1] * n[2];
  const std::int64_t expected = layout.skip_bytes + voxels * bytes_of(layout.type);
  require(found >= expected, "{}: too short: {} x {} x {} voxels of {} after {} bytes need {} bytes, the file has {}",
          path, n[0], n[1], n[2], name_of(layout.type), layout.skip_bytes, expected, found);
  require(found <= expected,
          "{}: too long: {} x {} x {} voxels of {} after {} bytes need {} bytes, the file has {}; check size and type, "
          "or give skip_bytes = {} when a header comes first",
          path, n[0], n[1], n[2], name_of(layout.type), layout.skip_bytes, expected, found,
          layout.skip_bytes + found - expected);
  return std::make_unique<RawImage>(path, layout);
}

}  // namespace karst
