// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <vector>

#include "solvers/multigrid/gather_kernels.hpp"

namespace karst {

/// Sweeps of a Chebyshev smoother of this degree for eigenvalues of D^-1 A in [low, high], to be used one after the
/// other; the first needs no older iterate (q = 0). Source: Saad, Iterative methods for sparse linear systems, 2nd ed.
/// (2003), algorithm 12.1.
inline std::vector<SweepFactors> chebyshev_sweeps(int degree, double low, double high) {
  const double middle = 0.5 * (high + low), half = 0.5 * (high - low), sigma = middle / half;
  double rho = 1.0 / sigma, m = 0.0, c = 1.0 / middle;
  std::vector<SweepFactors> sweeps;
  for (int k = 0; k < degree; ++k) {
    sweeps.push_back({static_cast<float>(1.0 + m - c), static_cast<float>(-m), static_cast<float>(c)});
    const double next = 1.0 / (2.0 * sigma - rho);
    m = next * rho;
    c = 2.0 * next / half;
    rho = next;
  }
  return sweeps;
}

/// Damped Jacobi steps with these factors.
inline std::vector<SweepFactors> jacobi_sweeps(const std::vector<float>& factors) {
  std::vector<SweepFactors> sweeps;
  sweeps.reserve(factors.size());
  for (const float c : factors) sweeps.push_back({1.0F - c, 0.0F, c});
  return sweeps;
}

}  // namespace karst
