// SPDX-License-Identifier: BSD-3-Clause
// Fluxes through planes across the domain and through its ends, found by apply() of an elliptic operator alone: exactly
// those that its rows balance, whatever its stencils are.
//
// Rows are net outflows: Σ over a part of the fluid of (A u)_v is what flows out of it. Let u be c in a quarter of the
// domain on each side of a plane and 0 in the others. The half on the right of the plane then exchanges nothing through
// its other end, so what flows through the plane to the right is -Σ_half (A u)_v. Likewise at an end of the domain.
// Stencils must not reach over a quarter of the domain: a direction needs 16 cells.
//
// Functions may rise by a jump H from one period to the next, c(x + L) = c(x) + H. The flux through a plane is known
// when the jump is across it alone. With a jump along it rows say nothing of the flux through it: a mean flux at right
// angles to the gradient (an antisymmetric tensor) has no divergence. That is why there is through_diagonal().
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "base/memory.hpp"
#include "solvers/elliptic/elliptic_operator.hpp"

namespace karst {

inline constexpr int least_cells_of_planes = 16;  ///< of a direction whose planes or ends are asked for

/// All fluxes are -Σ β ∂c/∂n area in units of h0. All functions but is_balance() are collective.
class PlaneFluxes {
 public:
  /// The operator must outlive it.
  explicit PlaneFluxes(EllipticOperator& op);

  /// The row of an own unknown is a balance (not an orphan that a host keeps the balance for).
  bool is_balance(std::size_t v) const { return place_[v].is_balance; }

  /// y += what the rows of A see of a jump across the end of a periodic direction: A c of the function with the jump is
  /// A c of its values, which apply() takes for periodic, plus this.
  /// @param[in,out] y  own unknowns
  void add_jump(int direction, double jump, std::span<double> y);

  enum class Plane { end, middle };
  /// In the direction of the axis, through a plane across a periodic direction.
  /// @param c     own unknowns
  /// @param jump  of c across the plane `end`
  /// @param ends  per own unknown: what multiplies c - value in the flux through fixed ends of the domain; empty: there
  ///              are none
  double through(int direction, Plane plane, std::span<const double> c, double jump, std::span<const double> ends);
  /// Through the planes across both of two periodic directions, added up: through the diagonal plane x_d / L_d +
  /// x_e / L_e = 1.
  /// @param jump  of c across the end of d and again across that of e
  double through_diagonal(int d, int e, std::span<const double> c, double jump);
  /// Out of the domain through one of its sides.
  /// @param values  right-hand side of the conditions on this side alone
  double out_of(int side, std::span<const double> c, std::span<const double> values);

 private:
  struct Place {
    std::array<std::uint8_t, 3> at;  ///< of its cell, in 256ths of the domain
    bool is_balance;
  };
  int quarter(std::size_t v, int direction) const { return place_[v].at[static_cast<std::size_t>(direction)] / 64; }
  /// Sets result_ = A of value(v).
  template <class Value>
  void apply(Value&& value);
  /// Σ of value(v) over the balances for which `counts`.
  template <class Counts, class Value>
  double sum(Counts&& counts, Value&& value) const;

  EllipticOperator& op_;
  Array<Place> place_;
  Array<double> part_, result_;
};

}  // namespace karst
