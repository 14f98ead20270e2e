// SPDX-License-Identifier: BSD-3-Clause
// What an import tells about a segmented image: see image_statistics.hpp for what each figure means.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/comm/comm.hpp"
#include "geometry_import/pores/image_statistics.hpp"
#include "geometry_import/voxels/slabs.hpp"

namespace karst {

/// All figures. Suggested is the widest cell, 2^k voxels with k from -3 to 2, with which the critical diameter (the
/// smallest of the axes that percolate; the median pore when none does) is at least 4 cells and the tenth percentile of
/// the throats 2: below 4 cells the flow through a throat is off by more than some per cent. Where there is nothing to
/// measure (no pore, no solid, no throat, no voxel of the sample) they are 0 and lists are empty; no figure is NaN.
/// Percolation looks at the ends of the image, so nothing percolates across a cylindrical sample that does not touch
/// them. The same on any number of ranks and threads. Collective.
/// Frees labels and distance as soon as it can.
/// @param labels     0 pore, 1 .. 254 solid phases, 255 outside of the sample
/// @param distance   that of wall_distance [1/64 voxel]
/// @param wall_area  of the sample [voxel²]
/// @param names      of the labels 0, 1, 2, ...; a label without one is called "phase N"
ImageStatistics image_statistics(const Comm& comm, Slabs<std::uint8_t> labels, Slabs<std::uint16_t> distance,
                                 double wall_area, std::span<const std::string> names);

}  // namespace karst
