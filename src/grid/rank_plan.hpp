// SPDX-License-Identifier: BSD-3-Clause
// Prediction of the halo exchange on any number of ranks from layouts alone, to plan runs on other machines.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grid/layout.hpp"

namespace karst {

/// Statistics of a number over the ranks.
struct OverRanks {
  double least = 0.0, mean = 0.0, most = 0.0;
};

/// One halo exchange of one value on every level. Cells are those of boxes, fluid or not: an upper bound, exact if all
/// cells are fluid.
struct RankPlan {
  std::int64_t boxes = 0;
  OverRanks boxes_of_rank;
  OverRanks
      messages;  ///< messages that a rank sends: to each rank with a box across a face of one of its own, per level
  /// The same including edges: the maximum where walls cross the edges of boxes, because cut cells may have a face with
  /// a diagonal neighbour.
  OverRanks messages_with_edges;
  OverRanks cells;    ///< bytes of these messages
  OverRanks surface;  ///< cells sent over cells of own boxes; of ranks that have boxes
};

/// @param layouts  of all levels, distributed to the same number of ranks. O(boxes log boxes), threaded. Not
/// collective.
RankPlan plan_ranks(std::span<const Layout* const> layouts);

}  // namespace karst
