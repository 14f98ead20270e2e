// SPDX-License-Identifier: BSD-3-Clause
// One implicit step of two-point diffusion with a film at the wall, (V + dt (Σ g + w)) x - dt Σ g x' = b: a symmetric
// M-matrix. Solved to round-off by Chebyshev's method: D^-1 A has its eigenvalues in [1 - ρ, 1 + ρ], ρ the largest
// fraction of the exchange of a volume in D (Gershgorin); the number of sweeps follows from ρ.
#pragma once

#include "transport/diffusion/low_order.hpp"

namespace karst {

struct ImplicitDiffusion {
  Array<double> inverse;  ///< n_own: 1 / D
  double rho = 0.0;
  Array<double> b;  ///< C n_own: of diffuse_implicitly()
  std::int64_t bytes() const { return static_cast<std::int64_t>(inverse.bytes() + b.bytes()); }
};

/// Throws Error if a solve with this ρ would take more than 20 000 sweeps.
/// @param dt  of the step, for the message
void require_few_sweeps(double rho, double dt);

/// Computes D and ρ for dt and the current terms.wall. Throws Error, on all ranks, if the step is so long that a solve
/// would take more than 20 000 sweeps. Collective.
void set_step(const ScalarGrid& grid, const LowOrderTerms& terms, double dt, ImplicitDiffusion& implicit);

/// @param b  C n_own
/// @param[in,out] x  C n_values: initial guess, on domain faces the values there; on return the solution, of other
///                   ranks, too
/// @param before     C n_values: work array. Returns the number of sweeps. Collective.
template <int C>
int solve(ScalarGrid& grid, const LowOrderTerms& terms, double dt, const ImplicitDiffusion& implicit,
          std::span<const double> b, std::span<double> x, std::span<double> before);

/// The low-order step as a single implicit step; the result is in vectors.first. Returns the number of sweeps.
/// Collective.
/// @param source  of each component: n_own [concentration/time]; empty: none
template <int C>
int diffuse_implicitly(ScalarGrid& grid, const LowOrderTerms& terms,
                       const std::array<std::span<const double>, C>& source, ImplicitDiffusion& implicit,
                       const LowOrderVectors& vectors);

}  // namespace karst
