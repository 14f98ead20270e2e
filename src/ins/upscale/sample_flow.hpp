// SPDX-License-Identifier: BSD-3-Clause
// Results of the sample alone, where there is free fluid before and behind it.
#pragma once

#include "ins/solve/stokes_solver.hpp"

namespace karst {

/// The level-0 cells of the sample along the axis of the drive: reservoir <= i < n - reservoir.
struct SampleCells {
  int axis = 0, low = 0, high = 0;
  bool holds(const Index& cell) const { return cell[axis] >= low && cell[axis] < high; }
};

/// Pressure drop of a sample between reservoirs of free fluid. Where these are connected periodically, momentum that
/// leaves the sample returns to it. With the force f on all n cells, over the whole cross-section:
///
///   <p + ρ u_d²> on the first minus on the last plane of the sample  =  n f  -  friction on the sides of the free
///   fluid
///
/// Between pressures on the outer faces of the reservoirs their difference, and that of <ρ u_d²> there, stand in place
/// of n f. It is the force on the solid of the sample, including the faces of grains cut by its inlet and outlet, and
/// on its sides. Losses while the flow converges into the pores and mixes behind them belong to the sample, losses on
/// the sides of the free fluid do not. Where the flow has become uniform in the free fluid, n f is the difference of
/// the mean pressures there. As no work is done on inlet and outlet and Stokes flow of a given flow rate has the least
/// dissipation (Helmholtz), inertia never reduces the pressure drop at a given flow rate between frictionless sides.
struct SampleDrop {
  double drop = 0.0;  ///< of the sample
  double unevenness =
      0.0;  ///< <u_d²> / <u_d>² - 1 half way between two samples, or at the outlet: 0 where the flow has become even;
            ///< between no-slip sides 0.2 (slit) to 0.4 (square duct) where it has developed
};

struct SampleFlow {
  /// Mean superficial velocity of the sample; along the axis that of every plane.
  Vec3 velocity;
  double tortuosity = 0.0;  ///< mean |u| / |mean u| over the sample
};

/// Of the solution in the solver; there is at least one cell of reservoir on both sides. Collective.
/// @param drive    of that solution
/// @param inertia  density in units of the solver; 0: Stokes flow
SampleDrop sample_drop(StokesSolver& solver, const SampleCells& sample, const StokesDrive& drive, double inertia = 0.0);

/// Of the solution in the solver. Collective.
/// @param drive     of that solution
/// @param velocity  mean over the domain
SampleFlow sample_flow(StokesSolver& solver, const SampleCells& sample, const StokesDrive& drive, const Vec3& velocity);

}  // namespace karst
