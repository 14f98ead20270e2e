// SPDX-License-Identifier: BSD-3-Clause
// One maker per family of formats; open_image() chooses. Inside geometry_import only.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "geometry_import/read/image_file.hpp"

namespace karst {

enum class SelfDescribing { tiff, png, numpy, hdf5, meta_image, nrrd, nifti, vti };

std::unique_ptr<ImageFile> open_raw(const std::string& path, const RawLayout& layout);
std::unique_ptr<ImageFile> open_tiff(const std::string& path);
std::unique_ptr<ImageFile> open_png(const std::string& path);
std::unique_ptr<ImageFile> open_numpy(const std::string& path);
std::unique_ptr<ImageFile> open_hdf5(const std::string& path);
std::unique_ptr<ImageFile> open_meta_image(const std::string& path);
std::unique_ptr<ImageFile> open_nrrd(const std::string& path);
std::unique_ptr<ImageFile> open_nifti(const std::string& path);
std::unique_ptr<ImageFile> open_vti(const std::string& path);
/// A folder or a pattern.
std::unique_ptr<ImageFile> open_stack(const std::string& path);

/// Bytes of the voxels without what comes before them; 2^60 for 10^18 and more.
std::int64_t voxel_bytes(const RawLayout& layout);

/// What may come behind the voxels in their file.
enum class BehindVoxels { nothing, anything };

/// Voxels that lie plainly in a file. Throws Error when there are fewer bytes than needed, or more and they may not be.
/// @param info  size and type are set from the layout
std::unique_ptr<ImageFile> open_voxels(ImageInfo info, const std::string& data_file, const RawLayout& layout,
                                       BehindVoxels behind);

/// Voxels that were compressed or text, held whole (ImageInfo::held_whole). Throws Error unless the bytes fit the
/// layout.
/// @param info    size and type are set from the layout
/// @param voxels  in the byte order that the layout names
std::unique_ptr<ImageFile> hold_voxels(ImageInfo info, const RawLayout& layout, std::vector<char> voxels);

/// The image of slope · value + intercept, of a type that holds these.
/// @param note  for ImageInfo::notes; empty: none
std::unique_ptr<ImageFile> scale_values(std::unique_ptr<ImageFile> stored, double slope, double intercept,
                                        VoxelType type = VoxelType::float32, const std::string& note = "");

/// Voxels of which every plane lies plainly in a file of its own. Throws Error unless there is one file for each plane
/// of the layout, each with the bytes of a plane behind those to skip and nothing more.
std::unique_ptr<ImageFile> open_plane_files(ImageInfo info, const std::vector<std::string>& files, RawLayout layout);

/// Reverses the bytes of every value unless their order is the machine's.
void to_native(std::span<char> values, VoxelType type, bool big_endian);

/// The format that the extension tells.
std::optional<SelfDescribing> format_named(const std::string& path);
/// The format that the first bytes tell, or else the extension.
std::optional<SelfDescribing> format_of(const std::string& path);

/// Neither a file nor a folder, and with *, ? or %d, %4d, %04d in it.
bool is_pattern(const std::string& path);
/// Files that a pattern of a name (not a path) may stand for.
bool matches(const std::string& pattern, const std::string& name);

/// Orders names by their numbers: slice2 before slice10.
bool natural_less(const std::string& a, const std::string& b);

/// Native values to float.
void to_float(const void* native, VoxelType type, std::span<float> values);

/// Sets spacing, proportions, voxel, voxel_note and width_doubt from widths in units of `unit` [m]; 0: the file names
/// no unit. The sign of a width is a direction: its magnitude is used. Throws Error unless the widths are finite and
/// not 0.
void set_spacing(ImageInfo& info, const Vec3& widths, double unit);

/// The same from widths in x, y and z [m] of a format made for printing: up to 1200 dots per inch (21 µm) they are
/// taken for what programs write when they know nothing (72, 96, 100, 300, ...), and noted only.
void set_resolution(ImageInfo& info, const Vec3& widths);

/// For pixels that are indices of a palette: gray values where it goes from black to white, or from white to black
/// (black is set); else labels (labels_only is set).
/// @param palette  red, green, blue of each index
void set_palette(ImageInfo& info, std::span<const std::array<int, 3>> palette);

/// Takes values in which 0 is white to those in which 0 is black, v → black − v. Throws Error that names the file when
/// black is not finite.
void turn_white(std::span<float> values, double black, const std::string& path);

}  // namespace karst
