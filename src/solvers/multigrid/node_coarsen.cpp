// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <numeric>

#include "base/comm/parallel.hpp"
#include "base/core/items_of.hpp"
#include "solvers/multigrid/node_graph.hpp"
#include "solvers/multigrid/row_builder.hpp"

namespace karst {
namespace {

constexpr std::int64_t window_nodes = 512;

/// Ends of the windows: complete blocks, at least window_nodes nodes each except the last. As no block is divided,
/// threads can coarsen windows independently.
std::vector<std::int64_t> cut_windows(const std::vector<std::uint64_t>& block) {
  std::vector<std::int64_t> window{0};
  const std::int64_t n = std::ssize(block);
  for (std::int64_t v = 1; v < n; ++v)
    if (v - window.back() >= window_nodes && block[v] != block[v - 1]) window.push_back(v);
  if (n > 0) window.push_back(n);
  return window;
}

/// Blocks of the nodes; a single block if coarser keys do not distinguish any nodes. Without this, coarsening would
/// stop at one block per grid level.
std::vector<std::uint64_t> blocks_of(const Comm& comm, const NodeGraph& fine) {
  std::vector<std::uint64_t> block(fine.key.size());
  bool same = true;
  for (std::size_t v = 0; v < block.size(); ++v) {
    block[v] = coarser_key(fine.key[v]);
    same = same && block[v] == fine.key[v];
  }
  if (!comm.any(!same)) std::ranges::fill(block, 0);
  return block;
}

/// Largest weight of each node of a window.
std::vector<float> strongest_links(const NodeGraph& fine, std::int64_t first, std::int64_t last) {
  std::vector<float> strongest;
  for (std::int64_t v = first; v < last; ++v) {
    const auto begin = fine.weight.begin() + fine.begin[v];
    const auto end = fine.weight.begin() + fine.begin[v + 1];
    strongest.push_back(begin == end ? 0.0F : *std::max_element(begin, end));
  }
  return strongest;
}

/// Connected pieces of the blocks of one window, without weak links. Local numbers from 0, by block, then by first
/// node.
struct Pieces {
  std::vector<std::int32_t> child;
  std::vector<std::int64_t> end;  ///< per piece, in child
};

Pieces find_pieces(const NodeGraph& fine, const std::vector<std::uint64_t>& block, std::int64_t first,
                   std::int64_t last, std::span<std::int32_t> parent) {
  Pieces pieces;
  std::vector<std::int32_t> stack;
  const std::vector<float> strongest = strongest_links(fine, first, last);
  const auto strongest_of = [&](std::int64_t v) { return strongest[v - first]; };
  std::fill(parent.begin() + first, parent.begin() + last, -1);
  for (std::int64_t seed = first; seed < last; ++seed) {
    if (parent[seed] >= 0) continue;
    const std::uint64_t in = block[seed];
    const auto number = static_cast<std::int32_t>(pieces.end.size());
    const std::size_t begin = pieces.child.size();
    stack.assign(1, static_cast<std::int32_t>(seed));
    parent[seed] = number;
    while (!stack.empty()) {
      const std::size_t v = stack.back();
      stack.pop_back();
      pieces.child.push_back(static_cast<std::int32_t>(v));
      for (auto k = fine.begin[v]; k < fine.begin[v + 1]; ++k) {
        const std::int32_t u = fine.column[k];
        if (u < first || u >= last) continue;  // in another block, also remote ones
        if (parent[u] >= 0 || block[u] != in) continue;
        if (is_weak(fine.weight[k], strongest_of(static_cast<std::int64_t>(v)), strongest_of(u))) continue;
        parent[u] = number;
        stack.push_back(u);
      }
    }
    std::sort(pieces.child.begin() + begin, pieces.child.end());
    pieces.end.push_back(std::ssize(pieces.child));
  }
  return pieces;
}

/// Pieces of one block need not be consecutive in the order of their first nodes, but blocks are.
NodeChildren number_pieces(const std::vector<Pieces>& pieces, std::vector<std::int64_t> window) {
  NodeChildren children;
  children.window = std::move(window);
  for (const Pieces& p : pieces) {
    const std::int64_t before = std::ssize(children.child);
    children.child.insert(children.child.end(), p.child.begin(), p.child.end());
    for (const std::int64_t end : p.end) children.begin.push_back(before + end);
    children.coarse_window.push_back(children.coarse_window.back() + std::ssize(p.end));
  }
  return children;
}

/// Strongest connection of each node inside its coarse node, remote nodes included. It is 0, so that the factor of the
/// Galerkin sums is 1, where a node becomes a coarse node by itself, and on grid levels that are a single block while
/// other levels are still being coarsened: these nodes do not become coarser, and the product of the factors of several
/// levels would make their correction too large.
std::vector<float> bonds_of(const Comm& comm, const NodeGraph& fine, const NodeChildren& children,
                            std::span<const std::int32_t> parent, ListExchange& halo) {
  std::vector<float> bond(fine.key.size() + fine.remote.size(), 0.0F);
  parallel_for(std::ssize(children.window) - 1, [&](std::int64_t i) {
    const std::int64_t first = children.window[i];
    const std::int64_t last = children.window[i + 1];
    for (auto v = first; v < last; ++v)
      for (auto k = fine.begin[v]; k < fine.begin[v + 1]; ++k) {
        const std::int32_t u = fine.column[k];
        if (u >= first && u < last && parent[u] == parent[v]) bond[v] = std::max(bond[v], fine.weight[k]);
      }
  });
  std::array<double, 16> present{}, grows{};
  for (const std::uint64_t key : fine.key) {
    present[key >> 60] = 1.0;
    if ((key & ~grid_level_bits) != 0) grows[key >> 60] = 1.0;
  }
  comm.max(std::span(present));
  comm.max(std::span(grows));
  const bool all_done = std::ranges::all_of(grows, [](double g) { return g == 0.0; });
  for (std::size_t v = 0; v < fine.key.size() && !all_done; ++v)
    if (grows[fine.key[v] >> 60] == 0.0) bond[v] = 0.0F;
  halo.exchange(std::span(bond));
  return bond;
}

/// Replaces the numbers of the coarse nodes of remote nodes, which are those of their owners, by columns of this rank.
void number_remote(const NodeGraph& fine, std::vector<std::int32_t>& parent, std::int64_t n_coarse, NodeGraph& coarse) {
  const std::size_t n = fine.size();
  for (std::size_t i = 0; i < fine.remote.size(); ++i) coarse.remote.push_back({fine.remote[i].rank, parent[n + i]});
  std::ranges::sort(coarse.remote);
  erase_repeated(coarse.remote);
  for (std::size_t i = 0; i < fine.remote.size(); ++i) {
    const RemoteItem node{fine.remote[i].rank, parent[n + i]};
    const auto at = std::ranges::lower_bound(coarse.remote, node) - coarse.remote.begin();
    parent[n + i] = static_cast<std::int32_t>(n_coarse + at);
  }
}

}  // namespace

CoarsenedNodes coarsen(const Comm& comm, const NodeGraph& fine, float scale) {
  const std::vector<std::uint64_t> block = blocks_of(comm, fine);
  std::vector<std::int64_t> window = cut_windows(block);
  const std::int64_t n_windows = std::ssize(window) - 1;
  std::vector<std::int32_t> parent(fine.size() + fine.remote.size());
  std::vector<Pieces> pieces(n_windows);
  parallel_for_dynamic(n_windows,
                       [&](std::int64_t i) { pieces[i] = find_pieces(fine, block, window[i], window[i + 1], parent); });
  CoarsenedNodes result;
  result.children = number_pieces(pieces, std::move(window));
  const NodeChildren& children = result.children;
  parallel_for(n_windows, [&](std::int64_t i) {
    for (std::int64_t v = children.window[i]; v < children.window[i + 1]; ++v)
      parent[v] += static_cast<std::int32_t>(children.coarse_window[i]);
  });
  ListExchange halo(comm, fine.remote);
  halo.exchange(std::span(parent));
  result.bond = bonds_of(comm, fine, children, parent, halo);
  const std::vector<float>& bond = result.bond;
  NodeGraph& coarse = result.graph;
  number_remote(fine, parent, children.coarse_window.back(), coarse);

  // Galerkin sums. A connection has the factors of both its nodes; as weights are proportional to 1 / distance and half
  // of the distance belongs to each node, they are combined by the harmonic mean.
  std::vector<RowBuilder> rows(n_windows);
  parallel_for_dynamic(n_windows, [&](std::int64_t i) {
    RowBuilder& builder = rows[i];
    for (std::int64_t c = children.coarse_window[i]; c < children.coarse_window[i + 1]; ++c) {
      builder.begin_row(static_cast<std::int32_t>(c));
      for (std::int64_t k = children.begin[c]; k < children.begin[c + 1]; ++k) {
        const std::size_t v = children.child[k];
        builder.add_shift(galerkin_factor(fine.shift[v], bond[v], scale) * fine.shift[v]);
        builder.add_entering(fine.entering[v]);
        const auto more =
            std::ranges::lower_bound(fine.component_shift, static_cast<std::int32_t>(v), {}, &ComponentShift::node);
        if (more != fine.component_shift.end() && more->node == static_cast<std::int32_t>(v))
          for (std::size_t d = 0; d < 3; ++d)
            builder.add_shift(d, galerkin_factor(more->shift[d], bond[v], scale) * more->shift[d]);
        for (std::int64_t e = fine.begin[v]; e < fine.begin[v + 1]; ++e) {
          const std::size_t u = fine.column[e];
          const float weight = fine.weight[e];
          const float here = galerkin_factor(weight, bond[v], scale), there = galerkin_factor(weight, bond[u], scale);
          builder.add(parent[u], 2.0F * here * there / (here + there) * weight);
          if (!fine.inflow.empty()) builder.add_inflow(parent[u], fine.inflow[e]);
        }
      }
      builder.end_row(block[children.child[children.begin[c]]], 1.0F);
    }
  });
  join_rows(rows, coarse);
  result.bond.resize(fine.size());
  return result;
}

}  // namespace karst
