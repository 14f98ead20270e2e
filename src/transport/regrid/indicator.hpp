// SPDX-License-Identifier: BSD-3-Clause
// What places to be followed look at (Refinement::follows(), decision 060): a value per volume, and two thresholds.
// With C the differences to the neighbours across faces, where the flow enters and on fixed sides to the value given
// there, h the width of the volume's cell, u velocities,
//
//   front      1 where [min, max] of a volume and a neighbour meets (low, high), else 0
//   gradient   largest |C| / h, a slope
//   speed      |u|
//   vorticity  |∇ x u|, of least-squares gradients over the neighbours across faces; walls are none of them
//
// Speed and vorticity may be over their means over the fluid.
#pragma once

#include <array>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "grid/grid_options.hpp"
#include "transport/volumes/scalar_grid.hpp"

namespace karst {

struct Indicator {
  std::vector<double> value;  ///< of own volumes
  double above = 0.0;         ///< refined where it is more
  double keep = 0.0;          ///< what is refined stays so down to here
  bool per_width = false;     ///< a slope [1/h0]: what counts is value x width of the cells to be refined
};

/// With the thresholds of the rule.
Indicator indicator_of(const Refinement& rule, std::vector<double> value);

/// Front and gradient.
/// @param values   n_all, those of other ranks filled
/// @param at_ends  one per ScalarGrid::boundary; NaN: none
/// Not collective.
Indicator concentration_indicator(const ScalarGrid& grid, const Refinement& rule, std::span<const double> values,
                                  std::span<const double> at_ends);

/// Per direction, of own volumes.
using Velocities = std::array<std::vector<double>, 3>;

std::vector<double> speeds(const Velocities& u);
/// [1/s] of velocities in m/s. Collective.
/// @param cell_width  h0 [m]
std::vector<double> vorticities(ScalarGrid& grid, const Velocities& u, double cell_width);
/// Over their mean over the volumes of all ranks; all 0 where that is 0. Collective.
void divide_by_mean(const Comm& comm, const ScalarGrid& grid, std::vector<double>& values);

}  // namespace karst
