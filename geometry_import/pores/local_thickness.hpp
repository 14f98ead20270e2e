// SPDX-License-Identifier: BSD-3-Clause
// Local thickness: for each pore voxel the diameter of the largest ball in the pore that holds its centre (Hildebrand &
// Rüegsegger, J. Microscopy 185 (1997) 67).
//
// Balls are those around the voxel centres and those of ball_between. A ball is left out when the ball of one of the 26
// neighbours holds all the voxel centres that it holds, or d rises to there by 0.85 of the way (distance ridge:
// Dougherty & Kunzelmann, Microscopy and Microanalysis 13 (2007) 1678). Balls of a radius from 16 voxels on are painted
// on an image coarsened by two, from 32 on by four, and so on, the largest of those with their centre in the same
// coarse cell: the radius stays exact, which voxels a ball covers is known to 1/16 of its radius, so that some voxels
// next to the wall of a large pore keep a smaller one. Slits have their width exactly; with the distances of
// wall_distance the mean is 0.5 voxel too large among curved walls.
#pragma once

#include <cstdint>
#include <vector>

#include "base/comm/comm.hpp"
#include "geometry_import/pores/image_statistics.hpp"
#include "geometry_import/voxels/slabs.hpp"

namespace karst {

/// Radius from which on balls are painted on coarser images [voxels].
inline constexpr int coarse_radius = 16;

/// In place: d of wall_distance becomes the radius of the largest ball, half the local thickness [1/64 voxel]; 0 in the
/// solid. Collective. Needs 2 bytes per voxel of 19 planes on both sides of a slab, 16 bytes per ball (one for two or
/// three pore voxels) of 38 planes or more, and those of a radius from coarse_radius on, one per coarse cell at most.
void local_thickness(const Comm& comm, Slabs<std::uint16_t>& distance);

/// How many voxels there are of each radius 1/64, 2/64, ... (number 0: none). Collective; the same on every rank.
std::vector<std::int64_t> radius_counts(const Comm& comm, const Slabs<std::uint16_t>& radius);

/// Diameters from counts of radii [1/64 voxel], in voxels; bins as wide as a voxel or 2^k of them, 64 at most.
/// @param bound  diameters above it count as it; 0: there is none
SizeDistribution size_distribution(std::vector<std::int64_t> of_radius, double bound = 0);

}  // namespace karst
