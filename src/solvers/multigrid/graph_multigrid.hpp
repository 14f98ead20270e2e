// SPDX-License-Identifier: BSD-3-Clause
// Graph multigrid: one V-cycle on the two-point operator A, a symmetric positive (semi-)definite preconditioner (A with
// inflow: of convection and diffusion, neither).
//
//   pre-smoothing (Chebyshev, from 0) -> residual summed over coarse nodes -> coarse problem -> added back -> smoothing
//
// A coarse node is a connected piece of a block of 2^3 cells (then of 2^3 blocks), so walls and throats thinner than a
// coarse cell are preserved. Transfers are piecewise constant; the coarse operator is the Galerkin sum times a factor
// between 1/2 (the two-point operator of the coarse cells) and 1 (twice as stiff). Some coarse levels are visited by
// two cycles, combined by a polynomial of degree 2 (AMLI: Axelsson & Vassilevski, SIAM J. Numer. Anal. 27 (1990) 1569),
// so that iterations hardly increase with the size of the sample. Single precision inside. Where shifts dominate the
// diagonals, coarse levels are not needed: two sweeps are M. Measurements: docs/measurements/008-graph-multigrid.md.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "solvers/multigrid/coarse_level.hpp"
#include "solvers/multigrid/direct_solve.hpp"
#include "solvers/multigrid/fine_coarsen.hpp"
#include "solvers/multigrid/fine_levels.hpp"
#include "solvers/multigrid/merged_ranks.hpp"

namespace karst {

struct MultigridOptions {
  /// Degrees of the Chebyshev smoothers before and after the coarse problem, >= 1. Where they differ the cycle is not
  /// symmetric.
  std::array<int, 2> fine_degrees{2, 2}, coarse_degrees{3, 3};
  double fine_fraction = 4.0, coarse_fraction = 12.0;  ///< they act on the eigenvalues [λ / fraction, λ], λ = 2
  /// Coarse levels, counted from 1, with two cycles per visit (K-cycle): a polynomial of degree 2 in the cycle below,
  /// for eigenvalues of the cycle times its operator in [low, high].
  int first_twice = 2, last_twice = 4;
  double twice_low = 0.3, twice_high = 1.2;
  /// Factors of damped Jacobi steps in place of the Chebyshev smoothers; empty: none. For operators with inflow, whose
  /// eigenvalues of D^-1 A are in the circle about 1 through 0 and 2: steps of 1/2 to 1 amplify none of them.
  std::vector<float> fine_steps, coarse_steps;
  double coarse_scale = 0.65;        ///< factor per level on the Galerkin operator
  std::int64_t gather_below = 8192;  ///< levels of fewer nodes are stored on every remaining rank
  /// Levels of fewer nodes per rank are moved to fewer ranks, of at least `merge_to` nodes each on average.
  std::int64_t merge_below = 256, merge_to = 4096;
  std::int64_t direct_below = 300;  ///< levels of fewer nodes are solved directly
};

/// C right-hand sides at once: all rows, neighbours and transfers are read once for the C.
template <int C>
class BasicGraphMultigrid {
 public:
  using Value = NodeValue<C>;
  /// The geometries of the levels must outlive this object and must not move; `levels` is not needed afterwards.
  /// Collective.
  BasicGraphMultigrid(const Comm& comm, std::span<const TwoPointLevel> levels, const MultigridOptions& options = {});
  BasicGraphMultigrid(const Comm& comm, const TwoPointLevel& level, const MultigridOptions& options = {})
      : BasicGraphMultigrid(comm, std::span(&level, 1), options) {}

  /// Sets the shifts s_v to those of levels that are equal otherwise: diagonals change on all levels, nodes and
  /// connections do not. Collective.
  void set_shifts(std::span<const TwoPointLevel> levels);

  /// x = M b over the own unknowns, in the order level, box, VoF. b is read and x is returned in pieces, by all
  /// threads; their values should be well within the range of single precision. Allocates nothing. Collective.
  void apply(const LoadValues<C>& b, const StoreValues<C>& x);
  /// ax = A x with the two-point operator, in single precision, values passed as in apply(). Collective.
  void product(const LoadValues<C>& x, const StoreValues<C>& ax) { fine_.product(x, ax); }
  /// Sets the typical size of the following right-hand sides (of the first residual of a solve), so that single
  /// precision neither overflows nor underflows: values down to 30 orders of magnitude below it are safe. Initially 1.
  void set_sizes(const std::array<double, C>& sizes);
  /// The same with values in double precision, component c of unknown i at C i + c.
  void apply(std::span<const double> b, std::span<double> x);
  /// ax = A x in double precision, with the two-point operator. Allocates at its first call only. Collective.
  void product(std::span<const double> x, std::span<double> ax) requires(C == 1) {
    if constexpr (C == 1) fine_.product(x, ax);  // clang 14 makes this function for all C
  }

  std::int64_t n_unknowns() const { return fine_.n_unknowns(); }

  /// Nodes of all ranks per level, the unknowns first.
  const std::vector<std::int64_t>& nodes() const { return nodes_; }
  /// Connections and diagonals of all levels over those of the first.
  double operator_complexity() const { return operator_complexity_; }
  std::int64_t bytes() const;  ///< of this rank
  std::string summary() const;

 private:
  void build_coarse(NodeGraph graph, const MultigridOptions& options);
  void add_entries(const Comm& here, const NodeGraph& graph);
  void tell_all_ranks();
  void choose_sweeps(std::span<const TwoPointLevel> levels);
  void smooth_from_zero(const LoadValues<C>& b, std::span<const SweepFactors> sweeps);
  enum class Guess { zero, given };
  void smooth_coarse(BasicCoarseLevel<C>& level, Guess guess);
  void cycle(std::size_t k);
  void visit(std::size_t k);
  void visit_here(std::size_t k);
  BasicMergedRanks<C>* merged(std::size_t k);
  std::span<Value> rhs(std::size_t k);
  std::span<Value> result(std::size_t k);
  std::span<Value> rhs_here(std::size_t k);
  std::span<Value> result_here(std::size_t k);
  std::span<Value> own_part(std::size_t k, std::span<Value> all) const;
  void share_rhs();

  Comm comm_;
  BasicFineLevels<C> fine_;
  std::vector<std::unique_ptr<BasicCoarseLevel<C>>> coarse_;
  NodeGraph coarsest_graph_;
  BasicDirectSolve<C> coarsest_;
  std::vector<SideShift> side_shift_;  // of the first coarse level
  std::int64_t n_first_ = 0;           // own nodes of that level
  float scale_;
  using Smoothers = std::array<std::vector<SweepFactors>, 2>;  // before and after the coarse problem
  static Smoothers smoothers(const std::array<int, 2>& degrees, const std::vector<float>& steps, double low,
                             double high);
  Smoothers fine_sweeps_, coarse_sweeps_;
  std::vector<SweepFactors> twice_;
  bool has_inflow_;
  std::vector<SweepFactors> alone_;  // sweeps that are M; empty: M is a cycle
  std::size_t first_twice_, last_twice_;
  std::array<double, C> size_{};
  /// Levels that are moved to fewer ranks, in order; on a rank that passes its nodes on, the last one is the end of its
  /// levels.
  struct Merge {
    std::size_t level;
    BasicMergedRanks<C> ranks;
  };
  std::vector<Merge> merges_;
  std::optional<Comm> last_;                          // ranks of the coarsest levels; none: this rank is not among them
  std::size_t gathered_ = 0;                          // first level that each of them holds whole
  std::int64_t first_gathered_ = 0, n_gathered_ = 0;  // own nodes of that level
  std::vector<double> shared_;
  std::vector<std::int64_t> nodes_;
  double operator_complexity_ = 1.0;
};

extern template class BasicGraphMultigrid<1>;
extern template class BasicGraphMultigrid<2>;
extern template class BasicGraphMultigrid<3>;
extern template class BasicGraphMultigrid<4>;
using GraphMultigrid = BasicGraphMultigrid<1>;

}  // namespace karst
