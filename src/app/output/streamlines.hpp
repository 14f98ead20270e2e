// SPDX-License-Identifier: BSD-3-Clause
// Paths of fluid through a velocity field on equal cubes, for pictures, and pores or solid of such a lattice, as
// render() draws them.
#pragma once

#include <vector>

#include "app/output/field_view.hpp"
#include "base/math/triple.hpp"
#include "page/render.hpp"

namespace karst {

struct Streamline {
  std::vector<Vec3> points;   ///< [cubes of the lattice], in the direction of the flow
  std::vector<double> speed;  ///< at the points
};

/// Lines through the plane in the middle of [low, high) along the axis, followed both ways to the ends of the lattice
/// or to where the fluid hardly moves. Each carries about the same share of the flow through that plane: where much
/// flows there are many. Velocities are trilinear between centres and 0 in the solid, so lines that come near a wall
/// may end there, as they do where a velocity is no finite number. The same for the same field. Not collective.
/// @param low, high  of the sample [cubes]
/// @param wanted     number of lines
std::vector<Streamline> streamlines(const FieldLattice& lattice, int axis, double low, double high, int wanted);

inline constexpr float longest_body_step = 8.0F;  ///< RenderOptions::longest_step of such a body [cubes]

/// Near the wall about a distance to it [cubes]. Not collective.
/// @param pore       the body is the pores, not the solid
/// @param low, high  of the sample along the axis [cubes]: reservoirs are not drawn
Volume body_of(const FieldLattice& lattice, bool pore, int axis, double low, double high);

/// Of the cubes between low and high. Not collective.
double fluid_share(const FieldLattice& lattice, int axis, double low, double high);

}  // namespace karst
