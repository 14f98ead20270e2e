// SPDX-License-Identifier: BSD-3-Clause
// NumPy's .npy: a line of Python that describes the array, then its values. Versions 1 to 3 of the format
// (numpy.lib.format).
#include <array>
#include <bit>
#include <climits>
#include <cstring>
#include <fstream>
#include <vector>

#include "base/error.hpp"
#include "geometry_import/readers.hpp"

namespace karst {
namespace {

struct Header {
  std::string text;
  std::int64_t bytes = 0;  ///< up to the first value
};

Header read_header(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  require(file.is_open(), "{}: cannot be opened for reading ({})", path, std::strerror(errno));
  std::array<unsigned char, 12> start{};
  file.read(reinterpret_cast<char*>(start.data()), 10);
  require(file.gcount() == 10 && std::memcmp(start.data(), "\x93NUMPY", 6) == 0, "{}: is no NumPy file (.npy)", path);
  const int version = start[6];
  require(version >= 1 && version <= 3, "{}: is of version {} of the format .npy; 1 to 3 are read", path, version);
  if (version > 1) file.read(reinterpret_cast<char*>(&start[10]), 2);
  std::size_t length = std::size_t{start[8]} | std::size_t{start[9]} << 8;
  if (version > 1) length |= std::size_t{start[10]} << 16 | std::size_t{start[11]} << 24;
  require(file.good() && length < 1u << 20, "{}: its header is damaged", path);
  Header header;
  header.text.resize(length);
  file.read(header.text.data(), static_cast<std::streamsize>(length));
  require(file.gcount() == static_cast<std::streamsize>(length), "{}: ends in its header", path);
  header.bytes = static_cast<std::int64_t>(length) + (version > 1 ? 12 : 10);
  return header;
}

/// What stands behind 'key': up to the next comma, or in the parentheses.
std::string entry(const std::string& header, const std::string& key, const std::string& path) {
  const std::size_t at = header.find("'" + key + "':");
  require(at != std::string::npos, "{}: its header has no entry '{}'", path, key);
  const std::size_t start = header.find_first_not_of(' ', at + key.size() + 3);
  require(start != std::string::npos, "{}: its header is damaged", path);
  const std::size_t end = header[start] == '(' ? header.find(')', start) : header.find_first_of(",}", start);
  require(end != std::string::npos, "{}: its header is damaged", path);
  return header.substr(start, end - start);
}

void read_type(const std::string& descr, const std::string& path, RawLayout& layout) {
  struct Name {
    const char* text;
    VoxelType type;
  };
  constexpr std::array<Name, 9> names{{{"b1", VoxelType::uint8},
                                       {"u1", VoxelType::uint8},
                                       {"i1", VoxelType::int8},
                                       {"u2", VoxelType::uint16},
                                       {"i2", VoxelType::int16},
                                       {"u4", VoxelType::uint32},
                                       {"i4", VoxelType::int32},
                                       {"f4", VoxelType::float32},
                                       {"f8", VoxelType::float64}}};
  if (descr.size() == 5 && descr[0] == '\'')
    for (const Name& n : names)
      if (descr.substr(2, 2) == n.text) {
        layout.type = n.type;
        layout.big_endian = descr[1] == '>' || (descr[1] != '<' && std::endian::native == std::endian::big);
        return;
      }
  throw Error(
      fmt::format("{}: its values are of type {}; bool, integers of 1, 2 or 4 bytes and floating point numbers of 4 or "
                  "8 are read, save it with numpy.save(file, a.astype(numpy.uint16)) or the like",
                  path, descr));
}

/// The last axis is x; two axes are one plane.
Index read_size(const std::string& shape, const std::string& path) {
  std::vector<std::int64_t> n;
  for (const char* at = shape.c_str(); *at != '\0';) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    char* end = nullptr;
    n.push_back(std::strtoll(at, &end, 10));
    at = end;
  }
  require(n.size() == 2 || n.size() == 3, "{}: its shape is {}); two or three axes (z, y, x) are needed", path, shape);
  Index size = Index::all(1);
  for (std::size_t d = 0; d < n.size(); ++d) {
    require(n[d] > 0 && n[d] <= INT_MAX, "{}: its shape is {}); every axis must have 1 to {} entries", path, shape,
            INT_MAX);
    size[static_cast<int>(n.size() - 1 - d)] = static_cast<int>(n[d]);
  }
  return size;
}

}  // namespace

std::unique_ptr<ImageFile> open_numpy(const std::string& path) {
  const Header header = read_header(path);
  RawLayout layout;
  layout.skip_bytes = header.bytes;
  read_type(entry(header.text, "descr", path), path, layout);
  layout.size = read_size(entry(header.text, "shape", path), path);
  require(entry(header.text, "fortran_order", path) == "False",
          "{}: is in Fortran order, whose planes are spread over the file; save it with numpy.save(file, "
          "numpy.ascontiguousarray(a))",
          path);
  ImageInfo info;
  info.path = path;
  info.format = "NumPy";
  return open_voxels(std::move(info), path, layout, true);
}

}  // namespace karst
