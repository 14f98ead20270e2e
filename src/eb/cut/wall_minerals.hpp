// SPDX-License-Identifier: BSD-3-Clause
// Minerals on the wall of a cell.
#pragma once

#include <span>

#include "eb/cut/cut_cube.hpp"

namespace karst {

/// Divides the wall of one piece of a cube among the minerals of the solid behind it: each triangle is divided into
/// four equal ones (not on a sub-lattice), each of which is assigned to the mineral next to its centroid. If there is
/// only one mineral behind the cube, nothing is divided.
/// @param low    position of corner 0 of the cube in the lattice of phi
/// @param scale  area of a face of the cube / h²
/// @param[in,out] areas  one per mineral / h²: those of the piece are added
void add_minerals(const LatticePhi& phi, const Vec3& low, const CubeCut& cut, int piece, double scale,
                  std::span<double> areas);

}  // namespace karst
