// SPDX-License-Identifier: BSD-3-Clause
// The boxes that a place to be followed asks for (Refinement::follows()), from what it looks at (indicator.hpp). A
// volume asks for boxes of level l + 1 around it where
//
//   value > above                    of a slope (per_width): value h_l > above, h_l the width of cells of level l [h0]
//
// and for them to stay down to `keep`. A box is as strong as the largest value over `above` of all volumes that ask for
// it; where `above` is not positive all are as strong as one another.
#pragma once

#include "grid/asked_boxes.hpp"
#include "transport/regrid/indicator.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// Whether a volume of this rank is coarser than the rule asks for.
/// @param[in,out] boxes  boxes that own volumes ask for are added, each once, increasing: those of the rule with its
///                     buffer, from `keep` on; nullptr: they are not wanted
/// Not collective.
bool flag_boxes(const ScalarGrid& grid, const Refinement& rule, const Indicator& indicator, AskedBoxes* boxes);

}  // namespace karst
