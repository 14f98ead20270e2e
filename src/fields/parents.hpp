// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "fields/composite.hpp"

namespace karst {

/// The VoF of level l under each own VoF of level l + 1, box after box: that of its cell, or the home of the fluid in
/// its cell (cell merging); of several, the one with the nearest fluid; no_face where the coarse level has no fluid.
/// Collective.
/// @param wanted  own boxes of level l + 1, 0: its VoFs get no_face; empty: all are wanted
std::vector<VofName> find_parents(const Composite& grid, int l, std::span<const std::uint8_t> wanted = {});

}  // namespace karst
