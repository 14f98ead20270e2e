// SPDX-License-Identifier: BSD-3-Clause
// The unit of work of the import: some z-planes of the image with the planes around them that their result depends on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/math/triple.hpp"

namespace karst {

/// Planes [first, last) of an image. Arrays over a window are [last - first][ny][nx], x fastest.
struct ImageWindow {
  Index image;  ///< voxels of the whole image
  int first, last;

  int planes() const { return last - first; }
  std::int64_t row() const { return image[0]; }
  std::int64_t plane() const { return std::int64_t{image[0]} * image[1]; }
  std::size_t count() const { return plane() * planes(); }
  /// The same with n more planes on both sides, as far as the image reaches.
  ImageWindow grown(int n) const { return {image, std::max(0, first - n), std::min(image[2], last + n)}; }
  /// Offset of the first voxel of a plane of the image.
  std::int64_t start_of(int z) const { return (z - first) * plane(); }
};

}  // namespace karst
