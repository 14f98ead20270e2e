// SPDX-License-Identifier: BSD-3-Clause
// What a coarse level of the multigrid is made of, whatever the number of values per node: compiled once for all of
// them.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "grid/list_exchange.hpp"
#include "solvers/elliptic/sliced_rows.hpp"
#include "solvers/multigrid/node_graph.hpp"

namespace karst {

/// Rows of a coarse level, and how its nodes are grouped.
class CoarseRows {
 public:
  /// Changes the shifts of the nodes, but not those of their components. Returns the shifts of the next coarser level.
  std::vector<float> set_shifts(std::span<const float> shift, float scale);

  std::int64_t n_nodes() const { return n_nodes_; }
  std::int64_t n_connections() const { return n_connections_; }

 protected:
  /// Parameters as in BasicCoarseLevel. Collective.
  /// @param width  numbers per node; where these are 3, they are components whose shifts may differ
  CoarseRows(const Comm& comm, const NodeGraph& graph, NodeChildren children, std::vector<float> bond, int width);
  ~CoarseRows() = default;

  std::size_t n_own() const { return n_nodes_; }
  std::int64_t n_windows() const { return std::ssize(children_.window) - 1; }
  /// Where components differ: the row has the mean of their diagonals, and each component the difference.
  struct OwnDiagonal {
    std::int32_t node;
    float inverse;  // 1 / diagonal of the row
    float middle;
    std::array<float, 3> more;
  };
  std::int64_t row_bytes() const;

  SlicedRows<std::int32_t> rows_;
  NodeChildren children_;
  std::vector<float> bond_;
  ListExchange halo_;
  std::int64_t n_nodes_, n_connections_;
  std::vector<OwnDiagonal> own_diagonals_;        // by increasing node
  std::vector<std::size_t> own_diagonals_begin_;  // per window, and the end; empty without any

 private:
  void list_own_diagonals(const NodeGraph& graph);
  void set_diagonals(std::span<const float> shift);
};

}  // namespace karst
