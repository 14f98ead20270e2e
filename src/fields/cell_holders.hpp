// SPDX-License-Identifier: BSD-3-Clause
// Which VoFs hold the fluid of cells: for questions by place, also from other grids with the same walls.
#pragma once

#include <functional>
#include <vector>

#include "eb/link/level_geometry.hpp"

namespace karst {

/// A place in a cell, from its centre, in its widths.
struct CellPlace {
  Index cell;
  Vec3 at;
};

/// The VoFs with fluid in the cells of an own box. For set-up only.
class CellHolders {
 public:
  CellHolders(const LevelGeometry& level, int box);
  /// That of the cell, of several the one with the nearest fluid; without one the home of the largest part of its fluid
  /// (cell merging), maybe of another box; no_face: the cell has no fluid.
  VofName at(const CellPlace& place) const;
  /// The VoF of the box with the nearest fluid, in any cell, among those wanted; no_face: none is.
  VofName nearest(const CellPlace& place, const std::function<bool(int vof)>& wanted) const;

 private:
  struct Holder {
    int cell;
    VofName vof;
    Vec3 centroid;
    double kappa;
  };
  BoxGraph box_;
  std::vector<Holder> vofs_, joined_;
};

}  // namespace karst
