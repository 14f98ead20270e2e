// SPDX-License-Identifier: BSD-3-Clause
// One matrix and C right-hand sides, (A + T) x_c = b_c, solved simultaneously by truncated GCR (truncated_gcr.hpp): the
// rows, lists and messages of each product and each cycle are shared. Each has the same iterates as alone and stops
// when it has converged. krylov.hpp is for a single right-hand side, through PETSc.
#pragma once

#include <array>
#include <functional>
#include <span>
#include <string>

#include "solvers/elliptic/elliptic_operator.hpp"
#include "solvers/krylov/krylov.hpp"
#include "solvers/krylov/null_space.hpp"
#include "solvers/krylov/truncated_gcr.hpp"

namespace karst {

/// Vectors hold component c of own unknown i at C i + c.
struct SideBySideSystem {
  EllipticOperator& op;         ///< A
  const NullSpace& null_space;  ///< of A + T
  AddedTerm add{};              ///< y += T x for all C; none: 0
  Precondition precondition;    ///< z = M r for all C
};

struct SideBySideOptions {
  double tolerance = 1e-8;  ///< ||b_c - (A + T) x_c|| <= tolerance ||b_c||
  int max_iterations = 500;
  double allowed_imbalance = 1e-8;  ///< as in KrylovOptions
  /// Stored directions, 16 C bytes per unknown each, allocated when first needed. Two suffice for most systems;
  /// advection across ranks and many cells at a high Péclet number stagnates with two, and sometimes with eight.
  GcrMemory memory{BasicTruncatedGcr<1>::largest_memory};
  /// Called at the start (0) and after every iteration with its number and the largest relative residual. On every
  /// rank.
  std::function<void(int iteration, double residual)> watch{};
};

/// Instantiated for C = 1 and 3.
/// @param names  of the solves, in messages and reports; an empty name means that the solve is not requested: its b_c
/// must be 0
/// @param b      changed to be compatible
/// @param[in,out] x  initial guess; on return the solution, with mean 0 in singular pores. Returns one report for each;
/// the seconds are its part of the total. Throws Error, with the name of the solve, if b_c is not finite or not
/// compatible, if it does not converge in max_iterations or finds no further direction, and if the true residual of x_c
/// differs from that of the method. Collective.
template <int C>
std::array<SolveReport, C> solve_side_by_side(const SideBySideSystem& system, const SideBySideOptions& options,
                                              const std::array<std::string, C>& names, std::span<double> b,
                                              std::span<double> x);

}  // namespace karst
