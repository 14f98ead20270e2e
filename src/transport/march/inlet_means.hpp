// SPDX-License-Identifier: BSD-3-Clause
// Means over a step of the volumes that a flow enters from outside.
//
// The step of low order carries through a face the value of the volume upstream, which stands half a cell before the
// face. In a uniform flow this lag is the same on all faces, and what a volume gains is right to first order. Through a
// face on an end of the domain the value on the face itself is carried: the first volume would change in time by half
// of what it should, its mean over the step would be wrong by (Courant number) h/4 ∂c/∂x, and all that comes in would
// be displaced. So the mean is made as if the value half a cell before the end were carried,
//
//   mean += ½ (F dt / V) g·(x_face - x_volume)
//
// F what flows in through the face, g the gradient of c in the volume at the beginning of the step.
#pragma once

#include <span>

#include "transport/march/scalar_grid.hpp"

namespace karst {

/// A step of C components that are given on the same sides.
struct InflowStep {
  std::span<const double> flow;    ///< n_faces, > 0 out of the domain [h0³/time]
  std::span<const Vec3> weights;   ///< gradient_weights()
  std::span<const double> before;  ///< C n_values: c at the beginning, with the values on the ends of the domain
  double dt;
};

/// @param[in,out] mean  C n_values: changed in own volumes alone
/// Not collective.
template <int C>
void lag_inflow(const ScalarGrid& grid, const InflowStep& step, std::span<double> mean);

}  // namespace karst
