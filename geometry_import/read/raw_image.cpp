// SPDX-License-Identifier: BSD-3-Clause
// Raw images: a header to skip, then the voxels, x fastest; all of it may be compressed by gzip.
#include <cstring>
#include <fstream>
#include <vector>

#include "base/core/error.hpp"
#include "geometry_import/read/file_kind.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/inflate.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

class RawImage : public ImageFile {
 public:
  RawImage(ImageInfo description, const std::string& data_file, const RawLayout& layout)
      : ImageFile(std::move(description)), layout_(layout), path_(data_file), file_(data_file, std::ios::binary) {
    require(file_.is_open(), "{}: cannot be opened for reading ({})", path_, std::strerror(errno));
    plane_bytes_ = std::int64_t{layout.size[0]} * layout.size[1] * bytes_of(layout.type);
    plane_.resize(plane_bytes_);
  }

 private:
  void load_plane(int z, std::span<float> values) override {
    file_.clear();
    file_.seekg(layout_.skip_bytes + z * plane_bytes_);
    file_.read(plane_.data(), plane_bytes_);
    require(file_.gcount() == plane_bytes_, "{}: reading plane {} gave {} of {} bytes", path_, z, file_.gcount(),
            plane_bytes_);
    to_native(plane_, layout_.type, layout_.big_endian);
    to_float(plane_.data(), layout_.type, values);
  }

  RawLayout layout_;
  std::string path_;
  std::ifstream file_;
  std::int64_t plane_bytes_ = 0;
  std::vector<char> plane_;
};

}  // namespace

std::int64_t voxel_bytes(const RawLayout& layout) {
  const Index n = layout.size;
  const double bytes = double(n[0]) * n[1] * n[2] * bytes_of(layout.type);
  return bytes < 1e18 ? std::int64_t{n[0]} * n[1] * n[2] * bytes_of(layout.type) : std::int64_t{1} << 60;
}

std::unique_ptr<ImageFile> open_voxels(ImageInfo info, const std::string& data_file, const RawLayout& layout,
                                       BehindVoxels behind) {
  const Index n = layout.size;
  require(n[0] > 0 && n[1] > 0 && n[2] > 0, "{}: has {} x {} x {} voxels; all three must be at least 1", info.path,
          n[0], n[1], n[2]);
  const std::int64_t found = bytes_in(data_file), expected = layout.skip_bytes + voxel_bytes(layout);
  require(found >= expected, "{}: ends early: {} x {} x {} voxels of {} after {} bytes need {} bytes, the file has {}",
          data_file, n[0], n[1], n[2], name_of(layout.type), layout.skip_bytes, expected, found);
  if (data_file != info.path) require_no_text(data_file);
  require(found == expected || behind == BehindVoxels::anything,
          "{}: too long: {} x {} x {} voxels of {} after {} bytes, as {} states, need {} bytes, the file has {}",
          data_file, n[0], n[1], n[2], name_of(layout.type), layout.skip_bytes, info.path, expected, found);
  info.size = n;
  info.type = layout.type;
  return std::make_unique<RawImage>(std::move(info), data_file, layout);
}

namespace {

/// The decompressed bytes must be those to skip and the voxels, no more; gzip knows whether they are damaged.
std::unique_ptr<ImageFile> open_compressed(const ImageInfo& info, const RawLayout& layout) {
  InflatedFile file(info.path, 0);
  file.read(layout.skip_bytes);
  std::vector<char> voxels = file.read(voxel_bytes(layout));
  file.finish();
  require(!is_text({voxels.data(), voxels.size()}),
          "{}: contains compressed text, not voxels: its characters would be read as gray values; save the numbers as "
          "an array (numpy.save)",
          info.path);
  return hold_voxels(info, layout, std::move(voxels));
}

/// Bytes that a file must have. Throws Error when it has others.
void require_length(const std::string& path, const RawLayout& layout) {
  const Index n = layout.size;
  const std::int64_t found = bytes_in(path), expected = layout.skip_bytes + voxel_bytes(layout);
  require(found >= expected, "{}: too short: {} x {} x {} voxels of {} after {} bytes need {} bytes, the file has {}",
          path, n[0], n[1], n[2], name_of(layout.type), layout.skip_bytes, expected, found);
  require(found <= expected,
          "{}: too long: {} x {} x {} voxels of {} after {} bytes need {} bytes, the file has {}; check `size` and "
          "`type`, or give `skip_bytes = {}` if the file begins with a header",
          path, n[0], n[1], n[2], name_of(layout.type), layout.skip_bytes, expected, found,
          layout.skip_bytes + found - expected);
}

}  // namespace

std::unique_ptr<ImageFile> open_raw(const std::string& path, const RawLayout& layout) {
  const Index n = layout.size;
  require(n[0] > 0 && n[1] > 0 && n[2] > 0, "{}: size {} x {} x {} given; all three must be at least 1", path, n[0],
          n[1], n[2]);
  require(layout.skip_bytes >= 0, "{}: `skip_bytes = {}` given; it cannot be negative", path, layout.skip_bytes);
  ImageInfo info;
  info.path = path;
  const std::optional<FileKind> kind = kind_of_file(path);
  const bool packed = kind && kind->as_raw == AsRaw::when_packed;
  // Voxels may begin as gzip does; then there are as many as are needed.
  const bool fits = bytes_in(path) == layout.skip_bytes + voxel_bytes(layout);
  const bool compressed = lower_case(path).ends_with(".gz") || (packed && !fits);
  info.format = compressed ? "raw, gzip" : "raw";
  if (compressed) return open_compressed(info, layout);
  require_length(path, layout);
  return open_voxels(std::move(info), path, layout, BehindVoxels::nothing);
}

}  // namespace karst
