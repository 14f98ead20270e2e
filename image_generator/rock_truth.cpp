// SPDX-License-Identifier: BSD-3-Clause
#include <cmath>
#include <numbers>

#include "base/core/error.hpp"
#include "base/file/json.hpp"
#include "image_generator/rock.hpp"

namespace karst {
namespace {

constexpr double surface_step = 0.25;

/// Σ over sets of fractures of -(-1)^members × what their common part in the box has (inclusion and exclusion):
/// volume of the union, and area of its wall, as faces of a common part that lie in other fractures cancel.
struct Union {
  double volume = 0, wall = 0;
};
void add_common_parts(const Rock& rock, const Polyhedron& part, std::size_t next, double sign, Union& sum) {
  for (std::size_t f = next; f < rock.fractures.size(); ++f) {
    const Vec3& n = rock.fractures[f].normal;
    const double place = dot(n, rock.fractures[f].point), half = 0.5 * rock.options.aperture;
    Polyhedron common = part;
    common.cut({n, place + half}, 0);
    common.cut({-n, half - place}, 0);
    if (common.empty()) continue;
    sum.volume += sign * common.volume();
    sum.wall += sign * common.area(0);
    add_common_parts(rock, common, f + 1, -sign, sum);
  }
}

Vec3 size_of(const Rock& rock) {
  const Index& n = rock.options.size;
  return {double(n[0]), double(n[1]), double(n[2])};
}

/// Porosity and area in closed form; nothing where there is none.
struct Closed {
  double porosity, area;
};
std::optional<Closed> closed_form(const Rock& rock) {
  const RockOptions& o = rock.options;
  const Vec3 size = size_of(rock);
  const double volume = size[0] * size[1] * size[2], pi = std::numbers::pi;
  if (o.kind == RockKind::slit || o.kind == RockKind::fractures) {
    if (o.roughness > 0) return {};
    Union fractures;
    add_common_parts(rock, Polyhedron({}, size), 0, 1.0, fractures);
    return Closed{fractures.volume / volume, fractures.wall};
  }
  if (!rock.fractures.empty() || o.kind == RockKind::packing) return {};
  if (o.kind == RockKind::sphere)
    return Closed{1 - 4.0 / 3 * pi * o.radius * o.radius * o.radius / volume, 4 * pi * o.radius * o.radius};
  if (o.kind == RockKind::tube) {
    const double length = std::abs(dot(size, o.normal)) / norm(o.normal);
    return Closed{pi * o.radius * o.radius * length / volume, 2 * pi * o.radius * length};
  }
  Closed sum{1, 0};
  for (const Grain& g : rock.grains) {
    sum.porosity -= g.volume / volume;
    sum.area += g.area;
  }
  return sum;
}

Json json_of(const Vec3& x) { return {x[0], x[1], x[2]}; }

Json known_json(const Known& known, const char* unit) {
  return {{"value", known.value}, {"unit", unit}, {"how", known.how}};
}

Json options_json(const Rock& rock) {
  const RockOptions& o = rock.options;
  Json json{{"kind", name_of(o.kind)}, {"size", {o.size[0], o.size[1], o.size[2]}}, {"seed", o.seed}};
  const bool grains = o.kind == RockKind::packing || o.kind == RockKind::polyhedra;
  if (grains) json["porosity_asked_for"] = o.porosity;
  if (grains || o.kind == RockKind::tube || o.kind == RockKind::sphere || !rock.grains.empty())
    json["radius"] = o.radius;
  if (o.kind == RockKind::polyhedra) {
    json["facets"] = o.facets;
    json["spread"] = o.spread;
  }
  if (o.kind == RockKind::tube || o.kind == RockKind::slit) json["axis"] = json_of(o.normal);
  if (o.kind == RockKind::tube) json["center"] = json_of(o.center.value_or(0.5 * size_of(rock)));
  if (!rock.fractures.empty()) {
    json["aperture"] = o.aperture;
    json["roughness"] = o.roughness;
    if (o.roughness > 0) json["hurst"] = o.hurst;
  }
  return json;
}

}  // namespace

const char* name_of(RockKind kind) {
  constexpr const char* names[] = {"packing", "polyhedra", "fractures", "slit", "tube", "sphere"};
  return names[static_cast<int>(kind)];
}

Known true_porosity(const Rock& rock, double sampled) {
  if (const auto closed = closed_form(rock)) return {closed->porosity, "closed form"};
  return {sampled, fmt::format("{} sub-samples in each voxel that may contain a wall", rock.samples.size())};
}

namespace {

std::string of_points() {
  return fmt::format("sum over points at the pore boundary, {} voxels apart on the surfaces", surface_step);
}

}  // namespace

Known true_wall_area(const Rock& rock) {
  if (const auto closed = closed_form(rock)) return {closed->area, "closed form"};
  return {rock.scene->wall_area(surface_step), of_points()};
}

std::vector<Known> true_mineral_areas(const Rock& rock) {
  const std::size_t n = rock.options.minerals.size();
  if (n == 1) return {true_wall_area(rock)};
  std::vector<Known> areas;
  if (rock.options.kind == RockKind::polyhedra && closed_form(rock)) {
    areas.assign(n, {0, "closed form"});
    for (const Grain& g : rock.grains) areas[static_cast<std::size_t>(g.label) - 1].value += g.area;
    return areas;
  }
  std::vector<double> sampled = rock.scene->wall_areas(surface_step);
  sampled.resize(n + 1);
  for (std::size_t m = 1; m <= n; ++m) areas.push_back({sampled[m], of_points()});
  return areas;
}

std::string rock_json(const Rock& rock, const std::vector<double>& shares) {
  Json json = options_json(rock);
  json["unit_of_length"] = "voxel; voxel (i, j, k) is the cube from (i, j, k) to (i + 1, j + 1, k + 1)";
  json["porosity"] = known_json(true_porosity(rock, shares[0]), "1");
  json["wall_area"] = known_json(true_wall_area(rock), "voxel²");
  Json labels = Json::array({{{"label", 0}, {"name", "pore"}, {"share", shares[0]}}});
  const std::vector<Known> walls = true_mineral_areas(rock);
  for (std::size_t m = 0; m < rock.options.minerals.size(); ++m) {
    const Mineral& mineral = rock.options.minerals[m];
    labels.push_back({{"label", m + 1},
                      {"name", mineral.name},
                      {"gray", mineral.gray},
                      {"share", m + 1 < shares.size() ? shares[m + 1] : 0.0},
                      {"wall_area", known_json(walls[m], "voxel²")}});
  }
  json["labels"] = labels;
  for (std::size_t s = 0; s < rock.spheres.size(); ++s)
    json["spheres"].push_back({{"center", json_of(rock.spheres[s].center)},
                               {"radius", rock.spheres[s].radius},
                               {"label", rock.sphere_labels[s]}});
  for (const Grain& g : rock.grains) {
    Json planes = Json::array();
    for (const FacetPlane& p : g.planes) planes.push_back({p.normal[0], p.normal[1], p.normal[2], p.offset});
    json["grains"].push_back({{"center", json_of(g.center)},
                              {"label", g.label},
                              {"volume", g.volume},
                              {"area", g.area},
                              {"planes", planes}});
  }
  for (const FracturePlane& f : rock.fractures)
    json["fractures"].push_back({{"point", json_of(f.point)}, {"normal", json_of(f.normal)}});
  return json.dump(1) + "\n";
}

std::string label_json(const Rock& rock) {
  Json json;
  json["labels"]["pore"] = 0;
  for (std::size_t m = 0; m < rock.options.minerals.size(); ++m) json["labels"][rock.options.minerals[m].name] = m + 1;
  return json.dump(1) + "\n";
}

}  // namespace karst
