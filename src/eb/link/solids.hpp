// SPDX-License-Identifier: BSD-3-Clause
// Connected components of the solid: grains, and fragments that no longer hold on to anything.
#pragma once

#include <vector>

#include "eb/link/components.hpp"
#include "eb/shapes/level_set.hpp"

namespace karst {

struct Solids {
  Components components;
  std::vector<double> volumes;  ///< of each mineral of the level set [h³]
};

/// On the cells of level 0, whatever finer levels there are: the level set is cut with its signs exchanged and goes the
/// way of the fluid. Solid or fluid that is thinner than a quarter of a cell may hold nothing together, or keep
/// nothing apart. A piece in a cut cell is of the minerals at its centroid. Collective.
Solids find_solids(const Comm& comm, const Domain& domain, int box_size, const LevelSet& level_set);

}  // namespace karst
