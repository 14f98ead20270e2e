// SPDX-License-Identifier: BSD-3-Clause
// MetaImage (.mha, .mhd): lines `Key = value`, then or beside them the voxels. Plain voxels are read from the file
// plane by plane, all else goes through VTK.
#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "geometry_import/readers.hpp"

namespace karst {
namespace {

namespace fs = std::filesystem;

struct Lines {
  std::map<std::string, std::string> value;
  std::int64_t end = 0;  ///< where the voxels of a file that holds both begin

  std::string operator[](const std::string& key) const {
    const auto found = value.find(key);
    return found == value.end() ? "" : found->second;
  }
  bool is_true(const std::string& key) const {
    const std::string v = (*this)[key];
    return !v.empty() && (v[0] == 'T' || v[0] == 't' || v[0] == '1');
  }
};

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The lines up to ElementDataFile, which is the last; nothing when they are not of this form.
std::optional<Lines> read_lines(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Lines lines;
  std::string line;
  for (int n = 0; n < 1000 && std::getline(file, line); ++n) {
    const std::size_t equal = line.find('=');
    if (equal == std::string::npos) return {};
    const std::string key = trimmed(line.substr(0, equal));
    lines.value[key] = trimmed(line.substr(equal + 1));
    if (key != "ElementDataFile") continue;
    lines.end = static_cast<std::int64_t>(file.tellg());
    return lines;
  }
  return {};
}

std::optional<VoxelType> type_of(const std::string& name) {
  struct Name {
    const char* text;
    VoxelType type;
  };
  constexpr std::array<Name, 8> names{{{"MET_UCHAR", VoxelType::uint8},
                                       {"MET_CHAR", VoxelType::int8},
                                       {"MET_USHORT", VoxelType::uint16},
                                       {"MET_SHORT", VoxelType::int16},
                                       {"MET_UINT", VoxelType::uint32},
                                       {"MET_INT", VoxelType::int32},
                                       {"MET_FLOAT", VoxelType::float32},
                                       {"MET_DOUBLE", VoxelType::float64}}};
  for (const Name& n : names)
    if (name == n.text) return n.type;
  return {};
}

/// Metres of the format's unit of length, which is the millimetre when none is named.
double metres(const std::string& unit) {
  if (unit == "um") return 1e-6;
  return unit == "cm" ? 1e-2 : 1e-3;
}

template <class T>
std::optional<Triple<T>> three(const std::string& text, int dimensions) {
  std::istringstream in(text);
  Triple<T> values;
  for (int d = 0; d < dimensions; ++d) in >> values[d];
  if (!in) return {};
  if (dimensions == 2) values[2] = values[0];
  return values;
}

void find_voxels(const Lines& lines, TextHeader& header) {
  const std::string file = lines["ElementDataFile"];
  header.plain = lines.is_true("BinaryData") && !lines.is_true("CompressedData") && file != "LIST" &&
                 file.find('%') == std::string::npos && !file.empty();
  if (!header.plain) return;
  const std::string& path = header.info.path;
  const bool local = file == "LOCAL" || file == "Local" || file == "local";
  header.data_file = local ? path : (fs::path(path).parent_path() / file).string();
  std::error_code failure;
  const auto bytes = fs::file_size(header.data_file, failure);
  require(!failure, "{}: names the data file {}, which cannot be read ({})", path, file, failure.message());
  header.layout.big_endian = lines.is_true("BinaryDataByteOrderMSB") || lines.is_true("ElementByteOrderMSB");
  const std::string skip = lines["HeaderSize"];
  header.whole_file = true;
  if (skip.empty() || skip == "0") {
    header.layout.skip_bytes = local ? lines.end : 0;
  } else if (skip.starts_with('-')) {  // the voxels end the file
    const std::int64_t needed = voxel_bytes(header.layout);
    header.layout.skip_bytes = std::max<std::int64_t>(0, static_cast<std::int64_t>(bytes) - needed);
  } else {
    header.layout.skip_bytes = std::clamp<std::int64_t>(std::atoll(skip.c_str()), 0, std::int64_t{1} << 60);
  }
}

/// Nothing when VTK has to see what the file is.
std::optional<TextHeader> read_header(const std::string& path) {
  const std::optional<Lines> lines = read_lines(path);
  if (!lines) return {};
  const int dimensions = std::atoi((*lines)["NDims"].c_str());
  const auto type = type_of((*lines)["ElementType"]);
  const std::string channels = (*lines)["ElementNumberOfChannels"];
  if ((dimensions != 2 && dimensions != 3) || !type || (!channels.empty() && channels != "1")) return {};
  const auto size = three<int>((*lines)["DimSize"], dimensions);
  if (!size) return {};
  TextHeader header;
  header.info.path = path;
  header.info.format = "MetaImage";
  header.layout.size = *size;
  if (dimensions == 2) header.layout.size[2] = 1;
  header.layout.type = *type;
  header.info.size = header.layout.size;
  const std::string spacing = (*lines)["ElementSpacing"];
  const auto widths = three<double>(spacing.empty() ? (*lines)["ElementSize"] : spacing, dimensions);
  if (widths) set_spacing(header.info, *widths, metres((*lines)["DistanceUnits"]));
  find_voxels(*lines, header);
  return header;
}

}  // namespace

std::unique_ptr<ImageFile> open_meta_image(const std::string& path) {
  const std::optional<TextHeader> header = read_header(path);
  if (!header || !header->plain) return open_with_vtk(path, SelfDescribing::meta_image, header);
  return open_voxels(header->info, header->data_file, header->layout, header->whole_file);
}

}  // namespace karst
