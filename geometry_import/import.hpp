// SPDX-License-Identifier: BSD-3-Clause
// From an image to a geometry file: read, prepare, segment, level set, write. Layers of 32 planes are handed to the
// ranks in turn; each is worked on with the planes around it that it depends on, so no rank holds the image (except
// formats read by VTK) and the result does not depend on the number of ranks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/comm.hpp"
#include "geometry_import/image_file.hpp"
#include "geometry_import/prepare.hpp"

namespace karst {

class Reader;

/// Smoothing used when none is given [voxels]. Measured on packings of 12 voxels per radius with blur up to 0.5 voxel
/// and noise up to 10 % of the contrast: gray 0.5 keeps porosity to 0.2 % and wall area to 4 % (1.0: 0.8 and 8 %, the
/// corners at the contacts close; 0: 0.1 and 4.6 %, but walls as rough as the noise).
inline constexpr double segmented_smoothing = 1.0, gray_smoothing = 0.5;

struct ImportOptions {
  std::string file;               ///< the image
  Index size;                     ///< raw files: voxels, 0 when not given
  std::optional<VoxelType> type;  ///< raw files
  bool big_endian = false;        ///< raw files
  int skip_bytes = 0;             ///< raw files: header in front
  double voxel = 0;               ///< width in x [m]; 0: as the file states
  Vec3 spacing;                   ///< widths in x, y, z [m], instead of voxel; 0: as the file states
  PrepareOptions prepare;
  std::optional<double> pore;       ///< segmented images: the value of the pore space
  std::optional<double> threshold;  ///< gray images: gray value of the wall; none: halfway_threshold()
  bool pore_above = false;          ///< gray images: the pore is brighter than the threshold
  std::optional<double> smoothing;  ///< σ of the smoothing [voxels]; none: segmented_smoothing or gray_smoothing
};

/// Declares the keys of [geometry.import]. The image is named by geometry.image: set options.file from there.
void read(Reader& in, ImportOptions& options);

struct ImportReport {
  std::string file, format;
  VoxelType type = VoxelType::uint8;
  Index file_voxels;
  Vec3 file_spacing;                     ///< [m]
  std::vector<std::string> prepared;     ///< what was done to the image before segmentation
  std::optional<SampleCylinder> sample;  ///< all statistics are over it
  double sample_share = 1;               ///< of the voxels
  Index voxels;                          ///< after preparation
  double voxel = 0;                      ///< after preparation [m]
  bool voxel_from_file = false;          ///< false: from the options
  std::string segmentation;              ///< pore value, threshold, halfway threshold
  double threshold = 0;                  ///< gray value of the wall; NaN for segmented images
  double pore = 0;                       ///< value of the pore space; NaN for gray images
  bool pore_above = false;
  double smallest = 0, largest = 0;  ///< values of the image
  double smoothing = 0;              ///< [voxels]
  double shift = 0;                  ///< added to φ so that the volume is kept, segmented images [voxels]
  double gradient = 0;               ///< mean |∇g| at the wall, gray images [gray values per voxel]
  double porosity = 0;               ///< of the voxels (of the sample)
  double level_set_porosity = 0;     ///< of the trilinear interpolant of φ, as a cutter sees it
  double seconds = 0;
  std::vector<std::string> warnings;
};

/// Imports an image and writes a geometry file. Throws the same Error on all ranks; then no file is left. Collective.
ImportReport import_image(const Comm& comm, const ImportOptions& options, const std::string& output);

std::string to_json(const ImportReport& report);

}  // namespace karst
