// SPDX-License-Identifier: BSD-3-Clause
// Outflow of a control volume by diffusion and through its wall for a change x of the means: K J T E x.
//
//   K  rows of the accurate operator without a zeroth-order term
//   J  isolated fragments with a host have the value that the operator extrapolates for them
//   T  values (at cell centres) from means (at centroids); 0 on domain faces
//   E  isolated fragments change by the mean of their neighbours: they are small and equilibrate at once
//
// So isolated fragments are not unknowns, and D^-1 A of all other volumes has its eigenvalues in the range of those of
// regular volumes, which the sweeps require (diffusion_sweeps.hpp). Plain volumes have a seven-point stencil and no
// table: T and J change neither them nor their neighbours. All others have a row of the product.
#pragma once

#include "solvers/elliptic/elliptic_operator.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// Volumes whose value is c + Σ weight (c_other - c).
struct MovedValues {
  std::vector<std::int32_t> volume;    ///< increasing
  std::vector<std::int64_t> begin{0};  ///< first of their terms, and the end
  std::vector<std::int32_t> other;
  std::vector<double> weight;
  std::int64_t bytes() const;
};

/// φ: T applied to c - r. Threaded; not collective.
/// @param c    C n_values
/// @param phi  C n_own
template <int C>
void move_values(const MovedValues& moved, std::span<const double> c, const std::array<double, C>& r,
                 std::span<double> phi);

struct DiffusionRows {
  double diffusivity = 0.0;
  WideRows rows;                   ///< of grid.special, in windows that are distributed to threads
  RemoteUnknowns remote;           ///< of the rows
  Array<double> far;               ///< their values
  Array<double> diagonal, others;  ///< parallel to grid.special: own weight, Σ |weight| of all other entries
  Array<double> mass;              ///< M: n_own, volumes including those of their isolated fragments
  std::int64_t bytes() const;
};

/// Rows of the same equation on the grid before, and where that grid was the same.
struct RowsBefore {
  const DiffusionRows* rows = nullptr;  ///< nullptr: none
  const SameBoxes* same = nullptr;
  std::span<const KnownRow> known;  ///< OperatorBefore::known of the operator
};

/// @param op         without a zeroth-order term
/// @param moved      T
/// @param followers  E: of isolated fragments
/// @param before     rows are copied where what they follow from is the same; they are those made of none, bit by bit
/// Collective.
DiffusionRows make_diffusion_rows(ScalarGrid& grid, EllipticOperator& op, const MovedValues& moved,
                                  const MovedValues& followers, const RowsBefore& before = {});

/// y = K J T E x in the special volumes; other entries of y are unchanged. Threaded. Collective.
/// @param x  C n_own at its front
template <int C>
void apply_special(const ScalarGrid& grid, DiffusionRows& rows, std::span<const double> x, std::span<double> y);

/// y = K J T E x + a M x over the own volumes; values of other ranks are fetched. Collective.
/// @param x  C n_values
template <int C>
void apply_rows(ScalarGrid& grid, DiffusionRows& rows, double a, std::span<double> x, std::span<double> y);

}  // namespace karst
