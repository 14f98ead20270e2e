// SPDX-License-Identifier: BSD-3-Clause
// What happened to the control volumes between two geometries of the same grid whose walls differ, counted by cells.
#pragma once

#include <cstdint>

#include "base/comm/comm.hpp"
#include "eb/link/level_geometry.hpp"

namespace karst {

/// An old and a new volume are one another's successor where fluid of both is in the same cell, merged pieces included.
/// In a cell with as many old volumes as new ones, more than one, they follow each other in order.
struct VolumeEvents {
  std::int64_t born = 0;    ///< new volumes without an old one
  std::int64_t gone = 0;    ///< old volumes without a new one
  std::int64_t joined = 0;  ///< new volumes with several old ones
  std::int64_t split = 0;   ///< old volumes with several new ones
  friend bool operator==(const VolumeEvents&, const VolumeEvents&) = default;
};

/// Of one level, over all ranks. Throws Error unless both have the same cells and boxes of one size. Collective.
VolumeEvents compare_volumes(const Comm& comm, const LevelGeometry& before, const LevelGeometry& after);

}  // namespace karst
