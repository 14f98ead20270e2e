// SPDX-License-Identifier: BSD-3-Clause
// Values on equal cells as a file of ParaView, VisIt and VTK (ImageData, XML with appended raw data, .vti).
#pragma once

#include <string>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/math/triple.hpp"

namespace karst {

struct GridArray {
  std::string name, unit;
  int components = 1;         ///< of each cell, side by side
  std::vector<float> values;  ///< x fastest; NaN where there is none
};

/// Boxes of cells, which may be bricks.
struct GridValues {
  Index cells;
  Vec3 origin, spacing;  ///< low corner, edges of a cell [m]
  double time = 0.0;     ///< [s]
  std::vector<GridArray> arrays;
};

/// Writes the values of rank 0, completely or not at all. Throws the same Error on every rank: path and reason.
/// Collective.
void write_grid(const Comm& comm, const std::string& path, const GridValues& grid);

}  // namespace karst
