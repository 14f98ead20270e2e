// SPDX-License-Identifier: BSD-3-Clause
// VoFs around which nothing changes from one grid to the next, one by one, in boxes that are near a change.
#pragma once

#include <cstdint>
#include <vector>

#include "fields/same_boxes.hpp"

namespace karst {

/// [own unknown of the new grid]: in a box of same.partly the number of faces, up to 3, within which all stays: VoFs
/// that are no more than so many faces away are in boxes with the same VoFs, and have the same faces, to the same VoFs.
/// 0 also for isolated fragments, beside these and beside another level, and in other boxes. Threaded; not collective.
std::vector<std::uint8_t> staying_unknowns(const Composite& before, const Composite& now, const SameBoxes& same);

}  // namespace karst
