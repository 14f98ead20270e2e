// SPDX-License-Identifier: BSD-3-Clause
// A x = b, A = a M + K J T E (diffusion_rows.hpp), by Chebyshev's method, preconditioned with the diagonal D:
//
//   x_{k+1} = x_{k-1} + ω_k (x_k - x_{k-1} + D^-1 (b - A x_k)),   ω_1 = 1, ω_2 = 1 / (1 - ρ²/2), ω_{k+1} = 1 / (1 - ρ²
//   ω_k / 4)
//
// In whole volumes D^-1 A has its eigenvalues in [1 - ρ, 1 + ρ], ρ = 6 D / h² over a + 6 D / h²; rows at walls are
// scaled so that theirs lie no further out. How many sweeps a tolerance takes follows from ρ alone: the same for all
// right-hand sides, whatever they are, so that sums of components stay sums to round-off; and nothing is summed over
// ranks. Source: Golub & Varga, Numer. Math. 3 (1961) 147. Worth its time while a V is not small beside K: GCR with
// multigrid is for what is stiffer.
#pragma once

#include "transport/march/diffusion_rows.hpp"

namespace karst {

struct DiffusionSweeps {
  double a = 0.0;  ///< as the rest is made for
  double rho = 0.0;
  Array<double> inverse;  ///< 1 / D, parallel to grid.special; 0 in fragments, which rest
  std::int64_t bytes() const { return static_cast<std::int64_t>(inverse.bytes()); }
};

/// Makes the sweeps those of this a. Threaded; not collective.
void set_shift(const ScalarGrid& grid, const DiffusionRows& rows, double a, DiffusionSweeps& sweeps);

/// By what a sweep reduces what is left.
double rate_of(const DiffusionSweeps& sweeps);
/// How many sweeps leave less than `tolerance` of what is there.
int sweeps_for(const DiffusionSweeps& sweeps, double tolerance);

/// x = x_0 + D^-1 r_0, the first sweep. Threaded; not collective.
/// @param start  x_0, C n_own; empty: 0
/// @param r      C n_own
/// @param x      C n_own at its front
template <int C>
void first_sweep(const ScalarGrid& grid, const DiffusionRows& rows, const DiffusionSweeps& sweeps,
                 std::span<const double> start, std::span<const double> r, std::span<double> x);

/// Vectors of a solve, component c of volume i at C i + c.
struct SweepVectors {
  std::span<const double> b;      ///< C n_own
  std::span<double> now, before;  ///< x_k and x_{k-1}: C n_values; x_{k+1} goes to `before`
  std::span<double> y;            ///< C n_own: room
};

/// One more sweep. Returns Σ (D^-1 (b - A x_k))² over the own volumes per component, where asked to `measure`.
/// Collective.
template <int C>
std::array<double, C> sweep(ScalarGrid& grid, DiffusionRows& rows, const DiffusionSweeps& sweeps, double omega,
                            bool measure, const SweepVectors& vectors);

}  // namespace karst
