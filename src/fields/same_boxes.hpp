// SPDX-License-Identifier: BSD-3-Clause
// Boxes that are the same on two grids, one after the other, with all that is around them: what follows from their VoFs
// and those near them is the same there but for the numbers of unknowns, boxes and places, and can be taken from the
// grid before (decision 079). Only boxes of this rank whose surroundings are of this rank, too.
#pragma once

#include <cstdint>
#include <vector>

#include "fields/composite.hpp"

namespace karst {

struct SameBoxes {
  /// Own box of the grid before, and its own unknowns [begin, end); -1: there is none that is the same.
  struct Box {
    std::int32_t box = -1, begin = 0, end = 0;
  };
  std::vector<std::vector<Box>> boxes;  ///< [level][own box]
  /// [level][own box]: those with the same VoFs, near something that changes: what is not in `boxes`.
  std::vector<std::vector<Box>> partly;
  std::vector<std::uint8_t> stays;  ///< [own unknown now]: staying_unknowns()
  /// [own unknown before]: own unknown of the same VoF, where its box has the same VoFs, whatever is around it; -1:
  /// none. Increasing.
  std::vector<std::int32_t> now;

  const Box& of(int level, std::int64_t local) const { return boxes[level][local]; }
};

/// [level][own box]: it and all boxes up to 16 cells around it on its level are the same: what is made in others reads
/// nothing of it. Threaded; not collective.
std::vector<std::vector<std::uint8_t>> far_from_others(const SameBoxes& same, const Composite& now);

/// Compares all data of the VoFs, those up to 16 cells around a box included. Threaded; not collective.
SameBoxes compare_boxes(const Composite& before, const Composite& now);

}  // namespace karst
