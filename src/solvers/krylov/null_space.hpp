// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "solvers/elliptic/elliptic_operator.hpp"

namespace karst {

/// The null space of an operator: a constant on each connected part of the fluid whose rows all sum to 0 (a = 0 and
/// Neumann conditions all around: "singular" pores). The fluxes telescope over the rows that are balances (all but
/// those of joined orphans, whose volume is 0): a right-hand side is compatible when its sum over these, in each
/// singular pore, is 0.
class NullSpace {
 public:
  /// @param none  a further term has made the system regular: no pore is singular
  /// Collective.
  explicit NullSpace(const EllipticOperator& op, bool none = false);

  int n_pores() const { return static_cast<int>(size_.size()); }  ///< singular ones
  /// Takes the mean over each singular pore out of x, of C vectors side by side (component c of unknown i at C i + c;
  /// instantiated for 1 and 3) out of each. Collective.
  template <int C = 1>
  void remove(std::span<double> x) const;
  /// Takes from every balance the same, so that b becomes compatible. Returns the imbalance() before; throws Error,
  /// with the name of the solve, where it is larger than allowed. Collective.
  double make_compatible(std::span<double> b, const std::string& solve, double allowed) const;
  /// mean = Σ b over the balances of a singular pore / Σ weights of its unknowns, in all its unknowns; 0 in the others.
  /// Collective.
  void spread(std::span<const double> b, std::span<const double> weights, std::span<double> mean) const;
  /// Largest |Σ b| / Σ |b| over the singular pores: 0 for a compatible right-hand side. Collective.
  double imbalance(std::span<const double> b) const;

 private:
  template <class F>
  std::vector<double> sums(F&& value) const;  // per pore

  Comm comm_;
  std::vector<std::int32_t> pore_;       // per own unknown, -1: not singular; empty: no pore is singular
  std::vector<std::uint8_t> balance_;    // per own unknown
  std::vector<double> size_, balances_;  // unknowns and balances per pore, over all ranks
};

}  // namespace karst
