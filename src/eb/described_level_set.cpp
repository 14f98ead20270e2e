// SPDX-License-Identifier: BSD-3-Clause
#include "eb/described_level_set.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/core/error.hpp"
#include "base/core/text.hpp"
#include "eb/shapes/combine.hpp"
#include "eb/shapes/endless_images.hpp"
#include "eb/shapes/expression.hpp"
#include "eb/shapes/shapes.hpp"

namespace karst {
namespace {

/// The domain in level-0 cells; whole numbers, so that images are exact.
Vec3 size_in_cells(const Vec3& size, double h0) {
  Vec3 cells;
  for (int d = 0; d < 3; ++d) {
    const double exact = size[d] / h0;
    cells[d] = std::round(exact);
    require(
        cells[d] >= 1.0 && std::abs(exact - cells[d]) <= 1e-6 * cells[d],
        "the domain is {} m in direction {}, which is {} cells of {} m; it must be an integer, because cells are cubes",
        size[d], axis_names[d], exact, h0);
  }
  return cells;
}

constexpr double without_solid = 1e6;  ///< cells to the nearest one
constexpr double farthest = 1e8;       // [cells]: there positions are known to 1e-8 cells

/// Of a solid, in the deck.
std::string table_of(std::size_t number) { return fmt::format("geometry.solid[{}]", number); }

/// Refuses a place or length that is so large in cells that nothing near the domain could be told from it.
void require_near(const std::string& key, const Vec3& value, double h0) {
  for (int d = 0; d < 3; ++d)
    require(std::abs(value[d]) <= farthest * h0,
            "{}: {} m is {:.3g} cells of {} m; at most {:g} are allowed: beyond that round-off makes the wall "
            "inaccurate (use a plane for a wall that is almost flat)",
            key, value[d], value[d] / h0, h0, farthest);
}

/// @param table  of the shape in the deck
void check_extent(const SolidOptions& s, const std::string& table, double h0) {
  const auto check = [&](const char* key, const Vec3& value) {
    require_near(fmt::format("{}.{}", table, key), value, h0);
  };
  check("center", s.center), check("point", s.point), check("lo", s.lo), check("hi", s.hi), check("radii", s.radii);
  check("radius", Vec3::all(s.radius)), check("major_radius", Vec3::all(s.major_radius));
  check("length", Vec3::all(s.length));
}

/// Sign changes of φ along an edge of level 0 beyond which no grid could show the wall: features below h0/32.
constexpr int most_changes = 32;

int sign_changes(const LevelSet& level_set, const Vec3& low, int d) {
  constexpr int parts = 8 * most_changes;
  Vec3 high = low;
  high[d] += 1.0;
  const auto phi = level_set.local(low, high);
  std::vector<Vec3> points(parts + 1, low);
  std::vector<double> values(points.size());
  for (std::size_t i = 0; i < points.size(); ++i) points[i][d] += static_cast<double>(i) / parts;
  phi->evaluate(points, values);
  int changes = 0;
  for (std::size_t i = 1; i < values.size(); ++i) changes += (values[i] > 0.0) != (values[i - 1] > 0.0);
  return changes;
}

/// Refuses a formula of waves far shorter than a cell: each cell would be cut as finely as a grid of its own, and the
/// wall found would be noise. Looks at some edges, spread over the domain, and asks for the mean of those with a wall.
void require_resolved(const LevelSet& formula, std::size_t number, double h0, const Vec3& cells) {
  constexpr int n_edges = 48;
  constexpr std::array<double, 3> spread{0.8191725, 0.6710436, 0.5497005};  // low discrepancy (Roberts 2018)
  int with_wall = 0, changes = 0;
  for (int n = 1; n <= n_edges; ++n) {
    Vec3 low;
    for (int d = 0; d < 3; ++d) {
      const double part = n * spread[d];
      low[d] = (part - std::floor(part)) * (cells[d] - 1.0);
    }
    const int found = sign_changes(formula, low, n % 3);
    with_wall += found > 0, changes += found;
  }
  require(changes <= most_changes * with_wall,
          "geometry.solid[{}].expression: its sign changes {} times along the edge of a cell of {} m, on average over "
          "edges that meet the wall: oscillations or noise far below the cell width, from which no wall can be built. "
          "Use cells of {:.1g} m or less, or a formula without them (x, y and z are in metres)",
          number, changes / std::max(with_wall, 1), h0, 2.0 * h0 * with_wall / std::max(changes, 1));
}

Vec3 divided(const Vec3& a, double b) { return {a[0] / b, a[1] / b, a[2] / b}; }

Vec3 moved_into_domain(Vec3 x, const Periods& domain) {
  for (int d = 0; d < 3; ++d) {
    if (domain.periodic[d]) x[d] -= std::floor(x[d] / domain.size[d]) * domain.size[d];
  }
  return x;
}

/// Refuses a sphere that is so wide that its own images lie in each other thousands of times.
void require_few_images(const std::string& what, const Sphere& s, const Periods& domain, double h0) {
  constexpr double most_images = 3e3;
  double n = 1.0;
  for (int d = 0; d < 3; ++d)
    if (domain.periodic[d]) n *= 2.0 * s.radius / domain.size[d] + 1.0;
  require(n <= most_images,
          "{}: {:g} m, in a periodic domain of {:g} x {:g} x {:g} m; at most {:g} images of it may lie in the domain: "
          "does the file have another unit (geometry.solid.scale = 1e-3 for millimetres)?",
          what, s.radius * h0, domain.size[0] * h0, domain.size[1] * h0, domain.size[2] * h0, most_images);
}

std::unique_ptr<LevelSet> make_spheres(const SolidOptions& solid, double h0, const Periods& domain,
                                       const std::string& directory) {
  SphereFile file = solid.file;
  file.path = (std::filesystem::path(directory) / file.path).string();
  file.radius = solid.radius;
  std::vector<Sphere> spheres = read_spheres(file);
  for (std::size_t i = 0; i < spheres.size(); ++i) {
    Sphere& s = spheres[i];
    require_near(fmt::format("{}: center of sphere {}", file.path, i + 1), s.center, h0);
    require_near(fmt::format("{}: radius of sphere {}", file.path, i + 1), Vec3::all(s.radius), h0);
    s = {divided(s.center, h0), s.radius / h0};
    require_few_images(fmt::format("{}: radius of sphere {}", file.path, i + 1), s, domain, h0);
  }
  return make_sphere_list(std::move(spheres), domain);
}

/// Half of the box along x, y and z that a turned box of half widths `half` fills.
Vec3 extent_of_box(const Frame& frame, const Vec3& half) {
  Vec3 extent;
  for (int d = 0; d < 3; ++d)
    for (std::size_t k = 0; k < 3; ++k) extent[d] += std::abs(frame.axes[k][d]) * half[static_cast<int>(k)];
  return extent;
}

/// The direction that an edge of a body is parallel to; nothing for one that is turned away from all of them.
std::optional<int> direction_along(const Vec3& edge) {
  for (int d = 0; d < 3; ++d)
    if (std::abs(edge[d]) == 1.0) return d;
  return {};
}

/// A body that is as long as the period or longer along one of its edges is everywhere in that direction: its images
/// have no faces there, and one of them that reaches far beyond all others is all that is needed.
/// @param[in,out] half    its length along that edge
/// @param[in,out] domain  without the period
void fill_period(const Vec3& edge, double far, double& half, Periods& domain) {
  const std::optional<int> d = direction_along(edge);
  if (!d || !domain.periodic[*d] || 2.0 * half < domain.size[*d]) return;
  half = std::max(half, far);
  domain.periodic[*d] = false;
}

std::unique_ptr<LevelSet> make_cylinder(const SolidOptions& s, const std::string& table, double h0, Periods domain) {
  constexpr double endless = std::numeric_limits<double>::infinity();
  const double radius = s.radius / h0;
  const Vec3 center = moved_into_domain(divided(s.center, h0), domain);
  Cylinder cylinder{frame_along(center, s.axis), radius};
  const Vec3 axis = cylinder.frame.axes[2];
  if (s.length > 0.0) cylinder.half_length = 0.5 * s.length / h0;
  fill_period(axis, endless, cylinder.half_length, domain);  // without ends there, it repeats itself
  if (std::isinf(cylinder.half_length) && !direction_along(axis)) {
    EndlessImages found = endless_images(center, axis, radius, domain, table);
    cylinder.frame = frame_along(center, found.axis);
    return images(make_level_set(cylinder), std::move(found.shifts));
  }
  Vec3 extent;
  for (int d = 0; d < 3; ++d) {
    const double across = std::sqrt(std::max(0.0, 1.0 - axis[d] * axis[d]));
    extent[d] = radius * across + (axis[d] != 0.0 ? cylinder.half_length * std::abs(axis[d]) : 0.0);
  }
  return periodic_images(make_level_set(cylinder), domain.size, domain.periodic, extent, table);
}

std::unique_ptr<LevelSet> make_box(const SolidOptions& s, const std::string& table, double h0, Periods domain) {
  constexpr double far = 1e7;  // cells; no distance in the domain is as large
  const Vec3 middle = moved_into_domain(divided(0.5 * (s.lo + s.hi), h0), domain);
  const Frame frame = turned_frame(middle, s.rotation);
  Vec3 half = divided(0.5 * (s.hi - s.lo), h0);
  for (int k = 0; k < 3; ++k) fill_period(frame.axes[static_cast<std::size_t>(k)], far, half[k], domain);
  return periodic_images(make_level_set(Cuboid{frame, half}), domain.size, domain.periodic, extent_of_box(frame, half),
                         table);
}

/// The shape itself; what is inside it is solid.
/// @param table  of the shape in the deck
std::unique_ptr<LevelSet> make_shape(const SolidOptions& s, const std::string& table, double h0, Periods domain,
                                     const std::string& directory) {
  if (s.periodic) domain.periodic = {true, true, true};
  const Vec3 center = moved_into_domain(divided(s.center, h0), domain);
  const auto repeated = [&](std::unique_ptr<LevelSet> part, const Vec3& extent) {
    return periodic_images(std::move(part), domain.size, domain.periodic, extent, table);
  };
  switch (s.shape) {
    case SolidShape::plane:
      return make_level_set(HalfSpace{divided(s.point, h0), s.normal});
    case SolidShape::sphere:
      return repeated(make_level_set(Sphere{center, s.radius / h0}), Vec3::all(s.radius / h0));
    case SolidShape::spheres:
      return make_spheres(s, h0, domain, directory);
    case SolidShape::cylinder:
      return make_cylinder(s, table, h0, domain);
    case SolidShape::box:
      return make_box(s, table, h0, domain);
    case SolidShape::ellipsoid: {
      const Vec3 radii = divided(s.radii, h0);
      const Frame frame = turned_frame(center, s.rotation);
      return repeated(make_level_set(Ellipsoid{frame, radii}), extent_of_box(frame, radii));
    }
    case SolidShape::torus:
      return repeated(make_level_set(Torus{frame_along(center, s.axis), s.major_radius / h0, s.radius / h0}),
                      Vec3::all((s.major_radius + s.radius) / h0));
    case SolidShape::expression:
      break;
  }
  return make_expression(s.expression, h0);
}

/// φ <= 0 somewhere in the box, or nearly so; halves it as long as φ in its middle leaves that open.
bool reaches_into(const LocalLevelSet& phi, double lipschitz, const Vec3& lo, const Vec3& hi) {
  constexpr double smallest = 0.5;  // [cells]
  const Vec3 middle = 0.5 * (lo + hi), half = 0.5 * (hi - lo);
  const double value = phi(middle), radius = std::sqrt(dot(half, half));
  if (value <= 0.0) return true;
  if (value > lipschitz * radius) return false;
  if (radius < smallest) return true;
  int d = 0;
  for (int e = 1; e < 3; ++e)
    if (half[e] > half[d]) d = e;
  Vec3 below = hi, above = lo;
  below[d] = above[d] = middle[d];
  return reaches_into(phi, lipschitz, lo, below) || reaches_into(phi, lipschitz, above, hi);
}

/// How far apart two faces of a body may be for it to be seen like one of equal sides as wide as that [m]: of a plate
/// sixteen times its thickness, since an edge of a cell sees what is thicker than a sixteenth of it.
double visible_width(Vec3 sides) {
  constexpr double parts = 16.0;
  std::ranges::sort(sides.v);
  return std::min(sides[1], parts * sides[0]);
}

/// Of each body of a solid; empty for planes and formulas.
std::vector<double> visible_widths(const SolidOptions& s, const std::string& directory) {
  switch (s.shape) {
    case SolidShape::plane:
    case SolidShape::expression:
      return {};
    case SolidShape::sphere:
    case SolidShape::torus:
      return {2.0 * s.radius};
    case SolidShape::cylinder:
      return {s.length > 0.0 ? visible_width({2.0 * s.radius, 2.0 * s.radius, s.length}) : 2.0 * s.radius};
    case SolidShape::box:
      return {visible_width(s.hi - s.lo)};
    case SolidShape::ellipsoid:
      return {visible_width(2.0 * s.radii)};
    case SolidShape::spheres:
      break;
  }
  SphereFile file = s.file;
  file.path = (std::filesystem::path(directory) / file.path).string();
  file.radius = s.radius;
  std::vector<double> all;
  for (const Sphere& sphere : read_spheres(file)) all.push_back(2.0 * sphere.radius);
  return all;
}

bool repeats(const SolidOptions& s) { return s.shape != SolidShape::plane && s.shape != SolidShape::expression; }

/// Part of the two faces across a direction on which one is fluid and the other solid.
double difference_of_faces(const LevelSet& level_set, const Vec3& size, int direction) {
  constexpr int n = 64;
  const int a = (direction + 1) % 3, b = (direction + 2) % 3;
  std::array<std::vector<double>, 2> phi;
  for (std::size_t side = 0; side < 2; ++side) {
    Vec3 low, high = size;
    low[direction] = high[direction] = side == 0 ? 0.0 : size[direction];
    std::vector<Vec3> points(std::size_t{n} * n, low);
    for (std::size_t i = 0; i < points.size(); ++i) {
      points[i][a] = (static_cast<double>(i % n) + 0.5) / n * size[a];
      points[i][b] = (static_cast<double>(i / n) + 0.5) / n * size[b];
    }
    phi[side].resize(points.size());
    level_set.local(low, high)->evaluate(points, phi[side]);
  }
  constexpr double rounded = 1e-9;  // of the largest φ: its unit is that of a formula
  double largest = 0.0;
  for (const auto& side : phi)
    for (const double value : side) largest = std::max(largest, std::abs(value));
  std::size_t different = 0;
  for (std::size_t i = 0; i < phi[0].size(); ++i)
    different += phi[0][i] * phi[1][i] < 0.0 && std::min(std::abs(phi[0][i]), std::abs(phi[1][i])) > rounded * largest;
  return static_cast<double>(different) / (n * n);
}

}  // namespace

std::vector<Seam> seams(const GeometryOptions& options, double h0, const Vec3& size,
                        const std::array<bool, 3>& periodic) {
  constexpr double rounded = 1e-3;
  std::vector<Seam> found;
  if (std::ranges::all_of(options.solids, repeats)) return found;
  const Periods domain{size_in_cells(size, h0), periodic};
  const auto all = make_described_level_set(options, h0, size, periodic);
  for (int d = 0; d < 3; ++d) {
    if (!periodic[d]) continue;
    Seam seam{d, difference_of_faces(*all, domain.size, d), {}};
    if (seam.differ <= rounded) continue;
    for (std::size_t i = 0; i < options.solids.size(); ++i) {
      const SolidOptions& s = options.solids[i];
      if (!repeats(s) &&
          difference_of_faces(*make_shape(s, table_of(i), h0, domain, options.directory), domain.size, d) > rounded)
        seam.solids.push_back(i);
    }
    found.push_back(std::move(seam));
  }
  return found;
}

std::vector<std::size_t> solids_outside(const GeometryOptions& options, double h0, const Vec3& size,
                                        const std::array<bool, 3>& periodic) {
  const Periods domain{size_in_cells(size, h0), periodic};
  std::vector<std::size_t> outside;
  for (std::size_t i = 0; i < options.solids.size(); ++i) {
    const SolidOptions& s = options.solids[i];
    if (s.inside == Inside::fluid || s.shape == SolidShape::expression) continue;
    const auto shape = make_shape(s, table_of(i), h0, domain, options.directory);
    const double lipschitz = shape->smoothness().lipschitz;
    if (lipschitz > 0.0 && !reaches_into(*shape->local({}, domain.size), lipschitz, {}, domain.size))
      outside.push_back(i);
  }
  return outside;
}

NarrowShapes narrow_shapes(const GeometryOptions& options, double h) {
  NarrowShapes found;
  for (std::size_t i = 0; i < options.solids.size(); ++i)
    for (const double width : visible_widths(options.solids[i], options.directory)) {
      ++found.of;
      if (width >= h) continue;
      if (found.count == 0) found.first = i;
      found.narrowest = found.count == 0 ? width : std::min(found.narrowest, width);
      ++found.count;
    }
  return found;
}

std::unique_ptr<LevelSet> make_region(const SolidOptions& shape, const std::string& key, const std::string& directory,
                                      double h0, const Vec3& size, const std::array<bool, 3>& periodic) {
  check_extent(shape, key, h0);
  auto region = make_shape(shape, key, h0, {size_in_cells(size, h0), periodic}, directory);
  return shape.shape == SolidShape::expression ? complement(std::move(region)) : std::move(region);
}

std::unique_ptr<LevelSet> make_described_level_set(const GeometryOptions& options, double h0, const Vec3& size,
                                                   const std::array<bool, 3>& periodic) {
  require(h0 > 0.0, "geometry: the cell width is {} m; it must be > 0", h0);
  const Periods domain{size_in_cells(size, h0), periodic};
  if (options.solids.empty()) return make_level_set(HalfSpace{Vec3{-without_solid, 0.0, 0.0}, {1.0, 0.0, 0.0}});
  const std::vector<std::string> there = minerals_of(options.solids);
  const MineralChoice minerals = choose_minerals(there, options.minerals);
  LevelSetParts parts;
  for (const SolidOptions& s : options.solids) {
    check_extent(s, table_of(parts.size()), h0);
    auto shape = make_shape(s, table_of(parts.size()), h0, domain, options.directory);
    if (s.shape == SolidShape::expression) require_resolved(*shape, parts.size(), h0, domain.size);
    if (s.inside == Inside::fluid) shape = complement(std::move(shape));
    const std::size_t name = std::ranges::find(there, s.mineral) - there.begin();
    if (minerals.names.size() > 1) shape = of_mineral(std::move(shape), minerals.number[name]);
    parts.push_back(std::move(shape));
  }
  if (options.operation == SolidOperation::intersection_of_solids)
    return intersection_of_solids(std::move(parts), minerals.names);
  return union_of_solids(std::move(parts), minerals.names);
}

}  // namespace karst
