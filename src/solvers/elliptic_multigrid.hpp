// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "solvers/elliptic_operator.hpp"
#include "solvers/graph_multigrid.hpp"

namespace karst {

/// Graph multigrid as preconditioner of an elliptic operator: on its two-point form, and 1 / diagonal in the rows of
/// joined orphans. Those take their value from a host and have no balance of their own (row_maker.hpp); in the graph
/// they stay, as the way through a throat.
class EllipticMultigrid {
 public:
  /// The geometry of the operator must outlive it. Collective.
  explicit EllipticMultigrid(const EllipticOperator& op, const MultigridOptions& options = {});

  /// z = M r over the own unknowns. Collective.
  void operator()(std::span<const double> r, std::span<double> z);
  GraphMultigrid& multigrid() { return multigrid_; }

 private:
  GraphMultigrid multigrid_;
  std::vector<EllipticOperator::JoinedOrphan> orphans_;
  std::vector<double> r_;  // r, 0 in orphans
};

}  // namespace karst
