// SPDX-License-Identifier: BSD-3-Clause
// One matrix and C right-hand sides, (A + T) x_c = b_c, solved side by side with truncated GCR (truncated_gcr.hpp): the
// rows, lists and messages of each product and each cycle serve all of them. Each has the iterates that it has alone
// and rests when it is done. krylov.hpp is for a single right-hand side, through PETSc.
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
  /// Directions kept, 16 C bytes per unknown each from when they are first needed. Two are enough for most systems;
  /// what a flow carries across ranks and many cells at a high Péclet number stands still with two, and with eight at
  /// times.
  GcrMemory memory{BasicTruncatedGcr<1>::largest_memory};
  /// Told of the start (0) and of every iteration: its number and the largest relative residual. On every rank.
  std::function<void(int iteration, double residual)> watch{};
};

/// Instantiated for C = 1 and 3.
/// @param names  of the solves, in messages and reports; an empty one is not asked for: its b_c must be 0
/// @param b      changed: made compatible
/// @param[in,out] x  initial guess; the solution, of singular pores with mean 0
/// Returns a report each; the seconds are its share of those of all. Throws Error, with the name of the solve, where
/// b_c is not finite or not compatible, when max_iterations are not enough or no direction is left, and when the
/// residual of x_c is not the one that the method believes in. Collective.
template <int C>
std::array<SolveReport, C> solve_side_by_side(const SideBySideSystem& system, const SideBySideOptions& options,
                                              const std::array<std::string, C>& names, std::span<double> b,
                                              std::span<double> x);

}  // namespace karst
