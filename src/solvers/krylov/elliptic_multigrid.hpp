// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "solvers/elliptic/elliptic_operator.hpp"
#include "solvers/multigrid/graph_multigrid.hpp"

namespace karst {

/// Graph multigrid as preconditioner of an elliptic operator: a cycle on its two-point form, then a damped Jacobi step
/// of the operator itself in its irregular rows. Without this step the slowest modes are those where the two forms
/// differ (slivers, isolated fragments, coarse-fine faces), and iterations double (decision 008). Residuals of
/// fragments with a host, whose rows only extrapolate from the host (row_maker.hpp), are not balances and are not
/// passed to the graph; the fragments remain nodes of the graph, because they may connect a throat. C interleaved
/// residuals (component c of unknown i at C i + c; instantiated for 1 to 4).
template <int C>
class BasicEllipticMultigrid {
 public:
  /// The operator and its geometry must outlive it. Collective.
  explicit BasicEllipticMultigrid(EllipticOperator& op, const MultigridOptions& options = {});

  /// Only the cycle, on given levels: those of the operator with the inflow of a flow. Coefficients of the operator
  /// must not change. Collective.
  BasicEllipticMultigrid(EllipticOperator& op, std::span<const TwoPointLevel> levels, const MultigridOptions& options);

  /// z = M r over the own unknowns; single precision is scaled by r. Updates itself after changes of the operator's
  /// coefficients; allocates nothing otherwise. Collective.
  void operator()(std::span<const double> r, std::span<double> z);
  BasicGraphMultigrid<C>& multigrid() { return multigrid_; }
  std::int64_t bytes() const;  ///< of this rank

 private:
  EllipticOperator& op_;
  int version_;  // of the operator
  int wide_steps_;
  BasicGraphMultigrid<C> multigrid_;
  std::vector<std::int32_t> orphans_;  // joined ones
  Array<double> r_;                    // r, 0 in isolated fragments; empty without any
};

extern template class BasicEllipticMultigrid<1>;
extern template class BasicEllipticMultigrid<2>;
extern template class BasicEllipticMultigrid<3>;
extern template class BasicEllipticMultigrid<4>;
using EllipticMultigrid = BasicEllipticMultigrid<1>;

}  // namespace karst
