// SPDX-License-Identifier: BSD-3-Clause
// The rate of change of the flow as a step in time makes it, a formula of two earlier flows:
//
//   ∂u/∂t = a u - s,   s = c_0 u_0 + c_1 u_1
//
// It stands in the momentum rows, and in the fluxes of continuity, which have a momentum of their own: with the mean
// velocity v = flux / w of a face, R = t + b / w and ũ as in flow_rows.hpp but with f less ∂u/∂t of the cells,
//
//   v = [ (ũ_l + ũ_r)_d / 2 - R (p_r - p_l - f) ] - R ∂v/∂t,   ∂v/∂t = a v - s_v.
//
// As a -> ∞ this is ∂v/∂t = f - (p_r - p_l), a projection with differences of neighbours; where nothing changes in time
// it is the flux of steady flow, whatever a is. (With R made smaller by a and no s_v the steady flow would depend on
// the time step: Choi, Numer. Heat Transfer B 36 (1999) 545.)
#pragma once

#include <array>
#include <cstdint>

#include "grid/field.hpp"

namespace karst {

/// Of one grid level, in its units (h_l² / ν).
struct LevelTime {
  /// An earlier flow: of the own VoFs velocity and, out through the six sides, v; of the FlowExtra what
  /// extra_velocity() makes of theirs.
  struct Past {
    const Quad* cells = nullptr;
    const std::array<double, 6>* faces = nullptr;
    const double* extra = nullptr;
    const double* ghosts = nullptr;  ///< velocities of the StokesOperator::LevelGhost, normal to their faces
  };
  double shift = 0.0;              ///< a >= 0; 0: steady
  std::array<double, 2> weight{};  ///< c
  std::array<Past, 2> past{};
  bool has_past = false;  ///< else s = 0

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
