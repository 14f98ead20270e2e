// SPDX-License-Identifier: BSD-3-Clause
// Linear solves through PETSc's Krylov methods. Every solve has an option prefix, so that a user can
// change any of it: -pressure_ksp_type, -pressure_pc_type gamg, -pressure_ksp_monitor ...
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "solvers/elliptic/elliptic_operator.hpp"

namespace karst {

/// Limit of final / requested residual; beyond it a solve has failed.
constexpr double largest_residual_ratio = 3.0;

/// y += T x over the own unknowns: a further term of the operator, such as advection. Only balances have it, and T 1 =
/// 0, so that the null space is that of the elliptic operator, or none (KrylovOptions::definite). Collective.
using AddedTerm = std::function<void(std::span<const double> x, std::span<double> y)>;

/// z = M r, an approximation of A^-1 r over the own unknowns. Collective.
using Precondition = std::function<void(std::span<const double> r, std::span<double> z)>;

struct KrylovOptions {
  std::string name = "elliptic";  ///< of the solve, in messages and reports
  std::string prefix;             ///< of its options, "pressure_"
  double tolerance = 1e-8;        ///< ||b - A x|| <= tolerance ||b||
  int max_iterations = 500;
  /// Singular systems: largest |Σ b| / Σ |b| of a pore that is accepted as compatible. The imbalance is distributed
  /// evenly over the pore and reported.
  double allowed_imbalance = 1e-8;
  /// Called at the start (0) and after every iteration with its number and ||b - A x|| / ||b||. On every rank.
  std::function<void(int iteration, double residual)> watch{};
  AddedTerm added{};  ///< A + T instead of A; none: A
  /// A + T has no null space where A has one: T 1 is not 0 in every pore with a source.
  bool definite = false;
  int restart = 60;  ///< with an added term: basis vectors of flexible GMRES, 16 bytes per unknown each
};

struct SolveReport {
  std::string name, method, preconditioner;
  int iterations = 0;
  std::vector<double> residuals;  ///< ||b - A x|| / ||b|| before each iteration and at the end
  double true_residual = 0.0;     ///< ||b - A x|| / ||b||, computed from the result
  double imbalance = 0.0;         ///< of the right-hand side of a singular system
  int singular_pores = 0;
  double seconds = 0.0, setup_seconds = 0.0;
};

class KrylovSolver {
 public:
  /// Default method: CG for symmetric operators, truncated GCR (truncated_gcr.hpp) for others, flexible GMRES with an
  /// added term, which PETSc's preconditioners on the matrix do not include. Preconditioner: the given one, otherwise
  /// graph multigrid; if the options of the user select one (-PREFIX_pc_type), PETSc's on the assembled matrix. The
  /// operator must outlive the solver. Throws Error if PETSc is not running. Collective.
  KrylovSolver(EllipticOperator& op, const KrylovOptions& options, Precondition precondition = {});
  KrylovSolver(KrylovSolver&&) noexcept;
  KrylovSolver& operator=(KrylovSolver&&) noexcept;
  ~KrylovSolver();

  /// Solves A x = b; may be called again for other right-hand sides and after changes of the operator's coefficients
  /// (EllipticOperator::set_shift(), set_wall()): the set-up is reused, and parts that depend on the coefficients are
  /// updated.
  /// @param b        own unknowns; see EllipticOperator::right_side()
  /// @param[in,out] x  initial guess (0 if there is none); on return the solution, with mean 0 in singular pores.
  /// Throws Error if b is not finite or not compatible, if the method fails (with the name of the solve, the reason,
  /// the residuals and what to try), and if the true residual of x differs from that of the method. Collective.
  SolveReport solve(std::span<const double> b, std::span<double> x);

 private:
  struct Hidden;
  std::unique_ptr<Hidden> hidden_;
};

}  // namespace karst
