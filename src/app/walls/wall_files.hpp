// SPDX-License-Identifier: BSD-3-Clause
// Files of walls that move, at the output times and at the end: geometry files, which geometry.image of another deck
// reads, and the wall as a surface.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "app/job/files_in_time.hpp"
#include "app/job/job.hpp"
#include "eb/moving/wall_transfer.hpp"

namespace karst {

/// Nodes per cell of level 0 and direction (GeometryInfo::nodes) on which φ0 - s is known to half a spacing of the
/// corners of s: exactly, where the samples of φ0 are among them, as those of an image are if a cell is a whole number
/// of voxels wide, or a voxel of cells.
/// @param sample_spacing  of φ0 (Smoothness) [h0]; 0: it has none
int nodes_per_cell(int n_levels, double sample_spacing);

/// Writes the walls of now as a geometry file, a voxel per cell of level 0: φ at nodes, which is all that a run reads
/// of the wall, and at the centres the mineral of the solid that is nearest. Throws Error. Collective.
/// @param time  for its provenance [s]
void write_moved_geometry(const JobContext& run, const std::string& path, double time);

/// At an output time: files that the deck asks for, and the lists of those so far. Throws Error. Collective.
/// @param speed  of pieces of wall [h0/s]
void write_wall_files(const JobContext& run, const WallRows& speed, double time, FilesInTime& files);
/// At the end, named without a number; they are the last of the lists. The results say what they are.
void finish_wall_files(const JobContext& run, const WallRows& speed, double time, const FilesInTime& files,
                       JobResult& result);

}  // namespace karst
