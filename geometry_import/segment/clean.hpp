// SPDX-License-Identifier: BSD-3-Clause
// Cleaning of a segmented image, voxel by voxel of whole clusters: specks of solid, holes, and pores that lead nowhere.
// A solid cluster is connected through corners (26 neighbours) whatever its phases are, a pore cluster through faces
// (6): so the two are dual, a closed surface of solid separates. The results do not depend on ranks and threads, and
// cleaning a second time with the same options changes nothing.
#pragma once

#include <array>
#include <cstdint>

#include "base/comm/comm.hpp"
#include "geometry_import/voxels/slabs.hpp"

namespace karst {

/// Which pore clusters stay.
enum class KeepClusters {
  all,
  connected,  ///< those that touch both ends of the image along any of the chosen axes
  largest     ///< the one with the most voxels; among equals the one with the first voxel, x fastest
};

struct CleanOptions {
  std::int64_t specks = 0;  ///< solid clusters of fewer voxels become pore; 0: none
  std::int64_t holes = 0;   ///< pore clusters of fewer voxels become solid; 0: none
  KeepClusters keep = KeepClusters::all;
  std::array<bool, 3> axes{true, true, true};  ///< for KeepClusters::connected
};

/// Clusters and their voxels, of the whole image.
struct ClusterSum {
  std::int64_t clusters = 0, voxels = 0;
};

struct CleanReport {
  ClusterSum specks;          ///< solid that became pore
  ClusterSum holes, dropped;  ///< pore that became solid: for its size; for what `keep` asks
  bool changed() const { return specks.clusters + holes.clusters + dropped.clusters > 0; }
};

/// Cleans the labels in place, in this order: specks, holes, keep. A solid cluster in contact with the outside of the
/// sample is no speck. A pore cluster takes the solid label at most of its faces (the smallest among equals), 1 when
/// it has no solid beside it. Clusters at the faces of the image are counted with their part inside. Throws Error when
/// an option is out of range, when no solid or no pore would be left (the labels may be changed in part then).
/// Collective.
CleanReport clean(const Comm& comm, Slabs<std::uint8_t>& labels, const CleanOptions& options);

inline constexpr std::int64_t few_voxels = 8;

/// What became of the candidates.
struct GrownSeeds {
  std::int64_t grown = 0;   ///< candidates that became pore [voxels]
  ClusterSum without_seed;  ///< that became solid
};

/// Seeded growth (thresholding with hysteresis): voxels of 0 are pore for sure, those of `candidate` perhaps.
/// Candidates connected to a 0 through faces and candidates become 0, the others `solid`. Throws Error unless candidate
/// and solid are labels of 1 to 254 (they may be the same). Collective.
GrownSeeds grow_seeds(const Comm& comm, Slabs<std::uint8_t>& labels, std::uint8_t candidate, std::uint8_t solid);

}  // namespace karst
