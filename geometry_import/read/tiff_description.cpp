// SPDX-License-Identifier: BSD-3-Clause
// ImageJ: lines `key=value` behind `ImageJ=VERSION` (ij.io.FileInfo, TiffEncoder). OME: XML with an element Pixels
// (docs.openmicroscopy.org/ome-model, OME-TIFF). tifffile: JSON with the shape of the array.
#include "geometry_import/read/tiff_description.hpp"

#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "base/file/json.hpp"
#include "base/math/no_number.hpp"
#include "geometry_import/read/image_text.hpp"
#include "geometry_import/read/xml_file.hpp"

namespace karst {
namespace {

constexpr std::int64_t most_planes = std::int64_t{1} << 31;

/// Throws Error unless at most one of the axes has more than one entry; that many planes.
std::int64_t planes_of(const std::array<std::pair<const char*, std::int64_t>, 3>& axes, const std::string& path,
                       const std::string& writer) {
  std::int64_t planes = 1;
  int several = 0;
  std::vector<std::string> counts;
  for (const auto& [name, n] : axes) {
    require(n >= 1 && n < most_planes, "{}: {} says {} {}; 1 or more are needed", path, writer, n, name);
    several += n > 1;
    planes = std::max(planes, n);
    counts.push_back(fmt::format("{} {}", n, name));
  }
  require(several <= 1,
          "{}: contains {} ({}): only one of them may be more than 1, and is used as z-planes. Save one channel and "
          "one time as a separate image (Fiji: Image > Hyperstacks > Reduce Dimensionality, or Image > Duplicate)",
          path, join(counts), writer);
  return planes;
}

std::int64_t whole_number(const std::string& text, std::int64_t otherwise, const std::string& what,
                          const std::string& path) {
  if (text.empty()) return otherwise;
  const auto value = number_of<std::int64_t>(trimmed(text));
  require(value.has_value(), "{}: {} is \"{}\"; an integer is needed", path, what, text.substr(0, 40));
  return *value;
}

using Lines = std::map<std::string, std::string>;

/// `key=value`, the first of each key.
Lines lines_of(const std::string& text) {
  Lines lines;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equal = line.find('=');
    if (equal != std::string::npos) lines.emplace(trimmed(line.substr(0, equal)), trimmed(line.substr(equal + 1)));
  }
  return lines;
}

std::string value_of(const Lines& lines, const std::string& key) {
  const auto found = lines.find(key);
  return found == lines.end() ? "" : found->second;
}

/// Straight lines are applied: all others (polynomials, exponentials, tables) bend the gray values, and are told.
void read_calibration(const Lines& lines, TiffDescription& d) {
  const std::string function = value_of(lines, "cf");
  if (function.empty()) return;
  const auto c0 = number_of<double>(value_of(lines, "c0")), c1 = number_of<double>(value_of(lines, "c1"));
  if (function != "0") {
    if (function != "20")  // none
      d.notes.push_back(
          fmt::format("its ImageJ calibration function ({}) is not applied: values are as stored", function));
  } else if (c0 && c1 && std::isfinite(*c0) && std::isfinite(*c1) && *c1 != 0) {
    d.calibration = {*c0, *c1};
  } else {
    d.notes.push_back("its ImageJ calibration is incomplete and not applied: values are as stored");
  }
}

TiffDescription of_imagej(const std::string& text, const std::string& path, std::int64_t pages) {
  const Lines lines = lines_of(text);
  TiffDescription d;
  d.writer = "ImageJ";
  d.without_pages = true;
  const auto count = [&](const std::string& key, std::int64_t otherwise) {
    return whole_number(value_of(lines, key), otherwise, key + " of ImageJ", path);
  };
  const std::int64_t images = count("images", 0);
  const std::int64_t named =
      planes_of({{{"slices", count("slices", 1)}, {"channels", count("channels", 1)}, {"frames", count("frames", 1)}}},
                path, d.writer);
  d.planes = images > 0 ? images : named > 1 ? named : 0;
  require(images == 0 || named == 1 || named == images,
          "{}: ImageJ says {} images and {} slices, channels or frames, which is inconsistent; save it again", path,
          images, named);
  if (d.planes > 0 && d.planes < pages)
    d.notes.push_back(fmt::format("ImageJ says {} planes, the file has {} pages: all pages are read", d.planes, pages));
  std::string unit = value_of(lines, "unit");
  if (unit == "inch") unit.clear();  // what it writes that knows nothing; the tags say whether it is one for printing
  const auto in = [&](const std::string& key) {
    const std::string own = value_of(lines, key);
    if (metres_of(own) > 0) return metres_of(own);
    if (!own.empty() && own != "pixel" && d.unknown_unit.empty()) d.unknown_unit = own;
    return own.empty() ? metres_of(unit) : 0.0;
  };
  if (!unit.empty() && metres_of(unit) == 0 && unit != "pixel") d.unknown_unit = unit;
  d.metres = {metres_of(unit), in("yunit"), in("zunit")};
  if (const std::string step = value_of(lines, "spacing"); !step.empty())
    d.width[2] = number_of<double>(step).value_or(no_number);
  read_calibration(lines, d);
  return d;
}

/// Elements by their names without the letters of a name space.
std::vector<const XmlElement*> all_of(const XmlElement& parent, const std::string& name) {
  std::vector<const XmlElement*> found;
  for (const XmlElement& e : parent.children)
    if (e.name == name || e.name.ends_with(":" + name)) found.push_back(&e);
  return found;
}

std::string attribute_of(const XmlElement& e, const std::string& key) {
  return e.has(key) ? e.attributes.at(key) : std::string();
}

/// &#181; &#xB5; and &micro; as µ.
std::string unit_text(std::string text) {
  for (const std::string entity : {"&#181;", "&#xB5;", "&#xb5;", "&#956;", "&#x3BC;", "&#x3bc;", "&micro;"})
    if (const std::size_t at = text.find(entity); at != std::string::npos) text.replace(at, entity.size(), "µ");
  return text;
}

void read_ome_widths(const XmlElement& pixels, TiffDescription& d) {
  constexpr std::array<const char*, 3> keys{"PhysicalSizeX", "PhysicalSizeY", "PhysicalSizeZ"};
  for (std::size_t n = 0; n < 3; ++n) {
    const std::string text = attribute_of(pixels, keys[n]), unit = attribute_of(pixels, std::string(keys[n]) + "Unit");
    if (text.empty()) continue;
    d.width[n] = number_of<double>(trimmed(text)).value_or(no_number);
    d.metres[n] = metres_of(unit.empty() ? "µm" : unit_text(unit));  // the format's own
    if (d.metres[n] == 0 && unit != "pixel" && d.unknown_unit.empty()) d.unknown_unit = unit;
  }
}

/// Throws Error when a block of planes lies in another file.
void check_file(const XmlElement& block, const XmlElement& root, const std::string& text, const std::string& path) {
  for (const XmlElement* uuid : all_of(block, "UUID")) {
    const std::string name = attribute_of(*uuid, "FileName"), own = std::filesystem::path(path).filename().string();
    const std::string id(trimmed(text.substr(uuid->start, uuid->end - uuid->start)));
    require(
        name.empty() || name == own || id == attribute_of(root, "UUID"),
        "{}: according to its OME-XML planes are in other files ({}); save all planes in one file, or give a folder of "
        "slices",
        path, name);
  }
}

/// The page of each plane as the elements TiffData say.
std::vector<std::int64_t> ome_pages(const XmlElement& root, const XmlElement& pixels, const std::string& text,
                                    std::int64_t planes, const std::string& path) {
  const std::vector<const XmlElement*> blocks = all_of(pixels, "TiffData");
  std::vector<std::int64_t> pages(planes, -1);
  if (blocks.empty()) return {};
  for (const XmlElement* block : blocks) {
    check_file(*block, root, text, path);
    const auto number = [&](const char* key, std::int64_t otherwise) {
      return whole_number(attribute_of(*block, key), otherwise, std::string("TiffData ") + key, path);
    };
    std::int64_t first = 0;
    for (const char* axis : {"Z", "C", "T"}) {
      const std::string key = std::string("First") + axis, size = std::string("Size") + axis;
      const std::int64_t n = number(key.c_str(), 0), most = whole_number(attribute_of(pixels, size), 1, size, path);
      require(n >= 0 && n < most, "{}: its OME-XML states {} {} and {} {}", path, key, n, size, most);
      first += n;
    }
    const std::int64_t page = number("IFD", 0);
    const std::int64_t count = number("PlaneCount", block->has("IFD") ? 1 : planes - first);
    require(page >= 0 && count >= 0 && count <= planes - first,
            "{}: its OME-XML has {} planes, but lists {} from plane {} on", path, planes, count, first);
    for (std::int64_t n = 0; n < count; ++n) {
      require(pages[first + n] < 0, "{}: its OME-XML has two pages for plane {}", path, first + n);
      pages[first + n] = page + n;
    }
  }
  for (std::int64_t n = 0; n < planes; ++n)
    require(pages[n] >= 0, "{}: its OME-XML has no page for plane {} of {}", path, n, planes);
  return pages;
}

TiffDescription of_ome(const std::string& text, const std::string& path, const std::array<std::int64_t, 2>& page,
                       std::int64_t pages) {
  const XmlElement root = parse_xml(text, path);
  require(all_of(root, "BinaryOnly").empty(),
          "{}: its OME-XML is in another file (BinaryOnly), which may describe channels or times; save the image as "
          "one file",
          path);
  const auto images = all_of(root, "Image");
  require(images.size() == 1, "{}: its OME-XML describes {} images; one is needed, save it as a separate file", path,
          images.size());
  const auto all = all_of(*images[0], "Pixels");
  require(all.size() == 1, "{}: its OME-XML has {} elements Pixels; one is needed", path, all.size());
  const XmlElement& pixels = *all[0];
  const auto count = [&](const char* key) { return whole_number(attribute_of(pixels, key), 1, key, path); };
  TiffDescription d;
  d.writer = "OME";
  d.planes = planes_of({{{"slices", count("SizeZ")}, {"channels", count("SizeC")}, {"times", count("SizeT")}}}, path,
                       "OME: SizeZ, SizeC, SizeT");
  const std::array<std::int64_t, 2> size{count("SizeX"), count("SizeY")};
  require(size == page, "{}: its OME-XML says {} x {} pixels, its pages have {} x {}", path, size[0], size[1], page[0],
          page[1]);
  d.pages = ome_pages(root, pixels, text, d.planes, path);
  std::set<std::int64_t> used(d.pages.begin(), d.pages.end());
  require(static_cast<std::int64_t>(used.size()) == (d.pages.empty() ? 0 : d.planes) && d.planes <= pages &&
              (used.empty() || *used.rbegin() < pages),
          "{}: its OME-XML says {} planes on pages up to {}; the file has {} pages", path, d.planes,
          used.empty() ? d.planes - 1 : *used.rbegin(), pages);
  if (d.planes < pages)
    d.notes.push_back(fmt::format("its OME-XML lists {} of its {} pages; only these are read", d.planes, pages));
  if (d.pages.empty())
    for (std::int64_t n = 0; n < d.planes; ++n) d.pages.push_back(n);
  read_ome_widths(pixels, d);
  return d;
}

/// {"shape": [8, 10, 12]}: axes before those of a page.
TiffDescription of_tifffile(const Json& json, const std::string& path, const std::array<std::int64_t, 2>& page,
                            std::int64_t pages) {
  TiffDescription d;
  std::vector<std::int64_t> shape;
  try {
    shape = json.at("shape").get<std::vector<std::int64_t>>();
  } catch (const JsonError&) {
    return d;
  }
  if (shape.size() > 2 && shape.back() == 1 && shape[shape.size() - 2] == page[0]) shape.pop_back();  // one sample
  if (shape.size() < 2 || shape.back() != page[0] || shape[shape.size() - 2] != page[1]) return d;
  d.writer = "tifffile";
  d.without_pages = true;
  d.planes = 1;
  int several = 0;
  for (std::size_t n = 0; n + 2 < shape.size(); ++n) {
    require(shape[n] >= 1 && shape[n] < most_planes, "{}: its description says {} entries of axis {}", path, shape[n],
            n);
    several += shape[n] > 1;
    d.planes = std::max(d.planes, shape[n]);
  }
  std::vector<std::string> counts;
  for (const std::int64_t n : shape) counts.push_back(fmt::format("{}", n));
  require(several <= 1,
          "{}: contains an array of {} entries (its description): only one axis of planes may have more than 1, and is "
          "used as z. Save one channel and one time as a separate image",
          path, join(counts, " x "));
  if (d.planes > 1 && d.planes < pages)
    d.notes.push_back(
        fmt::format("its description says {} planes, the file has {} pages: all pages are read", d.planes, pages));
  return d;
}

}  // namespace

TiffDescription read_tiff_description(const std::string& description, const std::string& path,
                                      const std::array<std::int64_t, 2>& page, std::int64_t pages) {
  const std::string_view text = trimmed(description);
  if (text.starts_with("ImageJ=")) return of_imagej(description, path, pages);
  if (text.starts_with('<') && text.find("OME") != std::string_view::npos &&
      text.find("Pixels") != std::string_view::npos)
    return of_ome(description, path, page, pages);
  if (text.starts_with('<') && text.find("BinaryOnly") != std::string_view::npos)
    return of_ome(description, path, page, pages);
  if (text.starts_with('{'))
    if (const Json json = Json::parse_or_null(text); json.is_object() && json.contains("shape"))
      return of_tifffile(json, path, page, pages);
  return {};
}

}  // namespace karst
