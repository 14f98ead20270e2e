// SPDX-License-Identifier: BSD-3-Clause
// Boxes that are the same on two grids, one after the other, with all that is around them: what follows from their VoFs
// and those near them is the same there but for the numbers of unknowns, boxes and places, and can be taken from the
// grid before (decision 079). Only boxes of this rank whose surroundings are of this rank, too.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "fields/composite.hpp"

namespace karst {

struct SameBoxes {
  std::shared_ptr<const Composite> before;
  std::vector<std::vector<std::int32_t>> box;  ///< [level][own box]: the own box of the grid before; -1: has changed
  /// [own unknown before]: own unknown of the same VoF, where its box is the same, whatever is around it; -1: none.
  /// Increasing.
  std::vector<std::int32_t> now;

  std::int32_t of(int level, std::int64_t local) const { return box[level][local]; }
  /// The same unknown, of one that has not changed.
  GlobalNumber number(const Composite& grid, GlobalNumber of_before) const {
    return grid.numbering().first() + now[of_before - before->numbering().first()];
  }
};

/// Compares all data of the VoFs, those up to 16 cells around a box included. Threaded; not collective.
SameBoxes compare_boxes(std::shared_ptr<const Composite> before, const Composite& now);

}  // namespace karst
