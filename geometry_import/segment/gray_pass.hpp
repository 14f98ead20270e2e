// SPDX-License-Identifier: BSD-3-Clause
// The reading of a gray image that gives its labels, and on the way all that is to be known of the smoothed values.
#pragma once

#include <algorithm>
#include <vector>

#include "geometry_import/prepare/image_layers.hpp"
#include "geometry_import/segment/import_options.hpp"
#include "geometry_import/segment/labels.hpp"
#include "geometry_import/segment/segment_report.hpp"
#include "geometry_import/voxels/histogram.hpp"
#include "geometry_import/voxels/report_pictures.hpp"
#include "geometry_import/voxels/slabs.hpp"
#include "geometry_import/wall/plane_noise.hpp"

namespace karst {

inline constexpr std::uint8_t candidate_label = 254;  ///< pore if connected to a seed

/// Of images with voxels of a type.
inline GrayValues gray_values_of(VoxelType type) { return is_integer(type) ? GrayValues::integers : GrayValues::real; }

/// Classes of gray values.
struct GrayClasses {
  std::vector<double> limits;
  bool pore_above = false;

  double wall() const { return pore_above ? limits.back() : limits.front(); }
  std::size_t pore() const { return pore_above ? limits.size() : 0; }
  std::size_t beside_pore() const { return pore_above ? limits.size() - 1 : 1; }
  std::uint8_t label(std::size_t c) const {
    return static_cast<std::uint8_t>(!pore_above ? c : c == limits.size() ? 0 : c + 1);
  }
  /// A value at a limit belongs to the side away from the pore.
  std::uint8_t label_of(float gray) const {
    std::size_t c = 0;
    for (const double limit : limits) {
      const auto l = static_cast<float>(limit);
      c += pore_above ? gray > l : gray >= l;
    }
    return label(c);
  }
};

/// What one reading of a gray image gives.
class GrayPass {
 public:
  GrayPass(const ImageLayers& image, const GrayClasses& classes, const ImportOptions& options,
           const SegmentReport& report, ReportPictures* pictures)
      : image_(image),
        classes_(classes),
        options_(options),
        report_(report),
        pictures_(pictures),
        smoothed_(histogram_for(report.smallest, report.largest, GrayValues::real)),
        noise_(report.largest - report.smallest),
        gradients_(2 * image.count(), 0.0) {}
  /// Reads the image; the labels, candidate_label where the seeds decide. Throws the same Error on all ranks.
  /// Collective.
  /// @param[in,out] histogram  of the image as it is; filled when it is empty
  Slabs<std::uint8_t> run(Histogram& histogram);
  /// Mean |∇g| at the wall, after run(). Throws Error when there is no wall. [gray values per voxel]
  double gradient();
  const Histogram& smoothed() const { return smoothed_; }  ///< values after smoothing
  /// Of the smoothed values away from the wall; known where there are two classes.
  const PlaneNoise& noise() const { return noise_; }
  /// Share of the sample on the pore side of a gray value, after smoothing.
  double pore_share(double threshold) const {
    const double below = smoothed_.below(threshold) / image_.sample_voxels();
    return classes_.pore_above ? 1 - below : below;
  }

 private:
  void work(const ImageWindow& layer, Histogram* histogram, std::span<std::uint8_t> labels);

  const ImageLayers& image_;
  const GrayClasses& classes_;
  const ImportOptions& options_;
  const SegmentReport& report_;
  ReportPictures* pictures_;
  Histogram smoothed_;
  PlaneNoise noise_;
  std::vector<double> gradients_;  ///< number and sum, layer by layer
};

}  // namespace karst
