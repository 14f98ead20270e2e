// SPDX-License-Identifier: BSD-3-Clause
// A part of an image with its axes turned, read plane by plane like the image itself.
#pragma once

#include <array>
#include <memory>

#include "geometry_import/read/image_file.hpp"

namespace karst {

struct Orientation {
  Index low, high;             ///< voxels [low, high) of the source are kept
  std::array<bool, 3> flip{};  ///< axes of the source
  Index axes{0, 1, 2};         ///< axes of the source that become x, y, z
};

/// Bytes of planes held at a time when the new z is another axis of the source.
inline constexpr std::int64_t view_slab_bytes = std::int64_t{256} << 20;

/// View of `source`. When z stays z a plane costs one plane of the source. Otherwise every slab of as many planes as
/// fit into slab_bytes costs one reading of all source planes kept: (bytes of the view as float / slab_bytes) readings
/// in all, when planes are asked for in order. Throws Error when the part is empty or reaches beyond the image.
std::unique_ptr<ImageFile> oriented(std::unique_ptr<ImageFile> source, const Orientation& orientation,
                                    std::int64_t slab_bytes = view_slab_bytes);

}  // namespace karst
