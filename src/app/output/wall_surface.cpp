// SPDX-License-Identifier: BSD-3-Clause
#include "app/output/wall_surface.hpp"

#include <cmath>

#include "base/comm/timer.hpp"
#include "fields/composite.hpp"
#include "fields/wall_parts.hpp"

namespace karst {

namespace {

double length(const Vec3& v) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/// A square of this side in a plane, about `at`.
std::vector<Vec3> square(const Vec3& at, const Vec3& normal, double side) {
  int least = 0;
  for (int d = 1; d < 3; ++d)
    if (std::abs(normal[d]) < std::abs(normal[least])) least = d;
  Vec3 axis;
  axis[least] = 1.0;
  Vec3 u = cross(normal, axis);
  u = (0.5 * side / length(u)) * u;
  const Vec3 v = cross(normal, u);
  return {at - u - v, at + u - v, at + u + v, at - u + v};
}

/// What of a convex polygon lies within |x_d| <= 1/2 on one side of a cell (Sutherland & Hodgman, Commun. ACM 17 (1974)
/// 32).
std::vector<Vec3> clipped(const std::vector<Vec3>& polygon, int d, double sign) {
  std::vector<Vec3> inside;
  for (std::size_t i = 0; i < polygon.size(); ++i) {
    const Vec3 &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
    const double da = 0.5 - sign * a[d], db = 0.5 - sign * b[d];
    if (da >= 0.0) inside.push_back(a);
    if ((da >= 0.0) != (db >= 0.0)) inside.push_back(a + (da / (da - db)) * (b - a));
  }
  return inside;
}

/// Area and centroid of a plane convex polygon.
std::pair<double, Vec3> area_of(const std::vector<Vec3>& polygon) {
  double sum = 0.0;
  Vec3 at;
  for (std::size_t i = 2; i < polygon.size(); ++i) {
    const double part = 0.5 * length(cross(polygon[i - 1] - polygon[0], polygon[i] - polygon[0]));
    sum += part;
    at = at + (part / 3.0) * (polygon[0] + polygon[i - 1] + polygon[i]);
  }
  return {sum, sum > 0.0 ? (1.0 / sum) * at : at};
}

/// In units of the cell's width, about its centre.
std::vector<Vec3> polygon_of(const VofMoments& m) {
  constexpr double flat = 0.5;         // of |wall vector| / area: below, walls face each other
  constexpr double unlike = 2.0;       // areas of polygon and wall: they are not the same piece
  constexpr double beyond_cell = 4.0;  // longer than any plane within a cell
  const double size = length(m.wall);
  const Vec3 normal = size > 1e-12 ? (1.0 / size) * m.wall : Vec3{0.0, 0.0, 1.0};
  if (size >= flat * m.wall_area) {
    std::vector<Vec3> polygon = square(m.wall_centroid, normal, beyond_cell);
    for (int d = 0; d < 3; ++d)
      for (const double sign : {-1.0, 1.0}) polygon = clipped(polygon, d, sign);
    const auto [area, at] = area_of(polygon);
    if (area > m.wall_area / unlike && area < m.wall_area * unlike) {
      const double scale = std::sqrt(m.wall_area / area);
      for (Vec3& x : polygon) x = at + scale * (x - at);
      return polygon;
    }
  }
  return square(m.wall_centroid, normal, std::sqrt(m.wall_area));
}

}  // namespace

std::vector<WallPlace> wall_places(const Geometry& geometry, const CompositeNumbering& numbering) {
  std::vector<WallPlace> places;
  for (const LevelGeometry& level : geometry.levels) {
    const double h = Composite::width(level.level);
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph box = level.graph.box(b);
      const auto moments = level.box(b).moments;
      for (std::size_t r = 0; r < moments.size(); ++r) {
        const std::int32_t v = numbering.number(level.level, b, box.row_vof[r]);
        if (v < 0 || !(moments[r].wall_area > 0.0)) continue;
        places.push_back(
            {level.level, level.moments_begin[b] + static_cast<std::int64_t>(r), v, moments[r].wall_area * h * h});
      }
    }
  }
  return places;
}

Surface wall_surface(const Geometry& geometry, const std::vector<WallPlace>& places, double cell_width) {
  const Timer timer("surface");
  Surface surface;
  surface.arrays = {{"area_m2", {}}, {"mineral", {}}};
  auto next = places.begin();
  for (const LevelGeometry& level : geometry.levels) {
    const double h = Composite::width(level.level) * cell_width;
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph box = level.graph.box(b);
      const std::int64_t begin = level.moments_begin[b], end = level.moments_begin[b + 1];
      for (; next != places.end() && next->level == level.level && next->row < end; ++next) {
        const Index cell = box.cells.cell(box.row_cell[next->row - begin]);
        const Vec3 centre{cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5};
        for (const Vec3& x : polygon_of(level.moments[next->row]))
          for (int d = 0; d < 3; ++d) surface.points.push_back(static_cast<float>(h * (centre[d] + x[d])));
        surface.ends.push_back(static_cast<std::int32_t>(surface.points.size() / 3));
        surface.arrays[0].values.push_back(static_cast<float>(next->area * cell_width * cell_width));
        surface.arrays[1].values.push_back(static_cast<float>(wall_parts(level, next->row).mineral + 1));
      }
    }
  }
  return surface;
}

}  // namespace karst
