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
  Array<double> conductance;  ///< D area / distance of the faces of special volumes, parallel to grid.volume_faces
  Array<std::int32_t> other;  ///< the volume across, parallel to it: without the rest of a VolumeFace
  Array<double> wall;         ///< w per own volume [h0³/time]; empty: sealed
  Array<double> equilibrium;  ///< parallel to wall
};

/// Fills terms.exchange, conductance and other. Not collective.
void find_exchange(const ScalarGrid& grid, LowOrderTerms& terms);

/// q = fluxes of two-point diffusion for these values (n_values), through the sides that fix values, too: flux += q,
/// amount = factor q. Threaded.
void add_two_point_flux(const ScalarGrid& grid, const LowOrderTerms& terms, std::span<const double> values,
                        double factor, std::span<double> flux, std::span<double> amount);

/// y = Σ over the faces of D area / distance (own value - value across), per own volume. Threaded.
/// @param values  n_values
void exchange_sum(const ScalarGrid& grid, const LowOrderTerms& terms, std::span<const double> values,
                  std::span<double> y);

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

  /// Total of what the last solve() made implicit: implicit upwind fluxes. Threaded.
  static void implicit_upwind(const ScalarGrid& grid, const CarryingFlow& flow, std::span<const double> values,
                              std::span<double> q);
  std::int64_t bytes() const;

 private:
  void find_scale(const ScalarGrid& grid, const CarryingFlow& flow, const LowOrderTerms* terms, double dt);

  TruncatedGcr gcr_;
  Array<double> flux_;                       // n_faces
  Array<double> b_, scale_, image_, extra_;  // n_own
  Array<double> change_, direction_;         // n_values
};

}  // namespace karst
