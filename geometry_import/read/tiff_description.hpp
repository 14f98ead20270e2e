// SPDX-License-Identifier: BSD-3-Clause
// What the description of a TIFF (tag 270) says about its planes, in the words of ImageJ, OME or tifffile. Inside
// geometry_import only.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/math/triple.hpp"

namespace karst {

struct TiffDescription {
  std::string writer;                  ///< ImageJ, OME, tifffile; empty: it says nothing that is known
  std::int64_t planes = 0;             ///< z-planes that it states; 0: none
  bool without_pages = false;          ///< the planes may lie behind one page, as large stacks of ImageJ do
  std::vector<std::int64_t> pages;     ///< the page of each plane (OME); empty: as they come
  std::array<std::int64_t, 2> size{};  ///< pixels in x and y (OME); 0: not stated
  std::array<double, 3> width{};       ///< in x, y, z in units of metres[]; 0: not stated, NaN: no number
  std::array<double, 3> metres{};      ///< of the unit of each; 0: none that is known
  std::string unknown_unit;            ///< one that is no unit of length
  std::optional<std::array<double, 2>> calibration;  ///< values are [0] + [1] · stored (ImageJ)
  std::vector<std::string> notes;                    ///< as in ImageInfo
};

/// Throws Error, with the counts, when there is more than one of slices, channels and times; when planes lie in other
/// files; when it contradicts itself.
/// @param description  the text of the tag
/// @param path         named in messages, and compared with the names of files in the text
/// @param page         pixels of a page in x and y
/// @param pages        of the file
TiffDescription read_tiff_description(const std::string& description, const std::string& path,
                                      const std::array<std::int64_t, 2>& page, std::int64_t pages);

}  // namespace karst
