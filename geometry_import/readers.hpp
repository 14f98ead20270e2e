// SPDX-License-Identifier: BSD-3-Clause
// One maker per family of formats; open_image() chooses. Inside geometry_import only.
#pragma once

#include <memory>
#include <string>

#include "geometry_import/image_file.hpp"

namespace karst {

enum class SelfDescribing { tiff, meta_image, nrrd, nifti, vti };

std::unique_ptr<ImageFile> open_raw(const std::string& path, const RawLayout& layout);
std::unique_ptr<ImageFile> open_tiff(const std::string& path);
std::unique_ptr<ImageFile> open_with_vtk(const std::string& path, SelfDescribing format);

/// Native values to float.
void to_float(const void* native, VoxelType type, std::span<float> values);

/// Sets info.voxel when the three widths are equal to 0.1 %. Throws Error when they are not, or not positive.
void set_cubic_voxel(ImageInfo& info, const Vec3& widths);

}  // namespace karst
