// SPDX-License-Identifier: BSD-3-Clause
// Labels whose voxels are wider along some axes, which are resampled to cubes (source_lattice.hpp): the wall is sought
// among the voxels of the file as if they were cubes (wall_faces.hpp), where its faces, stairs and corners are, and its
// level set is then interpolated between their centres. Sought among the cubes the wall would have stairs that are not
// the file's, and no cube could have another phase than the voxel that holds its centre.
//
// Such a level set φ is a distance in voxels of the file. In cubes it is φ |g| / |(g_d r_d)|, r_d: cubes per voxel
// along d to the power -1, g_d: the larger of the differences to the two neighbours along d.
#pragma once

#include <cstdint>
#include <span>

#include "base/comm/memory.hpp"
#include "geometry_import/voxels/source_lattice.hpp"
#include "geometry_import/voxels/window.hpp"

namespace karst {

/// Planes of the file's voxels that the planes of cubes depend on, and those beside them.
ImageWindow voxels_around(const SourceLattice& lattice, const ImageWindow& cubes);

/// The planes of cubes in planes of the file's voxels.
ImageWindow cubes_of(const SourceLattice& lattice, const Index& cubes, const ImageWindow& voxels);

/// Values of the file's voxels, which all cubes of a voxel inside the sample have, and which cubes_of(voxels) are in
/// `cubes`: that of the first cube whose label is not outside_label, where the rim of a cylinder cuts the voxel.
/// @param labels  over `cubes`, as `values`
Array<std::uint8_t> at_voxels(const SourceLattice& lattice, const ImageWindow& cubes,
                              std::span<const std::uint8_t> labels, std::span<const std::uint8_t> values,
                              const ImageWindow& voxels);

/// Level set at the centres of cubes.
/// @param of_voxels  over `voxels`, which are voxels_around(to) or more [voxels of the file]
/// @param[out] phi   over `to`; gray_margin <= |φ| <= level_set_clip [cubes]
void level_set_at_cubes(const SourceLattice& lattice, const ImageWindow& voxels, std::span<const float> of_voxels,
                        const ImageWindow& to, std::span<float> phi);

/// Labels of cubes as the level set has them: pore_label where φ > 0; where the label says pore and φ does not, that of
/// the nearest solid voxel of those that φ is interpolated between.
/// @param of_voxels  labels over `voxels`, which are voxels_around(to) or more
/// @param[in,out] labels  over `to`; outside_label stays
void labels_as_level_set(const SourceLattice& lattice, const ImageWindow& voxels,
                         std::span<const std::uint8_t> of_voxels, const ImageWindow& to, std::span<const float> phi,
                         std::span<std::uint8_t> labels);

}  // namespace karst
