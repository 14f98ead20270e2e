// SPDX-License-Identifier: BSD-3-Clause
// What cells of a grid gain and lose of fluid while walls move, and their grid with them.
#pragma once

#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "eb/link/level_geometry.hpp"
#include "grid/hierarchy.hpp"

namespace karst {

/// The walls of a geometry.
struct WallPieces {
  const GridHierarchy& grid;
  std::span<const LevelGeometry> levels;
};

/// Fluid of a cell [h0³], finer levels included.
struct CellChange {
  Index cell;  ///< of its level
  int level;
  double before, after;
};

inline Index coarse_cell(const Index& cell, int level) {
  return {cell[0] >> level, cell[1] >> level, cell[2] >> level};
}

/// Of the cells that have a wall before or after, or had one beside them: within each cell of level 0 those of the
/// finest level to which both geometries know them. Each is on one rank. Collective.
std::vector<CellChange> changes_of_cells(const Comm& comm, const WallPieces& before, const WallPieces& after);

}  // namespace karst
