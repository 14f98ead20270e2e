// SPDX-License-Identifier: BSD-3-Clause
// The divergence of a flow is removed by an irrotational flow through the same faces: A x = -∇·F with two-point
// differences, F += -∇x. Solved by truncated GCR, preconditioned by graph multigrid on the two-point operator of the
// elliptic solves: 2 iterations per digit.
#pragma once

#include "solvers/krylov/truncated_gcr.hpp"
#include "solvers/multigrid/graph_multigrid.hpp"
#include "transport/volumes/conductances.hpp"

namespace karst {

/// Faces open to the irrotational flow: all except those of isolated fragments and domain faces where the flow is 0.
/// Not collective.
/// @param flow  one number per face [h0³/time]
Conductances open_faces(const ScalarGrid& grid, std::span<const double> flow);

/// flow += -∇x. Collective.
/// @param potential  x: n_values, own ones given, 0 on domain faces
void add_irrotational(ScalarGrid& grid, const Conductances& open, std::span<double> potential, std::span<double> flow);

class FlowProjection {
 public:
  /// @param open  open_faces() of the flow; must outlive this object. Collective.
  FlowProjection(ScalarGrid& grid, const Conductances& open, std::span<const double> flow);

  /// Adds to the own values of the potential the part that reduces the divergence to `goal` times what each volume
  /// exchanges, or by as many digits as one round can; returns the number of iterations. Collective.
  /// @param divergence  Σ of the fluxes out of each own volume
  /// @param exchange    of each own volume [h0³/time]; where it is 0, the divergence is left as it becomes
  int round(std::span<const double> divergence, std::span<const double> exchange, double goal,
            std::span<double> potential);

 private:
  double largest_left(std::span<const double> exchange) const;
  void apply(std::span<double> x, std::span<double> y);
  void precondition(std::span<const double> r, std::span<double> z);

  ScalarGrid& grid_;
  const Conductances& g_;
  TruncatedGcr gcr_;
  GraphMultigrid multigrid_;
  Array<double> scale_, b_;      // n_own; 1 / Σ g, 0 in volumes without a face
  Array<double> x_, direction_;  // n_values; 0 on domain faces
};

}  // namespace karst
