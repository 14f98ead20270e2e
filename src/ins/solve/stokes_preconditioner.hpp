// SPDX-License-Identifier: BSD-3-Clause
// Block triangular preconditioner of the Stokes operator: one cycle of graph multigrid per velocity component, and for
// the pressure the local permeability of the pores,
//
//   z_p = -(D^-1 + L_k^-1) r_p,   z_u = M (r_u - ∇z_p),   L_k = -∇·(k ∇),
//
// D: the diagonal of continuity once the velocity is eliminated with the diagonal of its rows, k: 0.65 of the velocity
// that a unit force would drive (local_permeability.hpp). In wide pores D^-1 (a mass matrix) dominates; through throats
// pressure spreads as in Darcy's law, which is L_k. The velocity cycle works on the symmetric 1/θ form, its residual
// rows scaled by the ratio of diagonals. Both multigrids work on the composite grid in units of h0: a row of momentum
// of level l is h_l times, one of continuity h_l² times that of the level, a pressure 1 / h_l times.
//
// With a rate of change in time a u (time_term.hpp):
//   M      is a cycle on -Δ + a;
//   k      becomes 1 / (1/k + a): as a -> ∞ L_k^-1 is a pressure projection (Cahouet & Chabard, Int. J. Numer. Methods
//          Fluids 8 (1988) 869). D stays that of steady flow.
//   Continuity is weighed by 1 + a, as velocities are about 1 / (1 + a).
//
// With inertia, linearised about a flow w, on each level in its units:
//   M      is a cycle on -Δ + inertia w·∇ (carried_weight.hpp);
//   k      decreases as in Forchheimer's law with the Reynolds number of √k,  k / (1 + a inertia |w| √k);
//   z_p    gets a third part (Bernoulli term), b inertia w·(k ∇L_k^-1 r_p): the flow k ∇L_k^-1 r_p by which L_k^-1
//   balances
//          continuity changes the pressure of w as in Bernoulli's law. For b = 1 and no walls D^-1 + this part is the
//          pressure convection-diffusion preconditioner (Kay, Loghin & Wathen, SIAM J. Sci. Comput. 24 (2002) 237).
#pragma once

#include <optional>

#include "ins/operator/advection_levels.hpp"
#include "solvers/multigrid/graph_multigrid.hpp"

namespace karst {

class StokesPreconditioner {
 public:
  /// The operator must outlive it. Collective.
  explicit StokesPreconditioner(StokesLevels& op);

  /// Linearises the preconditioner about this flow, until set_slow(). Collective.
  /// @param flow     per level
  /// @param inertia  in units of h0
  void follow(const AdvectionLevels& advection, std::span<const BaseFlow> flow, double inertia);
  /// Sets the preconditioner to Stokes flow with the time derivative shift * u (0: steady). Does nothing if this is the
  /// current state. Collective.
  void set_slow(double shift = 0.0);
  /// Factor on the continuity rows of the argument of apply().
  double continuity_weight() const { return 1.0 + shift_; }
  double shift() const { return shift_; }  ///< that it was made for

  /// x of the own VoFs = M r; The norm of r should be 1 to within some orders of magnitude. Linear up to single
  /// precision. Allocates nothing. Collective.
  template <class Q>
  void apply(std::span<const std::type_identity_t<Q>> r, BasicFlowValues<Q>& to);

  std::string summary() const;
  std::int64_t bytes() const;

 private:
  void keep_lengths();
  std::vector<FloatField> slow_lengths();
  void make_pressure(std::vector<FloatField> lengths);
  void make_velocity(std::vector<Array<std::array<float, 6>>> inflow);
  void set_continuity_inverse(int level);
  void add_finer_faces();
  template <class Q>
  void add_recovery(BasicFlowValues<Q>& u);

  StokesLevels* op_;
  Array<float> continuity_inverse_;
  Array<float> symmetric_scale_;  // per own VoF, of its velocity residual
  std::unique_ptr<BasicGraphMultigrid<3>> velocity_;
  std::unique_ptr<GraphMultigrid> pressure_;
  Array<std::array<float, 3>> between_;  // intermediate results of the passes: L_k^-1 r_p, ∇p, z_u
  double shift_ = 0.0;                   // a
  // Whether these arrays exist must not be deduced from their length: a rank without VoFs must take part in collective
  // calls, too.
  std::optional<Array<float>> lengths_;               // √k of Stokes flow per own VoF; stored at the first change
  std::optional<Array<std::array<float, 3>>> carry_;  // b inertia k w; none for Stokes flow
};

}  // namespace karst
