// SPDX-License-Identifier: BSD-3-Clause
// Distance to the wall of every pore voxel of an image, without a limit.
//
//   d(x) = |x - s| - o(s),  s = the nearest solid voxel centre,  o(s) = distance of that centre to the wall
//
// An upper bound of the distance, exact when x, s and the wall between them are in line: 0 to 1/64 off on walls across
// an axis, 0.1 voxel too long on average on inclined ones, 0.6 at most (next to the wall). Of several solid centres at
// the same distance the deepest one, with the largest o, counts, so that the result does not depend on the order of
// axes.
//
// Squared distances are found axis by axis: up and down the columns first, carried from plane to plane and from rank to
// rank; then in each plane by the lower envelope of the parabolas of a row (Felzenszwalb & Huttenlocher, Theory of
// Computing 8 (2012) 415). Every sum is an integer below 2^53, so the same on any number of ranks and threads.
#pragma once

#include <cstdint>

#include "base/comm/comm.hpp"
#include "geometry_import/voxels/slabs.hpp"

namespace karst {

inline constexpr int distance_unit = 64;  ///< stored distances are in 1/64 voxel
/// Largest stored distance, 1024 voxels less 1/64; also that of every voxel of an image without solid.
inline constexpr std::uint16_t largest_distance = 65535;

/// Collective. Needs 8 bytes per voxel of a plane and thread, and 48 per voxel of a plane, besides.
/// @param labels    0 in the pore, anything else in the solid; there is none beyond the image
/// @param[in,out] distance  in: o of the solid voxels, those of the pore are ignored; out: d of the pore voxels, at
///                  least 1/64 and at most largest_distance, and 0 in the solid [1/64 voxel]; at most 65535 voxels
///                  along an axis
void wall_distance(const Comm& comm, const Slabs<std::uint8_t>& labels, Slabs<std::uint16_t>& distance);

}  // namespace karst
