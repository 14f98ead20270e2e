// SPDX-License-Identifier: BSD-3-Clause
#include "grid/box_neighbours.hpp"

#include <algorithm>

namespace karst {

NeighbourPlan::NeighbourPlan(const Layout& layout, int rank) {
  const std::pair owned = layout.owned(rank);
  const std::int64_t first = owned.first, last = owned.second;  // named: clang cannot capture structured bindings
  begin_.reserve(static_cast<std::size_t>(last - first) + 1);
  neighbours_.reserve(static_cast<std::size_t>(26 * (last - first)));
  for (std::int64_t b = first; b < last; ++b) {
    const Index at = layout.lattice_position(b);
    for_each_cell({Index::all(-1), Index::all(2)}, [&](const Index& step) {
      if (step == Index{}) return;
      const std::int64_t n = layout.find(at + step);
      if (n < 0) return;
      const int owner = n >= first && n < last ? rank : layout.owner(n);
      neighbours_.push_back(
          {n,
           owner,
           {static_cast<std::int8_t>(step[0]), static_cast<std::int8_t>(step[1]), static_cast<std::int8_t>(step[2])}});
      if (owner != rank) ranks_.push_back(owner);
    });
    begin_.push_back(neighbours_.size());
  }
  neighbours_.shrink_to_fit();
  std::sort(ranks_.begin(), ranks_.end());
  ranks_.erase(std::unique(ranks_.begin(), ranks_.end()), ranks_.end());
}

std::int64_t NeighbourPlan::bytes() const {
  return static_cast<std::int64_t>(begin_.size() * sizeof(std::size_t) + neighbours_.size() * sizeof(BoxNeighbour) +
                                   ranks_.size() * sizeof(int));
}

}  // namespace karst
