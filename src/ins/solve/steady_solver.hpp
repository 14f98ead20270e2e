// SPDX-License-Identifier: BSD-3-Clause
// Steady flow with inertia:
//
//   ρ (u·∇)u - μ Δu + ∇p = f,   ∇·u = 0,   u = 0 on the wall
//
// Units as in stokes_solver.hpp: h0, μ, and a drive F [Pa/m] are 1. One number remains,
//
//   inertia = ρ F h0³ / μ²,
//
// so a larger driving force is a larger inertia at the same f, and the mean velocity is the apparent permeability /
// h0².
//
// Inexact Newton method: each step is one cycle of GMRES on the linearised equations, with a tolerance that follows
// from the success of the last step (Eisenstat & Walker, SIAM J. Sci. Comput. 17 (1996) 16, choice 2). A step that does
// not reduce the residual is halved. The preconditioner is that of Stokes flow, or of an earlier step, until a step
// takes as many iterations as linearising the preconditioner about the flow costs (StokesPreconditioner::follow).
#pragma once

#include "ins/operator/advection_levels.hpp"
#include "ins/solve/stokes_solver.hpp"

namespace karst {

struct SteadyOptions {
  double tolerance = 1e-8;                              ///< of |b - K u - inertia (u·∇)u| / |b|
  int max_steps = 30;                                   ///< of Newton
  double first_forcing = 0.1, largest_forcing = 0.5;    ///< relative residual of the linear equations after a step
  std::function<void(const StokesProgress&)> progress;  ///< on every rank
};

struct SteadyReport {
  StokesReport flow;  ///< krylov: iterations of all steps, residual of the nonlinear equations
  bool converged = false;
  std::vector<double> steps;   ///< relative residual before each step and at the end
  int halvings = 0;            ///< of steps
  double cell_reynolds = 0.0;  ///< ρ |u| h0 / μ, largest in a cell
};

class SteadySolver {
 public:
  /// The Stokes solver must outlive it. Collective.
  SteadySolver(StokesSolver& stokes, const SteadyOptions& options);

  /// Solves with stokes.solution() as initial guess, and stores the result there. If the residual stagnates, or after
  /// max_steps, the initial guess is restored and the report says so. Collective.
  SteadyReport solve(const StokesDrive& drive, double inertia, const std::string& name = "steady");

  /// Linearises the preconditioner about the flow at the next Newton step, regardless of the iterations of the previous
  /// one.
  void follow_at_next_step() { follow_ = true; }

  /// r = b - K u - inertia (u·∇)u at the solution. Collective.
  void residual(const StokesDrive& drive, double inertia, std::span<Quad> r);

  std::int64_t bytes() const;  ///< of this rank, without the Stokes solver

 private:
  GmresProblem linearised(double inertia, const std::string& name);
  double try_step(const StokesDrive& drive, double inertia, double left, SteadyReport& report);
  void move(double part);

  StokesSolver* stokes_;
  SteadyOptions options_;
  AdvectionLevels advection_;
  std::vector<BaseFlow> base_;  // flow about which a Newton step is linearised, per level
  bool follow_ = false;         // at the next step
  int last_iterations_ = 0;     // of the last step of Newton
  Array<Quad> step_, start_;
};

/// Data for the forces on bodies in the steady flow stokes.all_values(); stokes.values() are then this flow, applied.
/// The rows are in krylov().work(). Collective.
MomentumRows steady_momentum_rows(StokesSolver& stokes, const StokesDrive& drive, double inertia);

}  // namespace karst
