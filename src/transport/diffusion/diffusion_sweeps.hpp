// SPDX-License-Identifier: BSD-3-Clause
// A x = b, A = a M + K J T E (diffusion_rows.hpp), by Chebyshev's method, preconditioned with the diagonal D:
//
//   x_{k+1} = x_{k-1} + ω_k (x_k - x_{k-1} + D^-1 (b - A x_k)),   ω_1 = 1, ω_2 = 1 / (1 - ρ²/2), ω_{k+1} = 1 / (1 - ρ²
//   ω_k / 4)
//
// In regular volumes D^-1 A has its eigenvalues in [1 - ρ, 1 + ρ], ρ = 6 D / h² over a + 6 D / h²; rows at walls are
// scaled such that theirs are in the same interval. The number of sweeps for a tolerance follows from ρ alone. It is
// the same for all right-hand sides, so that sums of components remain sums to round-off, and no sums over ranks are
// needed. Source: Golub & Varga, Numer. Math. 3 (1961) 147. Efficient as long as a V is not small compared with K; GCR
// with multigrid is for stiffer systems.
#pragma once

#include "transport/diffusion/diffusion_rows.hpp"

namespace karst {

struct DiffusionSweeps {
  double a = 0.0;  ///< for which the other members were computed
  double rho = 0.0;
  Array<double> inverse;  ///< 1 / D, parallel to grid.special; 0 in isolated fragments, which do not change
  std::int64_t bytes() const { return static_cast<std::int64_t>(inverse.bytes()); }
};

/// Prepares the sweeps for this a. Threaded; not collective.
void set_shift(const ScalarGrid& grid, const DiffusionRows& rows, double a, DiffusionSweeps& sweeps);

/// Factor by which a sweep reduces the error.
double rate_of(const DiffusionSweeps& sweeps);
/// Number of sweeps that reduce the error by the factor `tolerance`.
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
  std::span<double> y;            ///< C n_own: work array
};

/// One more sweep. Returns Σ (D^-1 (b - A x_k))² over the own volumes per component, where asked to `measure`.
/// Collective.
template <int C>
std::array<double, C> sweep(ScalarGrid& grid, DiffusionRows& rows, const DiffusionSweeps& sweeps, double omega,
                            bool measure, const SweepVectors& vectors);

}  // namespace karst
