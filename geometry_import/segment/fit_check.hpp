// SPDX-License-Identifier: BSD-3-Clause
// May a fitted wall be trusted? It refines the wall of a threshold; it must not invent or remove one.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "geometry_import/segment/clean.hpp"
#include "geometry_import/wall/scan_model.hpp"

namespace karst {

/// Clusters that one segmentation has and another has no voxel of.
struct ClusterChanges {
  ClusterSum invented, lost;
};

/// Undoes what the fit may not do: solid or pore clusters that have no voxel of their phase in the start go, clusters
/// of few_voxels and more of the start of which no voxel is left come back. Contact as in clean(). Two phases.
/// Collective.
ClusterChanges keep_clusters(const Comm& comm, const Slabs<std::uint8_t>& start, Slabs<std::uint8_t>& labels);

/// Faces between a voxel of the pore and one of the solid. Collective.
std::int64_t count_wall_faces(const Comm& comm, const Slabs<std::uint8_t>& labels);

/// Why the wall of a fit is no better than that of the threshold, with the figure that says so; empty when nothing
/// speaks against it. The limits are those of decision 014:
///   minerals     2      the solid has several gray values
///   scatter      2      times the noise: gray values vary in space inside a phase
///   misfit       2.5    times the noise: no picture of two phases
///   offset       0.1    of the contrast, between the usual gray value inside a phase and the fitted one
///   beyond peaks 0.25 + 0.15 blur / voxel  of the contrast: blur pulls the peaks towards each other, but not further
///   wall faces   0.6 to 1.35 times those of the threshold
/// Noise counts as 0.01 of the contrast at least.
/// @param peaks  of the histogram, of the pore and of the solid [gray values]
/// @param faces  of the fitted wall over those of the threshold's
std::string reason_against(const ScanModel& scan, double pore_peak, double solid_peak, double faces);

}  // namespace karst
