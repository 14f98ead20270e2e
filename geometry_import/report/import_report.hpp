// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "geometry_import/pores/image_statistics.hpp"
#include "geometry_import/prepare/prepare.hpp"
#include "geometry_import/segment/segment_report.hpp"
#include "geometry_import/voxels/report_pictures.hpp"

namespace karst {

/// All that an import tells: what segmentation does, and the rest.
struct ImportReport : SegmentReport {
  std::string file, format;
  Index file_voxels;
  Vec3 file_spacing;                     ///< [m]
  std::vector<std::string> prepared;     ///< what was done to the image before segmentation
  std::optional<SampleCylinder> sample;  ///< all statistics are over it
  double sample_share = 1;               ///< of the voxels
  Index voxels;                          ///< after preparation
  double voxel = 0;                      ///< after preparation [m]
  bool voxel_from_file = false;          ///< false: from the options
  bool z_assumed = false;                ///< the file states widths in x and y alone; z is taken equal to x
  CleanReport cleaned;
  std::vector<PhaseShare> phases;  ///< by label
  double shift = 0;                ///< added to φ so that the volume is kept, segmented images [voxels]
  double porosity = 0;             ///< of the voxels (of the sample)
  double level_set_porosity = 0;   ///< of the trilinear interpolant of φ, as a cutter sees it
  double wall_area = 0;            ///< of the interpolant, without the surface of the sample [voxel²]
  ImageStatistics statistics;
  PictureData pictures;  ///< on rank 0
  double seconds = 0;
  std::int64_t memory_peak_bytes = 0;  ///< resident set, summed over the ranks
};

}  // namespace karst
