// SPDX-License-Identifier: BSD-3-Clause
// From an image to a geometry file: read, prepare, segment, clean, level set, distances, statistics. Layers of 32
// planes are handed to the ranks in turn; each is worked on with the planes around it that it depends on, so no rank
// holds the image (except those with ImageInfo::held_whole) and the result does not depend on the number of ranks.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "base/comm.hpp"
#include "geometry_import/clean.hpp"
#include "geometry_import/histogram.hpp"
#include "geometry_import/image_file.hpp"
#include "geometry_import/image_statistics.hpp"
#include "geometry_import/prepare.hpp"
#include "geometry_import/report_pictures.hpp"
#include "geometry_import/scan_model.hpp"

namespace karst {

class Reader;

/// Smoothing used when none is given [voxels]. Measured on packings of 12 voxels per radius with blur up to 0.5 voxel
/// and noise up to 10 % of the contrast: gray 0.5 keeps porosity to 0.2 % and wall area to 4 % (1.0: 0.8 and 8 %, the
/// corners at the contacts close; 0: 0.1 and 4.6 %, but walls as rough as the noise).
inline constexpr double segmented_smoothing = 1.0, gray_smoothing = 0.5;
inline constexpr double most_segmented_smoothing = 3.0;  ///< planes needed around a layer grow with its square [voxels]

/// How gray images are segmented when no threshold is given, or `labels` for images that hold labels.
enum class SegmentBy { halfway, edges, otsu, multi_otsu, labels };

/// Where the wall of a gray image is.
enum class WallFrom { scan, threshold };

struct ImportOptions {
  std::string file;               ///< the image
  Index size;                     ///< raw files: voxels, 0 when not given
  std::optional<VoxelType> type;  ///< raw files
  bool big_endian = false;        ///< raw files
  int skip_bytes = 0;             ///< raw files: header in front
  double voxel = 0;               ///< width in x [m]; 0: as the file states
  Vec3 spacing;                   ///< widths in x, y, z [m], instead of voxel; 0: as the file states
  PrepareOptions prepare;

  // label images: one of pore, labels, label_values
  std::optional<double> pore;        ///< the value of the pore space; all others are one solid
  std::string labels;                ///< JSON file of names and values: read_label_names()
  std::vector<double> label_values;  ///< values of `names`
  /// Of label_values, or of the classes of a gray image, darkest first. Empty: pore, solid or solid 1, solid 2, ...
  std::vector<std::string> names;

  // gray images
  std::optional<SegmentBy> segment;      ///< none: halfway, unless thresholds are given
  std::optional<double> threshold;       ///< gray value of the wall
  std::vector<double> thresholds;        ///< limits of several classes, ascending
  std::optional<int> classes;            ///< multi-Otsu; none: 3
  std::optional<double> seed_threshold;  ///< pore for sure beyond it, elsewhere where connected to such
  bool pore_above = false;               ///< the pore is brighter than the threshold

  /// None: scan, unless threshold, thresholds, segment, seed_threshold or smoothing are given.
  std::optional<WallFrom> wall;

  std::optional<double> smoothing;  ///< σ of the smoothing [voxels]; none: segmented_smoothing or gray_smoothing

  std::optional<int> specks, holes;  ///< smaller clusters are removed; none: few_voxels (gray) or 0 (labels) [voxels]
  KeepClusters keep = KeepClusters::all;
  std::array<bool, 3> keep_axes{};  ///< for KeepClusters::connected

  bool pictures = false;    ///< what the page of the import shows is gathered
  bool by_options = false;  ///< messages speak of options (--voxel WIDTH), not of keys (voxel = WIDTH)
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
  std::string segmentation;              ///< pore value, named labels, threshold, halfway threshold, ...
  double threshold = 0;                  ///< gray value of the wall; NaN for segmented images
  std::vector<double> thresholds;        ///< limits of the classes, gray images
  std::vector<double> peaks;             ///< where the gray values of the classes gather; NaN for an empty class
  double seed_threshold = 0;             ///< NaN when there is none
  double pore = 0;                       ///< value of the pore space; NaN for gray images
  bool pore_above = false;
  double smallest = 0, largest = 0;  ///< values of the image
  Histogram histogram;               ///< of the sample, at most 256 bins, gray images
  double contrast = 0;               ///< between the peaks on the two sides of the wall; NaN for segmented images
  /// level_set_porosity with the wall moved either way by what 5 % of the contrast are: the threshold by so many gray
  /// values (change of the share of whole voxels before cleaning), a fitted wall by moved_wall (times its area); NaN
  /// for segmented images.
  double porosity_low = 0, porosity_high = 0;
  double moved_wall = 0;        ///< how far that moves the wall; NaN where it is not known [voxels]
  double uncleaned_share = 0;   ///< of pore voxels at the threshold, before cleaning
  GrownSeeds seeds;             ///< with seed_threshold
  std::int64_t rim_voxels = 0;  ///< whose label correct_rim() changed
  CleanReport cleaned;
  std::vector<PhaseShare> phases;  ///< by label
  double smoothing = 0;            ///< [voxels]
  double shift = 0;                ///< added to φ so that the volume is kept, segmented images [voxels]
  std::optional<ScanModel> scan;   ///< gray images with a fitted wall
  double gradient = 0;             ///< mean |∇g| at the wall, gray images [gray values per voxel]
  double porosity = 0;             ///< of the voxels (of the sample)
  double level_set_porosity = 0;   ///< of the trilinear interpolant of φ, as a cutter sees it
  double wall_area = 0;            ///< of the interpolant, without the surface of the sample [voxel²]
  ImageStatistics statistics;
  PictureData pictures;  ///< on rank 0
  double seconds = 0;
  std::int64_t memory_peak_bytes = 0;  ///< resident set, summed over the ranks
  std::vector<std::string> warnings;
};

/// Opens the image as the options say. Throws Error: what open_image() throws, and a raw file without type or size.
/// Not collective.
std::unique_ptr<ImageFile> open_image(const ImportOptions& options);

/// Imports an image and writes a geometry file. Throws the same Error on all ranks; then no file is left. Collective.
ImportReport import_image(const Comm& comm, const ImportOptions& options, const std::string& output);

std::string to_json(const ImportReport& report);

}  // namespace karst
