// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>
#include <vector>

#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// Mean of a component over the fluid of each layer of level-0 cells across an axis, by the layer that contains the
/// centroid of a volume; NaN in layers without one. Collective; the same on every rank.
/// @param values  own unknowns
/// @param n       layers
std::vector<double> layer_means(const ScalarGrid& grid, std::span<const double> values, int axis, int n);

/// Fluxes through domain faces: out of a volume (> 0) or into it [h0³/time].
struct FlowThroughEnd {
  std::int32_t volume = 0;
  int side = 0;
  double flow = 0.0;
};
/// Of this rank. Not collective.
/// @param flow  one number per face
std::vector<FlowThroughEnd> end_flows(const ScalarGrid& grid, std::span<const double> flow);

/// Σ flow c / Σ flow over the volumes with outflow through a side; NaN without outflow. Collective; the same on every
/// rank.
double outflow_mean(const Comm& comm, std::span<const FlowThroughEnd> flows, std::span<const double> values, int side);

}  // namespace karst
