// SPDX-License-Identifier: BSD-3-Clause
// The pages of a TIFF: which of them are planes, and how their pixels stand. Inside geometry_import only.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "geometry_import/read/image_file.hpp"

struct tiff;  // libtiff's TIFF

namespace karst {

/// Message of the last error of libtiff on this thread.
std::string& last_tiff_message();

/// Tags of a page.
struct TiffPage {
  std::uint64_t place = 0;  ///< of its directory in the file [bytes]
  std::uint32_t nx = 0, ny = 0, nz = 1;
  std::uint16_t bits = 1, format = 1, orientation = 1;  ///< as the tags have them
  bool white_is_zero = false, palette = false;
  bool aside = false;  ///< a smaller copy of another page, or a mask

  /// Sizes and type are the same.
  bool like(const TiffPage& other) const;
  /// Rows are columns of the image: it has ny x nx pixels.
  bool turned() const { return orientation >= 5; }
};

/// Floating point numbers of 16 bits.
bool is_half(const TiffPage& page);

/// The value of black in a page in which 0 is white; NaN where the type has none.
double black_of(const TiffPage& page);

/// Reads the tags of the current page. Throws Error, which names page `number`, unless it holds one value per pixel.
TiffPage read_tiff_page(::tiff* file, const std::string& path, std::size_t number);

/// All pages that are planes, smaller copies and masks left out. The first of them is current then. Throws Error when
/// they are not alike, or when the chain of pages is damaged.
std::vector<TiffPage> read_tiff_pages(::tiff* file, ImageInfo& info);

/// Type of the values; 1, 2 and 4 bits become uint8. Throws Error for others than integers and floating point numbers.
VoxelType type_of(const TiffPage& page, const std::string& path);

/// Pixels as they are stored, to where the orientation says that they stand.
/// @param stored       nx · ny values, row by row
/// @param[out] values  the same, row 0 at the top
void orient(const TiffPage& page, std::span<const float> stored, std::span<float> values);

}  // namespace karst
