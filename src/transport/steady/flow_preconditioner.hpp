// SPDX-License-Identifier: BSD-3-Clause
// Preconditioner of steady transport, A + s T with the term T of a flow (advective_term.hpp): a graph multigrid cycle
// on two-point diffusion and the advection through primary faces, on all its levels (carried_weight.hpp: central where
// diffusion dominates, upwind with a little diffusion elsewhere), then a Gauss-Seidel sweep downstream
// (flow_sweep.hpp). The cycle alone needs 125 iterations where both need 36 (decision 030).
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "solvers/krylov/elliptic_multigrid.hpp"
#include "transport/steady/advective_term.hpp"
#include "transport/steady/flow_sweep.hpp"

namespace karst {

/// Of C residuals side by side (component c of unknown i at C i + c; instantiated for 1 and 3).
template <int C>
class BasicFlowPreconditioner {
 public:
  /// All must outlive it. Collective.
  /// @param carried  domain faces without diffusion, but with inflow of a given value
  BasicFlowPreconditioner(EllipticOperator& op, FaceField& flow, AdvectiveTerm& term,
                          const std::array<bool, 6>& carried = {});

  /// Updates it to s times the flow; 0: diffusion only. Rebuilds the multigrid. Collective.
  void set_scale(double s);
  /// Rebuilds everything after changes of the operator's coefficients. Collective.
  void follow_operator();
  /// z = M r over the own unknowns. Collective.
  void operator()(std::span<const double> r, std::span<double> z);
  std::int64_t bytes() const;  ///< of this rank

 private:
  EllipticOperator& op_;
  FaceField& flow_;
  AdvectiveTerm& term_;
  FlowSweep sweep_;
  std::optional<BasicEllipticMultigrid<C>> multigrid_;
  double scale_ = 0.0;
  std::array<bool, 6> carried_;
};

extern template class BasicFlowPreconditioner<1>;
extern template class BasicFlowPreconditioner<3>;
using FlowPreconditioner = BasicFlowPreconditioner<1>;

}  // namespace karst
