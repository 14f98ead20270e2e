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
        if (may_react(m, inside)) walls.push_back({v, l, row, center});
      });
  std::ranges::sort(walls, {}, &Wall::volume);
  return walls;
}

}  // namespace

bool ReactiveSites::ends() const {
  return std::ranges::any_of(amount, [](double a) { return std::isfinite(a); });
}

bool may_react(const VofMoments& moments, bool inside) {
  return moments.wall_area > 0.0 && (inside || !(moments.wall_area > crumb * moments.kappa));
}

void set_deposits(std::span<const double> covers, ReactiveSites& sites) {
  sites.covers.assign(covers.begin(), covers.end());
  for (std::size_t m = 0; m < covers.size(); ++m)
    if (covers[m] > 0.0) sites.amount[m] = 0.0;
  sites.bare = sites.area;
}

double cover_of(const ReactiveSites& sites, std::span<const double> amount, std::size_t site) {
  double sum = 0.0;
  for (std::size_t m = 0; m < sites.n_minerals; ++m) {
    const std::size_t i = site * sites.n_minerals + m;
    if (sites.covers[m] > 0.0 && sites.bare[i] > 0.0)
      sum += std::max(0.0, amount[i]) / (sites.bare[i] * sites.covers[m]);
  }
  return sum;
}

double covered_by(const ReactiveSites& sites, std::span<const double> amount, std::size_t site, std::size_t mineral) {
  const std::size_t i = site * sites.n_minerals + mineral;
  if (!(sites.covers[mineral] > 0.0) || !(sites.bare[i] > 0.0)) return 0.0;
  return std::max(0.0, amount[i]) / (sites.bare[i] * sites.covers[mineral]) /
         std::max(1.0, cover_of(sites, amount, site));
}

bool areas_change(const ReactiveSites& sites, std::span<const double> amount, std::span<const double> rate,
                  std::size_t site) {
  if (!sites.has_deposits()) return false;
  bool any_below = false, moves = false;
  for (std::size_t i = site * sites.n_minerals, m = 0; m < sites.n_minerals; ++m, ++i) {
    if (sites.covers[m] == 0.0)
      any_below = any_below || sites.bare[i] > 0.0;
    else
      moves = moves || (!rate.empty() && rate[i] != 0.0);
  }
  const double cover = cover_of(sites, amount, site);
  return any_below && cover < 1.0 && (cover > 0.0 || moves);
}

void cover_surfaces(std::span<const double> amount, std::span<const double> rate, double ahead, ReactiveSites& sites) {
  if (!sites.has_deposits()) return;
  std::vector<double> then(amount.begin(), amount.end());
  for (std::size_t i = 0; i < then.size() && ahead > 0.0; ++i)
    if (std::isfinite(rate[i])) then[i] -= ahead * rate[i];
  for (std::size_t s = 0; s < sites.size(); ++s) {
    const double left = 1.0 - std::min(1.0, cover_of(sites, then, s));
    for (std::size_t i = s * sites.n_minerals, m = 0; m < sites.n_minerals; ++m, ++i)
      if (sites.covers[m] == 0.0) sites.area[i] = left * sites.bare[i];
  }
}

std::int64_t ReactiveSites::bytes() const {
  return static_cast<std::int64_t>(
      sizeof(double) * (area.capacity() + bare.capacity() + film_time.capacity() + amount.capacity()) +
      sizeof(Vec3) * along.capacity() + sizeof(std::int32_t) * (volume.capacity() + special.capacity()));
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
