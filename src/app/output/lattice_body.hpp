// SPDX-License-Identifier: BSD-3-Clause
// Pores or solid of a lattice, as render() draws them.
#pragma once

#include "app/output/field_view.hpp"
#include "page/render.hpp"

namespace karst {

inline constexpr float longest_body_step = 8.0F;  ///< RenderOptions::longest_step of such a body [cubes]

/// Near the wall about a distance to it [cubes]. Not collective.
/// @param pore       the body is the pores, not the solid
/// @param low, high  of the sample along the axis [cubes]: reservoirs are not drawn
Volume body_of(const FieldLattice& lattice, bool pore, int axis, double low, double high);

/// Of the cubes between low and high. Not collective.
double fluid_share(const FieldLattice& lattice, int axis, double low, double high);

}  // namespace karst
