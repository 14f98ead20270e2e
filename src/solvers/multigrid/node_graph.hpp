// SPDX-License-Identifier: BSD-3-Clause
// A coarse level of the multigrid while it is set up: the nodes of this rank with their connections as lists.
//
// Nodes are in the Morton order of their blocks of cells (pieces of one block are consecutive), so the nodes of a
// coarser block are always consecutive: coarsening needs no sorting and does not depend on ranks as long as blocks lie
// inside boxes.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "base/comm/memory.hpp"
#include "grid/list_exchange.hpp"
#include "solvers/elliptic/carried_weight.hpp"

namespace karst {

/// Shifts of the three components of a node in addition to its own: a side of the domain may fix one of them at 0.
struct ComponentShift {
  std::int32_t node;
  std::array<float, 3> shift;  ///< >= 0
};

/// The part of a node's shift that comes from sides of the domain.
struct SideShift {
  std::int32_t node;
  float shift;  ///< > 0
};

struct NodeGraph {
  std::vector<std::uint64_t> key;               ///< per node: Morton key of its block; grid level in the highest bits
  std::vector<std::int64_t> begin{0};           ///< first connection of each node, and the end
  std::vector<std::int32_t> column;             ///< own nodes, then remote ones
  std::vector<float> weight;                    ///< > 0
  std::vector<float> inflow;                    ///< per connection, out of the column (carried_weight.hpp); empty: none
  std::vector<float> shift;                     ///< per node, >= 0
  std::vector<float> entering;                  ///< per node (TwoPointLevel::entering), >= 0
  std::vector<ComponentShift> component_shift;  ///< by increasing node; nodes without one are left out
  /// On the first level below the finest: the part of the shifts that does not change with the others; by increasing
  /// node.
  std::vector<SideShift> side_shift;
  std::vector<RemoteItem> remote;  ///< numbered behind the own nodes; sorted, each once
  std::int64_t size() const { return static_cast<std::int64_t>(shift.size()); }
  /// Of a connection in the rows of the operator.
  float weight_of(std::size_t connection) const {
    return inflow.empty() ? weight[connection] : carried_weight(weight[connection], inflow[connection]);
  }
  /// Of the rows: with what enters.
  std::vector<float> shifts() const {
    std::vector<float> all(shift);
    for (std::size_t v = 0; v < all.size(); ++v) all[v] += entering[v];
    return all;
  }
  std::int64_t n_connections() const { return static_cast<std::int64_t>(column.size()); }
};

constexpr std::uint64_t grid_level_bits = std::uint64_t{15} << 60;  ///< of NodeGraph::key
/// Key of the block of 2^3 blocks that contains a block.
constexpr std::uint64_t coarser_key(std::uint64_t key) {
  return (key & grid_level_bits) | ((key & ~grid_level_bits) >> 3);
}

/// Nodes of a finer level grouped into coarse ones.
struct NodeChildren {
  std::vector<std::int64_t> begin{0};  ///< per coarse node, and the end
  std::vector<std::int32_t> child;
  /// Ranges of nodes that contain complete coarse nodes: window i has the nodes [window[i], window[i + 1]) and the
  /// coarse nodes [coarse_window[i], coarse_window[i + 1]).
  std::vector<std::int64_t> window{0}, coarse_window{0};
};

struct CoarsenedNodes {
  NodeGraph graph;
  NodeChildren children;
  std::vector<float> bond;  ///< per fine node: strongest connection inside its coarse node
};

/// Factor of a connection (or shift) of a node in the Galerkin sums. `scale` compensates for piecewise constant instead
/// of linear functions: half of the difference between two coarse nodes is inside them. Where the connections inside
/// the node are stronger than that to the other one, the whole difference is between them, and the factor tends to 1.
/// @param bond  of the node; 0: it is a coarse node by itself
inline float galerkin_factor(float weight, float bond, float scale) {
  constexpr float firm = 4.0F;  // ratio of bond inside and connection beyond which factors increase
  if (bond == 0.0F) return 1.0F;
  return 1.0F / (1.0F + (1.0F / scale - 1.0F) * std::min(1.0F, firm * weight / bond));
}

/// A connection that is so much weaker than others of both its nodes does not connect pieces: values on its two sides
/// are nearly independent (a pocket behind a narrow gap), and one coarse node for both could not correct either.
inline bool is_weak(float weight, float strongest, float strongest_of_other) {
  constexpr float weak = 0.03F;
  return weight < weak * std::min(strongest, strongest_of_other);
}

/// One coarse node per connected piece of a block of 2^3 blocks; weights and shifts are sums over its nodes, times
/// `scale`, or by a factor nearer to 1 where connections inside are stronger than to others (node_coarsen.cpp). When
/// all keys are equal the whole graph is one block. Threaded. Collective.
CoarsenedNodes coarsen(const Comm& comm, const NodeGraph& fine, float scale);

/// The graph of all ranks on every rank, nodes in rank order. Collective.
NodeGraph gather(const Comm& comm, const NodeGraph& mine);

}  // namespace karst
