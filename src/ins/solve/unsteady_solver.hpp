// SPDX-License-Identifier: BSD-3-Clause
// Transient flow, step by step:
//
//   ρ ∂u/∂t + ρ (u·∇)u - μ Δu + ∇p = f(t),   ∇·u = 0,   u = 0 on the wall
//
// Units as in stokes_solver.hpp, h0, μ and a drive F [Pa/m] are 1; times come in units of h0² / ν. A step solves for
// velocity and pressure together, with the rows and fluxes of steady flow (time_term.hpp), so steps may have any
// length: a very long step gives the steady flow, and a flow that does not change is the steady flow.
//
//   BDF2, r = dt / (the step before):   a = (1 + 2 r) / ((1 + r) dt),  s = (1 + r) / dt u_n - r² / ((1 + r) dt) u_n-1
//
// The first step is that of Alexander (SIAM J. Numer. Anal. 14 (1977) 1006), two implicit stages of second order with γ
// = 1 - 1/√2 and a = 1 / (γ dt), which needs no flow before the start; this is also used for a step more than twice as
// long as the previous one, and for every step on request. Both are L-stable. Measurements: docs/decisions/025.
//
// Inertia is (w·∇)u (advection.hpp), implicit in u; w: divergence-free fluxes that are known before the solve,
//
//   BDF2: w = (1 + r) u_n - r u_n-1,  stages: w = u_n, then the stage itself, u_n + (u_stage - u_n) / γ
//
// and their cells are the initial guess of the solve, on the parabola through the last three flows. So a step solves
// linear equations for any length. In a steady state w = u, and the flow is that of steady_solver.hpp. Measurements:
// docs/measurements/034.
#pragma once

#include <optional>
#include <string>

#include "fields/state.hpp"
#include "ins/operator/advection_levels.hpp"
#include "ins/solve/stokes_solver.hpp"

namespace karst {

/// Second-order schemes for ∂u/∂t: bdf2 solves once per step, sdirk2 twice, with a quarter of the error.
enum class TimeScheme : std::uint8_t { bdf2, sdirk2 };

/// Where the power that moves the fluid goes at the end of a step: κ u · (momentum rows) summed over the flow cells,
/// over the volume of the domain [F² h0² / μ]. As the rows add up to 0,
///
///   work = growth + time_scheme + dissipation + advection      up to u · (what the solver leaves of the rows)
///
/// What drives the fluid gives its power to the fluxes of faces, force · mean velocity in a periodic sample. What is
/// more than `work` the coupling of pressure and velocity takes: by Rhie & Chow's term, and where fluxes next to walls
/// are not κ u (docs/decisions/034).
struct EnergyRates {
  double work = 0.0;         ///< Σ κ u·(f - ∇p), of force and pressure on the velocities of the cells
  double growth = 0.0;       ///< a E - Σ c_k E_k of the kinetic energies: dE/dt as the step makes ∂u/∂t
  double time_scheme = 0.0;  ///< Σ κ Σ_k c_k |u - u_k|² / 2: what κ u·∂u/∂t is more than that
  double dissipation = 0.0;  ///< Σ κ u·(-Δu): what friction takes, less what moving walls give
  double advection = 0.0;    ///< ρ Σ κ u·(w·∇)u: what leaves through the ends, and numerical dissipation
};

struct StepReport {
  double time = 0.0, dt = 0.0;  ///< [h0² / ν], at the end of the step
  int iterations = 0;           ///< of GMRES, all stages
  Vec3 velocity;                ///< mean superficial velocity
  double kinetic_energy = 0.0;  ///< Σ κ |u|² / 2 over the volume of the domain [ρ F² h0⁴ / μ²]
  EnergyRates energy;
  double largest_speed = 0.0;
  double divergence = 0.0;  ///< largest net flux of a cell / largest speed
  double cfl = 0.0;         ///< largest part of its volume that a cell passes on in the step
};

class UnsteadySolver {
 public:
  using DriveAt = std::function<StokesDrive(double time)>;  ///< [h0² / ν]; the same on all ranks

  /// At rest, time 0. The Stokes solver and the geometry must outlive it. Collective.
  /// @param drive_at   what drives the fluid, from time 0 on: force, pressures and velocities of the ends. Called
  /// before
  ///                   each solve; it may set the profile of an end for that time (StokesLevels::set_profile)
  /// @param reference  the largest of these drives: tolerances refer to it, or to what the last step carried where that
  ///                   is more; Error when it drives nothing
  /// @param inertia    ρ F h0³ / μ² as in steady_solver.hpp; 0: creeping flow
  UnsteadySolver(StokesSolver& stokes, const Geometry& geometry, DriveAt drive_at, const StokesDrive& reference,
                 TimeScheme scheme = TimeScheme::bdf2, double inertia = 0.0);

  /// Time 0 again, with the flow where stokes.all_values() stands: a steady one of this drive. Collective.
  void begin_here(const StokesDrive& drive);
  /// Time 0 again, with the flow next to what stands in stokes.all_values() that is free of divergence: that after a
  /// step too short for anything but pressure to act. Where no fluid flows values are set to 0. Throws Error when the
  /// iteration fails. Collective.
  void begin_near(const StokesDrive& drive);
  /// The velocity of an end jumps here, and the flow with it: an impulse of pressure, ρ (u+ - u-) = -∇P, ∇·u+ = 0,
  /// takes no time. Goes on from u+ with the pressure of before; the next step does not look at those before it (two
  /// stages). Without this the step would have the impulse in its pressures and in ∂u/∂t, over dt and the weights of
  /// its stages, the second of which is negative. Throws Error when the iteration fails. Collective.
  /// @param drive  after the jump
  void jump(const StokesDrive& drive);

  /// Most that a cell may pass on in a step, in parts of its volume. Longer steps stay bounded but go wrong: a start-up
  /// through spheres is off by 0.0005 at 3, 0.015 at 19 and 0.04 at 32 (docs/decisions/034).
  static constexpr double most_cfl = 4.0;

  /// Tries a step, from the flow where stokes.all_values() stands, to the solver's tolerance: the new flow stands there
  /// then, and those that later steps look back on are as they were until accept() or go_back(). Multigrids are made
  /// when dt differs from that of the step before. Throws Error when the iteration fails or the CFL number is above
  /// most_cfl; all is then as before. Allocates no field, but one for the first step of bdf2 that is more than twice as
  /// long as the step before. Collective.
  void try_step(double dt);
  /// The step that was tried is the last one. Collective.
  StepReport accept();
  /// The flow, and all that later steps look back on, is that from before the step that was tried, with the same bits;
  /// nothing to do where none was. Collective.
  void go_back();
  /// Tries and accepts. Throws Error as try_step(). Collective.
  StepReport step(double dt);

  /// A force or pressures jump here: the next step does not look at those before it (two stages).
  void forget() { dt_ = 0.0; }

  /// The fluxes through all faces at the end of the last step, or of one that is tried [velocity h0²], on
  /// stokes.op().composite(). They add up to 0 in every VoF to the tolerance, or to that of single precision where
  /// pieces that joined a cell have faces. Not collective.
  void face_fluxes(FaceField& fluxes) const;
  /// Keeps ∂u/∂t of each step from now on, for momentum_rows(). Not collective.
  void keep_rate() { rate_ = Array<std::array<float, 3>>(volume_.size(), Purpose::solver, {}); }
  /// What the forces on bodies ask of the last step, after keep_rate(); stokes.values() are then its flow, applied with
  /// the drive of its time. Collective.
  MomentumRows momentum_rows();

  /// All that the steps to come look back on; units as above. A solver of the same flow goes on from it with the same
  /// bits. Collective.
  State state();
  /// That of another grid: from the flow next to it that is free of divergence, with two stages. Throws the same Error
  /// on all ranks: the state of another flow; the iteration fails. Collective.
  void go_on(const State& state);

  /// Out of the domain through a side, at the end of the last step [velocity h0²]. Collective.
  double flow_out(int side) const;

  double time() const { return time_; }
  /// Largest part of its volume that a cell passes on in a unit of time, as the last step had it; 0: creeping flow
  /// [ν / h0²].
  double outflow() const { return outflow_; }
  std::int64_t bytes() const;  ///< of this rank, without the Stokes solver

 private:
  /// A step that is not accepted yet.
  struct Tried {
    bool in_stages = false;
    StokesDrive drive{};  ///< and term: of the last solve
    TimeTerm term{};
    StepReport report{};
  };
  void solve(double time, const TimeTerm& term, Tried& step);
  void two_stages(double dt, Tried& step);
  void two_steps(double dt, Tried& step);
  void leave_as_before();
  void extrapolate(double by, double pressure_by, double bend, const PastFlow& other);
  void set_bend(double dt);
  void carry(double by, double dt, const PastFlow& other);
  void keep(const StokesDrive& drive, const TimeTerm& term, PastFlow& to);
  template <class F>
  void for_own_items(F&& f);
  void go_on_from_other_grid(const State& state);
  void measure(StepReport& report);
  void measure_change(const TimeTerm& term, EnergyRates& energy);
  void measure_energy(EnergyRates& energy);
  void set_rate(const TimeTerm& term);

  StokesSolver* stokes_;
  DriveAt drive_at_;
  TimeScheme scheme_;
  double size_;                    // of what drives the fluid, as tolerances refer to it
  double carried_size_ = 0.0;      // of what the last step carried
  double time_ = 0.0, dt_ = 0.0;   // dt_: of the last step, 0 before the first
  int n_in_row_ = 0;               // steps since the start or the last two stages, with those
  PastFlow now_, before_;          // before_: one step earlier, from the first step on; else of a stage
  std::optional<PastFlow> stage_;  // where before_ may be needed again
  std::optional<Tried> tried_;
  double inertia_ = 0.0, outflow_ = 0.0;  // outflow_: largest part of its volume that a cell passes on [ν / h0²]
  double outflow_before_ = 0.0, shift_before_ = 0.0;  // the step that is tried: outflow_, shift of the preconditioner
  std::optional<AdvectionLevels> advection_;          // none: creeping flow
  std::vector<BaseFlow> carrying_;                    // w of the step, per level
  Array<float> volume_;                               // κ of the own VoFs that carry flow [h0³]
  Array<std::array<float, 4>> bend_;  // of u and p: second divided difference of three steps; 0 before there are
  Array<std::array<float, 3>> rate_;  // ∂u/∂t of the own VoFs at the end of the step; empty unless kept
};

}  // namespace karst
