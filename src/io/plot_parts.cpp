// SPDX-License-Identifier: BSD-3-Clause
#include "io/plot_parts.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <queue>

namespace karst {

namespace {

/// Parts of each machine, at least one and at most one per rank; as many ranks in each as can be.
std::vector<int> shares(const std::vector<int>& ranks, int n) {
  std::vector<int> parts(ranks.size(), 1);
  std::priority_queue<std::pair<double, int>> most;  // ranks of a part; minus the machine
  for (int m = 0; m < std::ssize(ranks); ++m) most.emplace(ranks[m], -m);
  for (auto left = n - static_cast<int>(std::ssize(ranks)); left > 0; --left) {
    const int m = -most.top().second;
    most.pop();
    ++parts[m];
    most.emplace(static_cast<double>(ranks[m]) / parts[m], -m);
  }
  return parts;
}

}  // namespace

std::vector<int> parts_of_ranks(std::span<const int> machines, int n) {
  std::map<int, std::size_t> number;  // of a machine, by its lowest rank
  std::vector<int> ranks;             // on each
  for (const int m : machines) {
    const auto [at, is_new] = number.try_emplace(m, ranks.size());
    if (is_new) ranks.push_back(0);
    ++ranks[at->second];
  }
  const auto n_machines = static_cast<int>(ranks.size());
  std::vector<int> begin(ranks.size()), parts(ranks.size(), 1), before(ranks.size());
  if (n > n_machines) parts = shares(ranks, n);
  for (int m = 1; m < n_machines; ++m) begin[m] = begin[m - 1] + parts[m - 1];
  if (n <= n_machines)
    for (int m = 0; m < n_machines; ++m) begin[m] = static_cast<int>(std::int64_t{m} * n / n_machines);
  std::vector<int> part;
  for (const int machine : machines) {
    const std::size_t m = number.at(machine);
    part.push_back(begin[m] + static_cast<int>(std::int64_t{before[m]++} * parts[m] / ranks[m]));
  }
  return part;
}

PartRuns part_runs(const Layout& layout, std::span<const int> part_of_rank) {
  using Counts = std::array<std::int64_t, PlotOrder::n_classes>;
  const std::size_t n_parts = *std::ranges::max_element(part_of_rank) + 1;
  std::vector<Counts> on_rank(part_of_rank.size()), next(n_parts);
  for (std::size_t r = 0; r < on_rank.size(); ++r) {
    const auto [first, last] = layout.owned(static_cast<int>(r));
    for (std::int64_t b = first; b < last; ++b) on_rank[r][size_class(layout, b)] += layout.box(b).count();
  }
  PartRuns all;
  all.cells.resize(n_parts);
  for (std::size_t c = 0; c < PlotOrder::n_classes; ++c) {
    for (std::size_t p = 0; p < n_parts; ++p) next[p][c] = all.cells[p];
    for (std::size_t r = 0; r < on_rank.size(); ++r) all.cells[part_of_rank[r]] += on_rank[r][c];
  }
  std::int64_t to = 0;
  for (std::size_t c = 0; c < PlotOrder::n_classes; ++c)
    for (std::size_t r = 0; r < on_rank.size(); ++r) {
      const std::int64_t cells = on_rank[r][c];
      if (cells == 0) continue;
      std::int64_t& from = next[part_of_rank[r]][c];
      PartRun* last = all.runs.empty() ? nullptr : &all.runs.back();
      if (last != nullptr && last->part == part_of_rank[r])
        last->cells += cells;  // what follows in the whole does so in the part
      else
        all.runs.push_back({part_of_rank[r], from, to, cells});
      from += cells;
      to += cells;
    }
  return all;
}

}  // namespace karst
