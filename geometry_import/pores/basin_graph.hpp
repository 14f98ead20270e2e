// SPDX-License-Identifier: BSD-3-Clause
// The pore space as basins of the distance to the wall. Every pore voxel points to the highest of itself and its 26
// neighbours (by distance, of equals that of the lowest number (z ny + y) nx + x); following the way up leads to a
// local maximum, and the voxels that lead to the same one are a basin (watershed by rainfall: Vincent & Soille, IEEE
// Trans. Pattern Anal. 13 (1991) 583). Two basins are neighbours where voxels of them share a face; their saddle is the
// pair of such voxels of the largest min(d, d).
//
// Where three basins meet, the line between two of them may be highest at its end, at the third one: no neck. Such
// saddles, where within two voxels both sides are connected by voxels that are higher, are marked; the way around
// through the third basin is wider.
//
// Radii are those of ball_radius, so between voxel centres too.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/comm/comm.hpp"
#include "geometry_import/voxels/slabs.hpp"

namespace karst {

struct Basin {
  std::int64_t root = 0;       ///< number of the voxel of the local maximum
  int peak = 0;                ///< radius there [1/64 voxel]
  std::array<int, 6> touch{};  ///< largest radius of its voxels at the faces of the image -x +x -y +y -z +z; 0: none
};

struct Saddle {
  std::int64_t low = 0, high = 0;  ///< roots of the basins
  int level = 0;                   ///< min(d, d) of the voxels [1/64 voxel]
  int radius = 0;                  ///< the smaller radius of the two; the largest of several pairs of this level
  bool neck = true;                ///< false: marked, for all pairs of this level
};

struct BasinGraph {
  std::vector<Basin> basins;    ///< by root
  std::vector<Saddle> saddles;  ///< by (low, high), each pair once
};

/// Collective; the graph is on rank 0, empty on the others. The same on any number of ranks and threads. Needs 4 bytes
/// per voxel of 16 planes and thread, 32 bytes per voxel of a plane, and on rank 0 40 bytes per basin and 24 per
/// saddle.
/// @param distance  that of wall_distance [1/64 voxel]
BasinGraph basin_graph(const Comm& comm, const Slabs<std::uint16_t>& distance);

}  // namespace karst
