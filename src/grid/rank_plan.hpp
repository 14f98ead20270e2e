// SPDX-License-Identifier: BSD-3-Clause
// What the exchange of halos will be on any number of ranks, from layouts alone: for machines that are not there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grid/layout.hpp"

namespace karst {

/// A number over the ranks.
struct OverRanks {
  double least = 0.0, mean = 0.0, most = 0.0;
};

/// Halo exchanges of one value on every level once. Cells are those of boxes, fluid or not: a bound, and the fluid
/// where all is fluid.
struct RankPlan {
  std::int64_t boxes = 0;
  OverRanks boxes_of_rank;
  OverRanks messages;  ///< that a rank sends: to each rank with a box across a face of one of its own, per level
  /// The same across edges, too: the most that it sends where walls cross the edges of boxes, as cut cells may have a
  /// face with a diagonal neighbour.
  OverRanks messages_with_edges;
  OverRanks cells;    ///< that they carry
  OverRanks surface;  ///< cells sent over cells of own boxes; of ranks that have boxes
};

/// @param layouts  of all levels, dealt out to the same number of ranks
/// O(boxes log boxes), threaded. Not collective.
RankPlan plan_ranks(std::span<const Layout* const> layouts);

}  // namespace karst
