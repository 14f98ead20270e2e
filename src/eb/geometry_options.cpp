// SPDX-License-Identifier: BSD-3-Clause
#include "eb/geometry_options.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <string_view>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "eb/shapes/expression.hpp"

namespace karst {
namespace {

constexpr double any = 1e300, above_zero = 1e-300;  // bounds that the reader shows as none and > 0
constexpr double largest_wall_shift = 1.0;          // [voxel widths]

struct ShapeKeys {
  std::string_view name;
  std::vector<std::string_view> needed, optional;
};

/// In the order of SolidShape; every shape also has shape, inside and mineral.
const std::array<ShapeKeys, 8> shape_keys{{
    {"plane", {"point"}, {"normal"}},
    {"sphere", {"center", "radius"}, {"periodic"}},
    {"spheres", {"file"}, {"columns", "skip_lines", "scale", "shift", "radius", "periodic"}},
    {"cylinder", {"center", "radius"}, {"axis", "length", "periodic"}},
    {"box", {"lo", "hi"}, {"rotation", "periodic"}},
    {"ellipsoid", {"center", "radii"}, {"rotation", "periodic"}},
    {"torus", {"center", "radius", "major_radius"}, {"axis", "periodic"}},
    {"expression", {"expression"}, {}},
}};
constexpr std::array<std::string_view, 20> all_keys{"center",       "radius",   "axis",       "length",     "point",
                                                    "normal",       "lo",       "hi",         "radii",      "rotation",
                                                    "major_radius", "file",     "columns",    "skip_lines", "scale",
                                                    "shift",        "periodic", "expression", "inside",     "mineral"};

/// Each of them once, in their order.
std::vector<std::string> different(const std::vector<std::string>& names) {
  std::vector<std::string> result;
  for (const std::string& name : names)
    if (std::ranges::find(result, name) == result.end()) result.push_back(name);
  return result;
}

bool has(const std::vector<std::string_view>& keys, std::string_view key) {
  return std::find(keys.begin(), keys.end(), key) != keys.end();
}

std::string listed(const ShapeKeys& keys, ShapeUse use) {
  std::string text = use == ShapeUse::solid ? "inside, mineral" : "";
  for (const auto* list : {&keys.needed, &keys.optional}) {
    for (const std::string_view key : *list) text += fmt::format("{}{}", text.empty() ? "" : ", ", key);
  }
  return text;
}

void declare_shape(Reader& item, SolidOptions& s, ShapeUse use) {
  using enum SolidShape;
  const bool solid = use == ShapeUse::solid;
  item.word<SolidShape>("shape", s.shape,
                        {{"plane", plane,
                          solid ? "half space behind the plane; the normal points into the fluid"
                                : "half space behind the plane; the normal points out of it"},
                         {"sphere", sphere, ""},
                         {"spheres", spheres, "packing from a file"},
                         {"cylinder", cylinder, "infinite, or with a length"},
                         {"box", box, ""},
                         {"ellipsoid", ellipsoid, ""},
                         {"torus", torus, ""},
                         {"expression", expression, solid ? "fluid where a formula is > 0" : "where a formula is > 0"}},
                        solid ? "shape of the solid; required" : "shape of the region; required");
  if (!solid) return;
  item.word<Inside>("inside", s.inside,
                    {{"solid", Inside::solid, ""}, {"fluid", Inside::fluid, "everything outside the shape is solid"}},
                    "what fills the shape");
  item.text(
      "mineral", s.mineral,
      "name of the mineral of the solid, which distinguishes walls; solids with the same name are the same mineral");
}

void declare_sizes(Reader& item, SolidOptions& s, ShapeUse use) {
  item.vec3("center", s.center, "m", "centre (sphere, cylinder, ellipsoid, torus)", -any, any);
  item.number("radius", s.radius, "m", "radius (sphere, cylinder, ring of the torus, spheres of a file without r)",
              above_zero, any);
  item.vec3("axis", s.axis, "-", "direction of the axis (cylinder, torus), of any length > 0", -any, any);
  item.number("length", s.length, "m", "length of a cylinder, half on each side of the centre; default: infinite",
              above_zero, any);
  item.vec3("point", s.point, "m", "a point on the plane", -any, any);
  item.vec3("normal", s.normal, "-",
            use == ShapeUse::solid ? "direction into the fluid (plane), of any length > 0"
                                   : "direction out of the region (plane), of any length > 0",
            -any, any);
  item.vec3("lo", s.lo, "m", "low corner of a box, before the rotation", -any, any);
  item.vec3("hi", s.hi, "m", "high corner of a box, before the rotation", -any, any);
  item.vec3("radii", s.radii, "m", "three semi-axes of an ellipsoid", above_zero, any);
  item.vec3("rotation", s.rotation, "degrees",
            "rotation of a box or ellipsoid about its centre: about x, then y, then z", -any, any);
  item.number("major_radius", s.major_radius, "m", "radius of the centre line of a torus, > radius", above_zero, any);
  item.flag("periodic", s.periodic,
            "repeat the shape with the period of the domain in all directions; in the periodic directions of the grid "
            "it is always repeated");
}

void declare_sources(Reader& item, SolidOptions& s, ShapeUse use) {
  item.file("file", s.file.path, "text file of spheres, one per line, relative to the deck");
  item.text("columns", s.file.columns, "columns of the file: x y z r in any order; index and _ are ignored");
  item.integer("skip_lines", s.file.skip_lines, "-", "header lines of the file", 0, std::numeric_limits<int>::max());
  item.number("scale", s.file.scale, "m", "length of the unit of the file, for positions and radii", above_zero, any);
  item.vec3("shift", s.file.shift, "m", "added to the positions of the file, after scaling", -any, any);
  item.text("expression", s.expression,
            use == ShapeUse::solid ? "formula of x, y, z in metres, > 0 in the fluid, as in sqrt(x^2 + y^2) - 1e-4"
                                   : "formula of x, y, z in metres, > 0 in the region, as in 1e-4 - sqrt(x^2 + y^2)");
}

void check_keys(Reader& item, const SolidOptions& s, ShapeUse use) {
  if (!item.given("shape")) {
    item.mistake("shape", fmt::format("missing; every {} needs one", use == ShapeUse::solid ? "solid" : "region"));
    return;
  }
  const ShapeKeys& keys = shape_keys[static_cast<std::size_t>(s.shape)];
  for (const std::string_view key : all_keys) {
    if (use == ShapeUse::region && (key == "inside" || key == "mineral")) continue;  // not declared
    const bool needed = has(keys.needed, key),
               used = needed || has(keys.optional, key) || key == "inside" || key == "mineral";
    if (used && !needed) continue;  // its default holds
    const bool given = item.given(key);
    if (needed && !given) item.mistake(key, fmt::format("missing; shape \"{}\" needs it", keys.name));
    if (!used && given) {
      item.mistake(key, fmt::format("not used by shape \"{}\"; it uses {}", keys.name, listed(keys, use)));
    }
  }
}

void check_sizes(Reader& item, const SolidOptions& s) {
  for (const auto& [key, direction] : {std::pair{"axis", s.axis}, std::pair{"normal", s.normal}}) {
    if (item.given(key) && !(norm(direction) > 0.0))
      item.mistake(key, "has no length; give a direction such as [0, 0, 1]");
  }
  if (item.given("lo") && item.given("hi")) {
    for (int d = 0; d < 3; ++d) {
      if (s.lo[d] < s.hi[d]) continue;
      item.mistake("hi", fmt::format("{} in direction {} is not above lo = {}", s.hi[d], axis_names[d], s.lo[d]));
    }
  }
  if (item.given("major_radius") && item.given("radius") && s.radius >= s.major_radius) {
    item.mistake("major_radius",
                 fmt::format("{} m is not above radius = {} m: the ring has no hole", s.major_radius, s.radius));
  }
}

void check_sources(Reader& item, const SolidOptions& s) {
  if (item.given("file")) {
    const auto path = std::filesystem::path(item.directory()) / s.file.path;
    if (!std::filesystem::is_regular_file(path)) {
      item.mistake("file",
                   fmt::format("there is no file \"{}\"; expected: a text file, relative to the deck", path.string()));
    }
  }
  if (item.given("expression")) {
    try {
      make_expression(s.expression, 1.0);
    } catch (const Error& e) {
      item.mistake("expression", e.what());
    }
  }
}

/// Names that mean something else, and names in geometry.minerals that stand twice or that no solid has.
void check_minerals(Reader& reader, const GeometryOptions& options) {
  for (const std::string& name : options.minerals)
    if (const std::string wrong = wrong_mineral_name(name); !wrong.empty()) reader.mistake("geometry.minerals", wrong);
  const bool solids = options.image.empty() && !options.solids.empty();
  try {
    choose_minerals(solids ? minerals_of(options.solids) : different(options.minerals), options.minerals);
  } catch (const Error& e) {
    for (const std::string& wrong : split(e.what(), '\n')) reader.mistake("geometry.minerals", wrong);
  }
}

}  // namespace

void read_shape(Reader& item, SolidOptions& shape, ShapeUse use) {
  declare_shape(item, shape, use);
  declare_sizes(item, shape, use);
  declare_sources(item, shape, use);
  if (item.documenting()) return;
  check_keys(item, shape, use);
  check_sizes(item, shape);
  check_sources(item, shape);
}

std::vector<std::string> minerals_of(const std::vector<SolidOptions>& solids) {
  std::vector<std::string> names;
  for (const SolidOptions& solid : solids) names.push_back(solid.mineral);
  return different(names);
}

void read(Reader& reader, GeometryOptions& options) {
  reader.changes_answers_of("geometry", {});  // cut cells and minerals tell it
  options.directory = reader.directory();
  reader.file("geometry.image", options.image,
              "rock image, relative to the deck: a geometry file from `karst import`, or any image that this command "
              "reads, which is then imported first (file, folder or pattern of slices, file.h5:/data)");
  reader.texts("geometry.minerals", options.minerals,
               "names of the minerals of the image or the solids that are distinguished on the wall, in this order; "
               "the others are combined as \"other\"; default: all are distinguished");
  constexpr int most_copies = 1000;
  reader.index("geometry.copies", options.copies, "-",
               "number of copies of the sample (given by grid.cells and grid.size or an image) along x, y and z, for "
               "scaling studies: all copies have the same results; only along periodic directions",
               1, most_copies);
  reader.number("geometry.wall_shift", options.wall_shift, "voxel widths",
                "shifts the wall of an image: > 0 into the solid (pores become wider), < 0 into the pores; for small "
                "shifts, because far from walls gray values are uniform and give no distance",
                -largest_wall_shift, largest_wall_shift);
  reader.word<KeepPores>(
      "geometry.keep", options.keep,
      {{"connected", KeepPores::connected, "those that connect two opposite faces; all if there are none"},
       {"largest", KeepPores::largest, "the pore cluster of the largest volume"},
       {"all", KeepPores::all, ""}},
      "which pores are kept; the others become solid and are counted");
  reader.word<SolidOperation>("geometry.operation", options.operation,
                              {{"union", SolidOperation::union_of_solids, "solid where any of the solids is"},
                               {"intersection", SolidOperation::intersection_of_solids, "solid where all of them are"}},
                              "how the solids are combined");
  reader.tables("geometry.solid", "a described solid", [&](Reader& item) {
    SolidOptions solid;
    read_shape(item, solid, ShapeUse::solid);
    if (!item.documenting()) {
      if (const std::string wrong = wrong_mineral_name(solid.mineral); !wrong.empty()) item.mistake("mineral", wrong);
      options.solids.push_back(std::move(solid));
    }
  });
  if (reader.documenting()) return;
  if (!options.image.empty() && !options.solids.empty()) {
    reader.mistake("geometry.image", "given together with [[geometry.solid]]; expected: one of them");
  }
  if (options.image.empty() && reader.given("geometry.wall_shift")) {
    reader.mistake("geometry.wall_shift", "given without geometry.image; the walls of described solids are exact");
  }
  if (options.solids.empty() && reader.given("geometry.operation")) {
    reader.mistake("geometry.operation", "given without [[geometry.solid]]; there is nothing to combine");
  }
  check_minerals(reader, options);
}

}  // namespace karst
