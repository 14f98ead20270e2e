// SPDX-License-Identifier: BSD-3-Clause
#include "solvers/multigrid/node_graph.hpp"

#include <algorithm>

namespace karst {

NodeGraph gather(const Comm& comm, const NodeGraph& mine) {
  const std::vector<std::int64_t> sizes = comm.all_gather(std::span<const std::int64_t>(std::array{mine.size()}));
  std::vector<std::int64_t> first(sizes.size() + 1);
  for (std::size_t r = 0; r < sizes.size(); ++r) first[r + 1] = first[r] + sizes[r];
  std::vector<std::int32_t> column(mine.column);
  for (std::int32_t& c : column) {
    if (c < mine.size()) {
      c += static_cast<std::int32_t>(first[comm.rank()]);
    } else {
      const RemoteItem& node = mine.remote[c - mine.size()];
      c = node.number + static_cast<std::int32_t>(first[node.rank]);
    }
  }
  std::vector<std::int64_t> length(mine.shift.size());
  for (std::size_t v = 0; v < length.size(); ++v) length[v] = mine.begin[v + 1] - mine.begin[v];
  const auto all = [&](const auto& x) { return comm.all_gather(std::span(x.data(), x.size())); };
  const auto& const_length = length;
  const auto& const_column = column;
  NodeGraph graph;
  graph.key = all(mine.key);
  graph.column = all(const_column);
  graph.weight = all(mine.weight);
  graph.inflow = all(mine.inflow);
  graph.shift = all(mine.shift);
  graph.entering = all(mine.entering);
  std::vector<ComponentShift> component_shift(mine.component_shift);
  for (ComponentShift& s : component_shift) s.node += static_cast<std::int32_t>(first[comm.rank()]);
  graph.component_shift = all(std::as_const(component_shift));
  for (const std::int64_t n : all(const_length)) graph.begin.push_back(graph.begin.back() + n);
  return graph;
}

}  // namespace karst
