// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solvers/elliptic/values.hpp"
#include "solvers/multigrid/node_graph.hpp"

namespace karst {

/// Solves the coarsest level by its inverse. A connected component without any shift is singular: its most strongly
/// connected node is fixed at 0, which keeps the result symmetric positive semi-definite; the constant part of the
/// right-hand side of such a component is ignored. Nodes without connections are divided by their shift (0 without
/// one).
template <int C>
class BasicDirectSolve {
 public:
  using Value = NodeValue<C>;
  BasicDirectSolve() = default;
  /// The whole level on this rank: the graph must have no remote nodes. Not collective.
  explicit BasicDirectSolve(const NodeGraph& graph);

  std::int64_t n_nodes() const { return static_cast<std::int64_t>(b_.size()); }
  std::span<Value> rhs() { return b_; }
  std::span<Value> result() { return x_; }
  void solve();
  std::int64_t bytes() const {
    return static_cast<std::int64_t>((b_.capacity() + x_.capacity()) * sizeof(Value) +
                                     (inverse_.capacity() + alone_.capacity() + sums_.capacity()) * sizeof(float) +
                                     connected_.capacity() * sizeof(std::int32_t));
  }

 private:
  std::vector<std::int32_t> connected_;  // nodes with connections
  /// Inverse of the matrix of these shifts over the connected nodes, transposed.
  std::vector<double> invert(const NodeGraph& graph, std::span<const float> shift) const;

  std::vector<float> inverse_;  // dense, transposed; C one after the other where components differ
  std::vector<float> alone_;    // per node, C beside each other: 1 / shift of a node without connections, else 0
  bool components_differ_ = false;
  std::vector<Value> b_, x_;
  std::vector<float> sums_;  // of the result at the connected nodes, component by component
};

extern template class BasicDirectSolve<1>;
extern template class BasicDirectSolve<2>;
extern template class BasicDirectSolve<3>;
extern template class BasicDirectSolve<4>;
using DirectSolve = BasicDirectSolve<1>;

}  // namespace karst
