// SPDX-License-Identifier: BSD-3-Clause
// A x = b, A = a M + K J T E (diffusion_rows.hpp), where a M is small compared with K: truncated GCR with a cycle of
// graph multigrid on the two-point operator and Jacobi steps in the special volumes, where the two operators differ.
#pragma once

#include <memory>
#include <string>

#include "solvers/krylov/truncated_gcr.hpp"
#include "solvers/multigrid/graph_multigrid.hpp"
#include "transport/diffusion/diffusion_sweeps.hpp"

namespace karst {

/// Work arrays for a solve of C right-hand sides; allocated when a step first needs them.
template <int C>
struct StiffDiffusion {
  std::unique_ptr<BasicGraphMultigrid<C>> multigrid;
  std::unique_ptr<BasicTruncatedGcr<C>> gcr;
  Array<double> direction;  ///< C n_values
  double a = 0.0;           ///< of the multigrid
  std::int64_t bytes() const;
};

/// Updates the multigrid to op + a M. Collective.
template <int C>
void set_shift(const ScalarGrid& grid, const EllipticOperator& op, double a, StiffDiffusion<C>& stiff);

struct StiffOptions {
  double tolerance = 1e-8;  ///< of |b_c|
  int max_iterations = 300;
  std::array<double, 4> round_off{};  ///< residuals per component that cannot be distinguished from round-off
  std::array<std::string, 4> name{};  ///< of the components, in messages
};

/// @param sweeps  with the same a
/// @param b       C n_own
/// @param[in,out] x  C n_values: initial guess; on return the solution in the own volumes
/// @param y       C n_own: work array. Returns the number of iterations. Throws Error if it does not converge.
/// Collective.
template <int C>
int solve_stiff(ScalarGrid& grid, DiffusionRows& rows, const DiffusionSweeps& sweeps, StiffDiffusion<C>& stiff,
                const StiffOptions& options, std::span<const double> b, std::span<double> x, std::span<double> y);

}  // namespace karst
