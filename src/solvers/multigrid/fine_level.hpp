// SPDX-License-Identifier: BSD-3-Clause
// The two-point operator of the finest grid, matrix-free: runs of regular VoFs need no coefficients, all other VoFs are
// rows in slices. The passes of a multigrid cycle are in single precision, each a single loop over the boxes.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "grid/halo_exchange.hpp"
#include "solvers/multigrid/gather_kernels.hpp"
#include "solvers/multigrid/two_point.hpp"

namespace karst {

/// VoFs of the boxes grouped into coarse nodes: child[begin, end) of node c of box b are VoFs of b.
struct FineChildren {
  std::vector<std::int64_t> node_begin;  ///< per own box, and the end: first coarse node
  Array<std::uint16_t> child;            ///< own unknowns, box after box (SlotMap::vof_begin), by coarse node
  Array<std::uint16_t> end;              ///< per coarse node: end of its children, counted from the box's first
};

/// Sets or takes the values of `count` unknowns from this own number on. Called by several threads at once.
template <int C>
using LoadValues = std::function<void(std::int64_t unknown, std::int32_t count, NodeValue<C>* to)>;
template <int C>
using StoreValues = std::function<void(std::int64_t unknown, std::int32_t count, const NodeValue<C>* from)>;

struct VofShift {
  std::int32_t vof;
  float by;
};

/// One grid level. Covered VoFs contain 0, coarse-fine faces are closed: links between levels are added by FineLevels.
/// C numbers per VoF, each with the same operator.
template <int C>
class BasicFineLevel {
 public:
  using Value = NodeValue<C>;
  /// The geometry of `level` must outlive this object and must not move; `level` itself is not needed afterwards.
  /// Collective.
  /// @param first_unknown  own number of the first unknown of this level
  BasicFineLevel(const Comm& comm, const TwoPointLevel& level, std::int64_t first_unknown);

  /// Adds to the diagonals of these VoFs of a box, which are rows, from now on; by VoF.
  void raise_diagonals(const TwoPointLevel& level, int box, std::vector<VofShift> by);
  /// Sets the shifts to those of a level that is equal otherwise.
  void set_shifts(const TwoPointLevel& level);
  /// shift_c += scale Σ of the shifts of the VoFs of each coarse node c.
  void add_shifts(const TwoPointLevel& level, const FineChildren& children, float scale, std::span<float> shift) const;

  /// Largest sum of connections over the diagonal of the unknowns of this rank, without links between levels: 1 where
  /// one has no shift.
  /// @param level  with the shifts that it has now
  double coupling(const TwoPointLevel& level) const;

  const LevelGraph& graph() const { return *graph_; }
  std::int64_t end_unknown() const { return end_unknown_; }

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
  /// 1 / diagonal of the own VoFs of a box.
  std::vector<float> inverse_diagonal(int box) const;
  /// Own numbers of the unknowns of a box, -1 where covered.
  std::vector<std::int64_t> unknowns(int box) const;
  std::int64_t bytes() const;

 private:
  struct BoxView {
    std::span<const Run> runs;
    std::int32_t first_ghost;  ///< slot of the first ghost
    std::int64_t ghosts, n_ghosts;
    std::size_t segments, n_segments;
  };
  /// Consecutive VoFs that are unknowns.
  struct Segment {
    std::int32_t vof, count;
    std::int64_t unknown;
  };
  void number_unknowns(const TwoPointLevel& level, int b);
  void find_ghosts(const TwoPointLevel& level, int b);
  void add_rows(int b, const TwoPointLevel& level, RowList<std::uint16_t>& rows) const;
  void set_rows(const TwoPointLevel& level);
  void set_diagonals(const TwoPointLevel& level, int box);
  std::span<const Segment> segments(int b) const {
    const BoxView& box = boxes_[b];
    return std::span(segments_).subspan(box.segments, box.n_segments);
  }
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

  const LevelGraph* graph_;
  float face_weight_, regular_diagonal_;
  std::int64_t end_unknown_;
  std::vector<BoxView> boxes_;
  std::vector<std::vector<VofShift>> raised_;  // per box; empty when there are none
  std::vector<Segment> segments_;
  std::vector<std::int32_t> covered_begin_;  // per box; empty without covered VoFs
  std::vector<std::uint16_t> covered_;
  SlicedRows<std::uint16_t> rows_;  // window: box
  std::vector<std::uint16_t> ghost_vof_;
  std::vector<float> ghost_factor_;  // C per ghost
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
