// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "solvers/graph_multigrid.hpp"

namespace karst {

struct CgResult {
  int iterations = 0;
  double relative_residual = 0.0;  ///< |b - A x| / |b| in the 2-norm, by the recurrence
};

/// Solves A x = b for the two-point operator of `multigrid` by conjugate gradients preconditioned with it, threaded,
/// its vector operations fused with the operator. Singular systems: b must have no part along the constants of a
/// component without shift. Throws Error when it does not converge within max_iterations. Collective.
/// @param b           own unknowns in the order level, box, VoF
/// @param[in,out] x   initial guess, then the solution
CgResult solve_cg(const Comm& comm, GraphMultigrid& multigrid, std::span<const double> b, std::span<double> x,
                  double tolerance, int max_iterations);

}  // namespace karst
