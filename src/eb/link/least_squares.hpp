// SPDX-License-Identifier: BSD-3-Clause
// Weights of least-squares fits to values at scattered points. Positions are in cell widths, so all quantities are
// dimensionless.
#pragma once

#include <span>
#include <vector>

#include "base/math/triple.hpp"

namespace karst {

/// Gradient by weighted least squares: G = Σ_i w_i (φ_i - φ_0) minimises Σ_i (G·r_i - φ_i + φ_0)² / |r_i|².
/// Exact for linear φ in every direction that the points resolve; in the others G is 0 (pseudo-inverse).
struct GradientFit {
  std::vector<Vec3> weight;  ///< one per point
  double quality = 0.0;      ///< smallest eigenvalue of Σ r r^T / |r|²: 2 for the six neighbours of a cell
  int resolved = 0;          ///< directions, 0 to 3
};

/// @param r         points relative to that of φ_0, none of them 0
/// @param smallest  directions of a smaller eigenvalue count as not resolved
GradientFit fit_gradient(std::span<const Vec3> r, double smallest);

/// Value at 0 of the polynomial of this degree (0 to 3) that is the least-squares fit of φ at the points, with weights
/// (|r|² + 1/4)^-decay: φ(0) ~ Σ_i w_i φ_i, Σ w_i = 1. Terms that the points do not determine are left out, those of
/// higher degree first. At least one point is required.
std::vector<double> fit_polynomial(std::span<const Vec3> r, int degree, int decay = 1);

}  // namespace karst
