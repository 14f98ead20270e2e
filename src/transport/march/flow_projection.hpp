// SPDX-License-Identifier: BSD-3-Clause
// The divergence of a flow is taken out by an irrotational one through the same faces: A x = -∇·F with two-point
// differences, F += -∇x. Solved by truncated GCR, preconditioned by graph multigrid on the two-point operator of the
// elliptic solves: 12 to 15 iterations per seven digits.
#pragma once

#include "solvers/krylov/truncated_gcr.hpp"
#include "solvers/multigrid/graph_multigrid.hpp"
#include "transport/march/conductances.hpp"

namespace karst {

class FlowProjection {
 public:
  /// Nothing passes faces of isolated fragments, nor ends of the domain where the flow is 0. Collective.
  /// @param flow  one number per face [h0³/time]
  FlowProjection(ScalarGrid& grid, std::span<const double> flow);

  /// Takes all but 1e-7 of the divergence out; the number of iterations. Collective.
  /// @param divergence  Σ of the fluxes out of each own volume
  int round(std::span<const double> divergence, std::span<double> flow);

 private:
  void apply(std::span<double> x, std::span<double> y);
  void precondition(std::span<const double> r, std::span<double> z);

  ScalarGrid& grid_;
  Conductances g_;
  TruncatedGcr gcr_;
  GraphMultigrid multigrid_;
  Array<double> scale_, b_;      // n_own; 1 / Σ g, 0 in volumes without a face
  Array<double> x_, direction_;  // n_values; 0 on the ends of the domain
};

}  // namespace karst
