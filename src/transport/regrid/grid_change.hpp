// SPDX-License-Identifier: BSD-3-Clause
// Two grids with the same walls, cells of level 0 and box size, but other levels and owners: where the fluid of each
// volume of the new one was in the old one, its source.
//
//   the same volume        found by level, cell and centroid
//   a coarser volume       several volumes of the new grid have one source
//   several finer volumes  the source is the VoF that they covered
//
// A cell that is cut at another level has another volume of fluid, so contents cannot be kept in every cell together
// with means and bounds. See values_on_other_grid.hpp for what is kept of which quantity.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "transport/regrid/grid_places.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// Made by compare_grids(), then constant but for buffers of exchanges.
struct GridChange {
  GridChange(std::shared_ptr<ScalarGrid> from_grid, std::shared_ptr<ScalarGrid> to_grid)
      : shared_from(std::move(from_grid)), shared_to(std::move(to_grid)), from(*shared_from), to(*shared_to) {}

  std::shared_ptr<ScalarGrid> shared_from, shared_to;  ///< scalar_grid_of()
  ScalarGrid &from, &to;
  std::shared_ptr<GridPlaces> places;  ///< of the old grid
  /// What may be sources, of this rank: its own volumes, then the VoFs under finer ones (GridPlaces).
  std::int64_t n_sources = 0;

  // Of the new grid.
  std::vector<std::int32_t>
      source;                  ///< [own volume] among the sources of this rank and, behind them, those that arrive
  std::vector<RemoteItem> id;  ///< [own volume] the source: rank, and number there
  /// [own volume] its own number on the old grid where its box is there with the same VoFs; -1: it is not known there
  std::vector<std::int32_t> itself;
  /// [own volume] of those finer than their source, from the mean centroid of all of them; 0 for a single one [h0]
  std::vector<Vec3> offset;
  std::vector<double> shares;  ///< [own volume] Σ of the volumes with its source, on all ranks [h0³]
  ListExchange exchange;       ///< of what sources have

  // Of the old grid.
  /// VoFs above an own volume that are sources, from the finest on: [ancestor_begin[v], ancestor_begin[v + 1]).
  std::vector<RemoteItem> ancestors;
  std::vector<std::int64_t> ancestor_begin;
  /// [own volume] the source that takes its fluid: itself or its first ancestor. A volume that is neither a source nor
  /// has ancestors, a fragment or a piece that joins other cells on the new grid, goes to the source of the new volume
  /// that holds its fluid, or with its largest neighbour. Rank -1: none is near.
  std::vector<RemoteItem> heir;

  std::span<const RemoteItem> ancestors_of(std::int64_t v) const {
    return std::span(ancestors).subspan(ancestor_begin[v], ancestor_begin[v + 1] - ancestor_begin[v]);
  }
};

/// Sources that an earlier comparison from the same grid has found: a volume keeps its own from grid to grid.
struct KnownSources {
  std::shared_ptr<GridPlaces> places;     ///< of that comparison
  const GridChange* step = nullptr;       ///< from the grid that it went to, to the new one
  std::span<const RemoteItem> of_before;  ///< [own volume of the grid that it went to]
};

/// Transport grids that are in use are taken, the others are made and held by the comparison alone. Throws the same
/// Error on all ranks where the grids have other boxes of level 0. Collective.
/// @param known  need not be sought again
GridChange compare_grids(const std::shared_ptr<const Composite>& from, const std::shared_ptr<const Composite>& to,
                         const KnownSources& known = {});

/// The shorter way from one place to another in a domain, through periodic sides [h0]. Not collective.
Vec3 way_between(const Domain& domain, const Vec3& from, const Vec3& to);

}  // namespace karst
