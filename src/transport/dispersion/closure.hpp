// SPDX-License-Identifier: BSD-3-Clause
// Dispersion tensor of a periodic sample from the steady closure problem of the mean of a dissolved species.
//
// Far downstream c = C + B·∇C + ..., C the mean that moves with the mean velocity U of the fluid, where B is periodic
// and, with f = x + B,
//
//   u·∇f - D ∇²f = U   in the pores,   n·∇f = 0 at the wall,   f_j(x + L_j e_j) = f_j(x) + L_j
//   D*_ij = D <δ_ij + ∂B_j/∂x_i> - <(u_i - U_i) B_j>,     < > mean over the fluid
//
// (of the tensor the symmetric part matters; it equals D <∇f_i·∇f_j>, so it is positive and at least the molecular
// one). Source: H. Brenner, Phil. Trans. R. Soc. Lond. A 297 (1980) 81; B of opposite sign there. Derivation: decision
// 030.
//
// With a periodic flow, ∇·(u f - D ∇f) = U turns the means into fluxes of the solution, as the rows balance them,
// through the domain faces (plane_fluxes.hpp), with M_i the first moment of the fluid, V its volume and Q_i the flow
// rate across i:
//
//   V D*_ij = -L_i Φ_i(f_j) + U_j M_i - ∫ x_i u_j + U_i ∫ B_j,      ∫ x_i u_i = L_i² Q_i / 2
//
// and in D*_ij + D*_ji, i ≠ j, the integrals of x u are already contained in the fluxes of f. Dimensionless: lengths in
// h0, D = 1, so that velocities are s times those of the flow, and tensors over D.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/math/symmetric_eigen.hpp"
#include "fields/face_field.hpp"
#include "solvers/krylov/null_space.hpp"
#include "solvers/krylov/side_by_side.hpp"
#include "transport/steady/advective_term.hpp"
#include "transport/steady/flow_preconditioner.hpp"
#include "transport/steady/plane_fluxes.hpp"

namespace karst {

struct ClosureOptions {
  double tolerance = 1e-6;  ///< relative residual
  int max_iterations = 300;
  /// Called on every rank after each iteration with its number and the largest relative residual. May be empty.
  std::function<void(int iteration, double residual)> watch{};
};

/// Results for one speed.
struct Dispersion {
  Matrix3 tensor;                   ///< D* / D, symmetric; NaN where a direction is not periodic
  std::vector<SolveReport> solves;  ///< one per periodic direction
};

/// All functions are collective.
class Closure {
 public:
  /// Throws Error if no direction is periodic and more than a cell wide.
  Closure(const std::shared_ptr<const Composite>& grid, ClosureOptions options);
  Closure(const Closure&) = delete;
  Closure& operator=(const Closure&) = delete;

  /// Periodic directions, one solve each, or those of set_directions().
  const std::vector<int>& directions() const { return directions_; }
  /// Restricts the solves to these directions, which must be periodic. To be called before set_flow().
  void set_directions(std::vector<int> directions) { directions_ = std::move(directions); }
  double volume() const { return volume_; }  ///< of the fluid [h0³]

  /// @param flow  volume fluxes [h0²] that add up to 0 in every VoF; kept by reference
  void set_flow(FaceField& flow);
  /// Of the flow: mean over the fluid, flow rate x length / volume; 0 where the domain is closed.
  const Vec3& velocity() const { return velocity_; }

  /// Solves with s times the flow, starting from the previous solution. Throws Error if a solve fails.
  /// @param name  in messages and reports: "dispersion x Pe 10"
  Dispersion solve(double s, const std::string& name);
  /// f of a direction, own unknowns; after solve().
  std::span<const double> field(int direction) const { return field_[direction].span(); }
  EllipticOperator& op() { return op_; }

 private:
  void set_right_side(int j, double s);
  template <int C>
  std::vector<SolveReport> solve_along_all(BasicFlowPreconditioner<C>& precondition, double s, const std::string& name);
  Matrix3 tensor_of(double s);
  double length(int d) const { return domain_.cells[d]; }
  template <class F>
  double sum(F&& f) const;

  Comm comm_;
  Domain domain_;
  ClosureOptions options_;
  EllipticOperator op_;
  NullSpace pores_;
  PlaneFluxes planes_;
  std::vector<int> directions_;
  std::vector<Vec3> position_, centroid_;
  std::vector<double> balance_, volume_of_;  ///< volumes: in balances, and of the VoFs themselves
  double volume_ = 0.0;

  FaceField* flow_ = nullptr;
  std::shared_ptr<ScalarGrid> scalars_;
  std::unique_ptr<AdvectiveTerm> term_;
  /// One direction alone, or two and three side by side.
  std::variant<std::monostate, BasicFlowPreconditioner<1>, BasicFlowPreconditioner<3>> precondition_;
  Vec3 velocity_;
  std::array<Array<double>, 3> field_, source_;  ///< f_j; the density U_j of its source, per pore
  Array<double> right_;
};

}  // namespace karst
