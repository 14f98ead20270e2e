// SPDX-License-Identifier: BSD-3-Clause
// NRRD (.nrrd, .nhdr): lines `field: value` up to an empty one, then or beside them the voxels (teem.sourceforge.net/
// nrrd/format.html). Plain voxels are read from the file plane by plane, all else goes through VTK.
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "geometry_import/readers.hpp"

namespace karst {
namespace {

namespace fs = std::filesystem;

struct Fields {
  std::map<std::string, std::string> value;
  std::int64_t end = 0;  ///< where the voxels of a file that holds both begin

  std::string operator[](const std::string& key) const {
    const auto found = value.find(key);
    return found == value.end() ? "" : found->second;
  }
};

/// Nothing when the file does not begin as it should.
std::optional<Fields> read_fields(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Fields fields;
  std::string line;
  for (int n = 0; n < 1000 && std::getline(file, line); ++n) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (n == 0 && !line.starts_with("NRRD")) return {};
    if (line.empty()) {
      fields.end = static_cast<std::int64_t>(file.tellg());
      return fields;
    }
    const std::size_t colon = line.find(": ");
    if (n == 0 || line[0] == '#' || colon == std::string::npos || line.find(":=") < colon) continue;
    const std::size_t start = line.find_first_not_of(' ', colon + 1);
    fields.value[line.substr(0, colon)] = start == std::string::npos ? "" : line.substr(start);
  }
  if (fields.value.empty()) return {};
  return fields;
}

std::optional<VoxelType> type_of(const std::string& name) {
  struct Names {
    VoxelType type;
    std::array<const char*, 7> text;
  };
  constexpr std::array<Names, 8> all{
      {{VoxelType::uint8, {"uchar", "unsigned char", "uint8", "uint8_t"}},
       {VoxelType::int8, {"signed char", "int8", "int8_t"}},
       {VoxelType::uint16, {"ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"}},
       {VoxelType::int16, {"short", "short int", "signed short", "signed short int", "int16", "int16_t"}},
       {VoxelType::uint32, {"uint", "unsigned int", "uint32", "uint32_t"}},
       {VoxelType::int32, {"int", "signed int", "int32", "int32_t"}},
       {VoxelType::float32, {"float"}},
       {VoxelType::float64, {"double"}}}};
  for (const Names& names : all)
    for (const char* text : names.text)
      if (text && name == text) return names.type;
  return {};
}

double metres(const std::string& unit) {
  if (unit == "m" || unit == "meter") return 1;
  if (unit == "cm") return 1e-2;
  if (unit == "mm" || unit == "millimeter") return 1e-3;
  if (unit == "um" || unit == "µm" || unit == "micron" || unit == "micrometer" || unit == "microns") return 1e-6;
  return unit == "nm" ? 1e-9 : 0;
}

/// Texts in quotes, as units are given: "mm" "mm" "mm".
std::string first_quoted(const std::string& text) {
  const std::size_t open = text.find('"');
  if (open == std::string::npos) return "";
  return text.substr(open + 1, text.find('"', open + 1) - open - 1);
}

/// Lengths of the vectors (x,y,z) of `space directions`, or the numbers of `spacings`; nothing when neither says it.
std::optional<Vec3> widths_of(const Fields& fields, int dimensions) {
  const std::string directions = fields["space directions"], spacings = fields["spacings"];
  Vec3 widths = Vec3::all(0);
  std::istringstream in(directions.empty() ? spacings : directions);
  for (int d = 0; d < dimensions; ++d) {
    if (directions.empty()) {
      in >> widths[d];
      continue;
    }
    std::string vector;
    std::getline(in, vector, ')');
    const std::size_t open = vector.find('(');
    if (!in || open == std::string::npos) return {};
    std::replace(vector.begin(), vector.end(), ',', ' ');
    std::istringstream numbers(vector.substr(open + 1));
    double square = 0;
    for (double v = 0; numbers >> v;) square += v * v;
    widths[d] = std::sqrt(square);
  }
  if (!in) return {};
  if (dimensions == 2) widths[2] = widths[0];
  return widths;
}

void read_spacing(const Fields& fields, int dimensions, ImageInfo& info) {
  const auto widths = widths_of(fields, dimensions);
  if (!widths) return;
  const std::string space = fields["space units"], axes = fields["units"];
  set_spacing(info, *widths, metres(first_quoted(space.empty() ? axes : space)));
}

void find_voxels(const Fields& fields, TextHeader& header) {
  const std::string data = fields["data file"], file = data.empty() ? fields["datafile"] : data;
  const std::string skip = fields["byte skip"], line_skip = fields["line skip"];
  header.plain = fields["encoding"] == "raw" && !file.starts_with("LIST") && file.find('%') == std::string::npos &&
                 (line_skip.empty() || line_skip == "0");
  if (!header.plain) return;
  const std::string& path = header.info.path;
  header.data_file = file.empty() ? path : (fs::path(path).parent_path() / file).string();
  std::error_code failure;
  const auto bytes = static_cast<std::int64_t>(fs::file_size(header.data_file, failure));
  require(!failure, "{}: names the data file {}, which cannot be read ({})", path, file, failure.message());
  header.layout.big_endian = fields["endian"] == "big";
  const std::int64_t needed = voxel_bytes(header.layout);
  header.layout.skip_bytes = file.empty() ? fields.end : 0;
  if (skip.starts_with("-1")) {
    header.layout.skip_bytes = std::max<std::int64_t>(0, bytes - needed);
  } else {
    header.layout.skip_bytes += std::clamp<std::int64_t>(std::atoll(skip.c_str()), 0, std::int64_t{1} << 60);
  }
  header.whole_file = !file.empty();
}

/// Nothing when VTK has to see what the file is.
std::optional<TextHeader> read_header(const std::string& path) {
  const std::optional<Fields> fields = read_fields(path);
  if (!fields) return {};
  const int dimensions = std::atoi((*fields)["dimension"].c_str());
  const auto type = type_of((*fields)["type"]);
  if ((dimensions != 2 && dimensions != 3) || !type) return {};
  const std::string kinds =
      (*fields)["kinds"];  // domain or space, unless an axis holds the parts of a colour or vector
  for (const char* part : {"color", "colour", "vector", "complex", "list", "normal", "gradient", "quaternion"})
    if (kinds.find(part) != std::string::npos) return {};
  TextHeader header;
  header.info.path = path;
  header.info.format = "NRRD";
  std::istringstream sizes((*fields)["sizes"]);
  header.layout.size = Index::all(1);
  for (int d = 0; d < dimensions; ++d) sizes >> header.layout.size[d];
  if (!sizes) return {};
  header.layout.type = *type;
  header.info.size = header.layout.size;
  read_spacing(*fields, dimensions, header.info);
  find_voxels(*fields, header);
  return header;
}

}  // namespace

std::unique_ptr<ImageFile> open_nrrd(const std::string& path) {
  const std::optional<TextHeader> header = read_header(path);
  if (!header || !header->plain) return open_with_vtk(path, SelfDescribing::nrrd, header);
  return open_voxels(header->info, header->data_file, header->layout, header->whole_file);
}

}  // namespace karst
