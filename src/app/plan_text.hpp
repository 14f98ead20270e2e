// SPDX-License-Identifier: BSD-3-Clause
// What `karst check --ranks N` tells of a machine that is not there.
#pragma once

#include <string>

#include "app/memory_estimate.hpp"
#include "grid/hierarchy.hpp"

namespace karst {

/// Boxes, balance and messages of the ranks that a grid is dealt out to, as lines for the terminal.
/// @param counts  of its cells: bytes go by the fluid in a box, on average
std::string plan_text(const GridHierarchy& grid, const GridCounts& counts);

}  // namespace karst
