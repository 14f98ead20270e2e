// SPDX-License-Identifier: BSD-3-Clause
// The boxes that a place to be followed asks for (Refinement::follows()), from the values of a component. With C the
// differences to the neighbours across faces, where the flow enters and on fixed sides to the value given there,
//
//   front     [min, max] of a volume and a neighbour meets (low, high)
//   gradient  |C| h_L / h > change, h the width of the volume's cell, h_L that of the cells to be refined
#pragma once

#include <span>

#include "grid/grid_options.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// Whether a volume of this rank is coarser than the rule asks for.
/// @param values       n_all, those of other ranks filled
/// @param at_ends      one per ScalarGrid::boundary; NaN: none
/// @param[in,out] boxes  [level - 1] keys of boxes that own volumes ask for are added, each once, increasing: those of
///                     the rule with its buffer, of a gradient from half the change on; nullptr: they are not wanted
/// Not collective.
bool flag_boxes(const ScalarGrid& grid, const Refinement& rule, std::span<const double> values,
                std::span<const double> at_ends, FlaggedBoxes* boxes);

}  // namespace karst
