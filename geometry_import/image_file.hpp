// SPDX-License-Identifier: BSD-3-Clause
// Images as files hold them: one gray value or label per voxel, read plane by plane.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/triple.hpp"

namespace karst {

enum class VoxelType { uint8, int8, uint16, int16, uint32, int32, float32, float64 };
inline constexpr int n_voxel_types = 8;
std::string_view name_of(VoxelType);
int bytes_of(VoxelType);
bool is_integer(VoxelType);
/// The type called so. Throws Error with the names there are.
VoxelType voxel_type_named(std::string_view name);

struct ImageInfo {
  std::string path, format;  ///< format: raw, TIFF, MetaImage, NRRD, NIfTI, VTI
  Index size;                ///< voxels
  VoxelType type = VoxelType::uint8;
  std::optional<double> voxel;  ///< width of the (cubic) voxels, when the file states it with a unit [m]
  std::string voxel_note;       ///< what the file says about voxel width when that cannot be used; else empty
};

/// What a raw file does not say about itself.
struct RawLayout {
  Index size;  ///< voxels, x fastest in the file
  VoxelType type = VoxelType::uint8;
  bool big_endian = false;
  std::int64_t skip_bytes = 0;  ///< header in front of the voxels
};

/// An open image. Not for use by several threads at a time.
class ImageFile {
 public:
  virtual ~ImageFile() = default;
  const ImageInfo& info() const { return info_; }
  /// Values of plane z, x fastest. Integers above 2^24 lose their last bits. Throws Error when the file ends early, is
  /// damaged, or holds a value that is not finite (with its place). Not collective.
  /// @param[out] values  nx · ny numbers [gray values]
  void read_plane(int z, std::span<float> values);

 protected:
  explicit ImageFile(ImageInfo info) : info_(std::move(info)) {}

 private:
  virtual void load_plane(int z, std::span<float> values) = 0;
  ImageInfo info_;
};

/// Opens an image by its extension: .tif .tiff (one page or many, a page is a z-plane), .mha .mhd, .nrrd .nhdr,
/// .nii .nii.gz, .vti; .raw .bin .dat .img with a layout. A layout makes any other extension a raw file, too.
/// Raw files and TIFF are read plane by plane; the other formats are held whole by every rank that opens them.
/// Throws Error: no such file, extension unknown, sizes that do not fit the file, colour, no voxels. Not collective.
std::unique_ptr<ImageFile> open_image(const std::string& path, const std::optional<RawLayout>& layout = {});

/// True when the extension is one of a format that describes itself.
bool describes_itself(const std::string& path);

}  // namespace karst
