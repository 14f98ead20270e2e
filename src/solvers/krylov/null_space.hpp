// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "solvers/elliptic/elliptic_operator.hpp"

namespace karst {

/// The null space of an operator: a constant on each connected part of the fluid in which the entries of every row add
/// up to 0 (a = 0 and Neumann conditions everywhere: "singular" pores). Fluxes cancel in the sum over the rows that are
/// balances (all except those of fragments with a host, whose volume is 0): a right-hand side is compatible if its sum
/// over these is 0 in each singular pore.
class NullSpace {
 public:
  /// @param none  a further term makes the system regular: no pore is singular. Collective.
  explicit NullSpace(const EllipticOperator& op, bool none = false);

  int n_pores() const { return static_cast<int>(size_.size()); }  ///< singular ones
  /// Subtracts the mean over each singular pore from x, separately for each of C interleaved vectors (component c of
  /// unknown i at C i + c; instantiated for 1 and 3). Collective.
  template <int C = 1>
  void remove(std::span<double> x) const;
  /// Subtracts the same number from every balance so that b becomes compatible. Returns the imbalance() before; throws
  /// Error, with the name of the solve, if it is larger than allowed. Collective.
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
