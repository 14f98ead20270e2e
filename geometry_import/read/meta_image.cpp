// SPDX-License-Identifier: BSD-3-Clause
// MetaImage (.mha, .mhd): lines `Key = value`, then or beside them the voxels (itk.org/Wiki/ITK/MetaIO/Documentation).
// Plain voxels are read plane by plane.
#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cmath>
#include <fstream>
#include <map>
#include <optional>
#include <vector>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/inflate.hpp"
#include "geometry_import/read/readers.hpp"

namespace karst {
namespace {

/// Keys of the format; programs add others, which say nothing about the voxels.
constexpr std::array<std::string_view, 36> keys{"ObjectType",
                                                "ObjectSubType",
                                                "ObjectTypeName",
                                                "TransformType",
                                                "NDims",
                                                "Name",
                                                "ID",
                                                "ParentID",
                                                "Comment",
                                                "AcquisitionDate",
                                                "CompressedData",
                                                "CompressedDataSize",
                                                "CompressionLevel",
                                                "BinaryData",
                                                "BinaryDataByteOrderMSB",
                                                "ElementByteOrderMSB",
                                                "Color",
                                                "Position",
                                                "Offset",
                                                "Origin",
                                                "Orientation",
                                                "Rotation",
                                                "TransformMatrix",
                                                "CenterOfRotation",
                                                "DistanceUnits",
                                                "AnatomicalOrientation",
                                                "ElementSpacing",
                                                "ElementSize",
                                                "DimSize",
                                                "HeaderSize",
                                                "Modality",
                                                "ElementMin",
                                                "ElementMax",
                                                "ElementNumberOfChannels",
                                                "ElementType",
                                                "ElementDataFile"};
constexpr std::array<std::string_view, 3> more_keys{"SequenceID", "ElementToIntensityFunctionSlope",
                                                    "ElementToIntensityFunctionOffset"};

struct Lines {
  std::string path;
  std::map<std::string, std::string> value;
  std::vector<std::string> files;  ///< behind `ElementDataFile = LIST`
  std::int64_t end = 0;            ///< where the voxels of a file that holds both begin

  bool has(const std::string& key) const { return value.contains(key); }
  const std::string& operator[](const std::string& key) const {
    const auto found = value.find(key);
    require(found != value.end(), "{}: its header has no {}", path, key);
    return found->second;
  }
  bool is_true(const std::string& key, bool otherwise) const {
    if (!has(key)) return otherwise;
    const std::string word = lower_case((*this)[key]);
    const bool yes = word == "true" || word == "t" || word == "1", no = word == "false" || word == "f" || word == "0";
    require(yes || no, "{}: {} is \"{}\"; allowed are True and False", path, key, (*this)[key]);
    return yes;
  }
  double number(const std::string& key, double otherwise) const {
    return has(key) ? numbers_of<double>((*this)[key], 1, path, key)[0] : otherwise;
  }
};

void check_key(const std::string& key, const std::string& line, const std::string& path) {
  const auto letter = [](unsigned char c) { return std::isalnum(c) || c == '_' || c == ' ' || c == '.' || c == '-'; };
  require(!key.empty() && std::all_of(key.begin(), key.end(), letter),
          "{}: its header has the line \"{}\"; `Key = value` is needed", path, line.substr(0, 60));
  for (const auto& known : {std::span<const std::string_view>(keys), std::span<const std::string_view>(more_keys)})
    for (const std::string_view k : known) {
      if (k == key) return;
      const bool close = lower_case(k) == lower_case(key) || (k.size() > 4 && edit_distance(k, key) == 1);
      require(!close, "{}: its header has the key {}; did you mean {}?", path, key, k);
    }
}

/// The lines up to ElementDataFile, which is the last, and the names behind it.
Lines read_lines(const std::string& path) {
  constexpr std::size_t longest = 1 << 16;
  std::ifstream file(path, std::ios::binary);
  Lines lines;
  lines.path = path;
  std::string line;
  while (std::getline(file, line)) {
    const std::size_t equal = line.find('=');
    require(equal != std::string::npos && line.size() < longest && lines.value.size() < 1000,
            "{}: is not a MetaImage: line {} of its header is not of the form `Key = value`", path,
            lines.value.size() + 1);
    const std::string key(trimmed(std::string_view(line).substr(0, equal)));
    check_key(key, line, path);
    const bool first = lines.value.emplace(key, trimmed(std::string_view(line).substr(equal + 1))).second;
    require(first, "{}: its header has {} twice", path, key);
    if (key != "ElementDataFile") continue;
    require(!file.eof() || lines[key] != "LOCAL", "{}: ends in its header", path);
    lines.end = file.eof() ? 0 : static_cast<std::int64_t>(file.tellg());
    if (lines[key].starts_with("LIST"))
      while (std::getline(file, line))
        if (!trimmed(line).empty()) lines.files.emplace_back(trimmed(line));
    return lines;
  }
  throw Error(fmt::format("{}: is not a MetaImage: its header has no ElementDataFile", path));
}

VoxelType type_of(const Lines& lines) {
  struct Name {
    std::string_view text;
    VoxelType type;
  };
  constexpr std::array<Name, 12> names{{{"MET_UCHAR", VoxelType::uint8},
                                        {"MET_CHAR", VoxelType::int8},
                                        {"MET_USHORT", VoxelType::uint16},
                                        {"MET_SHORT", VoxelType::int16},
                                        {"MET_UINT", VoxelType::uint32},
                                        {"MET_INT", VoxelType::int32},
                                        {"MET_ULONG", VoxelType::uint32},
                                        {"MET_LONG", VoxelType::int32},
                                        {"MET_ULONG_LONG", VoxelType::uint64},
                                        {"MET_LONG_LONG", VoxelType::int64},
                                        {"MET_FLOAT", VoxelType::float32},
                                        {"MET_DOUBLE", VoxelType::float64}}};
  for (const Name& n : names)
    if (lines["ElementType"] == n.text) return n.type;
  throw Error(fmt::format(
      "{}: ElementType is \"{}\"; MET_CHAR, MET_SHORT, MET_INT, MET_LONG_LONG, the same with U (MET_UCHAR), "
      "MET_FLOAT and MET_DOUBLE are read",
      lines.path, lines["ElementType"]));
}

/// Places and vectors say nothing about the voxels, but a header in which they are cut short is damaged.
void check_vectors(const Lines& lines, std::size_t dimensions) {
  for (const char* key : {"Offset", "Position", "Origin", "CenterOfRotation"})
    if (lines.has(key)) numbers_of<double>(lines[key], dimensions, lines.path, key);
}

std::size_t dimensions_of(const Lines& lines) {
  const int n = numbers_of<int>(lines["NDims"], 1, lines.path, "NDims")[0];
  require(n == 2 || n == 3, "{}: NDims is {}; only two or three dimensions with one value per voxel are supported",
          lines.path, n);
  const std::string kind = lines.has("ObjectType") ? lines["ObjectType"] : "Image";
  require(kind == "Image", "{}: ObjectType is \"{}\"; only Image is supported", lines.path, kind);
  const double channels = lines.number("ElementNumberOfChannels", 1);
  require(channels == 1, "{}: is in colour (ElementNumberOfChannels = {}); one gray value per voxel is needed",
          lines.path, channels);
  return n;
}

void read_spacing(const Lines& lines, std::size_t dimensions, ImageInfo& info) {
  const std::string key = lines.has("ElementSpacing") ? "ElementSpacing" : "ElementSize";
  const std::string unit = lines.has("DistanceUnits") ? lines["DistanceUnits"] : "mm";  // the format's own
  require(unit == "mm" || unit == "um" || unit == "cm", "{}: DistanceUnits is \"{}\"; allowed are mm, um and cm",
          lines.path, unit);
  if (lines.has(key)) set_spacing(info, voxel_widths(lines[key], dimensions, lines.path, key), metres_of(unit));
  if (key == "ElementSpacing" && lines.has("ElementSize") && lines["ElementSize"] != lines[key])
    info.notes.push_back(
        fmt::format("its ElementSpacing ({}) is used, not its ElementSize ({})", lines[key], lines["ElementSize"]));
  for (const char* turned : {"TransformMatrix", "Rotation", "Orientation"}) {
    if (!lines.has(turned)) continue;
    const std::vector<double> v = numbers_of<double>(lines[turned], dimensions * dimensions, lines.path, turned);
    std::vector<Vec3> axes;
    for (std::size_t d = 0; d < dimensions; ++d)
      axes.emplace_back(v[dimensions * d], v[dimensions * d + 1], dimensions == 3 ? v[dimensions * d + 2] : 0);
    require_right_angles(axes, lines.path, turned);
    doubt_lengths(info, axes, Vec3::all(1), turned);
  }
}

bool big_endian(const Lines& lines, VoxelType type) {
  const std::string key = lines.has("ElementByteOrderMSB") ? "ElementByteOrderMSB" : "BinaryDataByteOrderMSB";
  require(lines.has(key) || bytes_of(type) == 1,
          "{}: its header does not contain the byte order of its values; add ElementByteOrderMSB = False (or True)",
          lines.path);
  const bool big = lines.is_true(key, false);
  require(lines.is_true("BinaryDataByteOrderMSB", big) == big,
          "{}: ElementByteOrderMSB and BinaryDataByteOrderMSB contradict each other", lines.path);
  return big;
}

/// Voxels that lie in a file for each plane.
std::unique_ptr<ImageFile> open_several(const Lines& lines, ImageInfo info, RawLayout layout) {
  std::string file = lines["ElementDataFile"];
  const bool list = file.starts_with("LIST");
  const std::vector<std::string_view> words = words_of(file);
  require(!list || (words[0] == "LIST" &&
                    (words.size() == 1 || (words.size() == 2 && (words[1] == "2" || words[1] == "2D")))),
          "{}: ElementDataFile is \"{}\"; only lists of files with one plane each (LIST, LIST 2D) are supported",
          lines.path, file);
  require(
      lines.is_true("BinaryData", true) && !lines.is_true("CompressedData", false),
      "{}: its data files, one per plane, are compressed or text; only uncompressed binary voxels are supported there",
      lines.path);
  std::vector<std::string> files;
  for (const std::string& name : list ? lines.files : counted_files(file, lines.path))
    files.push_back(file_beside(lines.path, name));
  const double skip = lines.number("HeaderSize", 0);
  require(skip >= 0 && skip < 1e15 && skip == std::floor(skip),
          "{}: HeaderSize is {}; in a list of files 0 or more bytes are skipped", lines.path, skip);
  layout.skip_bytes = static_cast<std::int64_t>(skip);
  layout.big_endian = big_endian(lines, layout.type);
  return open_plane_files(std::move(info), files, layout);
}

/// Where the voxels begin in their file.
std::int64_t start_of_voxels(const Lines& lines, bool local, std::int64_t bytes, std::int64_t needed) {
  const std::int64_t skip =
      lines.has("HeaderSize") ? numbers_of<std::int64_t>(lines["HeaderSize"], 1, lines.path, "HeaderSize")[0] : 0;
  if (skip == 0) return lines.end * local;
  if (skip == -1) return std::max<std::int64_t>(local ? lines.end : 0, bytes - needed);  // the voxels end the file
  require(skip > 0 && (!local || skip >= lines.end) && skip < std::int64_t{1} << 60,
          "{}: HeaderSize is {}; allowed are -1 (the voxels are at the end of the file), 0, or the number of bytes "
          "before the voxels",
          lines.path, skip);
  return skip;
}

std::unique_ptr<ImageFile> open_one(const Lines& lines, ImageInfo info, RawLayout layout) {
  const std::string& name = lines["ElementDataFile"];
  const bool local = lower_case(name) == "local";
  const std::string file = local ? lines.path : file_beside(lines.path, name);
  const std::int64_t bytes = bytes_in(file);
  const bool packed = lines.is_true("CompressedData", false), binary = lines.is_true("BinaryData", true);
  require(!packed || (binary && lines.number("HeaderSize", 0) == 0),
          "{}: compressed voxels that are text or have their own header are not supported", lines.path);
  const std::int64_t needed = voxel_bytes(layout);
  layout.skip_bytes = start_of_voxels(lines, local, bytes, needed);
  if (!binary) {
    const std::string text = bytes_between(file, layout.skip_bytes, bytes);
    layout.big_endian = std::endian::native == std::endian::big;
    return hold_voxels(std::move(info), layout,
                       voxels_of_text(text, needed / bytes_of(layout.type), layout.type, file));
  }
  if (!packed) {
    auto image = open_voxels(std::move(info), file, layout, BehindVoxels::nothing);  // its message about sizes first
    layout.big_endian = big_endian(lines, layout.type);
    return open_voxels(image->info(), file, layout, BehindVoxels::nothing);
  }
  const double stated = lines.number("CompressedDataSize", static_cast<double>(bytes - layout.skip_bytes));
  require(static_cast<double>(bytes - layout.skip_bytes) == stated,
          "{}: its header says {} compressed bytes, but {} has {}", lines.path, stated, file,
          bytes - layout.skip_bytes);
  layout.big_endian = big_endian(lines, layout.type);
  InflatedFile inflated(file, layout.skip_bytes);
  std::vector<char> voxels = inflated.read(needed);
  inflated.finish();
  return hold_voxels(std::move(info), layout, std::move(voxels));
}

}  // namespace

std::unique_ptr<ImageFile> open_meta_image(const std::string& path) {
  const Lines lines = read_lines(path);
  const std::size_t dimensions = dimensions_of(lines);
  check_vectors(lines, dimensions);
  ImageInfo info;
  info.path = path;
  info.format = "MetaImage";
  RawLayout layout;
  layout.size = image_size(lines["DimSize"], dimensions, path, "DimSize");
  layout.type = type_of(lines);
  read_spacing(lines, dimensions, info);
  const std::string& file = lines["ElementDataFile"];
  const bool several = file.starts_with("LIST") || file.find('%') != std::string::npos;
  auto image = several ? open_several(lines, std::move(info), layout) : open_one(lines, std::move(info), layout);
  const double slope = lines.number("ElementToIntensityFunctionSlope", 1),
               offset = lines.number("ElementToIntensityFunctionOffset", 0);
  require(std::isfinite(slope) && slope != 0 && std::isfinite(offset),
          "{}: the slope and offset of its values are {} and {}; both must be finite, the slope not 0", path, slope,
          offset);
  if (slope == 1 && offset == 0) return image;
  return scale_values(std::move(image), slope, offset, VoxelType::float32,
                      fmt::format("its ElementToIntensityFunction is applied, which some readers ignore: values are "
                                  "{:g} + {:g} times the stored values",
                                  offset, slope));
}

}  // namespace karst
