// SPDX-License-Identifier: BSD-3-Clause
// Implicit upwind advection out of the volumes that the flow empties in less than dt: with c* the result of the
// explicit fluxes,
//
//   V x = V c* + dt (Σ F x_up in - Σ F x out)
//
// in these volumes only; then their outflow is added to the volumes that receive it. Solved by GCR to round-off, and
// applied as fluxes.
#pragma once

#include <memory>
#include <tuple>

#include "solvers/krylov/truncated_gcr.hpp"
#include "transport/flow/carrying_flow.hpp"
#include "transport/volumes/side_by_side.hpp"

namespace karst {

struct ImplicitUpwind {
  /// A solver for C right-hand sides over the own implicit volumes; created when first needed.
  template <int C>
  struct Solver {
    std::unique_ptr<BasicTruncatedGcr<C>> gcr;
    std::size_t n = 0;
  };
  std::tuple<Solver<1>, Solver<2>, Solver<3>, Solver<4>> solvers;
  Array<double> value;          ///< C n_all: x of implicit volumes
  std::vector<double> b, x;     ///< C per own implicit volume
  std::vector<double> scale;    ///< per own implicit volume: 1 / (1 + dt outflow / V)
  std::vector<double> carried;  ///< C per implicit face: F x_up
  std::int64_t bytes() const;
};

/// @param range     of each component: defines the size of round-off
/// @param[in,out] after  C n_own at its front: in c*, out the values of the step
/// @param[in,out] ends   C per domain face: increased by the amount that leaves through it. Returns the number of
/// iterations. Throws Error if the solve fails. Collective.
template <int C>
int step_implicitly(ScalarGrid& grid, const CarryingFlow& flow, double dt, const std::array<double, C>& range,
                    ImplicitUpwind& implicit, std::span<double> after, std::span<double> ends);

}  // namespace karst
