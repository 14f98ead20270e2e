// SPDX-License-Identifier: BSD-3-Clause
// The step of low order: explicit upwind advection, implicit two-point diffusion and film at the wall,
//
//   V (c_low - c) = -dt Σ [ F c_up + D area (c_low - c_low') / distance ] - dt w (c_low - c_eq),  w = a k / (1 + k d /
//   D)
//
// and upwind implicitly out of volumes that the flow empties in less than dt. The matrix is an M-matrix, so c_low stays
// in the range of c, boundary values and c_eq. Solved for the change; then made of its fluxes, so that nothing is lost
// whatever the solver leaves.
#pragma once

#include "transport/march/carrying_flow.hpp"
#include "transport/march/transport_problem.hpp"

namespace karst {

/// Of components that diffuse alike: same D, same sides that fix values, same wall.
struct LowOrderTerms {
  double diffusivity = 0.0;
  std::array<bool, 6> fixed{};
  Array<double> exchange;     ///< Σ D area / distance of the faces of each own volume [h0³/time]
  Array<double> listed;       ///< D area / distance, 0 where nothing passes, parallel to grid.listed
  Array<double> conductance;  ///< the same, parallel to grid.volume_faces
  Array<double> wall;         ///< w per own volume [h0³/time]; empty: sealed
  Array<double> equilibrium;  ///< parallel to wall
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(exchange.bytes() + listed.bytes() + conductance.bytes() + wall.bytes() +
                                     equilibrium.bytes());
  }
};

/// Fills terms.exchange, listed and conductance. Not collective.
void find_exchange(const ScalarGrid& grid, LowOrderTerms& terms);

/// q = fluxes of two-point diffusion for these values (n_values), through the sides that fix values, too: flux += q,
/// amount = factor q. Threaded.
void add_two_point_flux(const ScalarGrid& grid, const LowOrderTerms& terms, std::span<const double> values,
                        double factor, std::span<double> flux, std::span<double> amount);

/// y = D^-1 A x over the own volumes, A the matrix of the step and D its diagonal. Threaded; not collective.
/// @param terms   nullptr: no diffusion
/// @param scale   n_own: 1 / D
/// @param values  x, n_values
void apply_low_order(const ScalarGrid& grid, const CarryingFlow& flow, const LowOrderTerms* terms, double dt,
                     std::span<const double> scale, std::span<const double> values, std::span<double> image);

class LowOrderSolver {
 public:
  explicit LowOrderSolver(const ScalarGrid& grid);

  /// Solves for c_low.
  /// @param terms     nullptr: no diffusion
  /// @param explicit_flux  F c_up per face
  /// @param source    per own volume [concentration/time]; empty: none
  /// @param[in,out] low  n_values: starts as c, with boundary values of the new time; the solution, of other ranks, too
  /// @param range     of the values: sets what is small
  /// Returns the number of iterations. Throws Error when it fails. Collective.
  int solve(ScalarGrid& grid, const CarryingFlow& flow, const LowOrderTerms* terms,
            std::span<const double> explicit_flux, std::span<const double> source, double dt, double range,
            std::span<double> low);

  std::int64_t bytes() const;

 private:
  void find_scale(const ScalarGrid& grid, const CarryingFlow& flow, const LowOrderTerms* terms, double dt);

  TruncatedGcr gcr_;
  Array<double> b_, scale_, explicit_;  // n_own
  Array<double> change_, direction_;    // n_values
};

}  // namespace karst
