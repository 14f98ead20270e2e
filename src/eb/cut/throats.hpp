// SPDX-License-Identifier: BSD-3-Clause
// Throats: where a pore is narrow from wall to wall. From a point x of the wall, with the normal n into the fluid,
//
//   w(x) = the least t > 0 with φ(x + t n) <= 0,
//
// the width of the pore there; a ray that leaves the domain through a side that is not periodic has none. All cells
// along a ray of less than so many cells are in a throat. Walls are found in cells whose centre and centres of faces
// are not of one kind, and rays are sampled four times per cell.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "eb/shapes/level_set.hpp"
#include "grid/grid_options.hpp"

namespace karst {

/// Visits cells along the rays that begin in these cells; some more than once, and beyond periodic sides.
/// @param domain   in cells of the level
/// @param n_cells  width of a throat, exclusive
/// Not collective; thread-safe.
void for_each_throat_cell(const LevelSet& level_set, const Domain& domain, int level, int n_cells, const Box& cells,
                          const std::function<void(const Index& cell)>& visit);

/// Cells beyond those asked for that for_each_throat_cell() looks at.
constexpr int reach_of_throats(int n_cells) { return n_cells + 4; }

/// The boxes over throats of a grid, level by level.
class ThroatBoxes {
 public:
  /// Those of the next level, once per level, where a rule asks for them. Collective.
  /// @param boxes  of the level and this rank; all ranks together have all with fluid
  void find(const Comm& comm, const GridOptions& grid, const LevelSet& level_set, int level,
            std::span<const Box> boxes);
  /// Whether a throat, with the buffer of its rule, meets an octant of a box of the level. Not collective.
  bool meets(const GridOptions& grid, int level, const Box& octant) const;

 private:
  std::vector<std::vector<std::uint64_t>> keys_;  // [level], of boxes of the next one
};

}  // namespace karst
