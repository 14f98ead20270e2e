// SPDX-License-Identifier: BSD-3-Clause
// Small valid images of every format that is read, as bytes, with what is in them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "geometry_import/read/image_file.hpp"

namespace karst::test {

/// How the voxels lie in the file: what damage to them can be noticed.
enum class Storage {
  plain,    ///< their bytes one after the other: another byte is another value
  letters,  ///< text, hexadecimal or base64: another letter is another value
  checked,  ///< with a check sum
  packed    ///< compressed without one (LZW): another byte is other values from there on
};

struct Sample {
  std::string format;  ///< as the table of the campaign names it
  std::string name;    ///< of the file that is damaged
  std::string opened;  ///< what is opened when it is not that file
  std::string bytes;
  std::vector<std::pair<std::string, std::string>> beside;  ///< whole files that belong to it: name, bytes
  std::optional<RawLayout> layout;                          ///< raw files
  VoxelType type = VoxelType::uint8;
  std::string voxels;  ///< as the file has them
  bool big_endian = false;
  Storage storage = Storage::plain;
  std::vector<std::pair<std::size_t, std::size_t>> where;  ///< bytes of the file that hold voxels: [first, last)
};

inline constexpr Index sample_size{40, 36, 5};

/// One or more of every format. Makes its files in the folder; TIFF and HDF5 are written by their libraries.
std::vector<Sample> samples(const std::string& folder);

}  // namespace karst::test
