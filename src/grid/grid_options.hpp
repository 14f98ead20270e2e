// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
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

/// The [grid] table of the deck.
struct GridOptions {
  Index cells;  ///< of level 0; 0 0 0: to be taken from the image
  Vec3 size;    ///< of the domain [m]; 0 0 0: to be taken from the image
  std::array<bool, 3> periodic{};
  int box = 16;
  int levels = 1;
  std::vector<Refinement> refine;

  Domain domain() const { return {cells, periodic}; }
  double cell_width() const { return size[0] / cells[0]; }  ///< of level 0 [m]
};

/// Declares and reads the keys of [grid]; errors go to the reader. Values that an image may supply (cells, size) are
/// not required here: check the result with not_cubes().
void read(Reader& in, GridOptions& grid);

/// Error message if cells and size do not give cubes (widths equal to 1e-6), otherwise empty.
std::string not_cubes(const GridOptions& grid);

}  // namespace karst
