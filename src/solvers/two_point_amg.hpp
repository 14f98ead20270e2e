// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <string>

#include "solvers/two_point.hpp"

namespace karst {

struct AmgResult {
  int iterations = 0;
  bool converged = false;
  double set_up_seconds = 0.0, solve_seconds = 0.0;  ///< processor time of this rank
};

/// Solves A x = b for the two-point operator of one level by PETSc: conjugate gradients on the assembled matrix with a
/// preconditioner of this name (gamg, hypre: BoomerAMG, ...), PETSc's defaults, relative residual in the
/// unpreconditioned norm. The yardstick for the graph multigrid. Solves twice and times the second. PETSc must run
/// (PetscSession). Throws Error when PETSc refuses. Collective.
/// @param b  own VoFs, box after box
/// @param[out] x  as b
AmgResult solve_two_point_with_amg(const Comm& comm, const TwoPointLevel& level, const std::string& preconditioner,
                                   std::span<const double> b, std::span<double> x, double tolerance);

}  // namespace karst
