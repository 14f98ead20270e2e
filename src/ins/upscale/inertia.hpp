// SPDX-License-Identifier: BSD-3-Clause
// Apparent permeability of steady flow with inertia, over a sweep of driving forces: k_app = μ U / G decreases as the
// Reynolds number increases,
//
//   weak inertia     k_app = k (1 - c Re²)                 (Mei & Auriault, J. Fluid Mech. 222 (1991) 647)
//   strong inertia   G = μ / k_F U + β ρ U²                (Forchheimer, Z. Ver. Deutsch. Ing. 45 (1901) 1782)
//
// k_F is not the permeability k of Stokes flow: the second law applies beyond the range of the first. SI units.
#pragma once

#include <optional>

#include "ins/solve/steady_solver.hpp"
#include "ins/upscale/sample_flow.hpp"

namespace karst {

/// One drive of a sweep.
struct InertiaPoint {
  double step = 1.0;                     ///< factor on the drive of the deck
  double gradient = 0.0;                 ///< G: pressure drop per length along the axis [Pa/m]; with reservoirs that
                                         ///< of the sample (SampleDrop)
  Vec3 darcy_velocity;                   ///< U [m/s]
  double permeability = 0.0;             ///< k_app along the axis [m²]
  double reynolds = 0.0;                 ///< ρ |U| d / (φ μ), d = 4 φ / S the hydraulic diameter of the pores
  double forchheimer = 0.0;              ///< ρ |U| sqrt(k) / μ
  double cell_reynolds = 0.0;            ///< ρ |u| h / μ, largest in a cell
  double largest_speed = 0.0;            ///< [m/s]
  double tortuosity = 0.0;               ///< mean |u| / |mean u|
  double divergence = 0.0;               ///< largest net flux of a cell over the largest speed
  double grid_gradient = 0.0;            ///< as gradient, but over the length of the grid [Pa/m]
  double unevenness = 0.0;               ///< SampleDrop::unevenness; 0 without reservoirs
  int newton_steps = 0, iterations = 0;  ///< of Newton, of GMRES
  int drives_between = 0;                ///< intermediate solves that were needed because Newton's method failed
  double relative_residual = 0.0;
  double seconds = 0.0;  ///< of this rank
};

/// G = μ / k U + β ρ U², by least squares of the relative deviation of G.
struct ForchheimerFit {
  double permeability = 0.0;  ///< k_F [m²]
  double beta = 0.0;          ///< β [1/m]
  double deviation = 0.0;     ///< root mean square of the relative deviations of the points
};

/// Nothing for less than three points: two would always fit.
std::optional<ForchheimerFit> fit_forchheimer(const std::vector<InertiaPoint>& points, double density,
                                              double viscosity);

/// State of a sweep, in addition to the flow in the solver.
struct SweepState {
  std::vector<InertiaPoint> points;  ///< that are done
  double fall = 1.0;                 ///< of the last flow: gradient of the sample over that of the drive
  double velocity = 0.0;             ///< its mean along the drive, in units of the operator
  double reached = 0.0;              ///< its inertia
  double solved_reynolds = 0.0;      ///< its Reynolds number, for messages
};

/// Initial data of a sweep along one axis.
struct InertiaSweep {
  int axis = 0;
  StokesDrive drive;        ///< gradient of 1 along the axis, in units of the operator
  SampleCells sample;       ///< of reservoirs around it the drop is not counted
  double cell_width = 0.0;  ///< [m]
  double viscosity = 0.0, density = 0.0;
  double permeability = 0.0;  ///< k of Stokes flow along the axis [m²]
  double pore_length = 0.0;   ///< d / φ of the Reynolds number [m]
  double fall = 1.0;          ///< of Stokes flow: gradient of the sample over that of the drive
  double gradient = 0.0;      ///< of a step of 1 [Pa/m]; where the velocity is given: what Stokes flow would need
  bool by_velocity = false;   ///< U = k gradient / μ is prescribed, not the gradient
  std::vector<double> steps;  ///< increasing
  SteadyOptions solver;       ///< progress is not looked at
  std::string name;           ///< of the solves, for messages: "steady x"
  SweepState from;  ///< points of an earlier run, the flow of the last one is in the solver; none: creeping flow
                    ///< flow is there
};

struct InertiaWatch {
  /// After each iteration of GMRES, on every rank: name of the solve, iterations, relative residual, k_app so far [m²].
  std::function<void(const std::string&, int, double, double)> iteration;
  /// Called after each point with its index in the sweep.
  std::function<void(const InertiaPoint&, std::size_t)> solved;
  /// After that, where the sweep stands; the flow is in the solver.
  std::function<void(const SweepState&)> state;
};

/// Solves one driving force after the other, each starting from the previous flow; the first from stokes.solution(),
/// the creeping flow of sweep.drive that solve() stored there. The last flow remains there (its sign is that of the
/// gradient). Where Newton's method fails, intermediate driving forces are used. A given velocity, and with reservoirs
/// the pressure drop of the sample, is reached to 1e-6 by a secant iteration on the gradient. A sweep that continues
/// from a checkpoint is bitwise the same as an uninterrupted one. Throws Error if intermediate driving forces do not
/// help either. Collective.
std::vector<InertiaPoint> solve_with_inertia(StokesSolver& stokes, const InertiaSweep& sweep,
                                             const InertiaWatch& watch = {});

/// "steady x 2/5": the name of the solve of one of n points of a sweep.
std::string point_name(const std::string& sweep, std::size_t n, std::size_t point);

}  // namespace karst
