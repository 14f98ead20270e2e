// SPDX-License-Identifier: BSD-3-Clause
// Two geometries of the same grid and levels whose walls differ: where the fluid of each volume of the later one was in
// the earlier one, from the piece maps of their levels (eb/moving/piece_map.hpp). What is kept of which quantity:
// values_on_other_walls.hpp.
#pragma once

#include <memory>
#include <vector>

#include "eb/moving/piece_map.hpp"
#include "transport/regrid/neighbour_rounds.hpp"

namespace karst {

/// Made by compare_walls(), then constant but for buffers of exchanges. Volumes in h0³.
struct WallChange {
  WallChange(std::shared_ptr<ScalarGrid> from_grid, std::shared_ptr<ScalarGrid> to_grid)
      : shared_from(std::move(from_grid)), shared_to(std::move(to_grid)), from(*shared_from), to(*shared_to) {}

  static constexpr std::int32_t from_pore = -1;  ///< source of what was in a pore that the earlier geometry removed

  /// Fluid of a volume that was in an old one.
  struct Part {
    std::int32_t source;  ///< own old volume, or behind them one that arrives; or from_pore
    double kept, taken;   ///< in both; with what opened beside it
    Vec3 at;              ///< centroid of `kept`, from the centre of the cell of the source [h0]
  };
  /// Of an own old volume that was not a whole cell or is none now.
  struct Old {
    std::int32_t volume;
    double kept, closed;  ///< Σ: its volume
    double opened;        ///< beside it
    double cut_off;       ///< of kept: in pores that are removed now
    Vec3 at;              ///< centroid of `kept`, from the centre of its cell [h0]
    double reach;         ///< from there to the farthest of its pieces [h0]; 0: they are in one volume now
  };

  std::shared_ptr<ScalarGrid> shared_from, shared_to;  ///< scalar_grid_of()
  ScalarGrid &from, &to;

  // Of the later grid.
  std::vector<std::int32_t> same;  ///< [own volume] source of a cell that is whole as it was; -1: in `listed`
  std::vector<std::int32_t> listed;
  std::vector<std::int64_t> part_begin{0};  ///< per listed volume: first of its parts, and the end
  std::vector<Part> parts;
  std::vector<double> opened;  ///< parallel to listed: fluid that was in no piece
  NeighbourRounds born;        ///< of those without parts
  ListExchange exchange;       ///< of what old volumes have

  // Of the earlier grid.
  std::vector<Old> old;    ///< increasing
  NeighbourRounds closed;  ///< of those that are solid wholly

  // Over all ranks.
  VolumeEvents events;  ///< of all levels, covered volumes included
  struct Volumes {
    double opened = 0.0, closed = 0.0;
    double entered = 0.0;  ///< that were in pores that had been removed
    double cut_off = 0.0;  ///< in pores that are removed now
  } volumes;

  std::int64_t bytes() const;  ///< of this rank, without exchanges and grids
};

/// Transport grids that are in use are taken, the others are made and held by the comparison alone. Throws the same
/// Error on all ranks where grids or levels differ, or a geometry was built without its pieces. Collective.
WallChange compare_walls(const std::shared_ptr<const Composite>& from, const std::shared_ptr<const Composite>& to);

}  // namespace karst
