// SPDX-License-Identifier: BSD-3-Clause
#include "grid/rank_plan.hpp"

#include <algorithm>
#include <limits>

#include "base/comm/parallel.hpp"

namespace karst {

namespace {

/// Of one rank.
struct Share {
  double boxes = 0.0, cells = 0.0, messages = 0.0, with_edges = 0.0, sent = 0.0;
};

/// Adds what a rank has and sends on a level. A face of a box goes once to each rank behind it.
void add_level(const Layout& layout, int rank, Share& share) {
  const auto [first, last] = layout.owned(rank);
  std::vector<int> peers, over_edges;
  const auto is_other = [&](std::int64_t b) { return b >= 0 && (b < first || b >= last); };
  for (std::int64_t b = first; b < last; ++b) {
    const Box box = layout.box(b);
    const Index position = layout.lattice_position(b), size = box.size();
    share.cells += static_cast<double>(box.count());
    for (int d = 0; d < 3; ++d)
      for (const int step : {-1, 1}) {
        Index next = position;
        next[d] += step;
        const std::int64_t other = layout.find(next);
        if (is_other(other)) {
          peers.push_back(layout.owner(other));
          share.sent += static_cast<double>(box.count()) / size[d];
        }
        for (const int aside : {-1, 1}) {
          Index diagonal = next;
          diagonal[(d + 1) % 3] += aside;
          if (const std::int64_t edge = layout.find(diagonal); is_other(edge)) over_edges.push_back(layout.owner(edge));
        }
      }
  }
  over_edges.insert(over_edges.end(), peers.begin(), peers.end());
  std::ranges::sort(peers);
  std::ranges::sort(over_edges);
  share.boxes += static_cast<double>(last - first);
  share.messages += static_cast<double>(std::ranges::unique(peers).begin() - peers.begin());
  share.with_edges += static_cast<double>(std::ranges::unique(over_edges).begin() - over_edges.begin());
}

OverRanks over(const std::vector<Share>& shares, double (*number)(const Share&)) {
  OverRanks found{std::numeric_limits<double>::infinity(), 0.0, 0.0};
  double n = 0.0;
  for (const Share& s : shares) {
    const double x = number(s);
    if (!(x >= 0.0)) continue;
    found.least = std::min(found.least, x);
    found.most = std::max(found.most, x);
    found.mean += x;
    n += 1.0;
  }
  found.mean /= std::max(n, 1.0);
  return found;
}

}  // namespace

RankPlan plan_ranks(std::span<const Layout* const> layouts) {
  std::vector<Share> shares(layouts.front()->n_ranks());
  parallel_for_dynamic(std::ssize(shares), [&](std::int64_t r) {
    for (const Layout* layout : layouts) add_level(*layout, static_cast<int>(r), shares[r]);
  });
  RankPlan plan;
  for (const Layout* layout : layouts) plan.boxes += layout->n_boxes();
  plan.boxes_of_rank = over(shares, [](const Share& s) { return s.boxes; });
  plan.messages = over(shares, [](const Share& s) { return s.messages; });
  plan.messages_with_edges = over(shares, [](const Share& s) { return s.with_edges; });
  plan.cells = over(shares, [](const Share& s) { return s.sent; });
  // Not a number, and left out, where a rank has no boxes.
  plan.surface = over(shares, [](const Share& s) { return s.sent / s.cells; });
  return plan;
}

}  // namespace karst
