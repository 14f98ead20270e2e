// SPDX-License-Identifier: BSD-3-Clause
// What a drive between two pressures gave of a sample alone, where free fluid stands before and behind it.
#pragma once

#include "ins/stokes_solver.hpp"

namespace karst {

/// The level-0 cells of the sample along the axis of the drive: reservoir <= i < n - reservoir.
struct SampleCells {
  int axis = 0, low = 0, high = 0;
  bool holds(const Index& cell) const { return cell[axis] >= low && cell[axis] < high; }
};

struct SampleFlow {
  /// Mean superficial velocity of the sample; along the axis that of every plane.
  Vec3 velocity;
  /// Mean pressure on the first less that on the last plane of the sample, both over the whole cross-section, solid
  /// included (the free fluid beside it knows the pressure on the faces of the grains, too). The momentum balance of
  /// the reservoir makes it the pressure of the end of the domain less the friction on the sides of the reservoir: what
  /// the flow loses while it gathers into the pores counts as the sample's, what it loses in the free fluid does not.
  double pressure_fall = 0.0;
  double tortuosity = 0.0;    ///< mean |u| / |mean u| over the sample
  std::vector<double> speed;  ///< own VoFs: |u|, 0 outside of the sample
};

/// Of the last solve. There is at least one cell of reservoir on both sides. Collective.
/// @param drive     of that solve
/// @param velocity  mean over the domain
SampleFlow sample_flow(StokesSolver& solver, const SampleCells& sample, const StokesDrive& drive, const Vec3& velocity);

}  // namespace karst
