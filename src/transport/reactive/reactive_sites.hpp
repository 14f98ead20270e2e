// SPDX-License-Identifier: BSD-3-Clause
// Reaction sites: a site is a control volume with the mineral surface in contact with its water, in the volume (porous
// bulk) or behind the film at its wall.
//
// A *deposit* is a mineral on walls of which there is as much as has precipitated (decision 065). It reacts with all of
// the surface that it may lie on, and covers what lies below: of n_d moles per area of a wall
//
//   x_d = n_d / covers_d,    a = (1 - min(1, Σ_d x_d)) a_bare    of all minerals that are no deposits.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "solvers/elliptic/elliptic_problem.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// Sites of this rank, at most one per own volume. A volume V with the wall area A, whose mean is the value at the
/// distance d from the wall, has the surface a = A / (V ρ) per kilogram of water and the film time τ = d V / (D A): the
/// wall sees
///
///   T_wall = T + g·t + τ a Σ ν r(T_wall),
///
/// t along the wall from the centroid of the volume to the foot of its film, g the least-squares gradient. Surfaces in
/// the volume have no film, τ = 0.
struct ReactiveSites {
  std::size_t n_minerals = 0;
  std::vector<std::int32_t> volume;   ///< own volume of each site, increasing
  std::vector<double> area;           ///< a: [site][mineral] [m²/kgw]; without films one row for all
  std::vector<double> film_time;      ///< τ: [site] [s]; without films empty, as the next two
  std::vector<std::int32_t> special;  ///< [site] place in ScalarGrid::special, whose gradient is g; -1: no term g·t
  std::vector<Vec3> along;            ///< t: [site] [h0]
  GivenSides given{};                 ///< where totals are given on the ends of the domain: g reads them
  std::vector<double> amount;         ///< [mineral] that can dissolve at each site [mol/kgw]; infinite: it does not end
  std::vector<double> covers{};       ///< [mineral] of a deposit, per area of its surface a [mol/m²]; 0: it is none
  std::vector<double> bare{};         ///< a where nothing is covered; empty without deposits, as is `covers`

  std::size_t size() const { return volume.size(); }
  bool has_films() const { return !film_time.empty(); }
  bool ends() const;  ///< any of the minerals
  bool has_deposits() const { return !covers.empty(); }
  double area_of(std::size_t site, std::size_t mineral) const {
    return area[(has_films() ? site * n_minerals : 0) + mineral];
  }
  std::int64_t bytes() const;
};

/// Properties of the fluid for sites at walls.
struct FilmOptions {
  double diffusivity = 0.0;    ///< D [h0²/s] > 0
  double width = 1.0;          ///< h0 [m]
  double water = 997.0;        ///< ρ: kilograms of water in a cubic metre of fluid
  bool along_the_wall = true;  ///< the term g·t; for tests
  GivenSides given{};          ///< one of those that the grid was made with
};

/// Sites at the walls: each mineral covers a fraction of the area of a piece; pieces without minerals are not sites.
/// Not collective.
/// @param fraction  (piece, [out] per mineral)
ReactiveSites wall_sites(const ScalarGrid& grid, std::size_t n_minerals, const FilmOptions& options,
                         const std::function<void(const WallPiece&, std::span<double>)>& fraction);

/// Says which minerals at walls are deposits; there is nothing of them yet. Not collective.
/// @param covers  as ReactiveSites::covers
void set_deposits(std::span<const double> covers, ReactiveSites& sites);

/// Part of the walls of a site that a deposit covers, where all together cover it at most once. Not collective.
/// @param amount  [site][mineral] [mol/kgw]
double covered_by(const ReactiveSites& sites, std::span<const double> amount, std::size_t site, std::size_t mineral);
/// Σ x_d, above 1 where the cover is thicker than need be.
double cover_of(const ReactiveSites& sites, std::span<const double> amount, std::size_t site);
/// Areas of the site go with what lies on it: it covers a part of what reacts below, or begins to with these rates.
/// @param amount, rate  [site][mineral]; rate may be empty
bool areas_change(const ReactiveSites& sites, std::span<const double> amount, std::span<const double> rate,
                  std::size_t site);
/// The areas of all sites under what will lie on them in a time, by rates of before. Not collective.
/// @param rate   [site][mineral] [mol/kgw/s]; NaN: not known
/// @param ahead  [s]
void cover_surfaces(std::span<const double> amount, std::span<const double> rate, double ahead, ReactiveSites& sites);

/// Whether the wall of an irregular volume is a site where minerals cover it: all but fragments without fluid.
/// @param inside  its cell centre lies in the fluid
bool may_react(const VofMoments& moments, bool inside);

/// The same minerals and sorbents in every volume. Not collective.
/// @param area    [mineral] [m²/kgw]; of phases in equilibrium any positive number
/// @param amount  [mineral] [mol/kgw]
ReactiveSites volume_sites(const ScalarGrid& grid, std::span<const double> area, std::span<const double> amount);

/// T + g·t of a site. The term is reduced, by the same factor for all totals, if it would take more than half of one of
/// them except the first, H+. Thread-safe. Not collective.
void find_film(const ScalarGrid& grid, const ReactiveSites& sites, std::size_t site,
               std::span<const Array<double>> totals, std::span<double> film);

}  // namespace karst
