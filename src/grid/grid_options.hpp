// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/deck/deck.hpp"
#include "grid/layout.hpp"

namespace karst {

/// One [[grid.refine]]: the part of the domain to be covered by boxes of a finer level (and of all levels below it).
struct Refinement {
  enum class Where { wall, region };
  int level = 1;
  Where where = Where::wall;
  Vec3 lo, hi;     ///< region: corners [m]
  int buffer = 2;  ///< cells of the next coarser level added around
};

/// Boxes that a run asks for beside those of the deck: [level - 1], strictly increasing Morton keys of their lattice
/// positions, the same on every rank.
using FlaggedBoxes = std::vector<std::vector<std::uint64_t>>;

/// The [grid] table of the deck.
struct GridOptions {
  Index cells;  ///< of level 0; 0 0 0: to be taken from the image
  Vec3 size;    ///< of the domain [m]; 0 0 0: to be taken from the image
  std::array<bool, 3> periodic{};
  int box = 16;
  int levels = 1;
  std::vector<Refinement> refine;
  FlaggedBoxes flagged{};  ///< not in the deck

  Domain domain() const { return {cells, periodic}; }
  double cell_width() const { return size[0] / cells[0]; }  ///< of level 0 [m]
};

/// The same grid with these boxes, and as many levels as they need.
GridOptions with_flagged(GridOptions grid, FlaggedBoxes flagged);

/// Declares and reads the keys of [grid]; errors go to the reader. Values that an image may supply (cells, size) are
/// not required here: check the result with not_cubes().
void read(Reader& in, GridOptions& grid);

/// Error message if cells and size do not give cubes (widths equal to 1e-6), otherwise empty.
std::string not_cubes(const GridOptions& grid);

}  // namespace karst
