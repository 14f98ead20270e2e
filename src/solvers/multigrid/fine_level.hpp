// SPDX-License-Identifier: BSD-3-Clause
// The two-point operator of the finest grid, matrix-free: runs of regular VoFs need no coefficients, all other VoFs are
// rows in slices. The passes of a multigrid cycle are in single precision, each a single loop over the boxes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "grid/halo_exchange.hpp"
#include "solvers/multigrid/fine_rows.hpp"
#include "solvers/multigrid/gather_kernels.hpp"

namespace karst {

/// Sets or takes the values of `count` unknowns from this own number on. Called by several threads at once.
template <int C>
using LoadValues = std::function<void(std::int64_t unknown, std::int32_t count, NodeValue<C>* to)>;
template <int C>
using StoreValues = std::function<void(std::int64_t unknown, std::int32_t count, const NodeValue<C>* from)>;

/// One grid level. Covered VoFs contain 0, coarse-fine faces are closed: links between levels are added by FineLevels.
/// C numbers per VoF, each with the same operator.
template <int C>
class BasicFineLevel : public FineRows {
 public:
  using Value = NodeValue<C>;
  /// The geometry of `level` must outlive this object and must not move; `level` itself is not needed afterwards.
  /// Collective.
  /// @param first_unknown  own number of the first unknown of this level
  BasicFineLevel(const Comm& comm, const TwoPointLevel& level, std::int64_t first_unknown);

  // Passes of a cycle on the vectors x, y and b of this level. Collective, threaded.
  /// b = rhs, x = c D^-1 b: a sweep from x = 0
  void first_sweep(const LoadValues<C>& rhs, float c);
  /// y = p x + q y + c (D^-1 (b - A x) + x)
  void sweep(const SweepFactors& factors);
  void accept_sweep() { std::swap(x_, y_); }
  /// coarse = R (b - A x), the sum over the children of each coarse node
  void restrict_residual(const FineChildren& children, std::span<Value> coarse);
  /// x += P coarse
  void prolong(std::span<const Value> coarse, const FineChildren& children);
  void write_result(const StoreValues<C>& result) const;  ///< result = x
  void load(const LoadValues<C>& values);                 ///< x = values
  void product();                                         ///< y = A x
  /// ax = A x in double precision
  void product(std::span<const double> x, std::span<double> ax) requires(C == 1);

  float* x(int box) { return numbers(x_.box(box).data()); }
  const Value& value(int box, int vof) const { return x_.box(box)[vof]; }
  float* y(int box) { return numbers(y_.box(box).data()); }
  /// The x of the last product().
  const double* exact(int box) const { return exact_.box(box).data(); }
  std::int64_t bytes() const;

 private:
  const float* b(int box) const { return numbers(b_.data() + graph_->vof_begin(box)); }
  void clear_covered(int b, float* x) const;
  /// Of one box; x has its halo. Ghosts are filled.
  void find_residual(int box, const float* rhs, float* residual);
  template <class T>
  void fill_ghosts(int b, T* x) const {
    const BoxView& box = boxes_[b];
    const std::uint16_t* vof = ghost_vof_.data() + box.ghosts;
    const float* factor = ghost_factor_.data() + C * box.ghosts;
    T* ghost = x + C * box.first_ghost;
    for (std::int64_t g = 0; g < box.n_ghosts; ++g)
      for (int c = 0; c < C; ++c) ghost[C * g + c] = static_cast<T>(factor[C * g + c]) * x[C * vof[g] + c];
  }

  HaloExchange<Value> halo_;
  HaloExchange<double> exact_halo_;
  BasicField<Value> x_, y_;
  Array<Value> b_;                     // own VoFs
  Field exact_;                        // made when a product is first asked for
  std::vector<Array<Value>> scratch_;  // per thread: values of a box
  std::vector<Array<double>> exact_scratch_;
};

extern template class BasicFineLevel<1>;
extern template class BasicFineLevel<2>;
extern template class BasicFineLevel<3>;
extern template class BasicFineLevel<4>;
using FineLevel = BasicFineLevel<1>;

}  // namespace karst
