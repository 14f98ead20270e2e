// SPDX-License-Identifier: BSD-3-Clause
// Steady transport of a dissolved species, without time stepping:
//
//   ∇·(s Q c) - ∇·(β ∇c) = f   in the pores,   conditions of an EllipticProblem at wall and ends of the domain
//
// Domain faces with a given value are inlets where the flow enters; outflow has the value of the fluid there, with a
// given value or without. Domain faces without diffusion may be inlets, too (SteadyTransportOptions::carried). A wall
// that reacts at first order, flux k c, is a Robin condition of rate k; nonlinear laws are solved by Newton's method
// (solve_wall_law()). Units: lengths in h0, velocities and rates in β / h0.
#pragma once

#include <array>
#include <functional>
#include <string>

#include "solvers/krylov/krylov.hpp"
#include "transport/steady/flow_preconditioner.hpp"

namespace karst {

struct SteadyTransportOptions {
  std::string name = "steady transport", prefix = "transport_";
  double tolerance = 1e-8;
  int max_iterations = 300;
  int restart = 20;
  /// Inflow through domain faces whose condition in the operator is Neumann 0, as Dirichlet conditions: the inflow is Q
  /// c_in, without diffusion. Empty: the condition in the operator.
  std::array<ConditionAt, 6> carried{};
  /// Of the Krylov solves, see KrylovOptions::watch.
  std::function<void(int iteration, double residual)> watch{};
};

/// All functions are collective.
class SteadyTransport {
 public:
  /// @param flow   volume fluxes [h0²] on the geometry of the operator, which add up to 0 in every VoF
  /// @param scale  s
  /// @param grid   of the operator's ground, with gradients for the sides whose value its problem gives; none: one of
  /// its own Flow and operator must outlive it. Throws Error when they are on different grounds.
  SteadyTransport(EllipticOperator& op, FaceField& flow, double scale, const SteadyTransportOptions& options = {},
                  std::shared_ptr<ScalarGrid> grid = {});
  SteadyTransport(const SteadyTransport&) = delete;
  SteadyTransport& operator=(const SteadyTransport&) = delete;

  /// @param source  f per own unknown; empty: 0
  /// @param[in,out] c  own unknowns: start and solution
  /// Follows the operator's coefficients. Throws Error when it fails.
  SolveReport solve(std::span<const double> source, std::span<double> c);
  AdvectiveTerm& advection() { return term_; }

 private:
  EllipticOperator& op_;
  std::shared_ptr<ScalarGrid> grid_;
  AdvectiveTerm term_;
  FlowPreconditioner precondition_;
  KrylovSolver krylov_;
  int version_;  ///< of the operator that the preconditioner knows
  Array<double> right_;
};

/// Flux into the wall per area r(c) and its derivative, c the concentration at the wall.
struct WallRate {
  double rate = 0.0, slope = 0.0;
};
using WallLaw = std::function<WallRate(double c, const WallPiece& piece)>;

struct WallLawReport {
  int steps = 0, iterations = 0;
  double residual = 0.0;  ///< of the last solve, relative
  double seconds = 0.0, setup_seconds = 0.0;
  double change = 0.0;  ///< of the last step, largest relative to the largest concentration at a wall
};

/// Solves with r(c) at every piece of wall, whose condition in the operator must be Robin: each step of Newton's method
/// has the Robin condition of the tangent, rate r'(c_w), value r'(c_w) c_w - r(c_w). Ends when no concentration at a
/// wall changes by more than `tolerance`, relative to the largest. Throws Error after `most_steps`. Collective.
/// @param[in,out] c  own unknowns: start, from whose values next to the walls the first tangents come, and solution
/// @param source  f per own unknown; empty: 0
/// @param[out] at_wall  concentrations at the walls; nullptr: not wanted
WallLawReport solve_wall_law(SteadyTransport& transport, EllipticOperator& op, const WallLaw& law, std::span<double> c,
                             double tolerance = 1e-8, int most_steps = 30, std::span<const double> source = {},
                             WallField* at_wall = nullptr);

}  // namespace karst
