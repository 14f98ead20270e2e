// SPDX-License-Identifier: BSD-3-Clause
// Pores and throats, from the basins of the distance to the wall.
//
// Basins are joined along their saddles, the widest first: two become one pore when the saddle between them is at least
// same_pore times the smaller of their peaks, so when there is hardly a neck. Each pair of pores that touch after that
// has one throat, as wide as their widest saddle that is a neck. (Like the merging by depth of Gostick, Phys. Rev. E 96
// (2017) 023307, but in proportion to size.)
//
// What the share decides is the number of pores: 1.2, 1.7 and 2.5 per grain of a random packing of spheres at 0.8, 0.85
// and 0.9, from 8 to 15 voxels per grain radius; the median of the throats moves by 5 %. Given exact distances, throats
// are right to 3 % from 5 voxels per grain radius on; with those of wall_distance they come out 0.4 to 0.6 voxel too
// wide among curved walls, as those distances are 0.1 to 0.2 voxel too long and the widest count.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/comm/comm.hpp"
#include "geometry_import/pores/basin_graph.hpp"

namespace karst {

/// A neck of more than this share of the smaller of two pores is none.
inline constexpr double same_pore = 0.85;

struct Throat {
  std::int32_t low, high;  ///< numbers of the pores
  int radius;              ///< [1/64 voxel]
};

struct PoreNetwork {
  std::vector<int> pore_radius;  ///< the largest of its basins [1/64 voxel]
  std::vector<Throat> throats;   ///< by (low, high)
};

/// Not collective.
PoreNetwork pore_network(const BasinGraph& graph);

/// Radius of the widest ball that passes from one end of the image to the other along each axis [1/64 voxel]; 0: none.
/// Ways go from basin to basin through saddles, and in and out through the widest voxel of a basin at the end. Not
/// collective.
std::array<int, 3> critical_radius(const BasinGraph& graph);

/// The figures of a network, in numbers per radius [1/64 voxel].
struct NetworkFigures {
  std::int64_t pores = 0, throats = 0;
  std::vector<std::int64_t> throat_radius;  ///< how many throats there are of each radius; empty without throats
  std::array<int, 3> critical{};            ///< critical_radius
};

/// Of the distance of wall_distance. Collective; the same on every rank.
NetworkFigures network_figures(const Comm& comm, const Slabs<std::uint16_t>& distance);

}  // namespace karst
