// SPDX-License-Identifier: BSD-3-Clause
// A coarse level of the multigrid in the form used by cycles: rows in slices, and its three vectors.
#pragma once

#include <memory>

#include "solvers/multigrid/gather_kernels.hpp"
#include "solvers/multigrid/node_graph.hpp"

namespace karst {

/// C numbers per node, each with the same operator.
template <int C>
class BasicCoarseLevel {
 public:
  using Value = NodeValue<C>;
  /// @param children  how the nodes are grouped on the next coarser level
  /// @param bond      per node, likewise (CoarsenedNodes). Collective.
  BasicCoarseLevel(const Comm& comm, const NodeGraph& graph, NodeChildren children, std::vector<float> bond);

  /// Changes the shifts of the nodes, but not those of their components. Returns the shifts of the next coarser level.
  std::vector<float> set_shifts(std::span<const float> shift, float scale);

  std::span<Value> rhs() { return {b_.data(), n_own()}; }
  std::span<Value> result() { return {x_.data(), n_own()}; }

  // Collective, threaded. All work on the vectors x, y and b of this level.
  void first_sweep(float c);                ///< x = c D^-1 b: a sweep from x = 0
  void sweep(const SweepFactors& factors);  ///< y = p x + q y + c (D^-1 (b - A x) + x), then x and y are exchanged
  void restrict_residual(std::span<Value> coarse);
  void prolong(std::span<const Value> coarse);  ///< x += P coarse

  /// Between two cycles: keeps c x and b; the right-hand side of the second is b - A (c x).
  void begin_second(float c);
  /// After them: x = p (stored vector) + c x.
  void end_second(float p, float c);

  std::int64_t n_nodes() const { return n_nodes_; }
  std::int64_t n_connections() const { return n_connections_; }
  std::int64_t bytes() const;

 private:
  std::size_t n_own() const { return n_nodes_; }
  std::int64_t n_windows() const { return std::ssize(children_.window) - 1; }
  template <class F>
  void for_windows(F&& f) const;
  /// Where components differ: the row has the mean of their diagonals, and each component the difference.
  struct OwnDiagonal {
    std::int32_t node;
    float inverse;  // 1 / diagonal of the row
    float middle;
    std::array<float, 3> more;
  };
  void list_own_diagonals(const NodeGraph& graph);
  void set_diagonals(std::span<const float> shift);
  /// b - A x in the nodes of a window, the first of which is `first`.
  void find_residual(std::size_t window, std::size_t first);
  /// to -= f(own) more x in the nodes of a window.
  template <class F>
  void take_own_diagonals(std::size_t window, float* to, F&& f) const;

  SlicedRows<std::int32_t> rows_;
  NodeChildren children_;
  std::vector<float> bond_;
  ListExchange halo_;
  std::int64_t n_nodes_, n_connections_;
  std::vector<OwnDiagonal> own_diagonals_;        // by increasing node
  std::vector<std::size_t> own_diagonals_begin_;  // per window, and the end; empty without any
  Array<Value> x_, y_, b_, residual_;
  Array<Value> first_x_;  // of the first of two cycles
};

extern template class BasicCoarseLevel<1>;
extern template class BasicCoarseLevel<2>;
extern template class BasicCoarseLevel<3>;
extern template class BasicCoarseLevel<4>;
using CoarseLevel = BasicCoarseLevel<1>;

}  // namespace karst
