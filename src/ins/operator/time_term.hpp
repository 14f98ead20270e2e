// SPDX-License-Identifier: BSD-3-Clause
// The time derivative of the flow in a time step, a formula with two earlier flows:
//
//   ∂u/∂t = a u - s,   s = c_0 u_0 + c_1 u_1
//
// It is part of the momentum rows, and of the continuity fluxes, which have their own momentum equation: with the mean
// velocity v = flux / w of a face, R = t + b / w and ũ as in flow_rows.hpp but with f minus ∂u/∂t of the cells,
//
//   v = [ (ũ_l + ũ_r)_d / 2 - R (p_r - p_l - f) ] - R ∂v/∂t,   ∂v/∂t = a v - s_v.
//
// As a -> ∞ this is ∂v/∂t = f - (p_r - p_l), a projection with differences of neighbours; in a steady state it is the
// flux of steady flow for any a. (With R made smaller by a and no s_v the steady flow would depend on the time step:
// Choi, Numer. Heat Transfer B 36 (1999) 545.)
#pragma once

#include <array>
#include <cstdint>

#include "grid/field.hpp"

namespace karst {

/// Of one grid level, in its units (h_l² / ν).
struct LevelTime {
  /// An earlier flow: velocity of the own VoFs and outward v through their six sides; for each FlowExtra the result of
  /// extra_velocity().
  struct Past {
    const Quad* cells = nullptr;
    const std::array<double, 6>* faces = nullptr;
    const double* extra = nullptr;
    const double* ghosts = nullptr;  ///< velocities of the StokesOperator::LevelGhost, normal to their faces
  };
  double shift = 0.0;              ///< a >= 0; 0: steady
  std::array<double, 2> weight{};  ///< c
  std::array<Past, 2> past{};
  bool has_past = false;  ///< otherwise s = 0

  /// s of a face of an own VoF, out of it.
  double face(std::size_t vof, std::size_t side) const {
    return has_past ? weight[0] * past[0].faces[vof][side] + weight[1] * past[1].faces[vof][side] : 0.0;
  }
  /// ∂u/∂t of a ghost between levels, normal to its face; u: its velocity.
  double ghost(std::size_t i, double u) const {
    return shift * u - (has_past ? weight[0] * past[0].ghosts[i] + weight[1] * past[1].ghosts[i] : 0.0);
  }
  double extra(std::size_t e) const {
    return has_past ? weight[0] * past[0].extra[e] + weight[1] * past[1].extra[e] : 0.0;
  }
};

}  // namespace karst
