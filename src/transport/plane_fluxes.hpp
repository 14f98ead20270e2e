// SPDX-License-Identifier: BSD-3-Clause
// Fluxes through planes across the domain and through its ends, found by apply() of an elliptic operator alone: exactly
// those that its rows balance, whatever its stencils are.
//
// Rows are net outflows: Σ over a part of the fluid of (A u)_v is what flows out of it. Let u be c in a quarter of the
// domain on each side of a plane and 0 in the others. The half on the right of the plane then exchanges nothing through
// its other end, so what flows through the plane to the right is -Σ_half (A u)_v. Likewise at an end of the domain.
// Stencils must not reach over a quarter of the domain: a direction needs 16 cells.
#pragma once

#include <cstdint>
#include <span>

#include "base/memory.hpp"
#include "solvers/elliptic_operator.hpp"

namespace karst {

inline constexpr int least_cells_of_planes = 16;  ///< of a direction whose planes or ends are asked for

/// c(x + L e_direction) = c(x) + height in a periodic direction; none: c is periodic.
struct PeriodicJump {
  int direction = 0;
  double height = 0.0;
};

/// All fluxes are -Σ β ∂c/∂n area in units of h0. All functions are collective.
class PlaneFluxes {
 public:
  /// The operator must outlive it.
  explicit PlaneFluxes(EllipticOperator& op);

  /// y += what the rows of A see of a jump across the end of the domain: A c of the function with the jump is A c of
  /// its values, which apply() takes for periodic, plus this.
  /// @param[in,out] y  own unknowns
  void add_jump(const PeriodicJump& jump, std::span<double> y);

  /// The row of an own unknown is a balance (not an orphan that a host keeps the balance for).
  bool is_balance(std::size_t v) const { return (place_[v] & 64) == 0; }

  enum class Plane { end, middle };
  /// In the direction of the axis, through a plane across a periodic direction.
  /// @param c     own unknowns
  /// @param jump  of c
  /// @param ends  per own unknown: what multiplies c - value in the flux through fixed ends of the domain; empty: there
  ///              are none
  double through(int direction, Plane plane, std::span<const double> c, const PeriodicJump& jump,
                 std::span<const double> ends);
  /// Out of the domain through one of its sides.
  /// @param values  right-hand side of the conditions on this side alone
  double out_of(int side, std::span<const double> c, std::span<const double> values);

 private:
  int quarter(std::size_t v, int direction) const { return place_[v] >> (2 * direction) & 3; }
  /// In the quarter right of a plane, or the one left of it.
  bool is_near(std::size_t v, int direction, int right) const {
    const int q = quarter(v, direction);
    return q == right || q == (right + 3) % 4;
  }
  /// The same for a function that is c near a plane and 0 elsewhere.
  void add_jump_near(const PeriodicJump& jump, int direction, int right, std::span<double> y);
  /// Σ of value(v) over the balances of the half of a direction that begins with an even quarter.
  template <class Value>
  double sum_of_half(int direction, int first_quarter, Value&& value) const;

  EllipticOperator& op_;
  Array<std::uint8_t> place_;  ///< per own unknown: quarter along x, y, z in two bits each; 64: its row is no balance
  Array<double> part_, result_, step_, of_jump_;
};

}  // namespace karst
