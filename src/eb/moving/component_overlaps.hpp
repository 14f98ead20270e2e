// SPDX-License-Identifier: BSD-3-Clause
// Which pores, or which solids, of two geometries are the same: a component of one and one of the other share volume.
#pragma once

#include <vector>

#include "eb/link/components.hpp"

namespace karst {

struct ComponentOverlap {
  std::int32_t before, after;  ///< numbers in Components::all
  double volume;               ///< in both [h³]
};

/// All pairs that share volume, by `after`, then `before`; the same on every rank. Cells with several pieces follow the
/// rule of matching_pieces.hpp, so that what is on the two sides of a thin wall stays apart. Throws Error unless both
/// have boxes of one size on one domain. Collective.
std::vector<ComponentOverlap> component_overlaps(const Comm& comm, const Components& before, const Components& after);

}  // namespace karst
