// SPDX-License-Identifier: BSD-3-Clause
#include "transport/reactive/reactive_sites.hpp"

#include <algorithm>
#include <limits>

#include "solvers/elliptic/row_maker.hpp"

namespace karst {

namespace {

constexpr double most_of_film = 0.5;  ///< of a total that the term along the wall may take
constexpr double least_film = 0.05;   ///< distance of a mean from the wall / h, as in the step of low order

/// Place among the special volumes, -1 for plain ones.
std::vector<std::int64_t> special_places(const ScalarGrid& grid) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(grid.n_own), -1);
  for (std::size_t s = 0; s < grid.special.size(); ++s) places[grid.special[s]] = static_cast<std::int64_t>(s);
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
  for (int l = 0; l < composite.n_levels(); ++l) {
    const LevelGeometry& level = composite.level(l);
    for (int b = 0; b < level.graph.n_local(); ++b) {
      const BoxGraph graph = level.graph.box(b);
      std::int64_t row = level.moments_begin[b];
      for (std::size_t r = 0; r < static_cast<std::size_t>(graph.n_irregular); ++r, ++row) {
        const std::int32_t v = composite.numbering().number(l, b, graph.row_vof[r]);
        const auto i = static_cast<std::size_t>(row);
        const VofMoments& m = level.moments[i];
        const bool inside = level.centers.size() == 0 || level.centers[i].inside;
        if (v < 0 || !(m.wall_area > 0.0) || (!inside && m.wall_area > crumb * m.kappa)) continue;
        const Index cell = graph.cells.cell(graph.row_cell[r]);
        walls.push_back({v, l, row, {cell[0] + 0.5, cell[1] + 0.5, cell[2] + 0.5}});
      }
    }
  }
  std::ranges::sort(walls, {}, &Wall::volume);
  return walls;
}

/// Terms of the gradient along t.
void add_terms(const ScalarGrid& grid, std::int64_t special, const Vec3& t, ReactiveSites& sites) {
  const auto s = static_cast<std::size_t>(special);
  for (auto k = static_cast<std::size_t>(grid.special_begin[s]);
       k < static_cast<std::size_t>(grid.special_begin[s + 1]); ++k) {
    const double weight = dot(grid.weights[k], t);
    if (weight == 0.0) continue;
    sites.other.push_back(grid.volume_faces[k].other());
    sites.weight.push_back(weight);
  }
}

}  // namespace

std::int64_t ReactiveSites::bytes() const {
  return static_cast<std::int64_t>(sizeof(double) * (area.capacity() + film_time.capacity() + amount.capacity() +
                                                     weight.capacity() + begin.capacity()) +
                                   sizeof(std::int32_t) * (volume.capacity() + other.capacity()));
}

ReactiveSites wall_sites(const ScalarGrid& grid, std::size_t n_minerals, const FilmOptions& options,
                         const std::function<void(const WallPiece&, std::span<double>)>& fraction) {
  ReactiveSites sites;
  sites.n_minerals = n_minerals;
  const std::vector<std::int64_t> special = special_places(grid);
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
    if (options.along_the_wall && faces_one_way && special[wall.volume] >= 0)
      add_terms(grid, special[wall.volume], h * (normal * piece.normal - to_wall), sites);
    sites.begin.push_back(std::ssize(sites.other));
  }
  sites.amount.resize(sites.area.size(), std::numeric_limits<double>::infinity());
  return sites;
}

ReactiveSites volume_sites(const ScalarGrid& grid, std::span<const double> area, std::span<const double> amount) {
  ReactiveSites sites;
  sites.n_minerals = area.size();
  for (std::int32_t v = 0; v < grid.n_own; ++v) {
    sites.volume.push_back(v);
    sites.area.insert(sites.area.end(), area.begin(), area.end());
    sites.amount.insert(sites.amount.end(), amount.begin(), amount.end());
    sites.film_time.push_back(0.0);
    sites.begin.push_back(0);
  }
  return sites;
}

void find_film(const ReactiveSites& sites, std::size_t site, std::span<const Array<double>> totals,
               std::span<double> film) {
  const auto v = static_cast<std::size_t>(sites.volume[site]);
  const auto begin = static_cast<std::size_t>(sites.begin[site]), end = static_cast<std::size_t>(sites.begin[site + 1]);
  double part = 1.0;
  for (std::size_t p = 0; p < film.size(); ++p) {
    const Array<double>& t = totals[p];
    film[p] = 0.0;
    for (std::size_t k = begin; k < end; ++k) film[p] += sites.weight[k] * (t[sites.other[k]] - t[v]);
    if (p > 0 && -film[p] > most_of_film * t[v]) part = std::min(part, std::max(0.0, most_of_film * t[v] / -film[p]));
  }
  for (std::size_t p = 0; p < film.size(); ++p) film[p] = totals[p][v] + part * film[p];
}

}  // namespace karst
