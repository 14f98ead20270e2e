// SPDX-License-Identifier: BSD-3-Clause
// Solids of the deck whose walls stand while others move.
#pragma once

#include "app/job/job.hpp"
#include "eb/moving/moved_level_set.hpp"

namespace karst {

/// Those of minerals that no [[walls.mineral]] names: of a described union of solids themselves, else, as of an image,
/// to a cell where they touch other minerals (StandingMinerals). Not collective.
/// @param run    with the first geometry
/// @param whole  its level set; must outlive the result
StandingSolids standing_solids(const JobContext& run, const LevelSet& whole);

}  // namespace karst
