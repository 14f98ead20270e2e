// SPDX-License-Identifier: BSD-3-Clause
// Neighbours of boxes: arithmetic on lattice positions and a binary search each (decision D1); no all-pairs work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "grid/layout.hpp"

namespace karst {

struct BoxNeighbour {
  std::int64_t box;  ///< in the layout
  std::int32_t owner;
  std::array<std::int8_t, 3> offset;  ///< lattice steps to it, each -1, 0 or 1, before periodic wrapping
};

/// The up to 26 neighbours of each box of one rank. A periodic domain one box wide makes a box its own neighbour.
class NeighbourPlan {
 public:
  NeighbourPlan() = default;
  /// Any rank of the layout, not only the calling one. O(n log n). Not collective.
  NeighbourPlan(const Layout& layout, int rank);

  int n_local() const { return static_cast<int>(begin_.size()) - 1; }
  std::span<const BoxNeighbour> of(int local) const {
    const auto b = static_cast<std::size_t>(local);
    return std::span(neighbours_).subspan(begin_[b], begin_[b + 1] - begin_[b]);
  }
  /// Other ranks that own a neighbour, increasing.
  const std::vector<int>& ranks() const { return ranks_; }
  std::int64_t bytes() const;

 private:
  std::vector<std::size_t> begin_{0};
  std::vector<BoxNeighbour> neighbours_;
  std::vector<int> ranks_;
};

}  // namespace karst
