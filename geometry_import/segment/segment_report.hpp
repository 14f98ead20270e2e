// SPDX-License-Identifier: BSD-3-Clause
// What segmentation tells about an image.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "geometry_import/read/image_file.hpp"
#include "geometry_import/segment/clean.hpp"
#include "geometry_import/voxels/histogram.hpp"
#include "geometry_import/wall/scan_model.hpp"

namespace karst {

struct SegmentReport {
  VoxelType type = VoxelType::uint8;  ///< of the file
  std::string segmentation;           ///< pore value, named labels, threshold, halfway threshold, ...
  double threshold = 0;               ///< gray value of the wall; NaN for segmented images
  std::vector<double> thresholds;     ///< limits of the classes, gray images
  std::vector<double> peaks;          ///< where the gray values of the classes gather; NaN for an empty class
  double seed_threshold = 0;          ///< NaN when there is none
  double pore = 0;                    ///< value of the pore space; NaN for gray images
  bool pore_above = false;
  double smallest = 0, largest = 0;  ///< values of the image
  Histogram histogram;               ///< of the sample, at most 256 bins, gray images
  double contrast = 0;               ///< between the peaks on the two sides of the wall; NaN for segmented images
  /// Porosity with the wall moved either way by what 5 % of the contrast are; NaN for segmented images. First the share
  /// of whole voxels before cleaning beyond thresholds moved by so many gray values; in the report of the import
  /// level_set_porosity with that change or, of a fitted wall, with moved_wall times its area.
  double porosity_low = 0, porosity_high = 0;
  /// How far that moves the wall; of segmented images how far voxels leave it; NaN where it is not known [voxels].
  double moved_wall = 0;
  double uncleaned_share = 0;     ///< of pore voxels at the threshold, before cleaning
  GrownSeeds seeds;               ///< with seed_threshold
  std::int64_t rim_voxels = 0;    ///< whose label correct_rim() changed
  double smoothing = 0;           ///< [voxels]
  std::optional<ScanModel> scan;  ///< gray images with a fitted wall
  double gradient = 0;            ///< mean |∇g| at the wall, gray images [gray values per voxel]
  std::vector<std::string> warnings;
};

}  // namespace karst
