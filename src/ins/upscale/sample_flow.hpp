// SPDX-License-Identifier: BSD-3-Clause
// What a drive gave of a sample alone, where free fluid stands before and behind it.
#pragma once

#include "ins/solve/stokes_solver.hpp"

namespace karst {

/// The level-0 cells of the sample along the axis of the drive: reservoir <= i < n - reservoir.
struct SampleCells {
  int axis = 0, low = 0, high = 0;
  bool holds(const Index& cell) const { return cell[axis] >= low && cell[axis] < high; }
};

/// Pressure drop of a sample between free fluid that is joined behind it to that before it (the domain is periodic), so
/// whatever momentum leaves the sample returns to it. With the force f on all n cells, over the whole cross-section:
///
///   <p + ρ u_d²> on the first less on the last plane of the sample  =  n f  -  friction on the sides of the free fluid
///
/// the force on the solid of the sample, the faces of the grains that its ends cut included, and on its sides. What
/// flow loses while it gathers into the pores and mixes behind them is the sample's, what it loses on the sides of the
/// free fluid is not. Where the flow has become even in the free fluid, n f is the difference of the mean pressures
/// there. As no work is done on the ends and Stokes flow of a given flow rate dissipates least (Helmholtz), inertia
/// never lowers the drop of a flow rate between sides without friction.
struct SampleDrop {
  double drop = 0.0;        ///< of the sample
  double unevenness = 0.0;  ///< <u_d²> / <u_d>² - 1 half way between two samples: 0 where the flow has become even;
                            ///< between no-slip sides 0.2 (slit) to 0.4 (square duct) where it has developed
};

struct SampleFlow {
  /// Mean superficial velocity of the sample; along the axis that of every plane.
  Vec3 velocity;
  double tortuosity = 0.0;  ///< mean |u| / |mean u| over the sample
};

/// Of the solution in the solver; there is at least one cell of reservoir on both sides. Collective.
/// @param drive  of that solution
SampleDrop sample_drop(StokesSolver& solver, const SampleCells& sample, const StokesDrive& drive);

/// Of the solution in the solver. Collective.
/// @param drive     of that solution
/// @param velocity  mean over the domain
SampleFlow sample_flow(StokesSolver& solver, const SampleCells& sample, const StokesDrive& drive, const Vec3& velocity);

}  // namespace karst
