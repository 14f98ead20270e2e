// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "solvers/elliptic/elliptic_fluxes.hpp"

namespace karst::test {

/// Fluxes of a solution into the wall. Collective.
inline WallField wall_fluxes(EllipticOperator& op, std::span<const double> solution) {
  EllipticFluxes fluxes(op);
  FaceField faces(op.composite());
  WallField wall(op.composite());
  fluxes.find(solution, faces, wall);
  return wall;
}

}  // namespace karst::test
