// SPDX-License-Identifier: BSD-3-Clause
// The divergence of a flow is removed by an irrotational flow through the same faces: A x = -∇·F with two-point
// differences, F += -∇x. Solved by truncated GCR, preconditioned by graph multigrid on the two-point operator of the
// elliptic solves: 12 to 15 iterations per seven digits.
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

  /// Adds to the own values of the potential the part that reduces the divergence by 1e-7; returns the number of
  /// iterations. Collective.
  /// @param divergence  Σ of the fluxes out of each own volume
  int round(std::span<const double> divergence, std::span<double> potential);

 private:
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
