// SPDX-License-Identifier: BSD-3-Clause
// Boxes that rules which follow the solution ask for, and those among them that a grid of limited size may have
// (decision 066).
//
//   n(b)  unknowns that box b of level l counts for: 8^l for each cell of level 0 with fluid in it. A cell of level l
//         with fluid lies in one of level 0 with fluid, so n is not below the number of its cells with fluid
//
// A box in place of its cells of the next coarser level adds n(b) (1 - 1/8), whatever finer boxes there are.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/grid_options.hpp"
#include "grid/hierarchy.hpp"

namespace karst {

struct AskedBox {
  std::uint64_t key;  ///< Morton key of its position on the lattice of its level
  double strength;    ///< largest value over its threshold, of all cells and rules that ask for it
};
/// [level - 1], increasing keys.
using AskedBoxes = std::vector<std::vector<AskedBox>>;

/// Sorts by key and leaves of equal ones that of the largest strength.
void sort_unique(std::vector<AskedBox>& boxes);
/// Of all ranks, with the boxes that hold them on coarser levels, which are as strong. The same on every rank.
/// Collective.
AskedBoxes gather(const Comm& comm, AskedBoxes boxes);
/// With the boxes that hold them on coarser levels, which are as strong, each once. Not collective.
AskedBoxes with_holders(AskedBoxes boxes);
FlaggedBoxes keys_of(const AskedBoxes& boxes);

/// The grid without rules that follow the solution, to which their boxes are added.
struct BaseGrid {
  std::int64_t unknowns = 0;  ///< of all levels
  FlaggedBoxes boxes;         ///< of its finer levels
};

struct LimitedBoxes {
  FlaggedBoxes boxes;
  std::int64_t left_out = 0;  ///< boxes that were asked for and would exceed the limit
};
/// Offsets of the cells with fluid of an own box of level 0, as often as they have pieces of it. Called from several
/// threads.
using FluidOfBox = std::function<std::vector<std::uint16_t>(int local)>;

/// The boxes in the order of their strength, coarse before fine, then along the Morton curve, each with what nesting
/// needs beside it, as long as the unknowns of the base grid and what they add are no more than the limit; one that
/// does not fit is left out, and smaller ones may follow. A box that is there counts as `stays` times as strong, so
/// that two of nearly the same strength do not take turns. The same on every rank, for any number of ranks. Collective.
/// @param level0  layout of level 0
/// @param fluid   of its boxes
/// @param asked   of all ranks
/// @param now     boxes that are there
LimitedBoxes within_limit(const Comm& comm, const Layout& level0, const FluidOfBox& fluid, const BaseGrid& base,
                          const AskedBoxes& asked, const FlaggedBoxes& now, std::int64_t max_cells);
inline constexpr double stays = 1.5;

}  // namespace karst
