// SPDX-License-Identifier: BSD-3-Clause
// What lies around clusters, and giving them another label. Flags and labels are per slot, equal on all ranks that hold
// a part of the cluster.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "geometry_import/voxels/clusters.hpp"
#include "geometry_import/voxels/slabs.hpp"

namespace karst {

/// 1 for the clusters among `asked` with a voxel of this label among the 26 neighbours of theirs. Collective.
std::vector<std::uint8_t> in_contact(const Comm& comm, const Slabs<std::uint8_t>& labels, const Clusters& clusters,
                                     std::span<const std::uint8_t> asked, std::uint8_t label);

/// The solid label (1 to 254) at most faces of each of the clusters `asked`, the smallest among equals; 1 when there is
/// no solid beside it, and for the others. Collective.
std::vector<std::uint8_t> solid_around(const Comm& comm, const Slabs<std::uint8_t>& labels, const Clusters& clusters,
                                       std::span<const std::uint8_t> asked);

/// Gives the voxels of the clusters `asked` their new label. Not collective.
void relabel(Slabs<std::uint8_t>& labels, const Clusters& clusters, std::span<const std::uint8_t> asked,
             std::span<const std::uint8_t> to);

/// Voxels of the whole image with a label from `first` to `last`. Collective.
std::int64_t count_labels(const Comm& comm, const Slabs<std::uint8_t>& labels, std::uint8_t first, std::uint8_t last);

}  // namespace karst
