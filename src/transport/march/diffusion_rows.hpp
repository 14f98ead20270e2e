// SPDX-License-Identifier: BSD-3-Clause
// What leaves a control volume by diffusion and through its wall for a change x of the means: K J T E x.
//
//   K  rows of the accurate operator without a zeroth-order term
//   J  joined orphans have the value that the operator extrapolates for them
//   T  values (at cell centres) from means (at centroids), nothing on the ends of the domain
//   E  isolated fragments change as their neighbours do on the mean: they are small and follow at once
//
// So fragments and orphans are no unknowns, and D^-1 A of all others has its eigenvalues where those of whole volumes
// are, which sweeps need (diffusion_sweeps.hpp). Plain volumes have seven points and no table: neither they nor their
// neighbours move. All others have a row of the product.
#pragma once

#include "solvers/elliptic/elliptic_operator.hpp"
#include "transport/march/scalar_grid.hpp"

namespace karst {

/// Volumes whose value is c + Σ weight (c_other - c).
struct MovedValues {
  std::vector<std::int32_t> volume;    ///< increasing
  std::vector<std::int64_t> begin{0};  ///< first of their terms, and the end
  std::vector<std::int32_t> other;
  std::vector<double> weight;
  std::int64_t bytes() const;
};

/// φ: moved values of c - r. Threaded; not collective.
/// @param c    C n_values
/// @param phi  C n_own
template <int C>
void move_values(const MovedValues& moved, std::span<const double> c, const std::array<double, C>& r,
                 std::span<double> phi);

struct DiffusionRows {
  double diffusivity = 0.0;
  WideRows rows;  ///< of grid.special, in windows that threads share
  int n_windows = 0;
  RemoteUnknowns remote;           ///< of the rows
  Array<double> far;               ///< their values
  Array<double> diagonal, others;  ///< parallel to grid.special: own weight, Σ |weight| of all other entries
  Array<double> mass;              ///< M: n_own, volumes with those of joined orphans
  std::int64_t bytes() const;
};

/// @param op         without a zeroth-order term
/// @param moved      T
/// @param followers  E: of isolated fragments
/// Collective.
DiffusionRows make_diffusion_rows(ScalarGrid& grid, EllipticOperator& op, const MovedValues& moved,
                                  const MovedValues& followers);

/// y = K J T E x in the special volumes; other places of y stay. Threaded. Collective.
/// @param x  C n_own at its front
template <int C>
void apply_special(const ScalarGrid& grid, DiffusionRows& rows, std::span<const double> x, std::span<double> y);

/// y = K J T E x + a M x over the own volumes; values of other ranks are fetched. Collective.
/// @param x  C n_values
template <int C>
void apply_rows(ScalarGrid& grid, DiffusionRows& rows, double a, std::span<double> x, std::span<double> y);

}  // namespace karst
