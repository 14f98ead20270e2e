// SPDX-License-Identifier: BSD-3-Clause
// Dynamic permeability: what creeping flow answers to a drive F e^{iωt}, for all frequencies from a dozen real solves.
//
//   s u - Δu + ∇p = F,   ∇·u = 0,   u = 0 on the wall,      K(s) = mean superficial velocity along F, s = iω
//
// in the units of stokes_solver.hpp, times in h0² / ν. K has its poles at minus the rates at which flow comes to rest,
// so it is smooth where it is solved for: at real shifts s_k >= 0, each an implicit step from rest. For any other s the
// flow is looked for among Σ y_k u_k so that <u_j, residual> = 0 (a rational Krylov space: Ruhe, Linear Algebra Appl.
// 58 (1984) 391),
//
//   Σ_k (f_j + (s - s_k) M_jk) y_k = f_j,   K(s) = Σ_k f_k y_k,   f_k = K(s_k),   M_jk = <u_j, u_k>,
//
// as <u_j, s_k u_k - Δu_k + ∇p_k> = <u_j, F> = f_j. K(s_k) comes out whatever M is.
// k(ω) and its limits: Johnson, Koplik & Dashen, J. Fluid Mech. 176 (1987) 379.
#pragma once

#include <complex>
#include <functional>
#include <string>
#include <vector>

#include "ins/solve/stokes_solver.hpp"

namespace karst {

struct DynamicPermeability {
  std::vector<double> shift;    ///< s_k, increasing, 0 first
  std::vector<double> answer;   ///< K(s_k)
  std::vector<double> product;  ///< M, [j * n + k]

  /// K(iω) [h0²]: Darcy velocity x μ / F; the flow follows the drive by -arg K. Not collective.
  std::complex<double> at(double omega) const;
  /// Largest change of K(iω) over its size when any shift but 0 is left out.
  double change_without_a_shift(double omega) const;
  /// Of the mean over all rates at which the flow comes to rest, each with its part of K(0): <u_0, u_0> / K(0).
  double relaxation_time() const { return product[0] / answer[0]; }
};

/// One of the solves.
struct ShiftSolve {
  double shift = 0.0, answer = 0.0;
  int iterations = 0;
  double relative_residual = 0.0, seconds = 0.0;  ///< of this rank
};

struct DynamicWatch {
  std::function<void(const ShiftSolve&)> solved;  ///< after each solve, the flow in the solver
};

/// Angular frequency at which the skin of the flow on a wall, √(2 ν / ω), is one cell thick [ν / h0²].
inline constexpr double resolved_frequency = 2.0;

/// Solves for the flow at all shifts, which are three per decade. Keeps a velocity of four
/// bytes a component per VoF and shift while it works. Throws Error when a solve fails. Collective.
/// @param drive    of size 1 along the axis: unit_drive()
/// @param highest  angular frequency up to which K(iω) is wanted [ν / h0²]
DynamicPermeability dynamic_permeability(StokesSolver& stokes, const Geometry& geometry, const StokesDrive& drive,
                                         int axis, double highest, const DynamicWatch& watch = {});

}  // namespace karst
