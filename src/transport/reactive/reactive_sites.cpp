// SPDX-License-Identifier: BSD-3-Clause
#include "transport/reactive/reactive_sites.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "fields/irregular_unknowns.hpp"
#include "solvers/elliptic/row_maker.hpp"

namespace karst {

namespace {

constexpr double most_of_film = 0.5;  ///< of a total that the term along the wall may take
constexpr double least_film = 0.05;   ///< distance of a mean from the wall / h, as in the step of low order

/// Place among the special volumes, -1 for plain ones.
std::vector<std::int32_t> special_places(const ScalarGrid& grid) {
  std::vector<std::int32_t> places(grid.n_own, -1);
  for (std::size_t s = 0; s < grid.special.size(); ++s) places[grid.special[s]] = static_cast<std::int32_t>(s);
  return places;
}

/// A wall of an own volume.
struct Wall {
  std::int32_t volume;
  int level;
  std::int64_t row;
  Vec3 center;  ///< of its cell, in widths of its level
};

std::vector<Wall> walls_of(const Composite& composite) {
  std::vector<Wall> walls;
  for_irregular_unknowns(
      composite, [&](std::int32_t v, int l, std::int64_t row, const VofMoments& m, const Vec3& center, bool inside) {
        if (m.wall_area > 0.0 && (inside || !(m.wall_area > crumb * m.kappa))) walls.push_back({v, l, row, center});
      });
  std::ranges::sort(walls, {}, &Wall::volume);
  return walls;
}

}  // namespace

bool ReactiveSites::ends() const {
  return std::ranges::any_of(amount, [](double a) { return std::isfinite(a); });
}

std::int64_t ReactiveSites::bytes() const {
  return static_cast<std::int64_t>(sizeof(double) * (area.capacity() + film_time.capacity() + amount.capacity()) +
                                   sizeof(Vec3) * along.capacity() +
                                   sizeof(std::int32_t) * (volume.capacity() + special.capacity()));
}

ReactiveSites wall_sites(const ScalarGrid& grid, std::size_t n_minerals, const FilmOptions& options,
                         const std::function<void(const WallPiece&, std::span<double>)>& fraction) {
  ReactiveSites sites;
  sites.n_minerals = n_minerals;
  sites.given = options.given;
  sites.amount.resize(n_minerals, std::numeric_limits<double>::infinity());
  const std::vector<std::int32_t> special = special_places(grid);
  std::vector<double> covered(n_minerals);
  for (const Wall& wall : walls_of(*grid.composite)) {
    const LevelGeometry& level = grid.composite->level(wall.level);
    const VofMoments& m = level.moments[wall.row];
    const double h = Composite::width(wall.level);
    const WallPiece piece =
        wall_piece(m, wall.level, wall.row, wall_parts(level, wall.row), h * (wall.center + m.wall_centroid));
    std::ranges::fill(covered, 0.0);
    fraction(piece, covered);
    if (std::ranges::none_of(covered, [](double f) { return f > 0.0; })) continue;
    const double volume = grid.volume[wall.volume];
    const Vec3 to_wall = m.centroid - m.wall_centroid;
    const double normal = dot(to_wall, piece.normal), film = h * std::max(least_film, normal);
    for (const double f : covered) sites.area.push_back(f * piece.area / (volume * options.width * options.water));
    sites.volume.push_back(wall.volume);
    sites.film_time.push_back(film * volume / (options.diffusivity * piece.area));
    const bool faces_one_way = dot(piece.normal, piece.normal) > 0.25;
    sites.special.push_back(options.along_the_wall && faces_one_way ? special[wall.volume] : -1);
    sites.along.push_back(h * (normal * piece.normal - to_wall));
  }
  sites.volume.shrink_to_fit();
  sites.area.shrink_to_fit();
  sites.film_time.shrink_to_fit();
  sites.special.shrink_to_fit();
  sites.along.shrink_to_fit();
  return sites;
}

ReactiveSites volume_sites(const ScalarGrid& grid, std::span<const double> area, std::span<const double> amount) {
  ReactiveSites sites;
  sites.n_minerals = area.size();
  sites.amount.assign(amount.begin(), amount.end());
  sites.volume.resize(grid.n_own);
  std::iota(sites.volume.begin(), sites.volume.end(), 0);
  sites.area.assign(area.begin(), area.end());
  return sites;
}

void find_film(const ScalarGrid& grid, const ReactiveSites& sites, std::size_t site,
               std::span<const Array<double>> totals, std::span<double> film) {
  const std::size_t v = sites.volume[site];
  std::ranges::fill(film, 0.0);
  if (sites.has_films() && sites.special[site] >= 0) {
    const std::size_t s = sites.special[site];
    const std::span<const Vec3> weights = gradient_weights(grid, sites.given);
    for (auto k = grid.special_begin[s]; k < grid.special_begin[s + 1]; ++k) {
      const double weight = dot(weights[k], sites.along[site]);
      if (weight == 0.0) continue;  // the other may be a place that holds nothing
      const std::int32_t other = grid.volume_faces[k].other();
      for (std::size_t p = 0; p < film.size(); ++p) film[p] += weight * (totals[p][other] - totals[p][v]);
    }
  }
  double part = 1.0;
  for (std::size_t p = 1; p < film.size(); ++p)
    if (const double there = totals[p][v]; - film[p] > most_of_film * there)
      part = std::min(part, std::max(0.0, most_of_film * there / -film[p]));
  for (std::size_t p = 0; p < film.size(); ++p) film[p] = totals[p][v] + part * film[p];
}

}  // namespace karst
