// SPDX-License-Identifier: BSD-3-Clause
// What the pictures of a report need of an image that no rank holds: the slices through its middle and a coarse level
// set. Ranks hand over the layers they work on; what is kept of n³ voxels is about 30 n² bytes and the coarse level
// set.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "base/comm/comm.hpp"
#include "geometry_import/voxels/clusters.hpp"
#include "geometry_import/voxels/window.hpp"
#include "page/render.hpp"

namespace karst {

inline constexpr int slice_pixels = 512;  ///< of a slice at most, per direction
inline constexpr int coarse_cubes = 160;  ///< of the coarse level set at most, per direction

/// The plane across an axis through the middle. x (else y) runs to the right, z (else y) down.
struct ImageSlice {
  int axis = 0;
  int plane = 0;  ///< voxel number along the axis
  int nx = 0, ny = 0;
  int step = 1;                       ///< voxels per pixel and direction
  std::vector<std::uint8_t> gray;     ///< [ny][nx], means; 0 and 255 are where 0.5 and 99.5 % of the values are below
  std::vector<std::uint8_t> labels;   ///< [ny][nx], of the voxel in the middle of a pixel
  std::vector<std::uint8_t> changed;  ///< [ny][nx], 1 where cleaning changed a voxel of the pixel
  std::vector<float> phi;             ///< [ny][nx], means, in pixels
};

/// On rank 0; empty on the others. Fields that nobody handed over are empty.
struct PictureData {
  std::array<ImageSlice, 3> slices;  ///< across x, y, z
  double black = 0, white = 0;       ///< values that became 0 and 255
  int block = 1;                     ///< voxels per cube of the coarse level set
  Volume coarse;                     ///< means of φ, in cubes
};

/// Shows images in which 0 is white as they are meant: small values bright.
void show_white_as_zero(PictureData& pictures);

class ReportPictures {
 public:
  explicit ReportPictures(const Index& voxels);
  /// Values of the prepared image. Not collective, as all that follow; any order of layers, each once on one rank.
  void add_gray(const ImageWindow& layer, std::span<const float> values);
  /// Labels before cleaning; may be left out when nothing is cleaned.
  void add_segmented(const ImageWindow& layer, std::span<const std::uint8_t> labels);
  void add_labels(const ImageWindow& layer, std::span<const std::uint8_t> labels);
  /// φ [voxels]; used to 2^-12 voxel.
  void add_level_set(const ImageWindow& layer, std::span<const float> phi);
  /// The same for any number of ranks. Collective.
  PictureData gather(const Comm& comm) const;

 private:
  enum class Field : std::int32_t { gray, segmented, labels, phi };
  template <class T>
  void keep_rows(Field field, const ImageWindow& layer, std::span<const T> values);
  template <class T>
  void keep_row(Field field, int axis, int row, std::span<const T> values);

  Index voxels_;
  int block_;
  std::vector<std::byte> rows_;                      ///< of slices, each behind its RowHead
  std::map<int, std::vector<std::int64_t>> coarse_;  ///< of each coarse plane Σ φ · 2^12, [ny][nx]
};

}  // namespace karst
