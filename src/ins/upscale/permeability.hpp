// SPDX-License-Identifier: BSD-3-Clause
// Permeability of a pore space from steady Stokes flow, one solve per direction d of the driving force:
//
//   periodic along d   a mean pressure gradient -G_d;
//   otherwise          fixed pressures on the inlet and outlet faces, G_d = Δp / L_d; lateral faces are walls or planes
//   of
//                      symmetry.
//
// With reservoirs the domain is the sample with free fluid before and behind it, connected periodically: a row of
// samples with free fluid between them, driven by a mean gradient. L_d and Δp are those of the sample, and so are all
// results except the fields (sample_flow.hpp).
//
// Column d of the tensor: k_ed = μ U_e / G_d (Darcy's law), U the flow rate over the total cross-section, solid
// included; U_e, e != d, is the mean of that velocity over the sample. It is that of Stokes flow for every model; with
// inertia (inertia.hpp) the apparent permeability of each drive comes on top.
#pragma once

#include <array>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/math/symmetric_eigen.hpp"
#include "fields/ground.hpp"
#include "ins/solve/stokes_solver.hpp"
#include "ins/upscale/extrapolation.hpp"
#include "ins/upscale/flow_options.hpp"
#include "ins/upscale/inertia.hpp"
#include "ins/upscale/octant_friction.hpp"

namespace karst {

/// Volume fraction of the flow cells per interval of log10(|u| / mean |u|); the first and last intervals contain all
/// values beyond.
struct SpeedHistogram {
  static constexpr int bins = 48;
  static constexpr double low = -4.0, high = 2.0;
  std::array<double, bins> share{};
};

inline constexpr double darcy = 9.869233e-13;  ///< [m²]: 1 cP cm/s per atm/cm

/// Results for one direction of the driving force. SI units.
struct FlowColumn {
  int axis = 0;
  bool periodic = false;
  bool connected = true;  ///< false: no pore percolates along the axis; nothing was solved, there is no flow
  /// Not connected by these cells alone: pores lead through that have no cell centre in them, and k is NaN.
  bool unresolved = false;
  bool unbounded = false;               ///< no wall limits the flow: k_dd is infinite; nothing was solved
  Vec3 permeability;                    ///< k_ed, e = x, y, z [m²]
  double gradient = 0.0;                ///< G_d [Pa/m]; NaN: none drives a wanted flow through what is not connected
  std::optional<double> grid_gradient;  ///< with reservoirs: of Stokes flow, that of all cells [Pa/m]
  Vec3 darcy_velocity;                  ///< [m/s]
  double flow_rate = 0.0;               ///< along the axis [m³/s]
  double largest_speed = 0.0;           ///< [m/s]
  double reynolds = 0.0;                ///< ρ |U| d / (φ μ), d = 4 φ / S the hydraulic diameter of the pores
  double tortuosity = 0.0;              ///< mean |u| / |mean u|; NaN where nothing flows
  double estimated_error = 0.0;         ///< of k_dd [m²], see extrapolation.hpp; NaN: not known
  std::optional<double> extrapolated;   ///< k_dd of cells of no width [m²]
  ErrorBasis error_basis = ErrorBasis::none;
  /// Fractions of the driving force along the axis that are balanced by pressure and friction on the wall and by
  /// friction on no-slip sides: they add up to 1 up to the discretisation error. Pressure without its mean gradient,
  /// see wall_drag.hpp. NaN with inertia between open domain faces, through which momentum passes, and without flow.
  double pressure_drag = 0.0, viscous_drag = 0.0, side_drag = 0.0;
  FlowCounts counts;                    ///< of the grid of the solve, reservoirs included
  std::int64_t closed_level_faces = 0;  ///< LevelFaceCounts::closed
  double divergence = 0.0;              ///< largest net flux of a cell over the largest speed through a cell face
  std::vector<Quad> solution;           ///< own unknowns (CompositeNumbering): velocity [m/s], pressure [Pa] (NaN in
                                        ///< orphans, which carry no flow); empty unless kept
  std::shared_ptr<const FaceField> fluxes{};  ///< of flow_fluxes(), in the units of the solver; empty unless kept
  std::vector<double> speed;                  ///< own unknowns: |u| [m/s]
  SpeedHistogram histogram;
  std::vector<OctantFriction> friction;  ///< of own octants of boxes; empty unless asked for
  /// Model steady: one per flow.steps. Everything above but permeability and estimated_error is then that of the last.
  std::vector<InertiaPoint> inertia;
  std::optional<ForchheimerFit> forchheimer;
  int iterations = 0;
  double relative_residual = 0.0;
  double setup_seconds = 0.0, seconds = 0.0;  ///< of this rank; set-up 0: that of the previous solve was reused
};

/// Properties of the sample, for the numbers of FlowColumn.
struct FlowSample {
  double cell_width;        ///< h0 [m]
  double porosity;          ///< connected
  double specific_surface;  ///< wall area over the volume of the sample [1/m]
};

/// ρ (q / φ) d / μ with d = 4 φ / S, four times the pore volume over the wall area; 0 without a wall.
/// @param darcy_velocity  q, its size [m/s]
double reynolds_number(const FlowSample& sample, const FluidOptions& fluid, double darcy_velocity);

/// A sweep of drives with inertia, stopped after its Stokes flow or one of its points.
struct PausedSweep {
  FlowColumn slow;    ///< of Stokes flow
  double fall = 1.0;  ///< of it: gradient of the sample over that of the drive
  SweepState state;
};

struct FlowWatch {
  /// Called after each iteration, on every rank: name of the solve, iterations, relative residual, current permeability
  /// along the axis [m²]. May be empty.
  std::function<void(const std::string& solve, int iteration, double residual, double permeability)> iteration;
  /// Model steady: after the Stokes solve of an axis, before its sweep; and after each point, with the name of its
  /// solve.
  std::function<void(const FlowColumn& column)> slow_flow;
  std::function<void(const std::string& solve, const InertiaPoint& point)> point;
  /// Model steady: state of a sweep after its Stokes flow and after each point, with own unknowns in units of the
  /// solver; for resuming: sets the unknowns, or returns nothing. Collective.
  std::function<void(const PausedSweep&, std::span<const Quad>)> pause;
  std::function<std::optional<PausedSweep>(int axis, std::span<Quad>)> resume;
  bool keep_solution = false;  ///< FlowColumn::solution is wanted
  bool keep_fluxes = false;    ///< FlowColumn::fluxes, too: the rows of the flow are not made again for them then
  bool find_friction = false;  ///< FlowColumn::friction is wanted
};

/// "stokes x"
std::string flow_solve_name(int axis);
/// "steady x"
std::string steady_solve_name(int axis);

/// Boundary conditions of the six domain faces for a driving force along an axis.
FlowSides flow_sides(const Domain& domain, const FlowOptions& options, int axis);
/// A pressure drop of 1 per cell width along the axis.
StokesDrive unit_drive(const Domain& domain, int axis);
/// Throws Error for problems without a solution: no flow cells, or no wall or friction that limits the flow.
/// @param given  the velocity is given at an end, which limits it
void check_flow_cells(const FlowCounts& counts, const std::string& name, bool given = false);

/// Errors in driving force, axes and sides for this geometry, found before any solve. Axes along which no pore
/// percolates are not an error: their permeability is 0. Not collective, the same on every rank.
/// @param geometry  of the sample without its reservoirs, or with those whose outer faces are ends of the domain
std::vector<std::string> mistakes(const FlowOptions& options, const Geometry& geometry);

/// The solves on one ground, an axis at a time: those with the same ends share one set-up, made with the first.
class PermeabilitySolver {
 public:
  /// Options and watch must outlive it. Throws Error when mistakes() finds any. Not collective, the same on every rank.
  /// @param options  with reservoirs: of one axis, along which the geometry is extended
  PermeabilitySolver(std::shared_ptr<const Ground> ground, const FlowOptions& options, const FluidOptions& fluid,
                     const FlowSample& sample, const FlowWatch& watch);
  PermeabilitySolver(const PermeabilitySolver&) = delete;
  PermeabilitySolver& operator=(const PermeabilitySolver&) = delete;

  /// False: nothing is solved along the axis. No pore leads through it (k_dd = 0), or the domain has neither a wall nor
  /// a side with friction: k_dd is infinite, and a given velocity or flow rate is a uniform flow, without and with
  /// inertia. Not collective, the same on every rank.
  bool solves(int axis) const;
  /// Throws Error when a solve fails or loses more than a tenth of the flow in a cell, and when the permeability k_dd
  /// is negative or no more than round-off. Collective.
  FlowColumn solve(int axis);

 private:
  StokesSolver& with(const FlowSides& sides, double& setup_seconds);

  std::shared_ptr<const Ground> ground_;
  const Geometry& geometry_;
  const FlowOptions& options_;
  const FluidOptions& fluid_;
  FlowSample sample_;
  const FlowWatch& watch_;
  StokesOptions solve_options_;
  std::optional<StokesSolver> solver_;
  int axis_ = 0;  ///< of the solve under way
};

/// One column per asked axis, see PermeabilitySolver. Collective.
std::vector<FlowColumn> permeability(const std::shared_ptr<const Ground>& ground, const FlowOptions& options,
                                     const FluidOptions& fluid, const FlowSample& sample, const FlowWatch& watch = {});

/// |drag / driving force - 1| along the axis; NaN if the drag is unknown.
double drag_imbalance(const FlowColumn& column);

/// The permeability tensor [m²], rows e, columns d; NaN in the columns of axes that were not requested. Between
/// periodic directions the exact tensor is symmetric, and each off-diagonal entry comes from two solves: both entries
/// are their mean, and asymmetry() is their difference.
Matrix3 tensor(const std::vector<FlowColumn>& columns);

/// Largest |k_ed - k_de| / largest |k_ed| of the columns where both are known. Between periodic directions it is a
/// discretisation error; the tensor of a sample with inlet and outlet need not be symmetric.
double asymmetry(const std::vector<FlowColumn>& columns);

/// Principal values and directions of a symmetric tensor, largest permeability first; all positive for a valid one.
struct PrincipalPermeability {
  Vec3 value;    ///< [m²]
  Matrix3 axis;  ///< row i: unit vector of value[i], its largest component positive
};
/// Empty unless all three directions are known and periodic.
std::optional<PrincipalPermeability> principal(const std::vector<FlowColumn>& columns);

}  // namespace karst
