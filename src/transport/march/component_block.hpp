// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <array>
#include <span>
#include <vector>

#include "transport/march/diffusion_stages.hpp"
#include "transport/march/limiter.hpp"
#include "transport/march/side_by_side.hpp"

namespace karst {

/// Components with equal diffusivity, or without diffusion, during a step.
struct ComponentBlock {
  int width = 0;                                           ///< C
  std::array<std::size_t, most_side_by_side> component{};  ///< in the order of the stepper
  DiffusionGroup* group = nullptr;                         ///< nullptr: no diffusion
  bool shares = false;                     ///< the factors of the limiter are those of a ScalarComponent::group
  std::span<const Vec3> gradient_weights;  ///< of the values prescribed on domain faces
  std::array<ScalarRange, most_side_by_side> range{};               ///< of the state
  std::array<std::span<const double>, most_side_by_side> source{};  ///< of advance(); empty: none
  Array<double> before;                                             ///< C n_values: c
  Array<double> low;                 ///< C n_values: c_low, then with the limited corrections
  Array<double> amount;              ///< C n_faces: correction
  Array<double> wall, through_wall;  ///< C n_own: correction, amount that has passed; empty: sealed
  /// C per domain face: the prescribed value at the end of the step, NaN where it is that of the volume; amounts that
  /// leave the domain.
  std::vector<double> end_value, ends;

  std::array<double, 3 * most_side_by_side> left{};  ///< StageSums: of the change, of the residuals of both stages

  bool reacts() const { return wall.size() > 0; }
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(before.bytes() + low.bytes() + amount.bytes() + wall.bytes() +
                                     through_wall.bytes() + sizeof(double) * (end_value.capacity() + ends.capacity()));
  }
};

}  // namespace karst
