// SPDX-License-Identifier: BSD-3-Clause
// VTK's image data in XML (.vti; docs.vtk.org, VTK XML file formats): an element that says size and spacing, and arrays
// of points or cells, as text, as base64, or appended behind all elements, plain or in blocks that zlib compressed.
// Plain appended voxels are read plane by plane.
#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <fstream>
#include <limits>
#include <set>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/readers.hpp"
#include "geometry_import/read/vti_data.hpp"
#include "geometry_import/read/xml_file.hpp"

namespace karst {
namespace {

/// Throws Error for attributes that the element does not have in the format: a default would be taken in silence.
void check_attributes(const XmlElement& e, const std::set<std::string>& known, const std::string& path) {
  for (const auto& [key, value] : e.attributes)
    require(known.contains(key), "{}: its element {} has an attribute {}, which is unknown in this format", path,
            e.name, key);
  require(!e.text, "{}: its element {} contains text in addition to its children", path, e.name);
}

const XmlElement& only(const XmlElement& parent, const std::string& name, const std::string& path) {
  const auto found = parent.all(name);
  require(found.size() == 1, "{}: has {} elements {} in {}; one is needed", path, found.size(), name, parent.name);
  return *found[0];
}

void check_children(const XmlElement& e, const std::set<std::string>& known, const std::string& path) {
  for (const XmlElement& child : e.children)
    require(known.contains(child.name), "{}: has an element {} in {}, which is unknown in this format", path,
            child.name, e.name);
}

VoxelType type_of(const XmlElement& array, const std::string& path) {
  struct Name {
    std::string_view text;
    VoxelType type;
  };
  constexpr std::array<Name, 10> names{{{"UInt8", VoxelType::uint8},
                                        {"Int8", VoxelType::int8},
                                        {"UInt16", VoxelType::uint16},
                                        {"Int16", VoxelType::int16},
                                        {"UInt32", VoxelType::uint32},
                                        {"Int32", VoxelType::int32},
                                        {"UInt64", VoxelType::uint64},
                                        {"Int64", VoxelType::int64},
                                        {"Float32", VoxelType::float32},
                                        {"Float64", VoxelType::float64}}};
  const std::string& type = array.attribute("type", path);
  for (const Name& n : names)
    if (type == n.text) return n.type;
  throw Error(fmt::format("{}: its array is of type \"{}\"; Int8, UInt8 to Int64, UInt64, Float32 and Float64 are read",
                          path, type));
}

/// The array of voxels: the one that is marked as the Scalars, or the only one.
struct Chosen {
  const XmlElement* array = nullptr;
  bool cells = false;
};

Chosen choose(const XmlElement& piece, const std::string& path) {
  std::vector<Chosen> all, marked;
  std::vector<std::string> names;
  for (const bool cells : {false, true}) {
    const auto data = piece.all(cells ? "CellData" : "PointData");
    require(data.size() <= 1, "{}: has {} elements {}; one is needed", path, data.size(),
            cells ? "CellData" : "PointData");
    if (data.empty()) continue;
    check_children(*data[0], {"DataArray", "Array"}, path);
    require(!data[0]->text, "{}: its element {} contains text in addition to its children", path, data[0]->name);
    const std::string scalars = data[0]->has("Scalars") ? data[0]->attribute("Scalars", path) : "";
    std::size_t here = 0;
    for (const XmlElement* array : data[0]->all("DataArray")) {
      const std::string name = array->has("Name") ? array->attribute("Name", path) : "";
      require(std::find(names.begin(), names.end(), name) == names.end(), "{}: has two arrays called \"{}\"", path,
              name);
      names.push_back(name);
      all.push_back({array, cells});
      if (!data[0]->has("Scalars") || scalars != name) continue;
      marked.push_back({array, cells});
      ++here;
    }
    require(here == 1 || scalars.empty(), "{}: its Scalars are \"{}\", but it contains {}", path, scalars, join(names));
  }
  require(!all.empty(), "{}: contains no voxels (no DataArray of points or cells)", path);
  require(marked.size() == 1 || all.size() == 1,
          "{}: contains the arrays {}, and none is marked as Scalars; save the file with the voxels only", path,
          join(names));
  return marked.size() == 1 ? marked[0] : all[0];
}

Index size_of(const XmlElement& image, const XmlElement& piece, bool cells, const std::string& path) {
  const auto whole = numbers_of<int>(image.attribute("WholeExtent", path), 6, path, "WholeExtent");
  const auto extent = numbers_of<int>(piece.attribute("Extent", path), 6, path, "Extent");
  require(whole == extent, "{}: contains the part {} of the image {}; an image in one piece is needed", path,
          piece.attribute("Extent", path), image.attribute("WholeExtent", path));
  Index size;
  for (int d = 0; d < 3; ++d) {
    const int at = 2 * d;
    const std::int64_t steps = std::int64_t{extent[at + 1]} - extent[at];
    require(steps >= 0 && steps < INT_MAX, "{}: its extent is {}; it must be three pairs of a lower and an upper bound",
            path, piece.attribute("Extent", path));
    size[d] = static_cast<int>(cells ? std::max<std::int64_t>(1, steps) : steps + 1);  // one layer of cells is flat
  }
  return size;
}

/// Throws Error unless the elements around the voxels are those of the format.
const XmlElement& checked_piece(const XmlElement& root, const std::string& path) {
  require(root.name == "VTKFile" && root.attribute("type", path) == "ImageData",
          "{}: is not a VTK image: its first element is {}; VTKFile of type ImageData is needed", path, root.name);
  check_attributes(root, {"type", "version", "byte_order", "header_type", "compressor"}, path);
  check_children(root, {"ImageData", "AppendedData", "FieldData"}, path);
  const XmlElement& image = only(root, "ImageData", path);
  check_attributes(image, {"WholeExtent", "Origin", "Spacing", "Direction"}, path);
  check_children(image, {"Piece", "FieldData"}, path);
  const XmlElement& piece = only(image, "Piece", path);
  check_attributes(piece, {"Extent"}, path);
  check_children(piece, {"PointData", "CellData"}, path);
  return piece;
}

}  // namespace

std::unique_ptr<ImageFile> open_vti(const std::string& path) {
  const XmlElement root = read_xml(path, "AppendedData");
  const XmlElement& piece = checked_piece(root, path);
  const XmlElement& image = only(root, "ImageData", path);
  const Chosen chosen = choose(piece, path);
  const XmlElement* const array = chosen.array;
  ImageInfo info;
  info.path = path;
  info.format = "VTI";
  RawLayout layout;
  layout.size = size_of(image, piece, chosen.cells, path);
  layout.type = type_of(*array, path);
  const auto one = [&](const char* key, std::int64_t otherwise) {
    return array->has(key) ? numbers_of<std::int64_t>(array->attribute(key, path), 1, path, key)[0] : otherwise;
  };
  const std::int64_t components = one("NumberOfComponents", 1), count = voxel_bytes(layout) / bytes_of(layout.type);
  require(components == 1, "{}: is in colour ({} values per voxel); one gray value per voxel is needed", path,
          components);
  require(one("NumberOfTuples", count) == count, "{}: {} x {} x {} voxels need {} values, but its array has {}", path,
          layout.size[0], layout.size[1], layout.size[2], count, one("NumberOfTuples", count));
  if (image.has("Spacing"))
    set_spacing(info, voxel_widths(image.attribute("Spacing", path), 3, path, "Spacing"), 0);  // VTK knows no units
  if (image.has("Direction")) {
    const std::vector<double> v = numbers_of<double>(image.attribute("Direction", path), 9, path, "Direction");
    const std::array<Vec3, 3> columns{{{v[0], v[3], v[6]}, {v[1], v[4], v[7]}, {v[2], v[5], v[8]}}};
    require_right_angles(columns, path, "Direction");
    doubt_lengths(info, columns, Vec3::all(1), "Direction");
  }
  return open_vti_array(std::move(info), layout, root, *array);
}

}  // namespace karst
