// SPDX-License-Identifier: BSD-3-Clause
// Steady Stokes flow, solved directly:
//
//   -μ Δu + ∇p = f,   ∇·u = 0,   u = 0 on the wall
//
// All quantities are dimensionless: lengths are in units of the cell width h0, μ = 1. With a force f (or pressures) in
// units of F [Pa/m], velocities come in units of F h0² / μ, pressures in F h0, permeabilities in h0².
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ins/operator/advection_levels.hpp"
#include "ins/solve/flow_gmres.hpp"
#include "ins/solve/stokes_preconditioner.hpp"

namespace karst {

struct StokesProgress {
  int iteration;
  double relative_residual;
  Vec3 velocity;  ///< mean superficial velocity so far
};

struct StokesOptions {
  GmresOptions krylov;
  std::function<void(const StokesProgress&)> progress;  ///< on every rank
};

/// The advecting flow in the linear equations of a step: + inertia (w·∇)u.
struct CarriedMomentum {
  AdvectionLevels* advection = nullptr;  ///< none: creeping flow
  std::span<BaseFlow> by;                ///< w, per level; its cells are set to the initial guess of the solve
  double inertia = 0.0;
};

struct StokesReport {
  GmresReport krylov;
  Vec3 velocity;  ///< flow rate over the total cross-section, mean over all planes
  double largest_speed = 0.0;
  double tortuosity = 0.0;  ///< mean |u| / |mean u|
  double divergence = 0.0;  ///< largest net flux of a cell / largest flux through a face
};

class StokesSolver {
 public:
  /// Collective.
  StokesSolver(const std::shared_ptr<const Composite>& composite, const FlowSides& sides,
               const StokesOptions& options = {});

  /// Solves steady flow with the initial guess 0. Throws Error if there is no driving force, or if the iteration fails.
  /// values() are then the solution, applied. Vectors of a cycle of GMRES are in single precision; solution and true
  /// residual, from which each cycle starts, are in double precision (decision 085). Collective.
  /// @param name  of the solve, for messages
  StokesReport solve(const StokesDrive& drive, const std::string& name = "stokes");

  /// Of the last solve, own unknowns (CompositeNumbering; on one level own VoFs box after box): velocity and pressure.
  std::span<const Quad> solution() const { return op_.n_levels() == 1 ? solution_.span() : unknowns_.span(); }
  /// Of the last solve: the fluxes through all faces [velocity h0²], whose sum is 0 to the tolerance in every VoF that
  /// is not covered by a finer level; VoFs without flow have none. Collective.
  FaceField face_fluxes();

  // Building blocks of outer iterations (steady_solver.hpp). Collective.
  /// The solution as a vector of StokesLevels.
  std::span<Quad> all_values();
  /// r = b - K x at all_values(), b: of the drive. values() are the solution, applied.
  void residual(const StokesDrive& drive, std::span<Quad> r, const TimeTerm& time = {});
  /// Solves the equations of a step, a u - s - Δu + ∇p = f, with the initial guess all_values(), until |b - K x| is
  /// tolerance times `size`, with continuity weighted as in the preconditioner. Throws Error if the iteration fails.
  /// values() are then the solution; list_unknowns() hands it to solution().
  GmresReport solve_from_here(const StokesDrive& drive, const TimeTerm& time, double size, const std::string& name,
                              const CarriedMomentum& carried = {});
  void list_unknowns();
  /// |b| of a driving force. Throws Error if it is 0. values() are then 0.
  double size_of(const StokesDrive& drive, const std::string& name);
  /// Report of the solution; the last residual() must have been written to krylov().work().
  void measure(StokesReport& report);
  /// Mean superficial velocity of values that were applied. Collective.
  Vec3 velocity_of(const FlowValues& u) const;
  /// 1 / number of cells of the domain, fluid or not.
  double per_cell() const;

  /// What the operator is applied to.
  FlowValues& values() { return values_; }
  const FlowValues& values() const { return values_; }
  FlowGmres& krylov();
  /// Frees the vectors of krylov(); what needs them next allocates them. Not collective.
  void give_room_back() { gmres_.reset(); }
  StokesLevels& op() { return op_; }
  StokesPreconditioner& preconditioner() { return preconditioner_; }
  std::int64_t bytes() const;                                        ///< of this rank
  std::string summary() const { return preconditioner_.summary(); }  ///< of the preconditioner

 private:
  void load(std::span<const Quad> v);
  void find_residual(std::span<FloatQuad> r);
  void keep_solution();
  template <class Q>
  void measure(StokesReport& report, std::span<const Q> left);

  Comm comm_;
  StokesOptions options_;
  StokesLevels op_;
  FlowValues values_;
  StokesPreconditioner preconditioner_;
  std::optional<FlowGmres> gmres_;  // made when asked for, as solution_ is
  Array<Quad> solution_;            // all VoFs, in units of their level
  Array<Quad> unknowns_;            // in units of h0; empty on one level
  StokesDrive drive_;
};

}  // namespace karst
