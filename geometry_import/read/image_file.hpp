// SPDX-License-Identifier: BSD-3-Clause
// Images as files hold them: one gray value or label per voxel, read plane by plane.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/math/triple.hpp"

namespace karst {

enum class VoxelType { uint8, int8, uint16, int16, uint32, int32, uint64, int64, float32, float64 };
inline constexpr int n_voxel_types = 10;
std::string_view name_of(VoxelType);
int bytes_of(VoxelType);
bool is_integer(VoxelType);
/// The type called so. Throws Error with the names there are.
VoxelType voxel_type_named(std::string_view name);

struct ImageInfo {
  std::string path, format;  ///< format: raw, TIFF, PNG, MetaImage, NRRD, NIfTI, VTI, NumPy, HDF5, stack of ...
  Index size;                ///< voxels
  VoxelType type = VoxelType::uint8;
  std::optional<double> voxel;  ///< width of the voxels when they are cubes and the file states it with a unit [m]
  /// Widths in x, y, z from the file them with a unit [m]: magnitudes, as the sign of a step is its direction.
  /// Formats that state x and y only (TIFF, PNG, also in a stack) have z equal to x, except TIFF of ImageJ and OME.
  std::optional<Vec3> spacing;
  Vec3 proportions = Vec3::all(1);  ///< widths over that in x, with or without a unit; 1 when nothing is stated
  std::string voxel_note;           ///< what the file says about voxel width when that cannot be used; else empty
  bool z_assumed = false;           ///< the file states widths in x and y alone; z is taken equal to x
  /// Why the widths that the file states have to be confirmed, or replaced, by `spacing`; empty when they need not.
  std::string width_doubt;
  /// The value that stands for black where 0 is white (TIFF: WhiteIsZero; a palette from white to black), NaN when the
  /// type has none. None: small values are dark. Values are handed out as the file has them.
  std::optional<double> black;
  std::string labels_only;         ///< why the values are labels and no gray values; empty when they may be either
  std::vector<std::string> notes;  ///< what was made of statements that its owner may not expect, a sentence each
  bool held_whole = false;         ///< whoever opens the image holds all of it (else one plane)

  /// True when the widths are equal to 0.1 %.
  bool cubic() const;
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
  /// Values of plane z, x fastest; see rounding_note() for what float loses. Throws Error when the file ends early, is
  /// damaged, or holds a value that is not finite (with its place). Not collective.
  /// @param[out] values  nx · ny numbers [gray values]
  void read_plane(int z, std::span<float> values);

 protected:
  explicit ImageFile(ImageInfo info) : info_(std::move(info)) {}

 private:
  virtual void load_plane(int z, std::span<float> values) = 0;
  ImageInfo info_;
};

/// Opens an image. What a file is its first bytes say (file_kind.hpp); where they do not, its name does:
/// - .tif .tiff (one page or many, a page is a z-plane), .png (one plane);
/// - a stack of such slices, a folder (`slices/`) or a pattern (`slices/slice_*.tif`, `?`, `slice_%04d.tif`), in the
///   order of the number in the names, which may not leave one out; files of other kinds in a folder are passed over;
/// - .npy (C order, last axis x), .h5 .hdf5 .nxs (last axis x) with a data set as `file.h5:/path/to/data`, which can be
///   left out when the file has one of three dimensions;
/// - .mha .mhd, .nrrd .nhdr, .nii .nii.gz .hdr, .vti; .raw .bin .dat .img, and the same with .gz behind, with a layout.
///   A layout makes any other extension a raw file, too.
/// Row 0 of a slice is y = 0. Everything is read plane by plane, except raw files, MetaImage, NRRD, NIfTI and VTI whose
/// voxels are compressed or text, which every rank that opens them holds whole (ImageInfo::held_whole). Throws Error:
/// no such file, a kind that is not read (with its name), text where voxels are needed, a header that contradicts
/// itself or the size of the file, check sums that are wrong, slices that differ, a slice missing, colour, more than
/// one of slices, channels and times, no voxels. Not collective.
std::unique_ptr<ImageFile> open_image(const std::string& path, const std::optional<RawLayout>& layout = {});

/// True when open_image() takes the name without a layout: a file of a format that describes itself by its first bytes
/// or its extension, a pattern, a data set in a file, a folder.
bool describes_itself(const std::string& path);

/// True when the name is that of an image: describes_itself(), a raw file by its extension, or one that Python reads.
bool is_image_name(const std::string& path);

/// True for a file or folder of a format that open_image() does not read and karst.formats does
/// (converted_image.hpp).
bool is_read_by_python(const std::string& path);

/// There is such a file or folder; true for every pattern.
bool image_exists(const std::string& path);

/// `rock.h5:/data` as file and array, also of formats that Python reads (`rock.zarr:0`); the latter empty when not
/// given.
std::pair<std::string, std::string> split_array(const std::string& path);

/// The name without the folder it lies in: rock.tif, slice_*.tif, slices, rock.h5:/data.
std::string image_name(const std::string& path);

/// What float, in which planes are handed out, loses of such values; empty when nothing: integers beyond 2^24 and
/// float64 are rounded to 24 binary digits.
std::string rounding_note(VoxelType type, double smallest, double largest);

}  // namespace karst
