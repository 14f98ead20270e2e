// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/row_builder.hpp"

#include <algorithm>

namespace karst {

void join_rows(std::vector<RowBuilder>& parts, NodeGraph& graph) {
  std::vector<std::size_t> row(parts.size() + 1), entry(parts.size() + 1);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    row[i + 1] = row[i] + parts[i].length_.size();
    entry[i + 1] = entry[i] + parts[i].column_.size();
  }
  graph.key.resize(row.back());
  graph.shift.resize(row.back());
  graph.entering.resize(row.back());
  graph.begin.resize(row.back() + 1);
  graph.column.resize(entry.back());
  graph.weight.resize(entry.back());
  for (const RowBuilder& p : parts) {
    graph.component_shift.insert(graph.component_shift.end(), p.more_of_.begin(), p.more_of_.end());
    graph.side_shift.insert(graph.side_shift.end(), p.side_of_.begin(), p.side_of_.end());
  }
  if (std::ranges::any_of(parts, [](const RowBuilder& p) { return !p.inflow_.empty(); }))
    graph.inflow.resize(entry.back());
  parallel_for(std::ssize(parts), [&](std::int64_t i) {
    RowBuilder& p = parts[i];
    const auto place = [](auto& all, std::size_t at) { return all.begin() + at; };
    std::ranges::copy(p.key_, place(graph.key, row[i]));
    std::ranges::copy(p.shift_of_, place(graph.shift, row[i]));
    std::ranges::copy(p.entering_of_, place(graph.entering, row[i]));
    std::ranges::copy(p.column_, place(graph.column, entry[i]));
    std::ranges::copy(p.weight_, place(graph.weight, entry[i]));
    std::ranges::copy(p.inflow_, place(graph.inflow, entry[i]));
    auto end = static_cast<std::int64_t>(entry[i]);
    for (std::size_t r = 0; r < p.length_.size(); ++r) graph.begin[row[i] + r + 1] = end += p.length_[r];
    p = {};
  });
}

}  // namespace karst
