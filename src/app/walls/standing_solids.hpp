// SPDX-License-Identifier: BSD-3-Clause
// Solids of the deck whose walls stand while others move.
#pragma once

#include "app/job/job.hpp"
#include "eb/moving/moved_level_set.hpp"

namespace karst {

/// Of a described union of solids, those of minerals that no [[walls.mineral]] names; none of an image, whose level set
/// knows the wall of all minerals together. Not collective.
/// @param run    with the first geometry
/// @param whole  its level set
StandingSolids standing_solids(const JobContext& run, const LevelSet& whole);

}  // namespace karst
