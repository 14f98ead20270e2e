// SPDX-License-Identifier: BSD-3-Clause
// NRRD (.nrrd, .nhdr): lines `field: value` up to an empty one, then or beside them the voxels (teem.sourceforge.net/
// nrrd/format.html). Plain voxels are read from the file plane by plane.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <vector>

#include "base/core/error.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/inflate.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

/// The fields of the format, in small letters; some have two spellings.
constexpr std::array<std::string_view, 30> known_fields{"content",
                                                        "number",
                                                        "type",
                                                        "block size",
                                                        "dimension",
                                                        "space",
                                                        "space dimension",
                                                        "sizes",
                                                        "spacings",
                                                        "thicknesses",
                                                        "axis mins",
                                                        "axis maxs",
                                                        "space directions",
                                                        "centers",
                                                        "kinds",
                                                        "labels",
                                                        "units",
                                                        "min",
                                                        "max",
                                                        "old min",
                                                        "old max",
                                                        "endian",
                                                        "encoding",
                                                        "line skip",
                                                        "byte skip",
                                                        "sample units",
                                                        "space units",
                                                        "space origin",
                                                        "data file",
                                                        "measurement frame"};
constexpr std::array<std::array<std::string_view, 2>, 10> spellings{{{"blocksize", "block size"},
                                                                     {"axismins", "axis mins"},
                                                                     {"axismaxs", "axis maxs"},
                                                                     {"centerings", "centers"},
                                                                     {"oldmin", "old min"},
                                                                     {"oldmax", "old max"},
                                                                     {"lineskip", "line skip"},
                                                                     {"byteskip", "byte skip"},
                                                                     {"sampleunits", "sample units"},
                                                                     {"datafile", "data file"}}};

struct Fields {
  std::string path;
  std::map<std::string, std::string> value;
  std::vector<std::string> files;  ///< behind `data file: LIST`
  std::int64_t end = 0;            ///< where the voxels of a file that holds both begin

  bool has(const std::string& name) const { return value.contains(name); }
  const std::string& operator[](const std::string& name) const {
    const auto found = value.find(name);
    require(found != value.end(), "{}: its header has no field \"{}\"", path, name);
    return found->second;
  }
  std::string word(const std::string& name) const { return lower_case((*this)[name]); }
  std::int64_t number(const std::string& name, std::int64_t otherwise) const {
    return has(name) ? numbers_of<std::int64_t>((*this)[name], 1, path, name)[0] : otherwise;
  }
};

/// The name that stands for a field in Fields; throws Error for what is no field.
std::string field_named(std::string_view text, const std::string& path) {
  std::string name = lower_case(text);
  for (const auto& [other, usual] : spellings)
    if (name == other) return std::string(usual);
  require(std::find(known_fields.begin(), known_fields.end(), name) != known_fields.end(),
          "{}: its header has a field \"{}\", which is unknown in this format", path, text.substr(0, 60));
  return name;
}

/// One line of the header that is neither empty nor the first.
void read_line(const std::string& line, Fields& fields) {
  if (line[0] == '#') return;
  const std::size_t colon = line.find(':');
  require(colon != std::string::npos && colon + 1 < line.size() && (line[colon + 1] == ' ' || line[colon + 1] == '='),
          "{}: its header has the line \"{}\"; `field: value` is needed", fields.path, line.substr(0, 60));
  if (line[colon + 1] == '=') return;  // a key of the user's
  const std::string name = field_named(std::string_view(line).substr(0, colon), fields.path);
  const bool first = fields.value.emplace(name, trimmed(std::string_view(line).substr(colon + 1))).second;
  require(first, "{}: its header has the field \"{}\" twice", fields.path, name);
}

Fields read_fields(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Fields fields;
  fields.path = path;
  std::string line;
  std::getline(file, line);
  line = trimmed(line);
  require(line.size() == 8 && line.starts_with("NRRD000") && line[7] >= '1' && line[7] <= '5',
          "{}: is not an NRRD file: its first line is \"{}\"; supported are NRRD0001 to NRRD0005", path,
          line.substr(0, 20));
  constexpr std::size_t longest = 1 << 16;
  for (int n = 0; n < 10000 && std::getline(file, line); ++n) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    require(line.size() < longest, "{}: line {} of its header has {} letters", path, n + 2, line.size());
    if (line.empty()) {
      fields.end = static_cast<std::int64_t>(file.tellg());
      return fields;
    }
    read_line(line, fields);
    if (fields.has("data file") && fields["data file"].starts_with("LIST")) {  // the last field: names to the end
      while (std::getline(file, line))
        if (!trimmed(line).empty()) fields.files.emplace_back(trimmed(line));
      return fields;
    }
  }
  require(fields.has("data file"), "{}: ends in its header, or the empty line after the header is missing", path);
  return fields;
}

VoxelType type_of(const Fields& fields) {
  struct Names {
    VoxelType type;
    std::array<std::string_view, 7> text;
  };
  constexpr std::array<Names, 10> all{
      {{VoxelType::uint8, {"uchar", "unsigned char", "uint8", "uint8_t"}},
       {VoxelType::int8, {"signed char", "int8", "int8_t"}},
       {VoxelType::uint16, {"ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"}},
       {VoxelType::int16, {"short", "short int", "signed short", "signed short int", "int16", "int16_t"}},
       {VoxelType::uint32, {"uint", "unsigned int", "uint32", "uint32_t"}},
       {VoxelType::int32, {"int", "signed int", "int32", "int32_t"}},
       {VoxelType::uint64, {"ulonglong", "unsigned long long", "unsigned long long int", "uint64", "uint64_t"}},
       {VoxelType::int64,
        {"longlong", "long long", "long long int", "signed long long", "signed long long int", "int64", "int64_t"}},
       {VoxelType::float32, {"float"}},
       {VoxelType::float64, {"double"}}}};
  const std::string name = fields.word("type");
  for (const Names& n : all)
    if (!name.empty() && std::find(n.text.begin(), n.text.end(), name) != n.text.end()) return n.type;
  throw Error(
      fmt::format("{}: type is \"{}\"; int8, uint8 to int64, uint64, float and double (and their other names "
                  "in NRRD) are read",
                  fields.path, fields["type"]));
}

/// Number of axes. Throws Error unless all of them are of space: those of colours, vectors or times are refused.
std::size_t dimensions_of(const Fields& fields) {
  const std::int64_t n = fields.number("dimension", 0);
  require(n == 2 || n == 3,
          "{}: has {} dimensions; two or three are supported, with one gray value per voxel (remove axes of components "
          "or times, even those of size 1)",
          fields.path, n);
  const std::size_t dimensions = n;
  if (!fields.has("kinds")) return dimensions;
  const std::vector<std::string_view> kinds = words_of(fields["kinds"]);
  require(kinds.size() == dimensions, "{}: kinds is \"{}\"; one for each of the {} axes is needed", fields.path,
          fields["kinds"], dimensions);
  for (const std::string_view kind : kinds) {
    const std::string k = lower_case(kind);
    require(k == "domain" || k == "space" || k == "none" || k == "???",
            "{}: has an axis of kind \"{}\" (colour, vector or time); only spatial axes with one gray value per voxel "
            "are supported",
            fields.path, kind);
  }
  return dimensions;
}

/// Texts in quotes, as units are given: "mm" "mm" "mm". Empty unless all are the same.
std::string common_unit(const std::string& text, std::size_t count, const std::string& path) {
  std::vector<std::string> units;
  for (std::size_t open = text.find('"'); open != std::string::npos;) {
    const std::size_t close = text.find('"', open + 1);
    require(close != std::string::npos, "{}: units are {}; strings in quotes are needed", path, text);
    units.push_back(text.substr(open + 1, close - open - 1));
    open = text.find('"', close + 1);
  }
  require(units.size() == count, "{}: units are {}; {} strings in quotes are needed", path, text, count);
  for (const std::string& unit : units)
    require(unit == units[0], "{}: units are {}; axes with different units are not supported", path, text);
  return units[0];
}

/// Dimension of the space in which `space directions` are vectors.
std::size_t space_dimension(const Fields& fields) {
  if (!fields.has("space")) return std::clamp<std::int64_t>(fields.number("space dimension", 0), 0, 8);
  require(!fields.has("space dimension"), "{}: its header has both space and space dimension", fields.path);
  const std::string name = fields.word("space");
  require(name.find("time") == std::string::npos, "{}: its space is \"{}\", with time; a space of three axes is needed",
          fields.path, name);
  return 3;
}

/// Lengths of the vectors `(x,y,z) (x,y,z) (x,y,z)`, which must be at right angles.
Vec3 widths_of_directions(const Fields& fields, std::size_t dimensions) {
  const std::string& text = fields["space directions"];
  const std::size_t space = space_dimension(fields);
  std::vector<Vec3> vectors;
  std::string_view rest = trimmed(text);
  while (!rest.empty()) {
    const std::size_t close = rest.find(')');
    require(
        rest[0] == '(' && close != std::string_view::npos && vectors.size() < dimensions && space >= 2 && space <= 3,
        "{}: space directions are \"{}\"; {} vectors like (1,0,0) are needed, of as many numbers as the space has "
        "dimensions ({})",
        fields.path, text, dimensions, space);
    std::string inside(rest.substr(1, close - 1));
    const std::size_t commas = std::count(inside.begin(), inside.end(), ',');
    require(commas + 1 == space, "{}: space directions are \"{}\"; vectors of {} numbers are needed", fields.path, text,
            space);
    std::replace(inside.begin(), inside.end(), ',', ' ');
    const std::vector<double> v = numbers_of<double>(inside, space, fields.path, "space directions");
    vectors.emplace_back(v[0], v[1], space == 3 ? v[2] : 0);
    rest = trimmed(rest.substr(close + 1));
  }
  require(vectors.size() == dimensions, "{}: space directions are \"{}\"; {} vectors are needed", fields.path, text,
          dimensions);
  Vec3 widths = Vec3::all(norm(vectors[0]));
  for (std::size_t d = 0; d < dimensions; ++d) widths[static_cast<int>(d)] = norm(vectors[d]);
  require_right_angles(vectors, fields.path, fmt::format("space directions \"{}\"", text));
  return widths;
}

void read_spacing(const Fields& fields, std::size_t dimensions, ImageInfo& info) {
  const bool directions = fields.has("space directions"), spacings = fields.has("spacings");
  require(!directions || !spacings, "{}: its header has both spacings and space directions", fields.path);
  if (!directions && !spacings) return;
  if (spacings && words_of(lower_case(fields["spacings"])) == std::vector<std::string_view>(dimensions, "nan")) return;
  const Vec3 widths = directions ? widths_of_directions(fields, dimensions)
                                 : voxel_widths(fields["spacings"], dimensions, fields.path, "spacings");
  std::string unit;
  if (fields.has("space units")) {
    unit = common_unit(fields["space units"], space_dimension(fields), fields.path);
  } else if (fields.has("units")) {
    unit = common_unit(fields["units"], dimensions, fields.path);
  }
  set_spacing(info, widths, metres_of(unit));
  if (!unit.empty() && metres_of(unit) == 0) info.voxel_note = fmt::format("its unit \"{}\" is unknown", unit);
}

/// Where the voxels, or the compressed ones, begin: behind the header and the lines to skip.
std::int64_t behind_lines(const Fields& fields, const std::string& file, std::int64_t start) {
  const std::int64_t lines = fields.number("line skip", 0);
  require(lines >= 0, "{}: line skip is {}; it cannot be negative", fields.path, lines);
  std::ifstream in(file, std::ios::binary);
  in.seekg(start);
  for (std::int64_t n = 0; n < lines; ++n) {
    in.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    require(in.good(), "{}: line skip is {}; {} has {} lines after byte {}", fields.path, lines, file, n, start);
  }
  return lines > 0 ? static_cast<std::int64_t>(in.tellg()) : start;
}

bool big_endian(const Fields& fields, VoxelType type) {
  if (!fields.has("endian")) {
    require(bytes_of(type) == 1, "{}: its header does not contain the byte order of its values; add endian: little",
            fields.path);
    return false;
  }
  const std::string order = fields.word("endian");
  require(order == "little" || order == "big", "{}: endian is \"{}\"; little or big is needed", fields.path, order);
  return order == "big";
}

/// Two letters for each byte, with blanks anywhere between them.
std::vector<char> bytes_of_hex(std::string_view text, const std::string& path) {
  const auto digit = [&](char c) {
    if (c >= '0' && c <= '9') return c - '0';
    const char small = static_cast<char>(c | 0x20);
    require(small >= 'a' && small <= 'f',
            "{}: its voxels contain the character \"{}\", which is not a hexadecimal digit", path, c);
    return small - 'a' + 10;
  };
  std::vector<char> bytes;
  int half = -1;
  for (const char c : text) {
    if (c == ' ' || c == '\n' || c == '\r' || c == '\t') continue;
    const int d = digit(c);
    if (half >= 0) bytes.push_back(static_cast<char>(16 * half + d));
    half = half < 0 ? d : -1;
  }
  require(half < 0, "{}: ends early: its voxels are an odd number of hexadecimal digits", path);
  return bytes;
}

std::unique_ptr<ImageFile> open_text(const Fields& fields, ImageInfo info, RawLayout layout, const std::string& file) {
  const std::int64_t skip = fields.number("byte skip", 0);
  require(skip == 0, "{}: byte skip is {}; it must be 0 for voxels stored as text", fields.path, skip);
  const std::string text = bytes_between(file, layout.skip_bytes, bytes_in(file));
  if (fields.word("encoding") == "hex") {
    layout.big_endian = big_endian(fields, layout.type);
    return hold_voxels(std::move(info), layout, bytes_of_hex(text, file));
  }
  layout.big_endian = std::endian::native == std::endian::big;
  const std::size_t count = voxel_bytes(layout) / bytes_of(layout.type);
  return hold_voxels(std::move(info), layout, voxels_of_text(text, count, layout.type, file));
}

std::unique_ptr<ImageFile> open_packed(const Fields& fields, ImageInfo info, RawLayout layout,
                                       const std::string& file) {
  layout.big_endian = big_endian(fields, layout.type);
  const std::int64_t skip = fields.number("byte skip", 0);  // counted in what comes out
  require(skip >= 0, "{}: byte skip is {}; for compressed voxels 0 or more is allowed", fields.path, skip);
  InflatedFile inflated(file, layout.skip_bytes);
  inflated.read(skip);
  std::vector<char> voxels = inflated.read(voxel_bytes(layout));
  inflated.finish();
  return hold_voxels(std::move(info), layout, std::move(voxels));
}

std::unique_ptr<ImageFile> open_plain(const Fields& fields, ImageInfo info, RawLayout layout, const std::string& file) {
  const std::int64_t skip = fields.number("byte skip", 0), start = layout.skip_bytes;
  require(skip >= -1 && skip < std::int64_t{1} << 60,
          "{}: byte skip is {}; -1 (the voxels are at the end of the file), 0 or more are "
          "allowed",
          fields.path, skip);
  layout.skip_bytes = skip == -1 ? std::max(start, bytes_in(file) - voxel_bytes(layout)) : start + skip;
  auto image = open_voxels(std::move(info), file, layout, BehindVoxels::nothing);  // its message about sizes first
  layout.big_endian = big_endian(fields, layout.type);
  return open_voxels(image->info(), file, layout, BehindVoxels::nothing);
}

std::unique_ptr<ImageFile> open_several(const Fields& fields, ImageInfo info, RawLayout layout) {
  const std::string& text = fields["data file"];
  const bool list = text.starts_with("LIST");
  require(!list || text == "LIST" || text == "LIST 2",
          "{}: data file is \"{}\"; only lists of files with one plane each are supported", fields.path, text);
  const std::int64_t skip = fields.number("byte skip", 0);
  require(fields.word("encoding") == "raw" && skip >= 0 && fields.number("line skip", 0) == 0,
          "{}: its data files, one per plane, are not raw or have lines to skip; only uncompressed binary voxels are "
          "supported there",
          fields.path);
  std::vector<std::string> files;
  for (const std::string& name : list ? fields.files : counted_files(text, fields.path))
    files.push_back(file_beside(fields.path, name));
  layout.skip_bytes = skip;
  layout.big_endian = big_endian(fields, layout.type);
  return open_plane_files(std::move(info), files, layout);
}

}  // namespace

std::unique_ptr<ImageFile> open_nrrd(const std::string& path) {
  const Fields fields = read_fields(path);
  const std::size_t dimensions = dimensions_of(fields);
  ImageInfo info;
  info.path = path;
  info.format = "NRRD";
  RawLayout layout;
  layout.size = image_size(fields["sizes"], dimensions, path, "sizes");
  layout.type = type_of(fields);
  read_spacing(fields, dimensions, info);
  const std::string encoding = fields.word("encoding"), data = fields.has("data file") ? fields["data file"] : "";
  if (data.starts_with("LIST") || data.find('%') != std::string::npos)
    return open_several(fields, std::move(info), layout);
  const std::string file = data.empty() ? path : file_beside(path, data);
  layout.skip_bytes = behind_lines(fields, file, data.empty() ? fields.end : 0);
  if (encoding == "raw") return open_plain(fields, std::move(info), layout, file);
  if (encoding == "gzip" || encoding == "gz") return open_packed(fields, std::move(info), layout, file);
  require(encoding == "ascii" || encoding == "text" || encoding == "txt" || encoding == "hex",
          "{}: encoding is \"{}\"; raw, gzip (gz), ascii (text, txt) and hex are read", path, fields["encoding"]);
  return open_text(fields, std::move(info), layout, file);
}

}  // namespace karst
