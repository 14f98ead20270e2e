// SPDX-License-Identifier: BSD-3-Clause
// What an import tells about a segmented image. Lengths in voxels unless stated.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "geometry_import/voxels/phase_share.hpp"

namespace karst {

/// Diameters: of pores by volume, of throats by number. A ball as wide as the image may go on outside of it: what is
/// wider counts as that, and is at least so wide.
struct SizeDistribution {
  double bin_width = 0;       ///< bin b holds the diameters [b, b + 1) · bin_width
  std::vector<double> share;  ///< Σ = 1; empty when there is nothing
  double mean = 0, smallest = 0, largest = 0;
  double tenth = 0, median = 0, ninetieth = 0;  ///< this diameter has 10, 50, 90 % below it
  double bound = 0;        ///< the smallest side of the image that is not one voxel wide; 0: there is none
  double share_bound = 0;  ///< of what is as wide
};

struct ImageStatistics {
  double porosity = 0;                         ///< pore voxels / voxels of the sample
  std::array<bool, 3> percolates{};            ///< a pore cluster (through faces) touches both ends
  std::array<double, 3> connected_porosity{};  ///< of the clusters that do, per axis
  double enclosed_porosity = 0;                ///< of the clusters that touch no end of the image
  std::int64_t pore_clusters = 0;
  std::array<std::vector<double>, 3> profile;  ///< porosity of each plane across an axis
  std::vector<PhaseShare> phases;
  double specific_surface = 0;                     ///< wall area / volume of the sample [1/voxel]
  SizeDistribution pore_size;                      ///< local thickness: largest inscribed ball that holds the voxel
  std::int64_t pores = 0, throats = 0;             ///< of the network
  double coordination = 0;                         ///< throats per pore, counted at both pores
  SizeDistribution throat_size;                    ///< widest ball that passes between two pores
  double thin_throats = 0;                         ///< fraction of the throats that are narrower than 3 voxels
  std::array<double, 3> critical_diameter{};       ///< widest ball that passes through the sample; 0: none
  std::array<std::vector<double>, 3> correlation;  ///< of pore at r = 0, 1, ... along each axis
  std::array<double, 3> correlation_length{};      ///< its integral up to the first zero
  double suggested_width = 0;                      ///< cell width [voxels]: 2^k
  std::string suggestion;                          ///< why, in one sentence
};

}  // namespace karst
