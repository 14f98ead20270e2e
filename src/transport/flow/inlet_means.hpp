// SPDX-License-Identifier: BSD-3-Clause
// Means over a step in the volumes with inflow from outside of the domain.
//
// The low-order step advects through a face the value of the upstream volume, which is half a cell before the face. In
// a uniform flow this lag is the same on all faces, and the gain of a volume is correct to first order. Through a
// domain face the value on the face itself is advected: the first volume would change by half of what it should, its
// mean over the step would have an error of (Courant number) h/4 ∂c/∂x, and the whole inflow would be displaced. So the
// mean is computed as if the value half a cell before the domain face were advected,
//
//   mean += ½ (F dt / V) g·(x_face - x_volume)
//
// F the inflow through the face, g the gradient of c in the volume at the beginning of the step.
#pragma once

#include <span>

#include "transport/volumes/scalar_grid.hpp"

namespace karst {

/// A step of C components with values prescribed on the same sides.
struct InflowStep {
  std::span<const double> flow;    ///< n_faces, > 0 out of the domain [h0³/time]
  std::span<const Vec3> weights;   ///< gradient_weights()
  std::span<const double> before;  ///< C n_values: c at the beginning, with the values on domain faces
  double dt;
};

/// @param[in,out] mean  C n_values: changed in own volumes only. Not collective.
template <int C>
void lag_inflow(const ScalarGrid& grid, const InflowStep& step, std::span<double> mean);

}  // namespace karst
