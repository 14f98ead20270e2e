// SPDX-License-Identifier: BSD-3-Clause
// The two-point operator of the finest grid, matrix-free: runs of regular VoFs need no coefficients, all other VoFs are
// rows in slices. Passes of a multigrid cycle in single precision, each one loop over the boxes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "solvers/gather_kernels.hpp"
#include "solvers/halo_pull.hpp"
#include "solvers/two_point.hpp"

namespace karst {

/// VoFs of the boxes grouped into coarse nodes: child[begin, end) of node c of box b are VoFs of b.
struct FineChildren {
  std::vector<std::int64_t> node_begin{0};  ///< per own box, and the end: first coarse node
  Array<std::uint16_t> child;               ///< own VoFs, box after box (SlotMap::vof_begin), by coarse node
  Array<std::uint16_t> end;                 ///< per coarse node: end of its children, counted from the box's first
  std::int64_t n_nodes() const { return node_begin.back(); }
};

class FineLevel {
 public:
  /// The geometry of `level` must stay in place; `level` itself may go. Collective.
  FineLevel(const Comm& comm, const TwoPointLevel& level);

  const LevelGraph& graph() const { return *graph_; }
  float face_weight() const { return face_weight_; }
  float regular_diagonal() const { return regular_diagonal_; }

  // Fields belong to the graph. Collective, threaded; x is in, with its halo and ghosts filled on the way.
  /// bf = scale b, x = c D^-1 bf: a sweep from x = 0.
  void first_sweep(const Field& b, double scale, float c, FloatField& bf, FloatField& x);
  /// y = p x + q y + c D^-1 (b - A x + D x)
  void sweep(FloatField& x, const FloatField& b, const SweepFactors& factors, FloatField& y);
  /// coarse = R (b - A x), the sum over the children of each coarse node.
  void restrict_residual(FloatField& x, const FloatField& b, const FineChildren& children, std::span<float> coarse);
  /// x += P coarse
  void prolong(std::span<const float> coarse, const FineChildren& children, FloatField& x) const;
  /// y = A x in double precision; f(own box) follows for each box.
  template <class F>
  void product(Field& x, Field& y, F&& f) {
    exact_halo_.for_boxes(x, [&](int b) {
      fill_ghosts(b, x.box(b).data());
      product_of_box(b, x.box(b).data(), y.box(b).data());
      f(b);
    });
  }

  std::int64_t bytes() const;

 private:
  struct BoxView {
    std::span<const Run> runs;
    std::int32_t n_own;
    std::int32_t first_ghost;  ///< slot of the first domain ghost
    std::int64_t ghosts, n_ghosts;
  };
  void add_box(int b, const TwoPointLevel& level, RowList<std::uint16_t>& rows) const;
  void find_ghosts(const TwoPointLevel& level);
  template <class T>
  void fill_ghosts(int b, T* x) const {
    const BoxView& box = boxes_[static_cast<std::size_t>(b)];
    const std::uint16_t* vof = ghost_vof_.data() + box.ghosts;
    const float* factor = ghost_factor_.data() + box.ghosts;
    for (std::int64_t g = 0; g < box.n_ghosts; ++g) x[box.first_ghost + g] = static_cast<T>(factor[g]) * x[vof[g]];
  }
  void product_of_box(int b, const double* x, double* y) const;

  const LevelGraph* graph_;
  float face_weight_, regular_diagonal_;
  std::vector<BoxView> boxes_;
  SlicedRows<std::uint16_t> rows_;  // window: box
  std::vector<std::uint16_t> ghost_vof_;
  std::vector<float> ghost_factor_;
  HaloPull<float> halo_;
  HaloPull<double> exact_halo_;
  std::vector<Array<float>> scratch_;  // per thread: residual of a box
};

}  // namespace karst
