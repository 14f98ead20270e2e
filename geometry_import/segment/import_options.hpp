// SPDX-License-Identifier: BSD-3-Clause
// What the deck and the command line say about an import, [geometry.import]. It lives in the highest room that reads
// it.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "geometry_import/prepare/prepare.hpp"
#include "geometry_import/segment/clean.hpp"

namespace karst {

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
  double voxel = 0;               ///< width in x [m]; 0: from the file
  Vec3 spacing;                   ///< widths in x, y, z [m], instead of voxel; 0: from the file
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
  /// The pore is where gray values are above the threshold. None: where it is darker, which is above in images in which
  /// 0 is white.
  std::optional<bool> pore_above;

  /// None: scan, unless threshold, thresholds, segment, seed_threshold or smoothing are given.
  std::optional<WallFrom> wall;

  std::optional<double> smoothing;  ///< σ of the smoothing [voxels]; none: segmented_smoothing or gray_smoothing

  std::optional<int> specks, holes;  ///< smaller clusters are removed; none: few_voxels (gray) or 0 (labels) [voxels]
  KeepClusters keep = KeepClusters::all;
  std::array<bool, 3> keep_axes{};  ///< for KeepClusters::connected

  bool pictures = false;    ///< what the page of the import shows is gathered
  bool by_options = false;  ///< messages speak of options (--voxel WIDTH), not of keys (voxel = WIDTH)
};

}  // namespace karst
