// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/two_point.hpp"

#include <algorithm>
#include <cmath>

#include "base/parallel.hpp"

namespace karst {

double wall_distance(const VofMoments& vof) {
  const double length = norm(vof.wall);
  if (length == 0.0) return smallest_wall_distance;
  const Vec3 normal = (1.0 / length) * vof.wall;
  double d = -dot(normal, vof.wall_centroid);
  if (d < smallest_wall_distance) d = dot(normal, vof.centroid - vof.wall_centroid);
  return std::max(d, smallest_wall_distance);
}

TwoPointLevel make_two_point_level(const LevelGeometry& geometry, const TwoPointProblem& problem) {
  TwoPointLevel level;
  level.geometry = &geometry;
  const double h = std::ldexp(1.0, -geometry.level), volume = h * h * h, weight = problem.beta * h;
  level.face_weight = static_cast<float>(weight);
  level.regular_shift = static_cast<float>(problem.a * volume);
  for (std::size_t side = 0; side < 6; ++side) level.ghost_factor[side] = problem.dirichlet_side[side] ? -1.0F : 1.0F;
  level.weight = Array<std::array<float, 6>>(geometry.moments.size(), Purpose::solver);
  level.shift = Array<float>(geometry.moments.size(), Purpose::solver);
  level.extra = Array<float>(geometry.extra.size(), Purpose::solver);
  parallel_for(geometry.graph.n_local(), [&](std::int64_t b) {
    const auto box = static_cast<std::size_t>(b);
    const BoxGraph graph = geometry.graph.box(static_cast<int>(b));
    const BoxMoments moments = geometry.box(static_cast<int>(b));
    const auto first = static_cast<std::size_t>(geometry.moments_begin[box]);
    for (std::size_t r = 0; r < moments.moments.size(); ++r) {
      const VofMoments& m = moments.moments[r];
      for (std::size_t side = 0; side < 6; ++side)
        level.weight[first + r][side] =
            graph.neighbours[r][side] == graph.closed() ? 0.0F : static_cast<float>(weight * m.aperture[side]);
      double shift = problem.a * volume * m.kappa;
      if (problem.wall && m.wall_area > 0.0)
        shift += weight * m.wall_area * problem.wall(geometry, static_cast<int>(b), static_cast<int>(r));
      level.shift[first + r] = static_cast<float>(shift);
    }
    const auto first_extra = static_cast<std::size_t>(geometry.extra_begin[box]);
    for (std::size_t e = 0; e < moments.extra.size(); ++e)
      level.extra[first_extra + e] = static_cast<float>(weight * moments.extra[e].aperture);
  });
  return level;
}

std::vector<TwoPointLevel> make_two_point_levels(const Comm& comm, const Geometry& geometry,
                                                 const TwoPointProblem& problem) {
  std::vector<TwoPointLevel> levels;
  for (const LevelGeometry& level : geometry.levels) levels.push_back(make_two_point_level(level, problem));
  find_coarse_fine_links(comm, geometry, problem.beta, levels);
  return levels;
}

}  // namespace karst
