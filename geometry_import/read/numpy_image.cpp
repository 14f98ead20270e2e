// SPDX-License-Identifier: BSD-3-Clause
// NumPy's .npy: a line of Python that describes the array, then its values. Versions 1 to 3 of the format
// (numpy.lib.format).
#include <array>
#include <bit>
#include <climits>
#include <cstring>
#include <fstream>
#include <map>
#include <vector>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

struct NumpyHeader {
  std::string text;
  std::int64_t bytes = 0;  ///< up to the first value
};

NumpyHeader read_header(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.is_open(), "{}: cannot be opened for reading ({})", path, std::strerror(errno));
  std::array<unsigned char, 12> start{};
  file.read(reinterpret_cast<char*>(start.data()), 10);
  require(file.gcount() == 10 && std::memcmp(start.data(), "\x93NUMPY", 6) == 0, "{}: is not a NumPy file (.npy)",
          path);
  const int version = start[6];
  require(version >= 1 && version <= 3, "{}: has version {} of the format .npy; supported are 1 to 3", path, version);
  if (version > 1) file.read(reinterpret_cast<char*>(&start[10]), 2);
  std::size_t length = std::size_t{start[8]} | std::size_t{start[9]} << 8;
  if (version > 1) length |= std::size_t{start[10]} << 16 | std::size_t{start[11]} << 24;
  require(file.good() && length < 1u << 20, "{}: its header is damaged", path);
  NumpyHeader header;
  header.text.resize(length);
  file.read(header.text.data(), static_cast<std::streamsize>(length));
  require(file.gcount() == static_cast<std::streamsize>(length), "{}: ends in its header", path);
  header.bytes = static_cast<std::int64_t>(length) + (version > 1 ? 12 : 10);
  return header;
}

/// Entries of the header as they stand: 'descr', 'fortran_order', 'shape', each once and no other.
std::map<std::string, std::string> entries_of(const std::string& header, const std::string& path) {
  std::string_view rest = trimmed(header);
  const auto check = [&](bool ok) {
    require(ok, "{}: its header is damaged: {}", path, trimmed(header).substr(0, 200));
  };
  check(rest.size() > 2 && rest.front() == '{' && rest.back() == '}' && header.find('\0') == std::string::npos);
  rest = trimmed(rest.substr(1, rest.size() - 2));
  std::map<std::string, std::string> entries;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    check(colon != std::string_view::npos && colon > 2 && rest[0] == '\'' && rest[colon - 1] == '\'');
    const std::string key(rest.substr(1, colon - 2));
    rest = trimmed(rest.substr(colon + 1));
    check(!rest.empty());
    const std::size_t close = rest[0] == '(' ? rest.find(')') : rest[0] == '[' ? rest.find(']') : rest.find(',') - 1;
    const std::string_view value = rest.substr(0, close == std::string_view::npos ? close : close + 1);
    check(entries.emplace(key, trimmed(value)).second);
    rest = trimmed(rest.substr(value.size()));
    check(rest.empty() || rest[0] == ',');
    if (!rest.empty()) rest = trimmed(rest.substr(1));
  }
  for (const char* key : {"descr", "fortran_order", "shape"})
    require(entries.contains(key), "{}: its header has no entry '{}'", path, key);
  check(entries.size() == 3);
  return entries;
}

void read_type(const std::string& descr, const std::string& path, RawLayout& layout) {
  struct Name {
    const char* text;
    VoxelType type;
  };
  constexpr std::array<Name, 11> names{{{"b1", VoxelType::uint8},
                                        {"u1", VoxelType::uint8},
                                        {"i1", VoxelType::int8},
                                        {"u2", VoxelType::uint16},
                                        {"i2", VoxelType::int16},
                                        {"u4", VoxelType::uint32},
                                        {"i4", VoxelType::int32},
                                        {"u8", VoxelType::uint64},
                                        {"i8", VoxelType::int64},
                                        {"f4", VoxelType::float32},
                                        {"f8", VoxelType::float64}}};
  const bool order = descr.size() == 5 && std::string_view("<>=|").find(descr[1]) != std::string_view::npos;
  if (order && descr[0] == '\'' && descr[4] == '\'')
    for (const Name& n : names)
      if (descr.substr(2, 2) == n.text && (descr[1] != '|' || bytes_of(n.type) == 1)) {
        layout.type = n.type;
        layout.big_endian = descr[1] == '>' || (descr[1] != '<' && std::endian::native == std::endian::big);
        return;
      }
  throw Error(
      fmt::format("{}: its values are of type {}; bool, integers of 1, 2, 4 or 8 bytes and floating point numbers of 4 "
                  "or 8 are read, save it with numpy.save(file, a.astype(numpy.uint16)) or the like",
                  path, descr));
}

/// The last axis is x; two axes are one plane.
Index read_size(const std::string& shape, const std::string& path) {
  require(shape.size() > 2 && shape.front() == '(' && shape.back() == ')', "{}: its shape is {}; (z, y, x) is needed",
          path, shape);
  std::vector<std::string> axes = split(shape.substr(1, shape.size() - 2), ',');
  if (axes.size() > 1 && trimmed(axes.back()).empty()) axes.pop_back();  // (60,)
  require(axes.size() == 2 || axes.size() == 3, "{}: its shape is {}; two or three axes (z, y, x) are needed", path,
          shape);
  Index size = Index::all(1);
  for (std::size_t d = 0; d < axes.size(); ++d) {
    const auto n = number_of<int>(trimmed(axes[d]));
    require(n && *n > 0, "{}: its shape is {}; every axis must have 1 to {} entries", path, shape, INT_MAX);
    size[static_cast<int>(axes.size() - 1 - d)] = *n;
  }
  return size;
}

}  // namespace

std::unique_ptr<ImageFile> open_numpy(const std::string& path) {
  const NumpyHeader header = read_header(path);
  RawLayout layout;
  layout.skip_bytes = header.bytes;
  const auto entries = entries_of(header.text, path);
  read_type(entries.at("descr"), path, layout);
  layout.size = read_size(entries.at("shape"), path);
  const std::string& fortran = entries.at("fortran_order");
  require(fortran == "True" || fortran == "False", "{}: its header is damaged: fortran_order is {}", path, fortran);
  require(fortran == "False",
          "{}: is in Fortran order, in which planes are not contiguous in the file; save it with numpy.save(file, "
          "numpy.ascontiguousarray(a))",
          path);
  ImageInfo info;
  info.path = path;
  info.format = "NumPy";
  return open_voxels(std::move(info), path, layout, BehindVoxels::nothing);
}

}  // namespace karst
