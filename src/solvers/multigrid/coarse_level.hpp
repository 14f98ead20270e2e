// SPDX-License-Identifier: BSD-3-Clause
// A coarse level of the multigrid in the form used by cycles: rows in slices, and its three vectors.
#pragma once

#include <memory>

#include "solvers/multigrid/coarse_rows.hpp"
#include "solvers/multigrid/gather_kernels.hpp"

namespace karst {

/// C numbers per node, each with the same operator.
template <int C>
class BasicCoarseLevel : public CoarseRows {
 public:
  using Value = NodeValue<C>;
  /// @param children  how the nodes are grouped on the next coarser level
  /// @param bond      per node, likewise (CoarsenedNodes). Collective.
  BasicCoarseLevel(const Comm& comm, const NodeGraph& graph, NodeChildren children, std::vector<float> bond);

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

  std::int64_t bytes() const;

 private:
  template <class F>
  void for_windows(F&& f) const;
  /// b - A x in the nodes of a window, the first of which is `first`.
  void find_residual(std::size_t window, std::size_t first);
  /// to -= f(own) more x in the nodes of a window.
  template <class F>
  void take_own_diagonals(std::size_t window, float* to, F&& f) const;

  Array<Value> x_, y_, b_, residual_;
  Array<Value> first_x_;  // of the first of two cycles
};

extern template class BasicCoarseLevel<1>;
extern template class BasicCoarseLevel<2>;
extern template class BasicCoarseLevel<3>;
extern template class BasicCoarseLevel<4>;
using CoarseLevel = BasicCoarseLevel<1>;

}  // namespace karst
