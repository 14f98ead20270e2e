// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "solvers/elliptic/elliptic_operator.hpp"
#include "solvers/multigrid/graph_multigrid.hpp"

namespace karst {

/// Graph multigrid as preconditioner of an elliptic operator: a cycle on its two-point form, then a damped Jacobi step
/// of the operator itself in its wide rows. Without that step the modes that live where the two forms differ (slivers,
/// orphans, coarse-fine faces) decide: twice the iterations (decision 008). Residuals of joined orphans, whose rows
/// only extrapolate from a host (row_maker.hpp), are no balances and not shown to the graph; in the graph they stay, as
/// the way through a throat. C residuals side by side (component c of unknown i at C i + c; instantiated for 1 to 4).
template <int C>
class BasicEllipticMultigrid {
 public:
  /// The operator and its geometry must outlive it. Collective.
  explicit BasicEllipticMultigrid(EllipticOperator& op, const MultigridOptions& options = {});

  /// The cycle alone, on levels that are given: those of the operator with the inflow of a flow. Coefficients of the
  /// operator must not change. Collective.
  BasicEllipticMultigrid(EllipticOperator& op, std::span<const TwoPointLevel> levels, const MultigridOptions& options);

  /// z = M r over the own unknowns; sizes single precision by r. Follows the coefficients of the operator; allocates
  /// nothing otherwise. Collective.
  void operator()(std::span<const double> r, std::span<double> z);
  BasicGraphMultigrid<C>& multigrid() { return multigrid_; }
  std::int64_t bytes() const;  ///< of this rank

 private:
  EllipticOperator& op_;
  int version_;  // of the operator
  int wide_steps_;
  BasicGraphMultigrid<C> multigrid_;
  std::vector<std::int32_t> orphans_;  // joined ones
  Array<double> r_;                    // r, 0 in orphans; empty without any
};

extern template class BasicEllipticMultigrid<1>;
extern template class BasicEllipticMultigrid<2>;
extern template class BasicEllipticMultigrid<3>;
extern template class BasicEllipticMultigrid<4>;
using EllipticMultigrid = BasicEllipticMultigrid<1>;

}  // namespace karst
