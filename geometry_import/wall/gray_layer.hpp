// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <span>

#include "geometry_import/prepare/image_layers.hpp"
#include "geometry_import/voxels/level_set.hpp"

namespace karst {

/// Gray values of a layer and of one plane on each side of it, to be smoothed.
class GrayLayer {
 public:
  /// Reads the planes that smoothing needs. Throws Error. Not collective.
  GrayLayer(const ImageLayers& image, const ImageWindow& layer, double smoothing)
      : all_(layer.grown(2 * smoothing_reach(smoothing) + 1)),
        window_(layer.grown(1)),
        smoothing_(smoothing),
        values_(image.read(all_)) {}
  const ImageWindow& window() const { return window_; }
  /// [planes of window()][ny][nx]
  std::span<float> values() { return values_.span().subspan(all_.start_of(window_.first), window_.count()); }
  void smooth() { karst::smooth(all_, smoothing_, values_.span()); }
  /// The array that values() are in.
  Array<float> take_storage() { return std::move(values_); }

 private:
  ImageWindow all_, window_;
  double smoothing_;
  Array<float> values_;
};

}  // namespace karst
